//! The case studies: policies on a page that stands for the source's recorded ones.
//!
//! The source measured `SpeedIndex` of six pages of 2016 that are gone. Here the time to the first complete rendering takes
//! its place: the document, its stylesheets, its script and the script that this one writes have arrived.

use super::Stable;
use super::pages::{ONE_SIDED, POINTS};
use super::pair::saved_percent;
use super::published::{G3, STUDIED_PAGES};
use super::setup::queued_case;
use crate::bench::{Bench, Case, PACKET_BYTES, Sample, Times};
use crate::model::{Load, Window};
use crate::sketch::{Found, KB, Sketch};
use crate::{ReproduceError, Row};
use push::{Budget, Choice, Graph, Plan, Policy};
use schedulers::Kind;
use server::SignalUse;
use simulator::link::Queue;
use std::sync::Arc;

pub(super) const TABLE: &str = "Case studies on actual pages, and the straw man";

/// "Median `SpeedIndex` (ms) over 50 runs": twice as many as elsewhere.
pub(super) const TIMES: usize = 2;
/// One bandwidth-delay product of 3G, in packets: the window when the document is requested.
pub(super) const WINDOW_PACKETS: usize = 26;
const WINDOW_BYTES: u64 = 26 * 1350;
/// "WPT's traffic shaper has a 100-packet buffer."
pub(super) const QUEUE: Queue = Queue::Packets(100);
/// "We consider all changes under 3% within the margin of error."
pub(super) const MARGIN: f64 = 3.0;

/// A document, four stylesheets, a script that writes another, and twelve images.
fn sketch(html_kb: u64) -> Sketch {
    let mut sketch = Sketch::new(format!("case-{html_kb}"), html_kb * KB);
    for n in 1..=4 {
        sketch = sketch.item(&format!("/{n}.css"), Kind::Css, 4 * KB, Found::Head);
    }
    sketch = sketch.script("/app.js", 20 * KB, Found::Head);
    for n in 1..=12 {
        sketch = sketch.item(&format!("/{n}.jpg"), Kind::Image, 30 * KB, Found::Head);
    }
    sketch.script("/late.js", 10 * KB, Found::End(SCRIPT))
}

const SCRIPT: usize = 5;
const LATE: usize = 18;

fn rendered_ms(complete_ms: &[f64]) -> f64 {
    let needed = complete_ms[..=SCRIPT].iter().chain(&complete_ms[LATE..]);
    needed.copied().fold(0.0, f64::max)
}

/// A policy, its required effect on each of the two pages, and the source's results.
struct Study {
    policy: Policy,
    what: &'static str,
    /// Beside a small document, beside one larger than the window.
    must: [Must; 2],
    published: &'static str,
}

/// The required effect of a policy, in percent saved.
#[derive(Clone, Copy)]
enum Must {
    /// Not less than nothing.
    NoHarm,
    /// More than the margin of error.
    Gain,
    Nothing,
    /// 20 or more are lost.
    Harm,
    Shown,
}

const STUDIES: [Study; 7] = [
    Study::new(
        Policy::Push,
        "Push",
        [Must::NoHarm, Must::Nothing],
        "Published of six pages: 0, +9, 0, +13, +5, 0; the second +13 % is that of a page with a document of 9 KB.",
    ),
    Study::new(
        Policy::Preload,
        "Preload",
        [Must::Gain, Must::Gain],
        "Published of six pages: +17, +11, 0, 0, 0, +11; those that gain have a hidden and critical resource.",
    ),
    Study::new(
        Policy::PushAndPreload,
        "PushAndPreload",
        [Must::Gain, Must::Gain],
        "Published of six pages: +17, +10, 0, +12, 0, +12.",
    ),
    Study::new(
        Policy::PushStaticWithHtmlOneBdp,
        "PushStaticWithHTMLOneBDP",
        [Must::NoHarm, Must::Nothing],
        "Published of six pages: 0, +9, +11; three dashes, whose document is larger than the BDP.",
    ),
    Study::new(
        Policy::PushStaticWithHtml,
        "PushStaticWithHTML",
        [Must::Harm, Must::Shown],
        "Published of six pages: -27, -29, 0, +7, -26, 0.",
    ),
    Study::new(
        Policy::PushInEvaluationOrder,
        "push in topological order",
        [Must::NoHarm, Must::Nothing],
        "Called optimal by rule 2 of the source, which did not measure it.",
    ),
    Study::new(
        Policy::NoOpt,
        "103 with the hidden script",
        [Must::Gain, Must::Gain],
        "Not in the source: what sites can use today.",
    ),
];

