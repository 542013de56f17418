use super::*;
use crate::study::compute::summary::summarise_weighted;
use qlog_tools::metrics::{Measured, byte_index};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn run(page: &str, scheme: &str, seed: u64, atf: f64) -> RunRecord {
    RunRecord {
        page: page.into(),
        scheme: scheme.into(),
        seed,
        completed: true,
        metrics: [("byte_index", BySet { all: None, atf: Some(atf) })].into_iter().collect(),
        ..RunRecord::default()
    }
}

/// The site of a page that is named by a digit: `s` from "6" on.
fn site_of(page: &str) -> &str {
    if page < "6" { page } else { "s" }
}

fn pages<'a>() -> Pages<'a> {
    Pages::new(site_of, |_| 1.0)
}

/// Loads of each page under each scheme, from the scheme's index on each.
fn runs(schemes: &[(&str, [f64; 8])]) -> Vec<RunRecord> {
    let of = |(scheme, indices): &(&str, [f64; 8])| {
        let pages = indices.iter().enumerate();
        pages.map(|(page, atf)| run(&page.to_string(), scheme, 0, *atf)).collect::<Vec<_>>()
    };
    schemes.iter().flat_map(of).collect()
}

fn near(one: Option<f64>, other: f64) {
    assert!(one.is_some_and(|it| (it - other).abs() < 1e-9), "{one:?}, not {other}");
}

#[test]
fn a_pair_is_a_site_whose_pages_count_as_their_geometric_mean() {
    // Six sites of one page are twice as fast; of the seventh, one page is 8 times as fast and one half as fast.
    let runs = runs(&[
        ("rr", [200.0, 200.0, 200.0, 200.0, 200.0, 200.0, 800.0, 100.0]),
        ("fifo", [100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 200.0]),
    ]);
    let rows = compare(&runs, byte_index(), "rr", &pages());
    assert_eq!(rows.len(), 1, "the baseline is not compared with itself");
    let row = &rows[0];
    assert_eq!((&*row.scheme, &*row.baseline, row.pages, row.sites), ("fifo", "rr", 8, 7));
    assert_eq!((row.pairs_of, row.pairs.atf), (Unit::Sites, Some(7)));
    assert_eq!((row.wins.atf, row.ties.atf, row.losses.atf), (Some(7), Some(0), Some(0)));
    near(row.geometric_mean_ratio.atf, 2.0);
    near(row.hodges_lehmann_ratio.atf, 2.0);
    // One of the 2 ^ 7 ways to give signs, in either direction.
    assert_eq!(row.wilcoxon_p.atf, Some(2.0 / 128.0));
    assert_eq!((row.wilcoxon_method.atf, row.holm_p.atf), (Some(Method::Exact), Some(2.0 / 128.0)));
    assert_eq!((row.rank_biserial.atf, row.winner.atf.as_deref()), (Some(1.0), Some("fifo")));
    assert_eq!((row.pairs.all, row.geometric_mean_ratio.all), (None, None));
}

#[test]
fn two_schemes_that_are_exchanged_give_the_reciprocal_and_the_same_p() {
    let runs = runs(&[
        ("fifo", [100.0, 90.0, 80.0, 70.0, 110.0, 100.0, 100.0, 95.0]),
        ("dfifo", [95.0, 70.0, 85.0, 60.0, 100.0, 100.0, 70.0, 90.0]),
    ]);
    let of = |baseline| compare(&runs, byte_index(), baseline, &pages()).remove(0);
    let (one, other) = (of("fifo"), of("dfifo"));
    assert_eq!((&*one.scheme, &*other.scheme), ("dfifo", "fifo"));
    let reciprocal = |of: fn(&ComparisonRow) -> Option<f64>| {
        near(of(&one), 1.0 / of(&other).expect("known"));
    };
    reciprocal(|it| it.geometric_mean_ratio.atf);
    reciprocal(|it| it.hodges_lehmann_ratio.atf);
    let ends = |it: &ComparisonRow| it.geometric_mean_ratio_interval.atf.expect("seven sites");
    near(Some(ends(&one)[0]), 1.0 / ends(&other)[1]);
    near(Some(ends(&one)[1]), 1.0 / ends(&other)[0]);
    assert_eq!(one.wilcoxon_p, other.wilcoxon_p);
    assert_eq!(one.rank_biserial.atf, other.rank_biserial.atf.map(|it| -it));
    let counts = |it: &ComparisonRow| (it.wins.atf, it.ties.atf, it.losses.atf);
    assert_eq!(counts(&one), (Some(5), Some(1), Some(1)));
    assert_eq!(counts(&other), (Some(1), Some(1), Some(5)));
}

