//! Generated pages: the agreement of their shape with published numbers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]

use corpus::discovery::depth;
use corpus::generate::{Profile, Shape, ShapeError, generate};
use corpus::page::Event;
use corpus::{Page, check};
use proptest::prelude::*;
use schedulers::Kind;

fn bytes_of(page: &Page, kind: Kind) -> u64 {
    page.resources.iter().filter(|it| it.kind == kind).map(|it| it.bytes).sum()
}

fn total(page: &Page) -> u64 {
    page.resources.iter().map(|it| it.bytes).sum()
}

/// The value at each percentile (10, 25, 50, 75, 90) of 1000 pages.
fn percentiles(profile: Profile, of: fn(&Page) -> u64) -> [u64; 5] {
    let mut values: Vec<u64> = (0..1000)
        .map(|seed| of(&generate(&Shape { profile, ..Shape::new(seed) }).unwrap()))
        .collect();
    values.sort_unstable();
    [100, 250, 500, 750, 900].map(|rank| values[rank])
}

fn assert_near(found: [u64; 5], published: [u64; 5], tolerance: f64) {
    for (found, published) in found.into_iter().zip(published) {
        let ratio = found as f64 / published as f64;
        let near = (1.0 - tolerance..1.0 + tolerance).contains(&ratio);
        assert!(near, "{found} is not within {tolerance} of {published}");
    }
}

#[test]
fn requests_spread_like_those_of_the_web() {
    let found = percentiles(Profile::Web2024, |page| page.resources.len() as u64);
    assert_near(found, [24, 42, 71, 115, 176], 0.12);
}

#[test]
fn scripts_and_stylesheets_spread_like_those_of_the_web() {
    let scripts = percentiles(Profile::Web2024, |page| bytes_of(page, Kind::Js));
    assert_near(scripts, [101_000, 270_000, 620_000, 1_172_000, 1_834_000], 0.15);
    let sheets = percentiles(Profile::Web2024, |page| bytes_of(page, Kind::Css));
    assert_near(sheets, [10_000, 36_000, 80_000, 152_000, 269_000], 0.15);
}

#[test]
fn the_median_page_of_the_web_has_its_bytes() {
    let found = percentiles(Profile::Web2024, total)[2];
    // Published for all kinds together: 2 652 000; the medians of the kinds sum to 1 894 000.
    assert!((1_800_000..2_900_000).contains(&found), "{found}");
}

#[test]
fn pages_of_the_papers_range_stay_in_it() {
    for seed in 0..200 {
        let page = generate(&Shape { profile: Profile::Paper2019, ..Shape::new(seed) }).unwrap();
        assert!((10..=214).contains(&page.resources.len()));
        assert!((29_000..=7_400_000).contains(&total(&page)), "{}", total(&page));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let text = |seed| generate(&Shape::new(seed)).unwrap().to_text();
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
    // A change of this digest is a change of all generated pages.
    let digest = corpus::sha256_hex(text(7).as_bytes());
    assert_eq!(digest, "d8f7f6115146355120d48609dbebd1672c30692dde0bee83ac4fa4e4701638b3");
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let of = |change: fn(&mut Shape)| {
        let mut shape = Shape::new(1);
        change(&mut shape);
        generate(&shape).unwrap_err()
    };
    assert_eq!(of(|it| it.resources = Some(2)), ShapeError::Resources(2));
    assert_eq!(of(|it| it.bytes = Some(10)), ShapeError::Bytes(10));
    assert_eq!(of(|it| it.depth = 0), ShapeError::Depth(0));
    assert_eq!(of(|it| it.late_share = 1.5), ShapeError::LateShare(1.5));
    assert_eq!(of(|it| it.depth = 1), ShapeError::LateShare(0.2));
    assert_eq!(ShapeError::Resources(2).to_string(), "2 resources: use 3 to 5000");
}

proptest! {
    #[test]
    fn every_generated_page_is_sound_and_as_its_shape_says(
        seed in any::<u64>(), resources in 3_usize..300, deep in 1_usize..8,
        late in 0.0_f64..1.0, sized in proptest::option::of(30_000_u64..9_000_000), paper in any::<bool>()
    ) {
        let profile = if paper { Profile::Paper2019 } else { Profile::Web2024 };
        let late_share = if deep == 1 { 0.0 } else { late };
        let shape = Shape { seed, profile, resources: Some(resources), bytes: sized, depth: deep, late_share };
        let page = generate(&shape).unwrap();
        prop_assert_eq!(check(&page), []);
        prop_assert_eq!(page.resources.len(), resources);
        if let Some(bytes) = sized {
            prop_assert_eq!(total(&page), bytes);
        }
        let in_text = page.resources.iter().filter(|it| it.trigger.on == Event::Bytes).count();
        let wanted_late = ((resources - 1) as f64 * late_share).round() as usize;
        // One stylesheet always stays in the text.
        prop_assert_eq!(resources - 1 - in_text, wanted_late.min(resources - 2));
        prop_assert!(depth(&page) <= deep, "{} {}", depth(&page), deep);
        let scripts = page.resources.iter().filter(|it| it.kind == Kind::Js).count();
        if scripts >= deep && wanted_late >= deep {
            prop_assert_eq!(depth(&page), deep);
        }
    }
}
