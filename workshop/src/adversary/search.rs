//! Pages that are hard for one scheme: a seeded, bounded search on [`ideal`].
//!
//! It begins with a page and makes one change at a time: to the size of a resource, the order of two references in the
//! document, the kind of a script, or the share of the page in one resource. It keeps a change if the scheme then does
//! worse: its ATF index divided by the lowest index of the paper's other schemes. Pages stay plausible: which resources
//! are critical and above the fold follows from their kinds, as on imported pages.

use corpus::page::{Event, Script};
use corpus::{Page, generate};
use lab::ideal::{self, Conditions};
use lab::network::Network;
use qlog_tools::metrics::Completions;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schedulers::{Kind, Scheme, paper_schemes};
use std::sync::Arc;

/// The largest page of the search in bytes: a load of it takes about a millisecond.
pub(crate) const PAGE_BYTES_MAX: u64 = 400_000;
/// The fewest resources of a page of the search, the document included.
pub(crate) const RESOURCES_MIN: usize = 2;
/// Most resources.
pub(crate) const RESOURCES_MAX: usize = 24;
/// Changes that are tried.
pub(crate) const STEPS: usize = 300;
/// At least one byte in this many stays above the fold. With fewer, ratios would mean nothing.
const ABOVE_FOLD_SHARE_MIN: u64 = 5;
/// A resource's size after changes.
const RESOURCE_BYTES: std::ops::RangeInclusive<u64> = 400..=300_000;

/// A page that is hard for a scheme.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Adversary {
    pub(crate) page: Page,
    /// The scheme's ATF index divided by the lowest index of another scheme.
    pub(crate) ratio: f64,
    /// The scheme with the lowest.
    pub(crate) best: String,
}

/// Searches for a page that is hard for `scheme`, beginning with `page`, which has [`RESOURCES_MIN`] to [`RESOURCES_MAX`]
/// resources and at most [`PAGE_BYTES_MAX`].
pub(crate) fn search(scheme: &Scheme, page: Page, seed: u64, network: &Network) -> Adversary {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut found = weigh(scheme, page, network);
    for _ in 0..STEPS {
        let mut page = found.page.clone();
        change(&mut page, &mut random);
        if corpus::check(&page).is_empty() && could_be(&page) {
            let changed = weigh(scheme, page, network);
            if changed.ratio > found.ratio {
                found = changed;
            }
        }
    }
    describe(&mut found, scheme, seed);
    found
}

/// Whether the page is small enough for the search, and has something above the fold.
fn could_be(page: &Page) -> bool {
    let above_fold = page.resources.iter().filter(|it| it.above_fold);
    let above_fold_bytes: u64 = above_fold.map(|it| it.bytes).sum();
    let bytes = page.body_bytes();
    bytes <= PAGE_BYTES_MAX && above_fold_bytes * ABOVE_FOLD_SHARE_MIN >= bytes
}

fn describe(found: &mut Adversary, scheme: &Scheme, seed: u64) {
    let plain: String = lab::file_name(&scheme.name).to_lowercase().replace('%', "-");
    found.page.name = format!("{}-against-{plain}", found.page.name);
    found.page.source.from = format!(
        "{}; utmost-workshop adversary {} --seed {seed}: after {STEPS} tried changes its ATF index is {:.2} times that of {}",
        found.page.source.from, scheme.name, found.ratio, found.best
    );
}

/// The scheme's index divided by the lowest of the others.
fn weigh(scheme: &Scheme, page: Page, network: &Network) -> Adversary {
    let page = Arc::new(page);
    let others = paper_schemes();
    let others = others.iter().filter(|it| it.name != scheme.name);
    let (best_ms, best) = others
        .map(|it| (index_ms(it, &page, network), it.name.clone()))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((f64::INFINITY, String::new()));
    let ratio = index_ms(scheme, &page, network) / best_ms;
    let page = Arc::unwrap_or_clone(page);
    Adversary { page, ratio: if ratio.is_finite() { ratio } else { 0.0 }, best }
}