#[test]
fn a_scheme_under_two_names_is_one_test_and_the_baseline_under_another_name_is_none() {
    let half = [50.0; 8];
    let schemes = [("rr", [100.0; 8]), ("a", half), ("b", half), ("c", half), ("rr2", [100.0; 8])];
    let runs = runs(&schemes);
    let twins = [("b", "a"), ("rr2", "rr")].map(|(one, other)| (one.to_owned(), other.to_owned()));
    let rows = compare(&runs, byte_index(), "rr", &Pages { twins: twins.into(), ..pages() });
    let [a, b, c, baseline] = &rows[..] else { panic!("{} rows", rows.len()) };
    for row in [a, b, c] {
        assert_eq!(row.holm_p.atf, Some(2.0 * 2.0 / 128.0), "of the tests of a and c");
        assert_eq!(row.winner.atf.as_deref(), Some(&*row.scheme));
    }
    assert_eq!((baseline.holm_p.atf, baseline.winner.atf.as_ref()), (Some(1.0), None));
}

#[test]
fn p_is_adjusted_for_the_schemes_of_its_setting_and_a_winner_needs_it() {
    let half = [50.0; 8];
    let schemes = [("rr", [100.0; 8]), ("a", half), ("b", half), ("c", half), ("rr2", [100.0; 8])];
    let of = |count: usize| compare(&runs(&schemes[..count]), byte_index(), "rr", &pages());
    let three = of(4);
    assert!(three.iter().all(|it| it.holm_p.atf == Some(3.0 * 2.0 / 128.0)));
    assert!(three.iter().all(|it| it.winner.atf.as_deref() == Some(&*it.scheme)));
    // With a fourth, 4 / 64 is not below 5 %. Ties alone have a p of 1.
    let four = of(5);
    assert_eq!(four[0].holm_p.atf, Some(4.0 * 2.0 / 128.0));
    assert!(four.iter().all(|it| it.winner.atf.is_none()));
    assert_eq!((four[3].ties.atf, four[3].wilcoxon_p.atf), (Some(7), Some(1.0)));
    assert_eq!(four[3].geometric_mean_ratio_interval.atf, Some([1.0, 1.0]));
}

#[test]
fn other_settings_are_another_family() {
    let on = |network: &str, runs: Vec<RunRecord>| {
        let setting = Setting { network: network.into(), ..Setting::default() };
        runs.into_iter().map(move |it| RunRecord { setting: setting.clone(), ..it })
    };
    let two = [("rr", [100.0; 8]), ("a", [50.0; 8]), ("b", [50.0; 8])];
    let runs: Vec<RunRecord> = on("3g", runs(&two)).chain(on("lte", runs(&two[..2]))).collect();
    let rows = compare(&runs, byte_index(), "rr", &pages());
    let holm: Vec<_> = rows.iter().map(|it| (&*it.setting.network, it.holm_p.atf)).collect();
    let p = 2.0 / 128.0;
    assert_eq!(holm, [("3g", Some(2.0 * p)), ("3g", Some(2.0 * p)), ("lte", Some(p))]);
}

#[test]
fn fewer_than_six_sites_have_no_test_no_interval_and_no_winner() {
    let mut few = runs(&[("rr", [100.0; 8]), ("fifo", [50.0; 8])]);
    few.retain(|it| !["0", "1"].contains(&&*it.page));
    let row = compare(&few, byte_index(), "rr", &pages()).remove(0);
    assert_eq!((row.pages, row.sites, row.wins.atf), (6, 5, Some(5)));
    near(row.geometric_mean_ratio.atf, 2.0);
    assert_eq!((row.wilcoxon_p.atf, row.holm_p.atf, row.rank_biserial.atf), (None, None, None));
    assert_eq!((row.geometric_mean_ratio_interval.atf, row.winner.atf), (None, None));
}

