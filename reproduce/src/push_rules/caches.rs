//! Rule 3, the ways to know what a client has, on every bundled page: "an evaluation of the above approaches is meaningful only if the
//! evaluation is done at scale".

use super::cases::{QUEUE, WINDOW_PACKETS};
use super::published::G3;
use super::setup::network_of;
use crate::bench::{Bench, Case};
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use client::HttpCache;
use corpus::Page;
use figures::{Saving, Savings, SavingsGroup};
use lab::stack::StackLoad;
use push::visits::PushWhen;
use push::{Graph, Policy};
use qlog_tools::pushed::PushedBytes;
use server::SignalUse;
use std::sync::Arc;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "push-caches",
    about: "The ways to know what a client has cached, on every bundled page",
    source: "Bergan, Pelchat, Buettner, Rules of Thumb for HTTP/2 Push, version of 2016-08-03, rule 3: an evaluation at scale, left for future work",
    engine: "stack",
    conditions: "engine stack, 3G (1360 kbit/s, 209 ms), a window of 26 packets, scheme rfc9218; 60 bundled pages, one load of each case",
    run,
};

const METHOD: &str = "Each page of `@first-60` is loaded twice with the policy `push` on its document: by a client without copies, and by one that has a fresh copy of \
    everything but the document, which has changed. Pushes of the second visit are in vain. Once for each way in which the server can know that. \
    3G, a window of 26 packets, scheme rfc9218, clients' signals obeyed. The source names the ways and leaves their evaluation to others.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Nothing,
    SessionCookie,
    ConditionalRequest,
    Digest,
    IfMatch,
}

const WAYS: [(Way, &str, &str); 5] = [
    (Way::Nothing, "nothing", "the server knows nothing"),
    (Way::IfMatch, "if-match", "promises name their entity tag (3.6)"),
    (Way::SessionCookie, "session-cookie", "a cookie of the first visit"),
    (
        Way::ConditionalRequest,
        "conditional-request",
        "the request for the page is conditional (3.5)",
    ),
    (Way::Digest, "digest", "the request has a digest (3.3)"),
];

/// "Wasted": the most that may arrive in vain where the server knows the copies, in percent of what the first visit is pushed.
const WASTED_PERCENT: f64 = 2.0;
const SESSION: &str = "session";

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let bench = Bench::new(setting.jobs, 1, 0.0)?;
    let pages: Vec<Arc<Page>> = setting.pages.iter().map(|it| Arc::new(with_tags(it))).collect();
    let mut cases = Vec::new();
    for page in &pages {
        cases.push(first_visit(page));
        cases.extend(WAYS.map(|(way, ..)| second_visit(page, way)));
    }
    let came = |_: &Page, StackLoad { load, outcome, .. }| {
        let bytes = PushedBytes::of(&load.timeline, |_| false).wasted;
        Ok([bytes as f64, outcome.refused_pushes as f64])
    };
    let loads = bench.loads(&cases, came)?;
    let of_page = loads.chunks_exact(WAYS.len() + 1);
    let first: f64 = of_page.clone().map(|it| it[0][0][0]).sum();
    let mut rows = Vec::new();
    for (place, (way, id, what)) in WAYS.into_iter().enumerate() {
        let sum = |of: usize| of_page.clone().map(|it| it[place + 1][0][of]).sum::<f64>();
        let refused = sum(1) / pages.len() as f64;
        rows.extend(way_rows(way, id, what, [100.0 * sum(0) / first, refused]));
    }
    let figure = figure(&rows);
    Ok(Findings {
        method: METHOD.to_owned(),
        rows,
        schemes: vec!["rfc9218".to_owned()],
        pages: setting.pages.clone(),
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: "The bytes of the first visit's pushes that do not come again on the second, by what the server knows.".to_owned(),
    })
}

/// The page with an entity tag on everything, so that a digest and a promise can name the state of a copy.
fn with_tags(page: &Page) -> Page {
    let mut page = page.clone();
    for resource in &mut page.resources {
        resource.etag = Some(format!("\"{}\"", resource.id));
    }
    page
}

fn first_visit(page: &Arc<Page>) -> Case {
    let mut case = Case {
        scheme: "rfc9218",
        signals: SignalUse::Obey,
        ..Case::new(Arc::clone(page), network_of(G3, QUEUE), WINDOW_PACKETS)
    };
    case.pushing.policy = Some(Policy::Push);
    case.pushing.graph = Some(Arc::new(Graph::of_page(page)));
    case
}

/// The client has everything but the present state of the document.
#[expect(
    clippy::disallowed_methods,
    reason = "the cookie has no age, so no clock decides about it"
)]
fn second_visit(page: &Arc<Page>, way: Way) -> Case {
    let mut case = first_visit(page);
    let document = page.url(0);
    let urls = page.resources[1..].iter().map(|it| page.url(it.id));
    case.client.cache = HttpCache::fresh(urls).with_stale(&document, "\"before\"");
    match way {
        Way::Nothing => {}
        Way::SessionCookie => {
            case.pushing.push_when = PushWhen::CookieAbsent(SESSION.into());
            let cookie = format!("{SESSION}=1; Path=/");
            case.client.cookies.set(&cookie, &document, std::time::Instant::now());
        }
        Way::ConditionalRequest => case.pushing.evidence.conditional = true,
        Way::Digest => {
            case.pushing.evidence.cache_digest = true;
            case.client.cache_digest = true;
        }
        Way::IfMatch => case.pushing.conditional.if_match = true,
    }
    case
}

fn way_rows(way: Way, id: &str, what: &str, [wasted, promises]: [f64; 2]) -> [Row; 2] {
    let metric = format!(
        "bytes that come in vain on a second visit, in percent of those pushed on the first: {what}"
    );
    let row = Row::shown(format!("{id}-wasted"), metric, Some(wasted));
    let row = match way {
        Way::Nothing | Way::IfMatch => row.note("What had left when the client refused it. A client that has a fresh copy refuses with and without a tag."),
        _ => row.required().at_most(WASTED_PERCENT),
    };
    let metric = format!("promises that the client refuses, mean of the pages: {what}");
    [row, Row::shown(format!("{id}-refused"), metric, Some(promises))]
}

fn figure(rows: &[Row]) -> Savings {
    let wasted = rows.iter().filter_map(|row| Some((row.id.strip_suffix("-wasted")?, row.ours?)));
    let rows = wasted.map(|(label, wasted)| Saving {
        label: label.to_owned(),
        ours: Some(100.0 - wasted),
        published: None,
        model: None,
    });
    let title = "Pushed bytes that a second visit is spared, in percent".to_owned();
    Savings { title: title.clone(), groups: vec![SavingsGroup { title, rows: rows.collect() }] }
}