fn index_ms(scheme: &Scheme, page: &Arc<Page>, network: &Network) -> f64 {
    let above_fold = lab::above_fold(page);
    let scheme = scheme.clone().for_page(&page.graph());
    let load = ideal::load(page, &scheme, network, Conditions::default());
    Completions::new(&load.timeline, |it| above_fold.contains(&it.url))
        .map_or(f64::INFINITY, |it| it.byte_index_ms())
}

fn change(page: &mut Page, random: &mut ChaCha8Rng) {
    let count = page.resources.len();
    let id = random.random_range(1..count);
    match random.random_range(0..4) {
        0 => scale(page, random.random_range(0..count), random.random_range(0..5)),
        1 => swap_places(page, id, random.random_range(1..count)),
        2 => change_script(page, id, random.random_range(0..3)),
        _ => move_bytes(page, id, random.random_range(0..count)),
    }
    set_roles(page);
}

/// By a quarter to four times.
fn scale(page: &mut Page, id: usize, power: u32) {
    set_bytes(page, id, (page.resources[id].bytes << power) / 4);
}

fn set_bytes(page: &mut Page, id: usize, bytes: u64) {
    let it = &mut page.resources[id];
    let bytes = bytes.clamp(*RESOURCE_BYTES.start(), *RESOURCE_BYTES.end());
    let before = it.decoded_len().max(1);
    let decoded = bytes * (before / it.bytes.max(1)).max(1);
    it.bytes = bytes;
    it.decoded_bytes = Some(decoded);
    // Keeps the proportions among resources that reference others.
    for referred in page.resources.iter_mut().filter(|other| other.trigger.of == id) {
        let byte = referred.trigger.byte;
        referred.trigger.byte = byte.map(|byte| (byte * decoded / before).min(decoded));
    }
}

/// Moves half of one resource's bytes to another.
fn move_bytes(page: &mut Page, from: usize, to: usize) {
    let half = page.resources[from].bytes / 2;
    if from != to {
        set_bytes(page, from, page.resources[from].bytes - half);
        set_bytes(page, to, page.resources[to].bytes + half);
    }
}

/// Swaps two references of the document.
fn swap_places(page: &mut Page, one: usize, other: usize) {
    // Nothing changes places with itself.
    let Ok([one, other]) = page.resources.get_disjoint_mut([one, other]) else { return };
    if one.trigger.on == Event::Bytes && other.trigger.on == Event::Bytes {
        std::mem::swap(&mut one.trigger.byte, &mut other.trigger.byte);
        std::mem::swap(&mut one.in_head, &mut other.in_head);
    }
}

fn change_script(page: &mut Page, id: usize, kind: usize) {
    let it = &mut page.resources[id];
    if it.kind == Kind::Js && it.trigger.on == Event::Bytes {
        let kinds = [Script::Sync, Script::Async, Script::Defer];
        it.script = Some(kinds[kind]);
    }
}

/// Sets the values that follow from the rest, as on generated pages.
fn set_roles(page: &mut Page) {
    for it in page.resources.iter_mut().skip(1) {
        let in_text = it.trigger.on == Event::Bytes;
        it.critical = in_text
            && match it.kind {
                Kind::Css => it.in_head,
                Kind::Js => it.script == Some(Script::Sync),
                _ => false,
            };
        it.above_fold = it.critical || it.hero || it.kind == Kind::Font;
    }
    generate::set_order(&mut page.resources);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_makes_a_page_worse_for_the_scheme_and_keeps_it_sound() {
        let network = Network::find("paper").unwrap();
        let scheme = schedulers::find_scheme("fifo").unwrap();
        let shape = generate::Shape {
            resources: Some(12),
            bytes: Some(PAGE_BYTES_MAX),
            ..generate::Shape::new(1)
        };
        let page = generate::generate(&shape).unwrap();
        let start = weigh(&scheme, page.clone(), &network);
        let found = search(&scheme, page.clone(), 1, &network);
        assert!(found.ratio > 1.5 * start.ratio, "{} {}", found.ratio, start.ratio);
        assert_eq!(corpus::check(&found.page), []);
        assert_eq!(found, search(&scheme, page, 1, &network));
    }
}
