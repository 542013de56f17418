//! A user who abandons a load: the whole page, or single resources.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// When a client cancels responses. Times count from its first request.
#[derive(Debug, Clone, Default)]
pub struct Cancels {
    /// When it leaves the page: it cancels every open response and requests nothing more.
    pub leave_after: Option<Duration>,
    /// When it cancels the response of each resource, if open. The page load then continues as after an
    /// error.
    pub resources: BTreeMap<usize, Duration>,
}

/// The cancels that are pending, and the wait for the tails of past ones.
#[derive(Debug, Default)]
pub(crate) struct Cancelling {
    waiting: BTreeSet<(Duration, What)>,
    start: Option<Instant>,
    has_left: bool,
    /// The last arrival after a cancel. `None`: no tail is expected.
    heard: Option<Instant>,
}

/// The responses that are cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Resource(usize),
    Everything,
}

impl Cancelling {
    /// A tail is over after this long without an arrival.
    const SILENCE: Duration = Duration::from_secs(1);

    pub(crate) fn new(cancels: &Cancels) -> Self {
        let single = cancels.resources.iter().map(|(id, after)| (*after, What::Resource(*id)));
        let all = cancels.leave_after.map(|after| (after, What::Everything));
        Self { waiting: single.chain(all).collect(), ..Self::default() }
    }

    /// The first request was sent.
    pub(crate) fn start(&mut self, now: Instant) {
        self.start = Some(now);
    }

    /// The next cancel that is due.
    pub(crate) fn due(&mut self, now: Instant) -> Option<What> {
        let passed = now.saturating_duration_since(self.start?);
        let what = self.waiting.first().filter(|it| it.0 <= passed)?.1;
        self.waiting.pop_first();
        self.has_left |= what == What::Everything;
        Some(what)
    }

    /// A response was cancelled: its tail begins.
    pub(crate) fn cancelled(&mut self, now: Instant) {
        self.heard = Some(now);
    }

    /// A datagram came.
    pub(crate) fn arrived(&mut self, now: Instant) {
        if self.heard.is_some() {
            self.heard = Some(now);
        }
    }

    /// Ends the wait for a tail after enough silence.
    pub(crate) fn end_silence(&mut self, now: Instant) {
        self.heard.take_if(|it| *it + Self::SILENCE <= now);
    }

    pub(crate) fn is_tail_over(&self) -> bool {
        self.heard.is_none()
    }

    pub(crate) fn has_left(&self) -> bool {
        self.has_left
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let due = self.start.zip(self.waiting.first()).map(|(start, it)| start + it.0);
        due.into_iter().chain(self.heard.map(|it| it + Self::SILENCE)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn a_tail_is_over_after_a_second_of_silence() {
        let t0 = Instant::now();
        let resources = BTreeMap::from([(4, ms(20))]);
        let mut cancelling = Cancelling::new(&Cancels { leave_after: Some(ms(50)), resources });
        assert_eq!((cancelling.due(t0 + ms(99)), cancelling.next_timeout()), (None, None));
        cancelling.start(t0);
        assert_eq!(cancelling.next_timeout(), Some(t0 + ms(20)));
        assert_eq!(cancelling.due(t0 + ms(19)), None);
        assert_eq!(cancelling.due(t0 + ms(20)), Some(What::Resource(4)));
        assert!(cancelling.is_tail_over() && !cancelling.has_left());
        assert_eq!(cancelling.due(t0 + ms(50)), Some(What::Everything));
        cancelling.cancelled(t0 + ms(50));
        cancelling.arrived(t0 + ms(700));
        cancelling.end_silence(t0 + ms(1699));
        assert!(!cancelling.is_tail_over() && cancelling.has_left());
        assert_eq!(cancelling.next_timeout(), Some(t0 + ms(1700)));
        cancelling.end_silence(t0 + ms(1700));
        assert!(cancelling.is_tail_over());
        assert_eq!(cancelling.next_timeout(), None);
    }
}