#[test]
fn the_pairs_of_one_page_are_its_loads_and_those_without_chance_count_once() {
    let loads = |of: fn(u64) -> f64| -> Vec<RunRecord> {
        (0..9)
            .flat_map(|seed| [run("0", "rr", seed, 100.0 + of(seed)), run("0", "fifo", seed, 80.0)])
            .collect()
    };
    let random = compare(&loads(|seed| seed as f64), byte_index(), "rr", &pages()).remove(0);
    assert_eq!((random.pairs_of, random.pairs.atf), (Unit::Loads, Some(9)));
    assert_eq!(
        (random.wilcoxon_p.atf, random.winner.atf.as_deref()),
        (Some(2.0 / 512.0), Some("fifo"))
    );
    let microseconds = compare(&loads(|seed| 1e-4 * seed as f64), byte_index(), "rr", &pages());
    assert_eq!((microseconds[0].pairs.atf, microseconds[0].wilcoxon_p.atf), (Some(1), None));
    let certain = compare(&loads(|_| 0.0), byte_index(), "rr", &pages()).remove(0);
    assert_eq!((certain.pairs.atf, certain.wins.atf), (Some(1), Some(1)));
    near(certain.geometric_mean_ratio.atf, 1.25);
    assert_eq!((certain.wilcoxon_p.atf, certain.geometric_mean_ratio_interval.atf), (None, None));
}

#[test]
fn a_rare_load_stays_rare() {
    // Two of forty loads lost a packet that mattered.
    let rare = |seed: u64| if seed % 20 == 7 { 160.0 } else { 80.0 };
    let runs: Vec<RunRecord> = (0..40)
        .flat_map(|seed| [run("0", "rr", seed, 100.0), run("0", "fifo", seed, rare(seed))])
        .collect();
    let row = compare(&runs, byte_index(), "rr", &pages()).remove(0);
    assert_eq!((row.pairs.atf, row.wins.atf, row.losses.atf), (Some(40), Some(38), Some(2)));
    near(row.geometric_mean_ratio.atf, (1.25_f64.powi(38) * 0.625_f64.powi(2)).powf(1.0 / 40.0));
    assert_eq!(row.winner.atf.as_deref(), Some("fifo"));
}

#[test]
fn a_winner_by_ranks_whose_interval_contains_1_is_not_named() {
    // Nineteen sites gain 1 %, and one is 10,000 times slower.
    let many = |scheme: &str, of: fn(u32) -> f64| -> Vec<RunRecord> {
        (0..20).map(|it| run(&format!("{it:02}"), scheme, 0, of(it))).collect()
    };
    let runs = [many("rr", |_| 101.0), many("fifo", |it| if it == 0 { 1e6 } else { 100.0 })];
    let runs = runs.concat();
    let pages = Pages::new(|it| it, |_: &str| 1.0);
    let row = compare(&runs, byte_index(), "rr", &pages).remove(0);
    assert!(row.holm_p.atf.is_some_and(|it| it < 0.05) && row.rank_biserial.atf > Some(0.0));
    let [low, high] = row.geometric_mean_ratio_interval.atf.expect("twenty sites");
    assert!(low < 1.0 && 1.0 < high, "{low} to {high}");
    assert_eq!(row.winner.atf, None);
}

#[test]
fn a_page_without_weight_counts_in_no_pair() {
    let runs = runs(&[("rr", [100.0; 8]), ("fifo", [50.0; 8])]);
    let weight_of = |page: &str| if page == "0" { 0.0 } else { 0.5 };
    let row = compare(&runs, byte_index(), "rr", &Pages::new(site_of, weight_of)).remove(0);
    assert_eq!((row.pages, row.sites, row.pairs.atf), (7, 6, Some(6)));
}

