//! The sentences where loads did not finish, and where loads cannot tell.

use super::*;
use crate::study::scheme_rows;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Which loads do not finish: by scheme, page and network.
type Lost = fn(&str, usize, &str) -> bool;

/// The planted study without the loads that are lost.
fn planted_without(
    (pages, networks): (usize, &[&str]),
    schemes: &[&str],
    ratio: Ratio,
    is_lost: Lost,
) -> (Plan, Study) {
    let (plan, study) = planted(pages, networks, schemes, ratio);
    let mut runs = study.runs;
    for run in &mut runs {
        let place = plan.pages.iter().position(|it| it.name == run.page).expect("a page");
        if is_lost(&run.scheme, place, &run.setting.network) {
            run.completed = false;
            run.metrics = std::iter::empty::<(&str, _)>().collect();
            let problem = "the connection timed out".to_owned();
            run.unfinished = Some(Unfinished { problem, qlog: None, of_scheme: false });
        }
    }
    let study = Study::new(&plan, serde_json::json!({}), runs, Vec::new());
    (plan, study)
}

fn said((plan, study): &(Plan, Study)) -> Vec<String> {
    answer(plan, study)
}

const FAST: Ratio = |scheme, place, _| if scheme == "dfifo" { about(1.25, place) } else { 1.0 };
const ONE: (usize, &[&str]) = (14, &["cable"]);
const TWO: [&str; 2] = ["rfc9218", "dfifo"];

#[test]
fn a_winner_whose_lost_loads_could_turn_the_test_is_not_named() {
    let half = planted_without(ONE, &TWO, FAST, |scheme, place, _| scheme == "dfifo" && place < 7);
    assert_eq!(
        said(&half),
        [
            "7 of 28 loads did not finish (7 of 14 under dfifo on cable): what follows is about the others, and compares two \
             schemes over the loads that finished under both.",
            "dfifo is not shown to be better or worse than rfc9218 on cable, because the loads that did not finish could turn the \
             test: the ratio is 1.25 (1.19 to 1.31); 7 sites.",
        ]
    );
    let row = &half.1.comparisons[0];
    assert_eq!((row.winner.atf.as_ref(), row.holm_p.atf), (None, Some(2.0 / 128.0)));
    assert_eq!(row.verdict(Set::Atf), Verdict::Doubtful);
}

#[test]
fn a_winner_that_few_lost_loads_cannot_turn_is_named_after_their_number() {
    let one = planted_without(ONE, &TWO, FAST, |scheme, place, _| scheme == "dfifo" && place == 3);
    let sentences = said(&one);
    assert!(
        sentences[0].starts_with("1 of 28 loads did not finish (1 of 14 under dfifo on cable): ")
    );
    assert!(sentences[1].starts_with("dfifo is better than rfc9218 on cable: "), "{sentences:?}");
    // The baseline's speak for the scheme.
    let others =
        planted_without(ONE, &TWO, FAST, |scheme, place, _| scheme == "rfc9218" && place < 7);
    assert!(said(&others)[1].starts_with("dfifo is better than rfc9218 on cable: "));
}

#[test]
fn what_is_alike_where_both_finished_is_not_said_to_be_alike() {
    let balanced: Ratio = |scheme, place, _| match (scheme, place % 2) {
        ("dfifo", 0) => 1.001,
        ("dfifo", _) => 1.0 / 1.001,
        _ => 1.0,
    };
    let whole = planted_without(ONE, &TWO, balanced, |_, _, _| false);
    assert!(said(&whole)[0].starts_with("dfifo is within 2 % of rfc9218 on cable: "));
    let lost = planted_without((15, &["cable"]), &TWO, balanced, |scheme, place, _| {
        scheme == "dfifo" && place == 0
    });
    assert!(said(&lost)[1].contains("because the loads that did not finish could turn the test"));
}

#[test]
fn a_difference_between_settings_that_lost_loads_could_turn_is_not_said() {
    let ratio: Ratio = |scheme, place, network| match (scheme, network) {
        ("dfifo", "3g") => about(1.4, place),
        ("dfifo", _) => about(1.2, place),
        _ => 1.0,
    };
    let networks: (usize, &[&str]) = (14, &NETWORKS);
    let differs = |is_lost: Lost| {
        let (_, study) = planted_without(networks, &TWO, ratio, is_lost);
        study.interactions[0].differs.atf
    };
    assert_eq!(differs(|_, _, _| false), Some(true));
    assert_eq!(differs(|scheme, place, _| scheme == "dfifo" && place == 0), Some(true));
    let many: Lost = |scheme, place, network| scheme == "dfifo" && network == "3g" && place < 7;
    assert_eq!(differs(many), Some(false));
}

