//! What RFC 9218 requires of a scheduler, rule by rule, by section.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

use schedulers::{Resource, Scheduler, Signal, StreamId, find_scheme};

/// A connection whose client signalled for each response: stream, urgency, incremental. All are ready.
fn signalled(responses: &[(u64, u8, bool)]) -> Scheduler {
    let mut scheduler = Scheduler::new(&find_scheme("rfc9218").unwrap());
    for (id, urgency, incremental) in responses {
        open(&mut scheduler, *id);
        signal(&mut scheduler, *id, *urgency, *incremental);
    }
    scheduler
}

fn open(scheduler: &mut Scheduler, id: u64) {
    scheduler.open(StreamId(id), &Resource::default());
    scheduler.set_ready(StreamId(id), true);
}

fn signal(scheduler: &mut Scheduler, id: u64, urgency: u8, incremental: bool) {
    scheduler.signal(Signal::Extensible { stream: StreamId(id), urgency, incremental });
}

/// The streams of the next packets; each response has two.
fn order(scheduler: &mut Scheduler) -> String {
    let mut sent = std::collections::BTreeMap::new();
    let mut order = String::new();
    while let Some(stream) = scheduler.pick() {
        scheduler.sent(stream, 1400);
        order += &stream.0.to_string();
        let packets = sent.entry(stream).or_insert(0);
        *packets += 1;
        if *packets == 2 {
            scheduler.close(stream);
        }
    }
    order
}

#[test]
fn section_4_1_a_response_without_a_signal_has_urgency_3() {
    let mut scheduler = signalled(&[(1, 4, false), (2, 2, false)]);
    open(&mut scheduler, 0);
    assert_eq!(order(&mut scheduler), "220011");
}

#[test]
fn section_4_2_a_response_without_a_signal_is_not_incremental() {
    let mut scheduler = signalled(&[]);
    open(&mut scheduler, 0);
    open(&mut scheduler, 1);
    assert_eq!(order(&mut scheduler), "0011");
}

#[test]
fn section_7_the_most_recent_update_before_the_request_counts() {
    let mut scheduler = signalled(&[(0, 3, false)]);
    signal(&mut scheduler, 1, 7, false);
    signal(&mut scheduler, 1, 1, false);
    open(&mut scheduler, 1);
    assert_eq!(order(&mut scheduler), "1100");
}

#[test]
fn section_7_an_update_during_the_response_counts_at_once() {
    let mut scheduler = signalled(&[(0, 3, false), (1, 3, false)]);
    assert_eq!(scheduler.pick(), Some(StreamId(0)));
    signal(&mut scheduler, 1, 2, false);
    assert_eq!(scheduler.pick(), Some(StreamId(1)));
}

#[test]
fn section_10_a_lower_urgency_goes_first() {
    let mut scheduler = signalled(&[(0, 7, false), (1, 3, true), (2, 0, false), (3, 5, true)]);
    assert_eq!(order(&mut scheduler), "22113300");
}

#[test]
fn section_10_of_one_urgency_the_lowest_stream_goes_first_whole() {
    let mut scheduler = signalled(&[(2, 3, false), (0, 3, false), (1, 3, false)]);
    assert_eq!(order(&mut scheduler), "001122");
}

#[test]
fn section_10_incremental_responses_of_one_urgency_share() {
    let mut scheduler = signalled(&[(0, 3, true), (1, 3, true), (2, 3, true)]);
    assert_eq!(order(&mut scheduler), "012012");
}

#[test]
fn section_10_bandwidth_is_not_kept_for_who_has_nothing_to_send() {
    let mut scheduler = signalled(&[(0, 0, false), (1, 7, false)]);
    scheduler.set_ready(StreamId(0), false);
    assert_eq!(scheduler.pick(), Some(StreamId(1)));
}

#[test]
fn section_10_a_guard_avoids_starvation() {
    let mut scheduler = Scheduler::new(&find_scheme("rfc9218@guard:4").unwrap());
    for (id, incremental) in [(0, false), (1, true)] {
        open(&mut scheduler, id);
        signal(&mut scheduler, id, 3, incremental);
    }
    let packet = |_| {
        let picked = scheduler.pick().unwrap();
        scheduler.sent(picked, 1400);
        picked.0.to_string()
    };
    assert_eq!((0..12).map(packet).collect::<String>(), "000100010001");
}
