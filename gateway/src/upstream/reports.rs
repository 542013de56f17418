//! Reports of a backend's failures: at most one per second, with the number of others.

use std::time::{Duration, Instant};

/// Takes the reports, one line each.
pub type Report = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// The least time between two reports.
const REPORT_EACH: Duration = Duration::from_secs(1);

pub(super) struct Troubles {
    report: Report,
    /// When the last report was made.
    told: Option<Instant>,
    /// The last unreported failure, and the number of unreported ones.
    untold: Option<(String, u64)>,
}

impl Troubles {
    pub(super) fn new(report: Report) -> Self {
        Self { report, told: None, untold: None }
    }

    /// Reports a failure, or keeps it. In that case the caller must call [`Self::tell_rest`] at the returned time.
    pub(super) fn tell(&mut self, line: String, now: Instant) -> Option<Instant> {
        let next = self.told.map(|it| it + REPORT_EACH).filter(|it| now < *it);
        if next.is_none() && self.untold.is_none() {
            (self.report)(&line);
            self.told = Some(now);
            return None;
        }
        let before = self.untold.take().map(|(_, count)| count);
        self.untold = Some((line, before.unwrap_or(0) + 1));
        next.filter(|_| before.is_none())
    }

    /// Reports the troubles that were kept.
    pub(super) fn tell_rest(&mut self, now: Instant) {
        let Some((line, count)) = self.untold.take() else { return };
        match count - 1 {
            0 => (self.report)(&line),
            more => (self.report)(&format!("{line} (and {more} more in the last second)")),
        }
        self.told = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any time will do")]
    fn one_trouble_a_second_is_reported_with_the_number_of_others() {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let tell = Arc::clone(&told);
        let mut troubles = Troubles::new(Arc::new(move |it| tell.lock().unwrap().push(it.into())));
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let told = || std::mem::take(&mut *told.lock().unwrap()).join("; ");
        assert_eq!(troubles.tell("a".into(), at(0)), None);
        assert_eq!(told(), "a");
        let later: Vec<Option<Instant>> =
            (1..43).map(|it| troubles.tell(format!("b{it}"), at(it))).collect();
        assert!(later[0] == Some(at(1000)) && later[1..].iter().all(Option::is_none));
        assert_eq!(told(), "");
        troubles.tell_rest(at(1000));
        assert_eq!(told(), "b42 (and 41 more in the last second)");
        assert_eq!(troubles.tell("c".into(), at(1500)), Some(at(2000)));
        troubles.tell_rest(at(2000));
        assert_eq!(told(), "c");
        assert_eq!(troubles.tell("d".into(), at(3000)), None);
        troubles.tell_rest(at(4000));
        assert_eq!(told(), "d");
    }
}
