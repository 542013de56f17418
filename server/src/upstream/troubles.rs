//! Troubles with a backend, told of at most once a second, with how many there were.

use std::time::{Duration, Instant};

/// Receives a line for each reported error.
pub type Report = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// Troubles are told of no more often.
const REPORT_EACH: Duration = Duration::from_secs(1);

/// Those of a backend.
pub(super) struct Troubles {
    report: Report,
    /// When the last was told.
    told: Option<Instant>,
    /// The last that was not told, and how many there are.
    untold: Option<(String, u64)>,
}

impl Troubles {
    pub(super) fn new(report: Report) -> Self {
        Self { report, told: None, untold: None }
    }

    /// Reports an error, or keeps it and returns the time at which to call [`Self::tell_rest`].
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

    /// Reports the errors that were kept.
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
    fn of_many_troubles_one_a_second_is_told_with_the_number_of_the_others() {
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
