//! Promises with `If-Match` (*Rules of Thumb*, rule 3): a client that has the entity tag rejects the push, and the bytes
//! that have left by then are wasted.

use super::cases::WINDOW_PACKETS;
use super::published::G3;
use super::setup::queued_case;
use crate::bench::{Bench, Case, PACKET_BYTES};
use crate::sketch::{Found, KB, Sketch};
use crate::{ReproduceError, Row};
use client::HttpCache;
use corpus::Page;
use lab::stack::StackLoad;
use qlog_tools::pushed::PushedBytes;
use simulator::link::Queue;
use std::sync::Arc;

const TABLE: &str = "A push that the client has, refused by its entity tag";

/// The window when the rejection arrives: only the handshake was acknowledged before it.
const WINDOW_BYTES: f64 = 26.0 * 1350.0;
const HTML_KB: u64 = 9;
const PUSH_KB: [u64; 6] = [5, 20, 40, 80, 200, 500];
const ETAG: &str = "\"1\"";

/// A document, its push, and a script that the server has much later, so that the client stays.
fn case(push_kb: u64) -> Case {
    let mut sketch = Sketch::new(format!("refused-{push_kb}"), HTML_KB * KB)
        .script("/pushed.js", push_kb * KB, Found::Head)
        .script("/late.js", 1, Found::Head);
    sketch.items[2].wait_ms = 3000.0;
    let mut case =
        queued_case(&sketch, G3, Queue::Unlimited, WINDOW_PACKETS).pushing(["/pushed.js"]);
    let mut page = Page::clone(&case.page);
    page.resources[1].etag = Some(ETAG.into());
    case.page = Arc::new(page);
    case.pushing.conditional.if_match = true;
    case.client.cache = HttpCache::default().with_stale(&case.page.url(1), ETAG);
    case
}

/// Stream bytes of the push that arrived. An error if the push was not rejected, or was requested anyway.
fn wasted_bytes(page: &Page, load: StackLoad) -> Result<u64, ReproduceError> {
    let StackLoad { load, outcome, problems, .. } = load;
    if outcome.validated != [1] || outcome.refused_pushes != 1 || !problems.is_empty() {
        return Err(ReproduceError::Unusable(format!("{}: the push was not refused", page.name)));
    }
    Ok(PushedBytes::of(&load.timeline, |_| false).wasted)
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let cases: Vec<Case> = PUSH_KB.into_iter().map(case).collect();
    let loads = bench.loads(&cases, wasted_bytes)?;
    let most = loads.iter().map(|it| it.iter().copied().max().unwrap_or(0) as f64);
    Ok(PUSH_KB.into_iter().zip(most).flat_map(|(push_kb, bytes)| pair(push_kb, bytes)).collect())
}

fn pair(push_kb: u64, wasted_bytes: f64) -> [Row; 2] {
    let push_bytes = (push_kb * KB) as f64;
    let model_bytes = model_bytes(push_bytes);
    let saved_bytes = (push_bytes - wasted_bytes).max(0.0);
    let what_comes = format!("what comes of a push of {push_kb} KB all the same, at most, in KB");
    let what_is_saved =
        format!("what a push of {push_kb} KB saves by being refused, at least, in KB");
    let [wasted, saved] = [
        ("wasted", what_comes, wasted_bytes, model_bytes),
        ("saved", what_is_saved, saved_bytes, push_bytes - model_bytes),
    ]
    .map(|(id, metric, ours_bytes, model_bytes)| {
        let [ours, model] = [ours_bytes, model_bytes].map(|it| it / KB as f64);
        let row = Row::shown(format!("if-match-{push_kb}k-{id}"), metric, Some(ours));
        row.in_table(TABLE).model(model).required()
    });
    [
        wasted
            .must("no more than the window".into(), |it| it <= WINDOW_BYTES / KB as f64)
            .within_share_of_model(0.1)
            .note(NOTE),
        if push_bytes > WINDOW_BYTES { saved.above(0.0) } else { saved.at_most(0.0) },
    ]
}

const NOTE: &str = "Proposed without figures in the source. The model is a window of 26 packets, one bandwidth-delay \
    product, less the document of 9 KB: what leaves before the client's word is there.";

/// The bytes of a push that are sent before the rejection arrives: the window is full by then, or the push is complete.
fn model_bytes(push_bytes: f64) -> f64 {
    push_bytes.min((WINDOW_PACKETS as u64 * PACKET_BYTES - HTML_KB * KB) as f64)
}