#[test]
fn a_scheme_or_a_baseline_without_a_finished_load_is_not_compared_and_that_is_said() {
    let three = ["rfc9218", "dfifo", "fifo"];
    let networks: (usize, &[&str]) = (14, &NETWORKS);
    let of_scheme = planted_without(networks, &three, FAST, |scheme, _, _| scheme == "fifo");
    assert_eq!(
        said(&of_scheme)[2],
        "fifo is not compared on any network, because no load finished under both it and rfc9218."
    );
    let row = scheme_rows(&of_scheme.0, &of_scheme.1).into_iter().find(|it| it.scheme == "fifo");
    assert_eq!(row.expect("a row").atf.verdict, "unfinished");
    let on_cable = planted_without(networks, &TWO, FAST, |scheme, _, network| {
        scheme == "rfc9218" && network == "cable"
    });
    assert_eq!(
        said(&on_cable)[1],
        "dfifo is better than rfc9218 on 3g: the ratio is 1.25 (1.22 to 1.28); it is not compared on cable, because no load \
         finished under both it and rfc9218; 14 sites."
    );
    let baseline = planted_without(ONE, &TWO, FAST, |scheme, _, _| scheme == "rfc9218");
    assert_eq!(
        said(&baseline)[1],
        "No load of rfc9218, the baseline, finished, so nothing is compared: name another with --baseline."
    );
    let nothing = planted_without(ONE, &TWO, FAST, |_, _, _| true);
    assert_eq!(
        said(&nothing),
        [
            "No load finished, so nothing is known (page page0 under rfc9218: the connection timed out)."
        ]
    );
    assert_eq!(nothing.1.main_set(), Set::Atf, "the question stays what it was");
}

#[test]
fn a_table_shows_means_of_the_same_loads_side_by_side() {
    // The pages that dfifo does not finish take ten times as long.
    let slow: Ratio = |_, place, _| if place < 7 { 0.1 } else { 1.0 };
    let (plan, study) =
        planted_without(ONE, &TWO, slow, |scheme, place, _| scheme == "dfifo" && place < 7);
    let values: Vec<Option<f64>> =
        scheme_rows(&plan, &study).iter().map(|it| it.atf.value).collect();
    assert_eq!(values, [Some(1000.0); 2]);
    let own: Vec<Option<f64>> = study.summary.iter().map(|it| it.mean.byte_index().atf).collect();
    assert_eq!(own, [Some(5500.0), Some(1000.0)], "summary.csv counts the pages of each");
}

#[test]
fn a_scheme_with_fewer_pages_than_others_has_too_few_alone() {
    let schemes = ["rfc9218", "dfifo", "fifo", "srpt", "wrr", "rr"];
    let ratio: Ratio = |scheme, place, _| match scheme {
        "dfifo" => about(1.3, place),
        "fifo" => about(0.999, place),
        "srpt" => about(0.997, place + 1),
        "wrr" => about(1.002, place + 2),
        "rr" => about(1.001, place + 3),
        _ => 1.0,
    };
    let sentences = said(&planted_without(ONE, &schemes, ratio, |scheme, place, _| {
        scheme == "fifo" && place > 6
    }));
    let last = sentences.last().expect("sentences");
    let expected = "fifo has too few sites to name a winner among that many schemes: the adjusted test needs at least 8.";
    assert_eq!(last, expected);
}

#[test]
fn of_six_sites_that_are_all_equal_nothing_says_that_others_are() {
    // The true ratio is 1.13: 1.5 on three of ten sites, and exactly 1 on the others.
    let named = (0..40).filter(|seed| {
        let mut random = ChaCha8Rng::seed_from_u64(*seed);
        let (plan, study) = planted(6, &["cable"], &TWO, |_, _, _| 1.0);
        let mut runs = study.runs;
        for run in runs.iter_mut().filter(|it| it.scheme == "dfifo") {
            let ratio = if random.random_range(0.0..1.0) < 0.3 { 1.5 } else { 1.0 };
            run.metrics = [("byte_index", BySet { all: None, atf: Some(1000.0 / ratio) })]
                .into_iter()
                .collect();
        }
        let study = Study::new(&plan, serde_json::json!({}), runs, Vec::new());
        study.comparisons[0].verdict(Set::Atf) == Verdict::Equivalent
    });
    assert_eq!(named.count(), 0, "at most 2 of 40");
    let equal = |pages| {
        let (plan, study) = planted(pages, &["cable"], &TWO, |_, _, _| 1.0);
        let mut runs = study.runs;
        // Loads that differ in nothing would be of one scheme under two names.
        for run in runs.iter_mut().filter(|it| it.scheme == "dfifo") {
            let index = BySet { all: None, atf: Some(1000.0) };
            let load = BySet::of_page(Some(2000.0));
            run.metrics = [("byte_index", index), ("load", load)].into_iter().collect();
        }
        let study = Study::new(&plan, serde_json::json!({}), runs, Vec::new());
        said(&(plan, study))
    };
    for pages in [6, 25] {
        let sentences = equal(pages);
        assert!(
            sentences[0].starts_with("dfifo is not shown to be better or worse"),
            "{sentences:?}"
        );
        assert_eq!(
            sentences[1],
            "Whether dfifo and rfc9218 are alike cannot be told: that takes at least 14 sites that are not all equal."
        );
    }
}

