//! The room for pages and orders: loads a page under the orders that a browser's page requests, and answers in JSON.

mod answers;
mod loads;
mod question;
mod sentences;

use super::dropped_pages::{self, DroppedPages};
use super::server::Answer;
use super::{answer_with, document, parameters, refuse, upload};
use crate::commands::compare::failure;
use crate::limits::{
    PAGE_UPLOAD_BYTES_MAX, QUESTION_BYTES_MAX, VIEW_THREADS, WORKBENCH_LOADS, WORKBENCH_SEARCH_MAX,
};
use crate::values::CONGESTION_CONTROLS;
use ::serve::Failure;
use figures::axis::Axis;
use figures::number_texts::{milliseconds_text, or_dash, ratio_number};
use figures::{Drawing, Mark, RibbonRow, Ribbons, Sheet};
use hyper::body::Incoming;
use hyper::{Method, Request};
use lab::export::SERVERS;
use lab::finder::ByHand;
use lab::network::Network;
use lab::study::RunRecord;
use lab::{Load, bounds, figure_resources};
use loads::{KeptLoads, Loads};
use push::Policy;
use qlog_tools::metrics::{self, METRICS, Metric};
use question::{Asked, Question};
use schedulers::{Needs, REGISTRY};
use sentences::LoadedOrder;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The room, and the files dropped in it.
pub(super) struct Workbench {
    dropped: RwLock<DroppedPages>,
    /// Loads of questions of late.
    kept: Mutex<KeptLoads>,
    /// The questions that are answered at the same time; further ones wait.
    places: Semaphore,
    /// Orders that the current search has tried.
    tried: AtomicUsize,
}

impl Workbench {
    pub(super) fn new() -> Self {
        Self {
            dropped: RwLock::default(),
            kept: Mutex::default(),
            places: Semaphore::new(VIEW_THREADS),
            tried: AtomicUsize::new(0),
        }
    }
}

/// Answers a request for `place`, a path below the token.
pub(super) async fn answer(
    room: &Arc<Workbench>,
    place: &str,
    request: Request<Incoming>,
) -> Answer {
    let name = || parameters(request.uri().query().unwrap_or_default(), "name").pop();
    let has_type = |wanted| request.headers().get("content-type").is_some_and(|it| it == wanted);
    match (request.method(), place) {
        (&Method::GET, "choices") => document(Ok(choices(room).to_string())),
        (&Method::GET, "tried") => document(Ok(room.tried.load(Ordering::Relaxed).to_string())),
        (&Method::GET, "page") => {
            let name = name().unwrap_or_default();
            computed(room, move |room, _| resources(room, &name)).await
        }
        (&Method::GET, place) => match report::workbench::file(place) {
            Some((mime, text)) => answer_with(200, mime, text.as_bytes().to_vec()),
            None => refuse(404, "nothing here"),
        },
        // Only a script of this page can set these content types; another site's form cannot.
        (&Method::POST, "drop") if has_type("application/octet-stream") => {
            let name = upload::name_of(name());
            match upload::take(request.into_body(), &name, PAGE_UPLOAD_BYTES_MAX).await {
                Ok(bytes) => computed(room, move |room, _| drop_page(room, &name, &bytes)).await,
                Err(failure) => refuse(413, &failure.to_string()),
            }
        }
        (&Method::POST, "load" | "answers" | "file" | "search") if has_type("application/json") => {
            let respond = match place {
                "load" => load,
                "answers" => answers::answers,
                "search" => search,
                _ => answers::file,
            };
            let body = upload::take(request.into_body(), "the question", QUESTION_BYTES_MAX);
            match body.await {
                Ok(body) => {
                    computed(room, move |room, ended| respond(room, &asked(room, &body)?, ended))
                        .await
                }
                Err(failure) => refuse(413, &failure.to_string()),
            }
        }
        _ => refuse(404, "nothing here"),
    }
}

