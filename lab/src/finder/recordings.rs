//! Other recordings of a page. The loads of a page depend on that day's script and server times, so an answer must hold in other
//! recordings, too: real ones if there are several, otherwise imitations with other delays.
//!
//! The loads that choose a candidate play the page as recorded, and each load that judges it plays another recording. So
//! intervals include the differences between recordings.

use super::Question;
use super::trial::BATCH;
use corpus::Page;
use corpus::page::Event;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// The number of recordings in the search for priorities of single resources.
const SEARCHED: u64 = 4;

/// A delay is its recorded value times a factor between the inverse of this and this.
const FACTOR_MAX: f64 = 1.5;

/// A resource that a parser does not find at once appears up to this much later.
const LATER_MAX_MS: f64 = 10.0;

impl Question {
    /// The page as the load with this seed plays it.
    pub(super) fn recording(&self, page: &Arc<Page>, seed: u64) -> Arc<Page> {
        let Some(number) = seed.checked_sub(BATCH as u64) else { return Arc::clone(page) };
        let others = self.pages.iter().filter(|it| is_like(it, page)).skip(1);
        let real: Vec<&Arc<Page>> = [page].into_iter().chain(others).collect();
        let real = real[usize::try_from(number).unwrap_or_default() % real.len()];
        let mut played = imitated(real, number);
        for (resource, said) in played.resources.iter_mut().zip(&page.resources) {
            resource.browser = said.browser;
        }
        Arc::new(played)
    }

    /// The recordings of a page that priorities of single resources must suit. Loads that judge play others.
    pub(super) fn searched_recordings(&self, page: &Arc<Page>) -> Vec<Arc<Page>> {
        let imitated = (1..SEARCHED).map(|number| self.recording(page, u64::MAX - number));
        [Arc::clone(page)].into_iter().chain(imitated).collect()
    }
}

fn is_like(one: &Page, other: &Page) -> bool {
    let urls = one.resources.iter().map(|it| &it.url);
    one.name == other.name && urls.eq(other.resources.iter().map(|it| &it.url))
}

/// The page with delays of another day.
fn imitated(page: &Page, number: u64) -> Page {
    let mut page = page.clone();
    for resource in &mut page.resources {
        // Seeded by URL, so that a resource that appears or disappears does not affect the others.
        let seed = resource.url.bytes().fold(number, |seed, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        });
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let delay = FACTOR_MAX.powf(random.random_range(-1.0..=1.0));
        let execution = FACTOR_MAX.powf(random.random_range(-1.0..=1.0));
        resource.exec_ms *= execution;
        let trigger = &mut resource.trigger;
        // A parser always finds references in the order of its text.
        if trigger.on != Event::Nav && (trigger.on != Event::Bytes || trigger.delay_ms > 0.0) {
            let later_ms = LATER_MAX_MS * random.random_range(0.0..=1.0);
            trigger.delay_ms = trigger.delay_ms * delay + later_ms;
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(page: &Page) -> Vec<f64> {
        page.resources.iter().map(|it| it.trigger.delay_ms).collect()
    }

    #[test]
    fn the_loads_that_judge_play_recordings_with_other_delays_and_the_same_order_of_references() {
        let page = Arc::new(corpus::bundled("agency-index").expect("bundled").clone());
        let question = Question::new(vec![Arc::clone(&page)], Vec::new());
        let recording = |seed| question.recording(&page, seed);
        assert_eq!(recording(BATCH as u64 - 1), page, "the loads that choose play the page itself");
        let (one, other) = (recording(BATCH as u64), recording(BATCH as u64 + 1));
        assert_ne!(delays(&one), delays(&other));
        assert_eq!(one, recording(BATCH as u64), "a seed stands for one recording");
        for (it, before) in one.resources.iter().zip(&page.resources) {
            let is_reference = it.trigger.on == Event::Bytes && before.trigger.delay_ms == 0.0;
            assert!(!is_reference || it.trigger == before.trigger, "{}", it.url);
            let least_ms = before.trigger.delay_ms / FACTOR_MAX;
            let most_ms = before.trigger.delay_ms * FACTOR_MAX + LATER_MAX_MS;
            assert!((least_ms..=most_ms).contains(&it.trigger.delay_ms), "{}", it.url);
        }
        assert!(corpus::check(&one).is_empty());
    }

    #[test]
    fn real_recordings_of_the_page_take_turns_and_those_of_another_page_have_none() {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let mut real = Page::clone(&page);
        real.resources[8].exec_ms = 500.0;
        let mut shorter = Page::clone(&page);
        shorter.resources.pop();
        let pages = vec![Arc::clone(&page), Arc::new(real), Arc::new(shorter)];
        let question = Question::new(pages, Vec::new());
        assert_eq!(question.pages(), [Arc::clone(&page)]);
        let is_real = |seed| question.recording(&page, seed).resources[8].exec_ms > 300.0;
        let seeds = (0..8).map(is_real).collect::<Vec<_>>();
        assert_eq!(seeds, [false, false, false, false, true, false, true, false]);
    }
}
