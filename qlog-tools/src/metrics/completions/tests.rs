//! The metrics of small pages, computed by hand.

use super::*;
use crate::assembly::StreamFrame;
use crate::metrics::{BySet, CurvePoint, METRICS, completed_share, find};
use crate::timeline::RenderTimes;
use proptest::prelude::*;
use schedulers::Milestone;

/// (stream, requested ms, body bytes); headers take 10 stream bytes.
fn page(transfers: &[(u64, u64, u64)], frames: &[(u64, u64, u64, u64)]) -> Timeline {
    Timeline {
        name: "test".to_owned(),
        transfers: transfers
            .iter()
            .map(|&(stream, requested_ms, body_bytes)| Transfer {
                stream,
                url: format!("/{stream}"),
                requested_us: requested_ms * 1000,
                body_offset: 10,
                body_bytes: Some(body_bytes),
                stream_bytes: Some(body_bytes + 10),
                cancel: None,
            })
            .collect(),
        frames: frames
            .iter()
            .map(|&(time_ms, stream, offset, bytes)| StreamFrame {
                time_us: time_ms * 1000,
                stream,
                offset,
                bytes,
            })
            .collect(),
        ..Timeline::default()
    }
}

fn everything(timeline: &Timeline) -> Result<Completions, Unmeasured> {
    Completions::new(timeline, |_| true)
}

fn ms(set: &Completions, metric: &str) -> f64 {
    find(metric).unwrap().of(&Timeline::default(), Some(set), None).all.unwrap()
}

#[test]
fn the_index_weighs_completions_by_bytes() {
    // t0 = 1000 ms. A: 300 bytes, complete 250 ms after t0. B: 100 bytes, complete at 410 ms.
    let page = page(
        &[(0, 1000, 300), (4, 1100, 100)],
        &[(1050, 0, 0, 110), (1150, 4, 0, 60), (1250, 0, 110, 200), (1410, 4, 60, 50)],
    );
    let set = everything(&page).unwrap();
    // 300/400 * 250 + 100/400 * 410
    assert_eq!(ms(&set, "byte_index"), 290.0);
    // 300/400 * 300 + 100/400 * 500
    assert_eq!(ms(&set, "byte_index_sampled"), 350.0);
    // (100 * 50 + 200 * 250 + 50 * 150 + 50 * 410) / 400
    assert_eq!(ms(&set, "byte_index_progressive"), 207.5);
    // (250 + 410) / 2
    assert_eq!(ms(&set, "object_index"), 330.0);
    assert_eq!(ms(&set, "critical_ms"), 410.0);
    // Stream 4 alone, still from the page's t0.
    let alone = Completions::new(&page, |transfer| transfer.stream == 4).unwrap();
    assert_eq!(ms(&alone, "byte_index"), 410.0);
}

#[test]
fn a_completion_on_the_sample_is_seen_by_that_sample() {
    let page = page(&[(0, 0, 90)], &[(200, 0, 0, 100)]);
    assert_eq!(ms(&everything(&page).unwrap(), "byte_index_sampled"), 200.0);
}

#[test]
fn an_empty_set_has_no_index() {
    assert_eq!(everything(&Timeline::default()).unwrap_err(), Unmeasured::EmptySet);
    let page = page(&[(0, 0, 90)], &[(200, 0, 0, 100)]);
    assert_eq!(Completions::new(&page, |_| false).unwrap_err(), Unmeasured::EmptySet);
}

#[test]
fn an_empty_body_weighs_nothing() {
    let both = page(&[(0, 0, 90), (4, 0, 0)], &[(200, 0, 0, 100), (700, 4, 0, 10)]);
    assert_eq!(ms(&everything(&both).unwrap(), "byte_index"), 200.0);
    let none = page(&[(0, 0, 0)], &[(200, 0, 0, 10)]);
    assert_eq!(everything(&none).unwrap_err(), Unmeasured::NoBytes);
}

#[test]
fn an_unfinished_transfer_gives_a_reason_and_no_number() {
    let page = page(&[(0, 0, 90), (4, 0, 90)], &[(200, 0, 0, 100), (300, 4, 0, 50)]);
    let reason = everything(&page).unwrap_err();
    assert_eq!(reason.to_string(), "/4 (stream 4) did not finish: 50 of 100 stream bytes readable");
    assert!(Completions::new(&page, |transfer| transfer.stream == 0).is_ok());
}

#[test]
fn a_hole_holds_back_progressive_bytes() {
    let page = page(&[(0, 0, 90)], &[(100, 0, 0, 10), (200, 0, 50, 50), (300, 0, 10, 40)]);
    assert_eq!(ms(&everything(&page).unwrap(), "byte_index_progressive"), 300.0);
}