/// Set once the client no longer waits for an answer.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Computes a slow answer on its own thread. Its loads end at the deadline, or when the browser disconnects.
async fn computed(
    room: &Arc<Workbench>,
    compute: impl FnOnce(&Workbench, &AtomicBool) -> Result<String, Failure> + Send + 'static,
) -> Answer {
    let Ok(_place) = room.places.acquire().await else { return refuse(503, "no place") };
    let ended = Ended(Arc::default());
    let (of_thread, room) = (Arc::clone(&ended.0), Arc::clone(room));
    let computing = spawn_blocking(move || compute(&room, &of_thread));
    match timeout(WORKBENCH_LOADS, computing).await {
        Ok(Ok(answer)) => document(answer),
        // It has panicked.
        Ok(Err(_)) => refuse(500, "an error of this program"),
        Err(_) => {
            let seconds = WORKBENCH_LOADS.as_secs();
            refuse(
                503,
                &format!(
                    "not done within {seconds} s; choose fewer schemes, or use utmost compare"
                ),
            )
        }
    }
}

fn asked(room: &Workbench, body: &[u8]) -> Result<Asked, Failure> {
    let question: Question = serde_json::from_slice(body)
        .map_err(|error| Failure::BadInput(format!("the question: {error}")))?;
    Asked::new(question, &room.dropped.read().unwrap_or_else(PoisonError::into_inner))
}

/// Everything that can be chosen.
fn choices(room: &Workbench) -> Value {
    let dropped = room.dropped.read().unwrap_or_else(PoisonError::into_inner);
    let networks = Network::names().into_iter().filter_map(|it| Network::find(it).ok());
    let networks = networks.map(|it| {
        json!({"name": it.name, "rate": it.down.rate.mean(), "rtt_ms": it.round_trip_ms(), "is_lossy": it.down.loss.is_some()})
    });
    let schemes = REGISTRY.iter().filter(|it| it.needs == Needs::Nothing);
    let schemes = schemes.map(|it| json!({"name": it.name, "about": it.about}));
    json!({
        "dropped": dropped.names().collect::<Vec<_>>(),
        "pages": ::corpus::bundled_names(),
        "networks": networks.collect::<Vec<_>>(),
        "schemes": schemes.collect::<Vec<_>>(),
        "metrics": METRICS,
        "push": Policy::ALL.map(Policy::name),
        "cc": CONGESTION_CONTROLS.iter().map(|it| it.0).collect::<Vec<_>>(),
        "servers": SERVERS.map(|it| it.name),
    })
}

/// The resources of a page, with the priorities that browsers signal.
fn resources(room: &Workbench, name: &str) -> Result<String, Failure> {
    let page = room.dropped.read().unwrap_or_else(PoisonError::into_inner).find(name)?;
    let rows = page.resources.iter().zip(bounds::usual(&page)).map(|(it, usual)| {
        json!({
            "id": it.id, "url": it.url, "host": page.host(it.id), "kind": it.kind.name(), "bytes": it.bytes, "hero": it.hero,
            "above_fold": it.above_fold, "preload": it.preload, "urgency": usual.urgency, "incremental": usual.incremental,
        })
    });
    Ok(json!({
        "name": page.name, "resources": rows.collect::<Vec<_>>(), "assumptions": page.source.assumptions,
    })
    .to_string())
}

fn drop_page(room: &Workbench, name: &str, bytes: &[u8]) -> Result<String, Failure> {
    let page = dropped_pages::read(name, bytes)?;
    // The name may have belonged to another page.
    room.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let name = room.dropped.write().unwrap_or_else(PoisonError::into_inner).add(page)?;
    Ok(json!({ "name": name }).to_string())
}

fn metric(asked: &Asked) -> Result<&'static Metric, Failure> {
    let name = &asked.question.metric;
    metrics::find(name).ok_or_else(|| Failure::BadInput(format!("no metric is named {name:?}")))
}

/// An order in an answer.
#[derive(Serialize)]
struct AnsweredOrder<'a> {
    label: &'a str,
    run: &'a RunRecord,
    hero: Option<String>,
    regions_shown: Vec<(f64, u64)>,
}

