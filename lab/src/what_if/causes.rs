//! The cause of each request: the preceding event that most likely triggered it.

use corpus::page::{Event, Trigger};
use schedulers::Kind;
use std::ops::Range;

/// The events of one log, with the responses in the order of their requests. Times in ms from the first request.
#[derive(Debug, Clone)]
pub(super) struct Happened {
    pub(super) responses: Vec<Response>,
}

#[derive(Debug, Clone)]
pub(super) struct Response {
    pub(super) kind: Kind,
    pub(super) requested_ms: f64,
    /// How the readable part of its body grew: time, bytes.
    pub(super) arrived: Vec<(f64, u64)>,
    pub(super) complete_ms: f64,
}

impl Response {
    pub(super) fn first_byte_ms(&self) -> f64 {
        self.arrived.first().map_or(self.complete_ms, |it| it.0)
    }

    fn readable_at(&self, ms: f64) -> u64 {
        let steps = self.arrived.partition_point(|it| it.0 <= ms);
        steps.checked_sub(1).map_or(0, |it| self.arrived[it].1)
    }

    fn ms_of(&self, bytes: u64) -> Option<f64> {
        let step = self.arrived.partition_point(|it| it.1 < bytes);
        self.arrived.get(step).map(|it| it.0)
    }
}

impl Happened {
    /// A part of it, with times from its own first request.
    pub(super) fn part(mut self, places: Range<usize>) -> Self {
        let mut responses: Vec<Response> = self.responses.drain(places).collect();
        let start_ms = responses.first().map_or(0.0, |it| it.requested_ms);
        for it in &mut responses {
            it.requested_ms -= start_ms;
            it.complete_ms -= start_ms;
            it.arrived.iter_mut().for_each(|it| it.0 -= start_ms);
        }
        Self { responses }
    }

    /// Time and size of newly readable bytes, in order.
    pub(super) fn readable(&self) -> Vec<(f64, u64)> {
        let mut readable: Vec<(f64, u64)> = Vec::new();
        for response in &self.responses {
            let mut before = 0;
            for &(ms, bytes) in &response.arrived {
                readable.push((ms, bytes - before));
                before = bytes;
            }
        }
        readable.sort_by(|one, other| one.0.total_cmp(&other.0));
        readable
    }

    /// The time in ms that the server took before it answered, over a link with this round trip: the time without any
    /// arrivals, from the earliest possible answer until the answer arrived.
    pub(super) fn think_ms(&self, place: usize, round_trip_ms: f64) -> f64 {
        let response = &self.responses[place];
        let (ready, first) = (response.requested_ms + round_trip_ms, response.first_byte_ms());
        let others = self.responses.iter().flat_map(|it| &it.arrived).map(|it| it.0);
        let before = others.filter(|it| *it < first);
        let next_ms = before.clone().filter(|it| *it >= ready).fold(first, f64::min);
        // Bytes that arrived in between may have been ahead of it.
        let last_ms = before.fold(ready, f64::max);
        let paused = [(ready, next_ms), (last_ms, first)].into_iter().find(|(from, to)| {
            to - from > LEAST_THINK_MS && (!self.is_under_way(*from) || to - from > round_trip_ms)
        });
        paused.map_or(0.0, |(from, to)| tenths(to - from))
    }

    /// Whether a part of a response has arrived and the rest has not: then a server that pauses for less than a round trip
    /// waits for acknowledgements.
    fn is_under_way(&self, ms: f64) -> bool {
        self.responses.iter().any(|it| it.first_byte_ms() <= ms && it.complete_ms > ms)
    }
}

/// Shorter pauses are queues and timers.
const LEAST_THINK_MS: f64 = 5.0;

/// An event that may have triggered a request, and the time from it to the request in each log.
struct Candidate {
    trigger: Trigger,
    lags_ms: Vec<f64>,
}

/// The trigger of each response of the first log, with indices in that log instead of IDs. `ask_at_once`: requests before the
/// first byte of the first response follow the navigation.
pub(super) fn causes(all: &[Happened], ask_at_once: bool) -> Vec<Trigger> {
    (0..all[0].responses.len()).map(|place| cause(all, place, ask_at_once)).collect()
}

fn cause(all: &[Happened], place: usize, ask_at_once: bool) -> Trigger {
    let asked_ms = all[0].responses[place].requested_ms;
    let by_navigation =
        Trigger { on: Event::Nav, delay_ms: tenths(asked_ms), ..Trigger::default() };
    let first_byte_ms = all[0].responses[0].first_byte_ms();
    if place == 0 || (ask_at_once && asked_ms < first_byte_ms) {
        return by_navigation;
    }
    let mut candidates: Vec<Candidate> = by_bytes(all, place).into_iter().collect();
    let parents = (0..all[0].responses.len()).filter(|it| *it != place);
    candidates.extend(parents.filter_map(|parent| by_completion(all, place, parent)));
    let best = candidates.into_iter().min_by(|one, other| cost(one).total_cmp(&cost(other)));
    best.map_or(by_navigation, |Candidate { trigger, lags_ms }| {
        let delay_ms = lags_ms.iter().sum::<f64>() / lags_ms.len() as f64;
        Trigger { delay_ms: tenths(delay_ms), ..trigger }
    })
}

