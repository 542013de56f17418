//! The room for pages and orders: loads a page under the orders that a browser's page requests, and answers in JSON.

mod answers;
mod loads;
mod long_tasks;
mod question;
mod sentences;

use super::dropped_pages::{self, DroppedPages};
use super::server::Answer;
use super::{answer_with, document, has_type, parameters, refuse, upload};
use crate::limits::{
    PAGE_UPLOAD_BYTES_MAX, QUESTION_BYTES_MAX, VIEW_THREADS, WORKBENCH_LOADS, WORKBENCH_RECORDING,
};
use crate::values::CONGESTION_CONTROLS;
use ::corpus::Page;
use ::serve::Failure;
use figures::axis::Axis;
use figures::number_texts::{milliseconds_text, or_dash, ratio_number};
use figures::png::{About, Rasterizer};
use figures::{Drawing, Mark, RibbonRow, Ribbons, Sheet};
use hyper::body::Incoming;
use hyper::{Method, Request};
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
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
    /// A page that is being recorded: one at a time.
    recording: Semaphore,
    /// How far the last of the long tasks is, in words.
    progress: Mutex<String>,
}

impl Workbench {
    pub(super) fn new() -> Self {
        Self {
            dropped: RwLock::default(),
            kept: Mutex::default(),
            places: Semaphore::new(VIEW_THREADS),
            recording: Semaphore::new(1),
            progress: Mutex::default(),
        }
    }

    fn say(&self, progress: String) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    fn progress(&self) -> String {
        json!(*self.progress.lock().unwrap_or_else(PoisonError::into_inner)).to_string()
    }

    /// Keeps a page, and answers with its name.
    fn keep(&self, page: Page) -> Result<String, Failure> {
        // A page of this name can have been another one.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let name = self.dropped.write().unwrap_or_else(PoisonError::into_inner).add(page)?;
        Ok(json!({ "name": name }).to_string())
    }
}

/// Answers a request for `place`, a path below the token.
pub(super) async fn answer(
    room: &Arc<Workbench>,
    place: &str,
    request: Request<Incoming>,
) -> Answer {
    let name = || parameters(request.uri().query().unwrap_or_default(), "name").pop();
    match (request.method(), place) {
        (&Method::GET, "choices") => document(Ok(choices(room).to_string())),
        (&Method::GET, "progress") => document(Ok(room.progress())),
        (&Method::GET, "page") => {
            let name = name().unwrap_or_default();
            computed(room, LOADS, move |room, _| document(resources(room, &name))).await
        }
        (&Method::GET, place) => match report::workbench::file(place) {
            Some((mime, text)) => answer_with(200, mime, text.as_bytes().to_vec()),
            None => refuse(404, "nothing here"),
        },
        // Only a script of this page can set the types of what it sends; a form elsewhere cannot.
        (&Method::POST, "drop") if has_type(&request, "application/octet-stream") => {
            let name = upload::name_of(name());
            with_body(room, request, PAGE_UPLOAD_BYTES_MAX, LOADS, move |room, bytes, _| {
                document(dropped_pages::read(&name, bytes).and_then(|it| room.keep(it)))
            })
            .await
        }
        (&Method::POST, "pdf") if has_type(&request, "image/svg+xml") => {
            with_body(room, request, PAGE_UPLOAD_BYTES_MAX, LOADS, |_, svg, _| pdf(svg)).await
        }
        (&Method::POST, "record") if has_type(&request, "application/json") => {
            with_body(room, request, QUESTION_BYTES_MAX, RECORDING, |room, body, ended| {
                document(long_tasks::record(room, body, ended))
            })
            .await
        }
        (&Method::POST, "load" | "answers" | "file" | "search")
            if has_type(&request, "application/json") =>
        {
            let respond = match place {
                "load" => load,
                "answers" => answers::answers,
                "search" => long_tasks::search,
                _ => answers::file,
            };
            with_body(room, request, QUESTION_BYTES_MAX, LOADS, move |room, body, ended| {
                document(asked(room, body).and_then(|it| respond(room, &it, ended)))
            })
            .await
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

/// How long an answer may take, and what to do instead if that is not enough.
type Patience = (Duration, &'static str);

const LOADS: Patience = (WORKBENCH_LOADS, "choose fewer schemes, or use utmost compare");
const RECORDING: Patience = (WORKBENCH_RECORDING, "use utmost corpus record");

/// The answer to a body of at most `most` bytes.
async fn with_body(
    room: &Arc<Workbench>,
    request: Request<Incoming>,
    most: usize,
    patience: Patience,
    compute: impl FnOnce(&Workbench, &[u8], &AtomicBool) -> Answer + Send + 'static,
) -> Answer {
    let name = parameters(request.uri().query().unwrap_or_default(), "name").pop();
    let name = name.map_or("the question".to_owned(), |it| upload::name_of(Some(it)));
    match upload::take(request.into_body(), &name, most).await {
        Ok(body) => computed(room, patience, move |room, ended| compute(room, &body, ended)).await,
        Err(failure) => refuse(413, &failure.to_string()),
    }
}

/// An answer that takes time, on a thread of its own. Its loads end when their time is up, or when the browser went away.
async fn computed(
    room: &Arc<Workbench>,
    (most, remedy): Patience,
    compute: impl FnOnce(&Workbench, &AtomicBool) -> Answer + Send + 'static,
) -> Answer {
    let Ok(_place) = room.places.acquire().await else { return refuse(503, "no place") };
    let ended = Ended(Arc::default());
    let (of_thread, room) = (Arc::clone(&ended.0), Arc::clone(room));
    let computing = spawn_blocking(move || compute(&room, &of_thread));
    match timeout(most, computing).await {
        Ok(Ok(answer)) => answer,
        // It has panicked.
        Ok(Err(_)) => refuse(500, "an error of this program"),
        Err(_) => refuse(503, &format!("not done within {} s; {remedy}", most.as_secs())),
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
        "records": cfg!(feature = "record"),
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

/// A picture of the page as a PDF file.
fn pdf(svg: &[u8]) -> Answer {
    let drawn =
        Rasterizer::new().and_then(|it| it.pdf(&String::from_utf8_lossy(svg), &About::default()));
    match drawn {
        Ok(bytes) => answer_with(200, "application/pdf", bytes),
        Err(error) => refuse(422, &error.to_string()),
    }
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

/// Metrics that figures mark, each with its mark's name.
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