impl Study {
    const fn new(
        policy: Policy,
        what: &'static str,
        must: [Must; 2],
        published: &'static str,
    ) -> Self {
        Self { policy, what, must, published }
    }

    /// Without a policy the page has early hints.
    fn early_hints(&self) -> bool {
        self.policy == Policy::NoOpt
    }

    fn id(&self) -> &'static str {
        if self.early_hints() { "early-hints" } else { self.policy.name() }
    }
}

/// Documents in KB: "9KB", the textbook case; "41KB, which exceeds our BDP of 35KB".
const HTML_KB: [u64; 2] = [9, 41];

/// Clients signal urgencies and the server obeys. Pushes go before later requests, as the source advises.
fn case(bench: &Bench, sketch: &Sketch, study: Option<&Study>) -> Case {
    let mut case = Case {
        scheme: "rfc9218",
        signals: SignalUse::Obey,
        runs: Some(bench.runs * TIMES),
        ..queued_case(sketch, G3, QUEUE, WINDOW_PACKETS)
    };
    if let Some(study) = study {
        case.pushing.policy = Some(study.policy);
        case.pushing.graph = Some(Arc::new(Graph::of_page(&case.page)));
        if study.early_hints() {
            case.pushing.early_hints = vec!["</late.js>; rel=preload; as=script".into()];
        }
    }
    case
}

/// Early hints need something that they precede.
fn page(html_kb: u64, study: &Study) -> Sketch {
    if study.early_hints() { sketch(html_kb).thinking(1.0) } else { sketch(html_kb) }
}

pub(super) fn rows(bench: &Bench, stable: &mut Stable) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for (place, html_kb) in HTML_KB.into_iter().enumerate() {
        let mut cases = vec![case(bench, &sketch(html_kb), None)];
        cases.extend(STUDIES.iter().map(|it| case(bench, &page(html_kb, it), Some(it))));
        // By what the server knows of kinds, pushes do not outrank scripts.
        cases.extend([None, Some(&STUDIES[4])].map(|study| Case {
            signals: SignalUse::Ignore,
            ..case(bench, &sketch(html_kb), study)
        }));
        let samples = bench.measure(&cases)?;
        for (sample, case) in samples.iter().zip(&cases) {
            stable.note(&case.page.name, sample.spread(since_start_ms));
        }
        let none_ms = samples[0].median_ms(since_start_ms);
        rows.push(none_row(html_kb, none_ms));
        for (study, sample) in STUDIES.iter().zip(&samples[1..]) {
            let ms = [none_ms, sample.median_ms(since_start_ms)];
            rows.extend(saved_rows(html_kb, study, ms, study.must[place]));
            if place == 1 && study.id().ends_with("one-bdp") {
                rows.push(count_row(sample));
            }
        }
        let by_kind_ms = [1, 2].map(|it| samples[STUDIES.len() + it].median_ms(since_start_ms));
        rows.push(by_kind_row(html_kb, by_kind_ms));
    }
    Ok(rows)
}

fn since_start_ms(times: &Times) -> f64 {
    rendered_ms(&times.complete_ms) - times.start_ms
}

fn none_row(html_kb: u64, none_ms: f64) -> Row {
    Row::shown(
        format!("case-{html_kb}k-none"),
        format!("first complete rendering, HTML of {html_kb} KB, NoOpt, in ms"),
        Some(none_ms),
    )
    .in_table(TABLE)
    .model(model_ms(&sketch(html_kb), None))
    .note(
        "In place of SpeedIndex: the document, its stylesheets, its script and the script that this one writes are there. \
         The model's window doubles each round trip; ours stops when round trips grow (HyStart++).",
    )
}

/// The saving of a policy: beside the published number, and by the source's words.
fn saved_rows(html_kb: u64, study: &Study, ms: [f64; 2], must: Must) -> Vec<Row> {
    let page = page(html_kb, study);
    let model = [model_ms(&sketch(html_kb), None), model_ms(&page, Some(study))];
    let saved = |id: &str| {
        let id = format!("case-{html_kb}k-{}-{id}", study.id());
        let metric = format!("earlier rendering, HTML of {html_kb} KB, {}, in percent", study.what);
        Row::shown(id, metric, Some(saved_percent(ms))).in_table(TABLE)
    };
    let row = saved("saved").model(saved_percent(model)).note(study.published);
    let Some(published) = published_saved(study, html_kb > HTML_KB[0]) else {
        let is_ours = matches!(study.policy, Policy::PushInEvaluationOrder | Policy::NoOpt);
        return vec![must.of(if is_ours { row.required() } else { row })];
    };
    let number = row.published(published).note(format!("{} {MAGNITUDES}", study.published));
    match must {
        Must::Nothing => vec![must.of(number)],
        Must::Shown => vec![number.within(POINTS)],
        Must::NoHarm | Must::Gain | Must::Harm => {
            let words = saved("words").note(format!("{ONE_SIDED} {}", must.words()));
            vec![number.within(POINTS), must.of(words)]
        }
    }
}