/// The answer of an engine. Serializes directly without a [`Value`], because hundreds of resources make it long.
#[derive(Serialize)]
struct Answered<'a> {
    rows: Vec<AnsweredOrder<'a>>,
    sentences: Vec<String>,
    best: Option<&'a str>,
    left_out: &'a [&'static str],
    svg: String,
    across: Value,
    caption: String,
}

fn load(room: &Workbench, asked: &Asked, ended: &AtomicBool) -> Result<String, Failure> {
    let metric = metric(asked)?;
    let loads = Loads::of(&room.kept, asked, ended)?;
    let told = loads.told(asked);
    let rows = told.iter().map(|it| AnsweredOrder {
        label: it.label,
        run: it.run,
        hero: sentences::hero(&asked.page, it),
        regions_shown: regions_shown(it.load),
    });
    let figure = ribbons(asked, &told, metric);
    let (svg, across) = figure.drawn(&Sheet::default());
    let answer = Answered {
        rows: rows.collect(),
        sentences: sentences::answer(&told, metric),
        best: sentences::best(&told, metric).map(|it| it.label),
        left_out: &asked.left_out,
        svg,
        across: json!({"left": across.left, "right": across.right, "end_ms": across.end}),
        caption: figure.caption(),
    };
    serde_json::to_string(&answer).map_err(Failure::elsewhere)
}

/// When each region above the fold reached its final form, in ms, and its weight.
fn regions_shown(load: &Load) -> Vec<(f64, u64)> {
    let Load { timeline, .. } = load;
    let start_us = timeline.start_us().unwrap_or_default();
    let regions = timeline.renders.iter().take(1).flat_map(|it| &it.regions);
    let since_ms = |time_us: u64| time_us.saturating_sub(start_us) as f64 / 1000.0;
    regions.map(|it| (since_ms(it.time_us), it.weight)).collect()
}

/// Searches changes by hand. Ends early if the client disconnects.
fn search(room: &Workbench, asked: &Asked, ended: &AtomicBool) -> Result<String, Failure> {
    room.tried.store(0, Ordering::Relaxed);
    let go_on = || {
        room.tried.fetch_add(1, Ordering::Relaxed);
        !ended.load(Ordering::Relaxed)
    };
    let resources = asked.page.resources.len();
    if resources > WORKBENCH_SEARCH_MAX {
        let cause = format!(
            "{resources} resources: the workbench searches among {WORKBENCH_SEARCH_MAX}; use utmost find"
        );
        return Err(Failure::BadInput(cause));
    }
    let cases = asked.cases(&[0])?;
    let found = cases.first().map(|it| ByHand::searched(&it.plan, &go_on));
    let found = found.transpose().map_err(failure)?;
    Ok(json!(found.unwrap_or_default()).to_string())
}

/// Metrics that figures mark, each with the mark's name.
const MARKS: [(&str, &str); 3] =
    [("first_render", "first render"), ("hero_render", "hero render"), ("load", "load")];

fn ribbons<'a>(asked: &Asked, told: &[LoadedOrder<'a>], metric: &Metric) -> Ribbons<'a> {
    let now = told.first().and_then(|it| it.run.value(metric));
    let rows = told.iter().map(|row| {
        let value = row.run.value(metric);
        let ratio = now.zip(value).map(|(now, value)| now / value);
        let marks = MARKS.into_iter().filter_map(|(column, name)| {
            Some(Mark { name, at_ms: row.run.value(metrics::find(column)?)? })
        });
        RibbonRow {
            label: row.label.to_owned(),
            notes: vec![or_dash(value.map(milliseconds_text)), or_dash(ratio.map(ratio_number))],
            timeline: &row.load.timeline,
            marks: marks.collect(),
        }
    });
    Ribbons {
        id: "workbench".to_owned(),
        title: format!("{}: what arrived when", asked.page.name),
        axis: Axis::Time,
        resources: figure_resources(&asked.page),
        note_titles: vec![format!("{} ({})", metric.short, metric.unit), "ratio".to_owned()],
        rows: rows.collect(),
    }
}
