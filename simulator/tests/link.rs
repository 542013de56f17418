//! A link against theory, and against itself.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times here are small and positive"
)]

use proptest::prelude::*;
use simulator::link::{
    Blackhole, CappedLoss, Cause, EcnMark, EveryNth, GilbertElliott, Jitter, Link, LinkLogEntry,
    Loss, Overtaken, OvertakenInTurn, Profile, Queue, Rate, Reorder, Trace, Verdict, Way,
};
use std::sync::Arc;

/// Bytes of the datagrams of most tests: 1 ms at the rate of [`megabyte`].
const BYTES: usize = 1000;

/// One megabyte per second, and 5 ms of delay.
fn megabyte() -> Profile {
    Profile::plain(8e6, 5.0)
}

/// Offers a datagram of [`BYTES`] at each of these times. Returns the arrivals: `1@6 2@7`, in ms.
fn arrivals(profile: &Profile, offers_ms: &[f64]) -> String {
    let mut link = Link::new(profile, Way::Down, 1);
    for (index, at_ms) in offers_ms.iter().enumerate() {
        let mut datagram = vec![0; BYTES];
        datagram[0] = u8::try_from(index + 1).expect("few");
        link.offer((at_ms * 1e6) as u64, datagram);
    }
    drain(&mut link)
        .into_iter()
        .map(|(at_ns, datagram)| format!("{}@{}", datagram[0], at_ns as f64 / 1e6))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Lets everything in flight arrive: when, and what.
fn drain(link: &mut Link) -> Vec<(u64, Vec<u8>)> {
    let mut seen = Vec::new();
    while let Some(at_ns) = link.next_ns() {
        let datagram = link.arrival(at_ns).expect("announced");
        seen.push((at_ns, datagram));
    }
    seen
}

#[test]
fn queueing_delay_is_the_time_of_what_is_before_and_delay_comes_on_top() {
    assert_eq!(arrivals(&megabyte(), &[0.0, 0.0, 0.0, 10.0]), "1@6 2@7 3@8 4@16");
    assert_eq!(arrivals(&megabyte(), &[0.0, 0.5, 1.25]), "1@6 2@7 3@8");
}

#[test]
fn a_full_queue_drops_what_comes_last_by_bytes_or_by_packets() {
    for queue in [Queue::Bytes(2500), Queue::Packets(2)] {
        let profile = Profile { queue, ..megabyte() };
        // At 1 ms the first has wholly left, and there is room again.
        assert_eq!(arrivals(&profile, &[0.0, 0.0, 0.0, 0.9, 1.0]), "1@6 2@7 5@8", "{queue:?}");
    }
}

#[test]
fn a_trace_decides_when_datagrams_leave() {
    let rate = Rate::Trace(Arc::new(Trace::parse("3\n4\n10\n").expect("a trace")));
    let profile = Profile { rate, ..megabyte() };
    // The second does not fit in what is left of the first opportunity: its rest goes with the second.
    assert_eq!(arrivals(&profile, &[0.0, 0.0, 0.0, 0.0]), "1@8 2@9 3@9 4@15");
}

#[test]
fn a_listed_datagram_is_dropped_and_has_taken_its_time_on_the_link() {
    let profile = Profile { drops: vec![2, 4], ..megabyte() };
    assert_eq!(arrivals(&profile, &[0.0; 5]), "1@6 3@8 5@10");
}

#[test]
fn nothing_arrives_in_a_blackhole_and_its_windows_come_again() {
    let blackhole = Blackhole { windows_ms: vec![[2.0, 4.0]], every_ms: Some(10.0) };
    let profile = Profile { blackhole: Some(blackhole), ..megabyte() };
    // They leave at 1, 2.5, 4, 11 and 13 ms.
    assert_eq!(arrivals(&profile, &[0.0, 1.5, 3.0, 10.0, 12.0]), "1@6 3@9 4@16");
}

#[test]
fn a_held_datagram_follows_the_later_ones_or_leaves_when_its_time_is_over() {
    let jitter = |later, at_most_ms| Profile {
        jitter: Some(Jitter::ByChance(Overtaken { share: 1.0, later: [later, later], at_most_ms })),
        ..megabyte()
    };
    // All are held for two later ones; the last two have none and leave after 50 ms.
    assert_eq!(arrivals(&jitter(2, 50.0), &[0.0; 4]), "1@8 2@9 3@58 4@59");
    assert_eq!(arrivals(&jitter(2, 1.0), &[0.0; 4]), "1@7 2@8 3@9 4@10");
}

#[test]
fn each_fourth_datagram_but_the_first_is_held_until_one_to_three_later_ones_have_gone() {
    let jitter = |later| Profile {
        jitter: Some(Jitter::InTurn(OvertakenInTurn { every: 4, later, at_most_ms: 50.0 })),
        ..megabyte()
    };
    let each_ten_ms: Vec<f64> = (0..13).map(|it| f64::from(it) * 10.0).collect();
    assert_eq!(
        arrivals(&jitter([3, 3]), &each_ten_ms),
        "1@6 2@16 3@26 4@36 5@46 6@56 7@66 9@86 10@96 11@106 8@106 13@126 12@166"
    );
    assert!(arrivals(&jitter([1, 1]), &each_ten_ms).contains("9@86 8@86 10@96"));
}

#[test]
fn each_fourth_datagram_but_the_first_is_late_as_in_the_papers_implementation() {
    let profile = Profile {
        jitter: Some(Jitter::ByNumber(EveryNth { every: 4, late_ms: [20.0, 20.0] })),
        ..megabyte()
    };
    let each_ten_ms: Vec<f64> = (0..13).map(|it| f64::from(it) * 10.0).collect();
    // The eighth arrives with the tenth, and the twelfth after all others.
    assert_eq!(
        arrivals(&profile, &each_ten_ms),
        "1@6 2@16 3@26 4@36 5@46 6@56 7@66 9@86 8@96 10@96 11@106 13@126 12@136"
    );
}

#[test]
fn reordering_duplication_and_marks_do_what_they_say() {
    let reordered = Profile { reorder: Some(Reorder { share: 1.0, by_ms: 7.0 }), ..megabyte() };
    assert_eq!(arrivals(&reordered, &[0.0, 0.0]), "1@13 2@14");
    let doubled = Profile { duplicate: 1.0, ..megabyte() };
    assert_eq!(arrivals(&doubled, &[0.0, 0.0]), "1@6 1@6 2@7 2@7");
    let marked = Profile { ecn: Some(EcnMark { above_bytes: 1500 }), ..megabyte() };
    let mut link = Link::new(&marked, Way::Down, 1).logged();
    for _ in 0..4 {
        link.offer(0, vec![0; BYTES]);
    }
    drain(&mut link);
    let marks: Vec<bool> = link
        .take_log()
        .iter()
        .map(|it| matches!(it.verdict, Verdict::Delivered { marked: true, .. }))
        .collect();
    assert_eq!(marks, [false, false, true, true]);
}

#[test]
fn corruption_changes_one_byte_and_the_log_says_so() {
    let profile = Profile { corrupt: 1.0, ..megabyte() };
    let mut link = Link::new(&profile, Way::Up, 3).logged();
    for _ in 0..100 {
        link.offer(0, vec![7; BYTES]);
    }
    for (_, datagram) in drain(&mut link) {
        assert_eq!(datagram.iter().filter(|it| **it != 7).count(), 1);
    }
    let corrupted = |verdict| matches!(verdict, Verdict::Delivered { corrupted: true, .. });
    assert!(link.take_log().iter().all(|it| corrupted(it.verdict)));
}

/// Which of `count` datagrams are lost: `..x.`.
fn losses(loss: Loss, seed: u64, count: u64) -> String {
    let profile = Profile { loss: Some(loss), ..megabyte() };
    let mut link = Link::new(&profile, Way::Down, seed).logged();
    for _ in 0..count {
        link.offer(0, vec![0; BYTES]);
    }
    drain(&mut link);
    let mut entries = link.take_log();
    entries.sort_by_key(|it| it.number);
    entries
        .iter()
        .map(|it| match it.verdict {
            Verdict::Dropped { cause: Cause::Loss } => 'x',
            _ => '.',
        })
        .collect()
}

#[test]
fn loss_lies_within_its_binomial_interval() {
    let count = 20_000;
    let bursty = GilbertElliott { good: 0.0, bad: 1.0, to_bad: 0.01, to_good: 0.25 };
    for (loss, share, widening) in [
        (Loss::Independent(0.01), 0.01, 1.0),
        (Loss::Independent(0.3), 0.3, 1.0),
        // In the bad state 1 time in 26. Runs of 4 on average: so many times fewer independent draws.
        (Loss::GilbertElliott(bursty), 1.0 / 26.0, 8.0),
    ] {
        for seed in 0..5 {
            let lost = losses(loss, seed, count).matches('x').count() as f64;
            let mean = share * count as f64;
            // 4 standard deviations: one seed in 16,000 lies beyond.
            let allowed = 4.0 * (mean * (1.0 - share) * widening).sqrt();
            assert!(
                (lost - mean).abs() < allowed,
                "{loss:?} seed {seed}: {lost}, {mean} +- {allowed}"
            );
        }
    }
}

#[test]
fn bursts_are_as_long_as_the_bad_state_and_capped_ones_no_longer_than_their_cap() {
    let bursty = GilbertElliott { good: 0.0, bad: 1.0, to_bad: 0.01, to_good: 0.25 };
    let text = losses(Loss::GilbertElliott(bursty), 1, 50_000);
    let runs: Vec<usize> = text.split('.').map(str::len).filter(|it| *it > 0).collect();
    let mean = runs.iter().sum::<usize>() as f64 / runs.len() as f64;
    assert!((3.5..4.5).contains(&mean), "{mean} over {} runs", runs.len());
    let capped = losses(Loss::Capped(CappedLoss { share: 0.8, burst_max: 3 }), 1, 10_000);
    assert!(capped.contains("xxx") && !capped.contains("xxxx"));
}

#[test]
fn one_thing_that_chance_does_leaves_the_others_as_they_were() {
    let loss = Some(Loss::Independent(0.1));
    let lossy = Profile { loss, ..megabyte() };
    let lossy_and_more = Profile {
        loss,
        corrupt: 0.5,
        duplicate: 0.2,
        reorder: Some(Reorder { share: 0.3, by_ms: 9.0 }),
        ..megabyte()
    };
    let dropped = |profile: &Profile| {
        let mut link = Link::new(profile, Way::Down, 9).logged();
        (0..2000).for_each(|_| link.offer(0, vec![0; 50]));
        let log = link.take_log();
        log.iter().map(|it| it.number).collect::<Vec<_>>()
    };
    assert_eq!(dropped(&lossy), dropped(&lossy_and_more));
    assert!(dropped(&lossy).len() > 100);
}

#[test]
fn a_busy_link_carries_its_rate_and_a_trace_carries_its_mean() {
    let each_ms = (1..=500).map(|ms| ms.to_string()).collect::<Vec<_>>().join("\n");
    let trace = Trace::parse(&each_ms).expect("a trace");
    for rate in [Rate::Constant(113e3), Rate::Constant(25e6), Rate::Trace(Arc::new(trace))] {
        let mean = rate.mean();
        let mut link = Link::new(&Profile { rate, ..Profile::plain(1e6, 0.0) }, Way::Down, 0);
        let count = 5000;
        (0..count).for_each(|_| link.offer(0, vec![0; 1350]));
        let last_ns = drain(&mut link).last().expect("arrivals").0;
        let carried = f64::from(count) * 1350.0 * 8e9 / last_ns as f64;
        assert!((carried / mean - 1.0).abs() < 0.001, "{carried} of {mean}");
    }
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let queue = prop_oneof![
        Just(Queue::Unlimited),
        (2000_u64..20_000).prop_map(Queue::Bytes),
        (1_u64..20).prop_map(Queue::Packets),
    ];
    let rate = prop_oneof![
        (1e5..1e8).prop_map(Rate::Constant),
        proptest::collection::vec(1_u64..30, 1..20).prop_map(|mut it| {
            it.sort_unstable();
            let text: String = it.iter().map(u64::to_string).collect::<Vec<_>>().join("\n");
            Rate::Trace(Arc::new(Trace::parse(&text).expect("a trace")))
        }),
    ];
    let loss = prop_oneof![
        Just(None),
        (0.0..0.9).prop_map(|it| Some(Loss::Independent(it))),
        (0.0..0.5, 0.0..0.5).prop_map(|(to_bad, to_good)| {
            Some(Loss::GilbertElliott(GilbertElliott { good: 0.01, bad: 0.8, to_bad, to_good }))
        }),
    ];
    let jitter =
        proptest::option::of((0.0..1.0).prop_map(|share| {
            Jitter::ByChance(Overtaken { share, later: [1, 3], at_most_ms: 20.0 })
        }));
    let reorder = proptest::option::of((0.0..1.0).prop_map(|share| Reorder { share, by_ms: 3.0 }));
    let delay_ms = 0.0..50.0;
    (rate, delay_ms, queue, loss, jitter, reorder, 0.0..0.5, 0.0..0.5).prop_map(
        |(rate, delay_ms, queue, loss, jitter, reorder, duplicate, corrupt)| Profile {
            rate,
            queue,
            loss,
            jitter,
            reorder,
            duplicate,
            corrupt,
            ..Profile::plain(1e6, delay_ms)
        },
    )
}

/// Datagrams as (microseconds since the one before, bytes).
fn any_offers() -> impl Strategy<Value = Vec<(u64, usize)>> {
    proptest::collection::vec((0_u64..3000, 1_usize..1600), 1..200)
}

/// Runs a link as an engine does; arrivals are taken in between. All that arrived, and the log.
fn played(
    profile: &Profile,
    seed: u64,
    offers: &[(u64, usize)],
) -> (Vec<(u64, Vec<u8>)>, Vec<LinkLogEntry>) {
    let mut link = Link::new(profile, Way::Down, seed).logged();
    let mut arrived = Vec::new();
    let mut now_ns = 0;
    for (index, (gap_us, bytes)) in offers.iter().enumerate() {
        now_ns += gap_us * 1000;
        while let Some(at_ns) = link.next_ns().filter(|it| *it <= now_ns) {
            arrived.push((at_ns, link.arrival(now_ns).expect("announced")));
        }
        link.offer(now_ns, vec![u8::try_from(index % 251).expect("small"); *bytes]);
    }
    arrived.extend(drain(&mut link));
    (arrived, link.take_log())
}

proptest! {
    #[test]
    fn every_datagram_has_one_verdict_and_no_byte_is_made_up(profile in any_profile(), seed in 0_u64..1000, offers in any_offers()) {
        let (seen, log) = played(&profile, seed, &offers);
        let mut first: Vec<u64> = log
            .iter()
            .filter(|it| !matches!(it.verdict, Verdict::Delivered { duplicate: true, .. }))
            .map(|it| it.number)
            .collect();
        first.sort_unstable();
        prop_assert_eq!(first, (1..=offers.len() as u64).collect::<Vec<_>>());
        let delivered = log.iter().filter(|it| matches!(it.verdict, Verdict::Delivered { .. }));
        prop_assert_eq!(delivered.clone().count(), seen.len());
        let bytes: u64 = delivered.map(|it| it.bytes).sum();
        prop_assert_eq!(bytes, seen.iter().map(|(_, it)| it.len() as u64).sum::<u64>());
        for entry in &log {
            if let Verdict::Delivered { at_ns, .. } = entry.verdict {
                prop_assert!(at_ns >= entry.offered_ns + (profile.delay_ms * 1e6) as u64);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_link(profile in any_profile(), seed in 0_u64..1000, offers in any_offers()) {
        prop_assert_eq!(played(&profile, seed, &offers), played(&profile, seed, &offers));
    }

    #[test]
    fn without_jitter_and_reordering_nothing_overtakes(profile in any_profile(), seed in 0_u64..1000, offers in any_offers()) {
        let profile = Profile { jitter: None, reorder: None, ..profile };
        let (seen, log) = played(&profile, seed, &offers);
        let numbers: Vec<u64> = log
            .iter()
            .filter(|it| matches!(it.verdict, Verdict::Delivered { .. }))
            .map(|it| it.number)
            .collect();
        prop_assert!(numbers.is_sorted());
        prop_assert!(seen.is_sorted_by_key(|(at_ns, _)| *at_ns));
    }

    #[test]
    fn over_no_span_does_more_arrive_than_the_rate_lets_leave(rate in 1e5..1e8, seed in 0_u64..1000, offers in any_offers()) {
        let profile = Profile { queue: Queue::Bytes(9000), ..Profile::plain(rate, 10.0) };
        let (seen, _) = played(&profile, seed, &offers);
        for from in 0..seen.len() {
            let mut bits = 0.0;
            for (at_ns, datagram) in &seen[from + 1..] {
                bits += datagram.len() as f64 * 8.0;
                let span_ns = (at_ns - seen[from].0) as f64;
                prop_assert!(bits <= rate * span_ns / 1e9 + 1e-3, "{bits} bits in {span_ns} ns");
            }
        }
    }
}