impl Must {
    fn of(self, row: Row) -> Row {
        match self {
            Self::NoHarm => row.at_least(0.0),
            Self::Gain => row.above(MARGIN),
            Self::Nothing => row.between(-MARGIN, MARGIN),
            Self::Harm => row.at_most(-20.0),
            Self::Shown => row,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::NoHarm => "\"there are no cases where Push hurts performance\".",
            Self::Gain => {
                "\"we do see a significant improvement from Preload\"; less than 3 % is its margin of error."
            }
            Self::Harm => {
                "\"PushStaticWithHTML is worse than NoOpt\", by 26 % and more where it is."
            }
            Self::Nothing | Self::Shown => "",
        }
    }
}

const MAGNITUDES: &str = "The column has the median of the source's pages with such a document and, where something is preloaded, with a resource that \
     is hidden and critical. Magnitudes differ, for here nothing takes \
     time on a processor.";

/// The median saving of the source's pages that are like ours: the document is smaller, or larger, than the bandwidth-delay
/// product, and, for preloads, a resource is hidden and critical.
fn published_saved(study: &Study, large: bool) -> Option<f64> {
    let preloads = matches!(study.policy, Policy::Preload | Policy::PushAndPreload);
    let mut saved: Vec<f64> = Vec::new();
    for page in &STUDIED_PAGES {
        if page.is_large() == large && (page.hides_critical || !preloads) {
            saved.extend(page.with(study.policy).map(saved_percent));
        }
    }
    saved.sort_by(f64::total_cmp);
    saved.get(saved.len() / 2).map(|it| (it * 10.0).round() / 10.0)
}

fn count_row(sample: &Sample) -> Row {
    let pushed = sample.0.iter().map(|it| it.outcome.pushed.len()).max().unwrap_or(0);
    let metric =
        "responses pushed beside a document larger than the window, PushStaticWithHTMLOneBDP";
    let row = Row::shown("case-41k-one-bdp-pushes", metric, Some(pushed as f64));
    row.in_table(TABLE).published(0.0).at_most(0.0)
}

fn by_kind_row(html_kb: u64, ms: [f64; 2]) -> Row {
    Row::shown(
        format!("case-{html_kb}k-push-static-by-kind-saved"),
        format!("earlier rendering, HTML of {html_kb} KB, PushStaticWithHTML placed by kind, in percent"),
        Some(saved_percent(ms)),
    )
    .in_table(TABLE)
    .note("Shown: where the server places what it pushes by its kind, images do not go before the late script.")
}

fn model_ms(sketch: &Sketch, study: Option<&Study>) -> f64 {
    let page = sketch.page();
    let plan = study.map_or_else(Plan::default, |it| plan(&Graph::of_page(&page), it.policy));
    let mut hinted = sketch.clone();
    if !plan.hint.is_empty() || study.is_some_and(Study::early_hints) {
        hinted.items[LATE].found = Found::Head;
    }
    let ranks = hinted.items.iter().enumerate().map(|(id, item)| match item.kind {
        _ if plan.push.contains(&id) => 0,
        Kind::Html | Kind::Css => 0,
        Kind::Js => 1,
        _ => 3,
    });
    let ranks = ranks.collect();
    let window = Window::SlowStart(WINDOW_PACKETS as f64 * PACKET_BYTES as f64);
    let load = Load { window, ranks, ..Load::new(&hinted, &plan.push, G3) };
    rendered_ms(&load.completions_ms())
}

fn plan(graph: &Graph, policy: Policy) -> Plan {
    policy.plan(&Choice {
        graph,
        node: 0,
        navigation: true,
        budget: Budget { bytes: WINDOW_BYTES, stream_bytes: u64::MAX, pushes: 100 },
        waiting_urgency: None,
        allowed: &|_| true,
    })
}