#[test]
fn the_curve_is_a_staircase_of_completions() {
    let page = page(
        &[(0, 0, 300), (4, 0, 100), (8, 0, 100)],
        &[(50, 4, 0, 110), (250, 0, 0, 310), (250, 8, 0, 40)],
    );
    let curve: Vec<(f64, f64)> =
        completed_share(&page, |_| true).iter().map(|point| (point.time_ms, point.share)).collect();
    assert_eq!(curve, [(0.0, 0.0), (50.0, 0.2), (250.0, 0.8)]);
    assert!(completed_share(&page, |_| false).is_empty());
}

/// Pages of up to five resources that all finish, their frames in any order.
fn finished_page() -> impl Strategy<Value = Timeline> {
    prop::collection::vec((0u64..50, 1u64..400), 1..6).prop_flat_map(|resources| {
        let transfers: Vec<(u64, u64, u64)> =
            resources.iter().zip(0u64..).map(|(&(at, bytes), n)| (n * 4, at, bytes)).collect();
        let pieces: Vec<(u64, u64)> = transfers
            .iter()
            .flat_map(|&(stream, _, bytes)| {
                (0..=(bytes + 9) / 100).map(move |piece| (stream, piece * 100))
            })
            .collect();
        (Just(transfers), Just(pieces).prop_shuffle()).prop_map(|(transfers, pieces)| {
            let frames: Vec<(u64, u64, u64, u64)> = pieces
                .iter()
                .zip(0u64..)
                .map(|(&(stream, offset), n)| {
                    let end =
                        transfers.iter().find(|transfer| transfer.0 == stream).unwrap().2 + 10;
                    (60 + n * 10, stream, offset, (end - offset).min(100))
                })
                .collect();
            page(&transfers, &frames)
        })
    })
}

fn area_above(curve: &[CurvePoint]) -> f64 {
    curve.windows(2).map(|pair| (pair[1].time_ms - pair[0].time_ms) * (1.0 - pair[0].share)).sum()
}

proptest! {
    #[test]
    fn the_three_indices_agree_as_they_must(page in finished_page()) {
        let set = everything(&page).unwrap();
        let [complete, sampled, progressive] =
            ["byte_index", "byte_index_sampled", "byte_index_progressive"].map(|it| ms(&set, it));
        prop_assert!(progressive <= complete && complete <= sampled);
        prop_assert!(sampled < complete + 100.0);
        let area = area_above(&completed_share(&page, |_| true));
        prop_assert!((area - complete).abs() < 1e-6, "{area} {complete}");
    }

    #[test]
    fn an_earlier_arrival_never_raises_an_index(page in finished_page(), which in any::<prop::sample::Index>(), earlier_us in 0u64..60_000) {
        let before = everything(&page).unwrap();
        let mut sooner = page.clone();
        let frame = which.index(sooner.frames.len());
        sooner.frames[frame].time_us -= earlier_us;
        sooner.frames.sort_by_key(|frame| frame.time_us);
        let after = everything(&sooner).unwrap();
        for metric in METRICS.iter().filter(|it| !it.is_of_page()) {
            prop_assert!(ms(&after, metric.name) <= ms(&before, metric.name), "{}", metric.name);
        }
    }
}

#[test]
fn what_a_user_saw_counts_from_the_first_request_and_for_both_sets() {
    let mut page = page(&[(0, 1000, 300)], &[(1050, 0, 0, 310)]);
    let value = |page: &Timeline, name: &str| find(name).unwrap().of(page, None, None);
    assert_eq!(value(&page, "load"), BySet::default());
    let milestones = [
        (1100, Milestone::FirstRender),
        (1100, Milestone::Region { weight: 300, of: 400 }),
        (1250, Milestone::DomContentLoaded),
        (1400, Milestone::HeroRender),
    ];
    page.renders.push(RenderTimes::default());
    for (time_ms, milestone) in milestones {
        page.renders[0].reached(time_ms * 1000, milestone);
    }
    assert_eq!(value(&page, "first_render"), BySet { all: Some(100.0), atf: Some(100.0) });
    assert_eq!(value(&page, "dom_content_loaded").all, Some(250.0));
    assert_eq!(value(&page, "hero_render").all, Some(400.0));
    assert_eq!(value(&page, "speed_index").all, None, "a region is missing");
    page.renders[0].reached(1_400_000, Milestone::Region { weight: 100, of: 400 });
    // 300/400 * 100 + 100/400 * 400
    assert_eq!(value(&page, "speed_index").all, Some(175.0));
}
