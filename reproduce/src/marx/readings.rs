//! The test page of Davies and Meenan (2018), on which the paper's figures rest: as we made it by hand before its public page was
//! found, as that page is, and as in the paper and its client.

use crate::downloads::network;
use crate::{ReproduceError, Row, Setting, scheme};
use corpus::Page;
use corpus::page::{Event, Trigger};
use lab::ideal::{self, Conditions};
use schedulers::Kind;
use simulator::link::Queue;
use std::sync::Arc;

/// The page that was made by hand, with sizes of our own.
pub(super) const BY_HAND: &str = "davies-meenan";
/// The page as its authors published it.
const PUBLIC: &str = "davies-meenan-public";

/// The four readings, for the methods.
pub(super) const READINGS: &str = "The page of Davies and Meenan in four readings. Rows `public-*`: their public page \
    (github.com/pmeenan/http2priorities), asked for as Chromium does, which needs the font at its first layout. Rows `whole-html-*`: the \
    same page, but the font is asked for when the HTML is complete: it \"is directly dependent on\" it (page 137). Rows `played-*`: the \
    same page, asked for as the paper's client did: what the document's text names at the time of a fast load, everything else when its \
    parent is complete. Rows without a prefix: the page that we made by hand, with sizes of our own, before the public one was found; \
    they are kept as they were.";

/// A page, and how its rows differ from the others'.
pub(super) struct Reading {
    pub(super) prefix: &'static str,
    pub(super) table: &'static str,
    pub(super) page: Arc<Page>,
}

impl Reading {
    /// The four, the one that is drawn first.
    pub(super) fn all(setting: &Setting) -> Result<[Self; 4], ReproduceError> {
        let public = corpus::bundled(PUBLIC)
            .ok_or_else(|| ReproduceError::Unusable(format!("page `{PUBLIC}` is not bundled")))?;
        let public = Arc::new(public.clone());
        let (whole_html, played) = (font_after_html(&public), played(&public)?);
        let by_hand = Arc::clone(setting.page(BY_HAND)?);
        let readings = [
            ("public-", "The public page, asked for as Chromium does", public),
            (
                "whole-html-",
                "The public page, its font asked for after the whole HTML",
                Arc::new(whole_html),
            ),
            ("played-", "The public page, asked for as the paper's client did", Arc::new(played)),
            ("", "The page that we made by hand", by_hand),
        ];
        Ok(readings.map(|(prefix, table, page)| Self { prefix, table, page }))
    }

    /// `rows` with the names that they have in this reading.
    pub(super) fn named(&self, rows: Vec<Row>) -> impl Iterator<Item = Row> {
        rows.into_iter()
            .map(|row| Row { id: format!("{}{}", self.prefix, row.id), ..row }.in_table(self.table))
    }

    /// The pages that are bundled: the others are made of them.
    pub(super) fn pages(readings: &[Self]) -> Vec<Arc<Page>> {
        [readings.first(), readings.last()]
            .into_iter()
            .flatten()
            .map(|it| Arc::clone(&it.page))
            .collect()
    }
}

/// The page with a font that depends on the whole document.
fn font_after_html(page: &Page) -> Page {
    let mut page = page.clone();
    for font in page.resources.iter_mut().filter(|it| Kind::of_mime(&it.mime) == Kind::Font) {
        font.trigger = Trigger { on: Event::Complete, ..Trigger::default() };
    }
    page
}

/// The page as the paper's client played a recording back: a timer, from the request for the document on, for each resource that the
/// document's text names, and for every other one a timer from the end of its parent. The times are from a load of ours at 1 Gbit/s.
pub(super) fn played(page: &Arc<Page>) -> Result<Page, ReproduceError> {
    let network = network("fast", 1e9, 0.0, Queue::Unlimited);
    let timeline = ideal::load(page, &scheme("fifo")?, &network, Conditions::default()).timeline;
    let deliveries = timeline.deliveries();
    let mut times_ms = vec![(0.0, 0.0); page.resources.len()];
    for (transfer, delivery) in timeline.transfers.iter().zip(&deliveries) {
        if let (Some(resource), Some(complete_us)) =
            (page.find(&transfer.url), delivery.complete_us)
        {
            times_ms[resource] = (transfer.requested_us as f64 / 1e3, complete_us as f64 / 1e3);
        }
    }
    let mut played = Page::clone(page);
    for resource in &mut played.resources[1..] {
        let requested_ms = times_ms[resource.id].0;
        let Trigger { of, needs, .. } = &resource.trigger;
        let parents = needs.iter().copied().chain([*of]);
        let last = parents.max_by(|one, other| times_ms[*one].1.total_cmp(&times_ms[*other].1));
        let of = last.unwrap_or_default();
        let is_in_text =
            resource.is_in_text() && needs.is_empty() && resource.trigger.delay_ms == 0.0;
        let (on, byte, from_ms) = if is_in_text {
            // The page format has no timer from the navigation on: the document's first byte is the nearest.
            (Event::Bytes, Some(1), 0.0)
        } else {
            (Event::Complete, None, times_ms[of].1)
        };
        let delay_ms = (requested_ms - from_ms).max(0.0);
        resource.trigger = Trigger { on, of, byte, needs: Vec::new(), delay_ms };
    }
    Ok(played)
}