/// A study of one page on `stack` with nine seeds; `ratio` of `dfifo` by setting and seed.
fn of_one_page(networks: &[&str], ratio: fn(&str, u64) -> f64) -> (Plan, Study) {
    let (plan, study) = planted(1, networks, &TWO, |_, _, _| 1.0);
    let plan = Plan { seeds: (0..9).collect(), ..plan };
    let runs = study.runs.iter().flat_map(|run| {
        plan.seeds.iter().map(move |seed| {
            let ratio =
                if run.scheme == "dfifo" { ratio(&run.setting.network, *seed) } else { 1.0 };
            RunRecord {
                seed: *seed,
                ..load(&run.page, &run.scheme, run.setting.clone(), 1000.0 / ratio)
            }
        })
    });
    let study = Study::new(&plan, serde_json::json!({}), runs.collect(), Vec::new());
    (plan, study)
}

#[test]
fn a_conclusion_about_one_page_names_it() {
    let study = of_one_page(&["cable"], |_, seed| 1.3 + seed as f64 / 100.0);
    let expected = "dfifo is better than rfc9218 on cable: the ratio is 1.34 (1.32 to 1.36); 9 loads of page page0.";
    assert_eq!(said(&study), [expected]);
}

#[test]
fn loads_that_are_alike_in_one_setting_are_said_to_count_as_one_there() {
    let study =
        of_one_page(
            &NETWORKS,
            |network, seed| {
                if network == "cable" { 1.3 + seed as f64 / 100.0 } else { 1.4 }
            },
        );
    assert_eq!(
        said(&study),
        [
            "dfifo is better than rfc9218 on cable: the ratio is 1.34 (1.32 to 1.36); it is not tested on 3g, because its 9 loads \
             are alike and count as one: the ratio is 1.40; 9 loads of page page0."
        ]
    );
}

#[test]
fn a_shard_says_that_it_is_one_before_anything_else() {
    let (plan, study) = planted(14, &["cable"], &TWO, FAST);
    let shard = Some(crate::study::Shard { place: 1, count: 3 });
    let plan = Plan { shard, ..plan };
    let runs =
        study.runs.into_iter().filter(|run| plan.cells().iter().any(|it| it.page.name == run.page));
    let study = Study::new(&plan, serde_json::json!({}), runs.collect(), Vec::new());
    assert_eq!(
        answer(&plan, &study)[0],
        "This is shard 1 of 3: 10 of 28 loads. What follows is about these alone; `utmost merge` joins the shards."
    );
    let conditions = crate::study::conditions(&plan);
    assert!(conditions.contains("(seed 0); this is shard 1 of 3: 10 of 28 loads"), "{conditions}");
}

#[test]
fn a_baseline_that_failed_is_the_reason_and_other_schemes_did_not_fail() {
    let (plan, study) = planted(14, &["cable"], &["rfc9218", "dfifo", "srpt"], FAST);
    let mut runs = study.runs;
    for run in runs.iter_mut().filter(|it| it.scheme == "rfc9218") {
        run.completed = false;
        let problem = "`opened` failed".to_owned();
        run.unfinished = Some(Unfinished { problem, qlog: None, of_scheme: true });
    }
    let failed =
        serde_json::json!({"failed_schemes": {"rfc9218": "page page0, seed 0: `opened` failed"}});
    let study = Study::new(&plan, failed, runs, Vec::new());
    assert_eq!(
        answer(&plan, &study)[1],
        "rfc9218 is the baseline, so nothing is compared: name another with --baseline."
    );
    let rows = scheme_rows(&plan, &study);
    let verdicts: Vec<(&str, &str)> = rows.iter().map(|it| (&*it.scheme, it.atf.verdict)).collect();
    assert_eq!(verdicts, [("rfc9218", "baseline"), ("dfifo", "no test"), ("srpt", "no test")]);
}