/// The smaller and the more equal the lags, the more likely is a cause.
fn cost(candidate: &Candidate) -> f64 {
    let longest = candidate.lags_ms.iter().copied().fold(0.0, f64::max);
    let shortest = candidate.lags_ms.iter().copied().fold(f64::INFINITY, f64::min);
    SPREAD_WEIGHT * (longest - shortest) + longest
}

/// A lag that varies by 1 ms between logs counts as much as a lag that is longer by this number of ms.
const SPREAD_WEIGHT: f64 = 10.0;

/// The document's text up to the reference.
fn by_bytes(all: &[Happened], place: usize) -> Option<Candidate> {
    let known = all
        .iter()
        .map(|Happened { responses }| responses[0].readable_at(responses[place].requested_ms));
    let byte = known.min().filter(|it| *it > 0)?;
    let lags_ms = all.iter().map(|Happened { responses }| {
        Some(responses[place].requested_ms - responses[0].ms_of(byte)?)
    });
    let trigger = Trigger { on: Event::Bytes, of: 0, byte: Some(byte), ..Trigger::default() };
    Some(Candidate { trigger, lags_ms: lags_ms.collect::<Option<_>>()? })
}

/// The end of another response that can reference this one.
fn by_completion(all: &[Happened], place: usize, parent: usize) -> Option<Candidate> {
    let (child, of) = (all[0].responses[place].kind, all[0].responses[parent].kind);
    let refers = match of {
        Kind::Html | Kind::Js => true,
        Kind::Css => matches!(child, Kind::Font | Kind::Image | Kind::Css),
        _ => false,
    };
    if !refers || parent == 0 {
        return None;
    }
    let mut lags_ms = Vec::new();
    for Happened { responses } in all {
        lags_ms.push(responses[place].requested_ms - responses[parent].complete_ms);
    }
    let trigger = Trigger { on: Event::Complete, of: parent, ..Trigger::default() };
    lags_ms.iter().all(|it| *it >= 0.0).then_some(Candidate { trigger, lags_ms })
}

fn tenths(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(kind: Kind, requested_ms: f64, complete_ms: f64) -> Response {
        let half = f64::midpoint(requested_ms, complete_ms);
        Response {
            kind,
            requested_ms,
            arrived: vec![(half, 500), (complete_ms, 1000)],
            complete_ms,
        }
    }

    /// `CAUSE+DELAY`, for each response.
    fn told(all: &[Happened]) -> String {
        let word = |it: &Trigger| match it.on {
            Event::Nav => format!("nav+{}", it.delay_ms),
            Event::Bytes => format!("{}+{}", it.byte.unwrap_or_default(), it.delay_ms),
            _ => format!("#{}+{}", it.of, it.delay_ms),
        };
        causes(all, false).iter().map(word).collect::<Vec<_>>().join(",")
    }

    fn load(sheet_ms: f64) -> Happened {
        let responses = vec![
            response(Kind::Html, 0.0, 100.0),
            response(Kind::Css, 51.0, sheet_ms),
            response(Kind::Image, 102.0, 300.0),
            response(Kind::Font, sheet_ms + 3.0, 400.0),
        ];
        Happened { responses }
    }

    #[test]
    fn a_request_follows_the_last_event_that_can_be_its_cause() {
        // The image came after the whole document, the font after the stylesheet.
        assert_eq!(told(&[load(200.0)]), "nav+0,500+1,1000+2,#1+3");
    }

    #[test]
    fn a_second_log_tells_a_cause_from_a_coincidence() {
        // In the first log, the sheet came just before the image.
        assert_eq!(told(&[load(101.0)]), "nav+0,500+1,#1+1,#1+3");
        assert_eq!(told(&[load(101.0), load(250.0)]), "nav+0,500+1,1000+2,#1+3");
    }

    #[test]
    fn a_server_thinks_while_nothing_comes() {
        let mut load = load(150.0);
        load.responses[3] = response(Kind::Font, 310.0, 900.0);
        // Half of its body had arrived at 605 ms; it was requested at 310, and a round trip is 49.
        assert!((load.think_ms(3, 49.0) - 246.0).abs() < 1.0, "{}", load.think_ms(3, 49.0));
        assert!(load.think_ms(1, 49.0).abs() < 1e-9);
    }

    #[test]
    fn a_server_that_answers_nobody_thinks_about_all_of_them() {
        let asked_at_once = |place: u32| {
            let first_ms = 280.0 + f64::from(place);
            let arrived = vec![(first_ms, 500), (first_ms + 100.0, 1000)];
            Response { arrived, ..response(Kind::Image, 0.0, first_ms + 100.0) }
        };
        let mut load = Happened { responses: (0..3).map(asked_at_once).collect() };
        let thinks = [0, 1, 2].map(|it| format!("{:.0}", load.think_ms(it, 30.0)));
        assert_eq!(thinks, ["250"; 3]);
        // A pause of less than a round trip, with a response in progress, comes from congestion control.
        load.responses[1].arrived = vec![(300.0, 500), (381.0, 1000)];
        load.responses[2].requested_ms = 240.0;
        load.responses[2].arrived = vec![(297.0, 500), (382.0, 1000)];
        assert!(load.think_ms(2, 41.0).abs() < 1e-9, "{}", load.think_ms(2, 41.0));
    }
}