#[test]
fn where_seeds_decide_nothing_nine_loads_are_one_without_p_interval_and_winner() {
    let runs: Vec<RunRecord> = (0..9)
        .flat_map(|seed| {
            let packet_numbers = 0.01 * seed as f64;
            [run("0", "rr", seed, 110.0 + packet_numbers), run("0", "fifo", seed, 100.0)]
        })
        .collect();
    let chance = compare(&runs, byte_index(), "rr", &pages()).remove(0);
    assert_eq!((chance.pairs.atf, chance.winner.atf.as_deref()), (Some(9), Some("fifo")));
    let pages = Pages { certain: [Setting::default()].into(), ..pages() };
    let row = compare(&runs, byte_index(), "rr", &pages).remove(0);
    assert_eq!((row.pairs_of, row.pairs.atf, row.wins.atf), (Unit::Loads, Some(1), Some(1)));
    assert_eq!((row.wilcoxon_p.atf, row.holm_p.atf, row.winner.atf), (None, None, None));
    assert_eq!(row.geometric_mean_ratio_interval.atf, None);
    assert_eq!(row.geometric_mean_ratio.atf, chance.geometric_mean_ratio.atf);
}

#[test]
fn the_summary_has_the_geometric_mean_of_the_comparisons() {
    let runs: Vec<RunRecord> = (0..8_u32)
        .flat_map(|page| {
            (0..3).flat_map(move |seed| {
                let atf = 100.0 + f64::from(page) * 7.0 + 40.0 * seed as f64;
                let name = page.to_string();
                [run(&name, "rr", seed, 150.0), run(&name, "fifo", seed, atf)]
            })
        })
        .collect();
    let row = compare(&runs, byte_index(), "rr", &pages()).remove(0);
    let summary = summarise_weighted(&runs, byte_index(), "rr", &pages()).remove(1);
    assert_eq!(summary.geometric_mean_speedup, row.geometric_mean_ratio);
    assert_eq!(summary.geometric_mean_speedup_interval, row.geometric_mean_ratio_interval);
    assert!(summary.mean_speedup.atf > summary.geometric_mean_speedup.atf);
}

#[test]
fn pages_without_the_metric_count_nowhere() {
    let mut runs = runs(&[("rr", [100.0; 8]), ("fifo", [50.0; 8])]);
    for run in runs.iter_mut().filter(|it| ["0", "6"].contains(&&*it.page)) {
        run.metrics = Measured::default();
    }
    let row = compare(&runs, byte_index(), "rr", &pages()).remove(0);
    assert_eq!((row.pages, row.sites, row.pairs.atf), (6, 6, Some(6)));
    assert_eq!((row.ratio_pages.atf, row.ratio_pages.all), (Some(6), None));
    let summary = summarise_weighted(&runs, byte_index(), "rr", &pages()).remove(1);
    assert_eq!((summary.pages, summary.sites), (6, 6));
    assert_eq!((summary.speedup_pages.atf, summary.speedup_sites.atf), (Some(6), Some(6)));
    assert_eq!(summary.speedup_pages.all, None);
}

/// Whether one of eleven equal schemes, whose gains vary by site, seems worse than the best.
fn seems_worse(seed: u64) -> bool {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let gains: Vec<[f64; 25]> =
        (0..11).map(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0))).collect();
    let sum = |it: &usize| gains[*it].iter().sum::<f64>();
    let best = (0..11).max_by(|one, other| sum(one).total_cmp(&sum(other))).expect("eleven");
    let are_behind = are_behind(best, 11, |one, over| {
        let sites = gains[one].iter().zip(&gains[over]);
        sites.map(|(one, over)| vec![(one - over, 1.0)]).collect()
    });
    are_behind.contains(&Some(true))
}

#[test]
fn of_equal_schemes_at_most_5_of_100_studies_have_one_that_seems_worse_than_the_best() {
    let seeds: Vec<u64> = (0..200).collect();
    let found = seeds.par_iter().filter(|it| seems_worse(**it)).count();
    assert!(found <= 10, "{found} of 200");
}
