//! Planted studies, and the first sentences that they lead to.

mod unfinished;

use super::*;
use crate::Contender;
use crate::network::Network;
use crate::study::{RunRecord, StudyError, Unfinished, engines};
use corpus::Page;
use qlog_tools::metrics::BySet;
use std::sync::Arc;

/// How many times better than the baseline a scheme is on a page and a network.
type Ratio = fn(&str, usize, &str) -> f64;

/// A study on `stack` with this number of pages, each from its own site; the first scheme is the baseline.
fn planted(pages: usize, networks: &[&str], schemes: &[&str], ratio: Ratio) -> (Plan, Study) {
    let page = corpus::bundled("davies-meenan").expect("bundled");
    let named = |place| Arc::new(Page { name: format!("page{place}"), ..page.clone() });
    let contenders = schemes.iter().map(|it| Contender::find(it).expect("a scheme")).collect();
    let found: Vec<Network> =
        networks.iter().map(|it| Network::find(it).expect("built in")).collect();
    let plan =
        Plan::new((0..pages).map(named).collect(), contenders, engines::STACK, found[0].clone());
    let mut plan = Plan { baseline: schemes[0].to_owned(), ..plan };
    plan.settings.networks = found;
    let mut runs = Vec::new();
    for (place, page) in plan.pages.iter().enumerate() {
        for (network, setting) in plan.settings.each() {
            for scheme in schemes {
                let time_ms = 1000.0 / ratio(scheme, place, &network.name);
                runs.push(load(&page.name, scheme, setting.clone(), time_ms));
            }
        }
    }
    let study = Study::new(&plan, serde_json::json!({}), runs, Vec::new());
    (plan, study)
}

fn load(page: &str, scheme: &str, setting: Setting, time_ms: f64) -> RunRecord {
    RunRecord {
        page: page.to_owned(),
        scheme: scheme.to_owned(),
        setting,
        completed: true,
        metrics: [("byte_index", BySet { all: None, atf: Some(time_ms) })].into_iter().collect(),
        ..RunRecord::default()
    }
}

/// A ratio about `middle` that differs from page to page.
fn about(middle: f64, place: usize) -> f64 {
    middle * [0.94, 1.06, 0.98, 1.02, 0.96, 1.04, 1.0][place % 7]
}

const NETWORKS: [&str; 2] = ["cable", "3g"];

#[test]
fn a_clear_winner_is_the_first_sentence() {
    let ratio: Ratio = |scheme, place, network| match (scheme, network) {
        ("dfifo", "cable") => about(1.2, place),
        ("dfifo", _) => about(1.4, place),
        ("srpt", _) => about(0.8, place),
        _ => 1.0,
    };
    let (plan, study) = planted(14, &NETWORKS, &["rfc9218", "srpt", "dfifo"], ratio);
    assert_eq!(
        answer(&plan, &study),
        [
            "dfifo is better than rfc9218 on every network: the ratio is 1.20 (1.17 to 1.23) on cable and 1.40 (1.36 to 1.43) \
             on 3g; 14 sites.",
            "srpt is worse than rfc9218 on every network: the ratio is 0.80 (0.78 to 0.82) on cable and 0.80 (0.78 to 0.82) on \
             3g; 14 sites.",
            "The ratio of dfifo is higher on 3g than on cable: 1.17 times (1.17 to 1.17).",
        ]
    );
}

#[test]
fn a_tie_is_said_to_be_one_only_as_far_as_the_interval_goes() {
    let wide: Ratio = |scheme, place, _| match scheme {
        "dfifo" if place % 2 == 0 => 1.3,
        "dfifo" => 1.0 / 1.28,
        _ => 1.0,
    };
    let (plan, study) = planted(14, &["cable"], &["rfc9218", "dfifo"], wide);
    assert_eq!(
        answer(&plan, &study),
        [
            "dfifo is not shown to be better or worse than rfc9218 on cable: the ratio is 1.01 (0.84 to 1.21); 14 sites."
        ]
    );
    let narrow: Ratio = |scheme, place, _| match scheme {
        "dfifo" if place % 2 == 0 => 1.012,
        "dfifo" => 1.0 / 1.011,
        _ => 1.0,
    };
    let (plan, study) = planted(14, &["cable"], &["rfc9218", "dfifo"], narrow);
    assert_eq!(
        answer(&plan, &study),
        ["dfifo is within 2 % of rfc9218 on cable: the ratio is 1.0005 (0.99 to 1.01); 14 sites."]
    );
}

#[test]
fn too_few_sites_are_said_before_any_number() {
    let ratio: Ratio = |scheme, place, _| if scheme == "dfifo" { about(1.5, place) } else { 1.0 };
    let (plan, study) = planted(4, &["cable"], &["rfc9218", "dfifo", "srpt"], ratio);
    assert_eq!(
        answer(&plan, &study)[0],
        "4 sites are too few for a conclusion: a test needs at least six."
    );
    // All pairs agree, but no p of six pairs is small enough for this number of schemes.
    let schemes = ["rfc9218", "dfifo", "srpt", "fifo", "wrr"];
    let each: Ratio = |scheme, place, _| match scheme {
        "rfc9218" => 1.0,
        "dfifo" => about(1.5, place),
        "srpt" => about(1.4, place),
        "fifo" => about(1.3, place),
        _ => about(1.2, place),
    };
    let (plan, study) = planted(6, &["cable"], &schemes, each);
    let sentences = answer(&plan, &study);
    assert_eq!(sentences[0], "No scheme is shown to be better than rfc9218 on cable.");
    assert_eq!(
        sentences[1],
        "dfifo, srpt, fifo and wrr are not shown to be better or worse than rfc9218 on cable: the ratios are 1.20 to 1.50; 6 sites."
    );
    assert_eq!(
        sentences[2],
        "These are too few sites to name a winner among that many schemes: the adjusted test needs at least 8."
    );
}

#[test]
fn a_winner_on_one_network_only_is_said_to_be_one_there_only() {
    let ratio: Ratio = |scheme, place, network| match (scheme, network) {
        ("dfifo", "3g") => about(1.3, place),
        ("dfifo", _) if place % 2 == 0 => 1.2,
        ("dfifo", _) => 1.0 / 1.22,
        _ => 1.0,
    };
    let (plan, study) = planted(14, &NETWORKS, &["rfc9218", "dfifo"], ratio);
    assert_eq!(
        answer(&plan, &study),
        [
            "dfifo is better than rfc9218 on 3g only: the ratio is 1.30 (1.27 to 1.33); it is not shown to be better or \
             worse than rfc9218 on cable: the ratio is 0.99 (0.86 to 1.14); 14 sites.",
            "The ratio of dfifo is higher on 3g than on cable: 1.31 times (1.15 to 1.48).",
        ]
    );
}

#[test]
fn a_failed_scheme_is_the_first_sentence_and_counts_in_no_other() {
    let ratio: Ratio = |scheme, place, _| if scheme == "dfifo" { about(1.2, place) } else { 1.0 };
    let (plan, study) = planted(14, &["cable"], &["rfc9218", "dfifo", "srpt"], ratio);
    let mut runs = study.runs;
    for run in runs.iter_mut().filter(|it| it.scheme == "srpt") {
        run.completed = false;
        let problem = "`opened` failed".to_owned();
        run.unfinished = Some(Unfinished { problem, qlog: None, of_scheme: true });
    }
    let failed =
        serde_json::json!({"failed_schemes": {"srpt": "page page0, seed 0: `opened` failed"}});
    let study = Study::new(&plan, failed, runs, Vec::new());
    assert_eq!(
        answer(&plan, &study),
        [
            "Scheme srpt failed, so it is not compared (page page0, seed 0: `opened` failed).",
            "dfifo is better than rfc9218 on cable: the ratio is 1.20 (1.17 to 1.23); 14 sites.",
        ]
    );
}

#[test]
fn many_settings_are_counted_and_not_named() {
    let ratio: Ratio = |scheme, place, network| match (scheme, network) {
        ("dfifo", "2g") => about(1.5, place),
        ("dfifo", _) => about(1.1, place),
        _ => 1.0,
    };
    let networks = ["2g", "3g", "lte", "cable", "satellite"];
    let (plan, study) = planted(14, &networks, &["rfc9218", "dfifo"], ratio);
    assert_eq!(
        answer(&plan, &study),
        [
            "dfifo is better than rfc9218 on every network: the ratios are 1.10 to 1.50; 14 sites.",
            "Ratios differ between settings in 4 of 10 tests (`interactions` of the JSON has each). The ratio of dfifo is higher \
             on 2g than on 3g: 1.36 times (1.36 to 1.36)."
        ]
    );
}

#[test]
fn one_page_without_chance_is_one_case() -> Result<(), StudyError> {
    let page = corpus::bundled("davies-meenan").expect("bundled");
    let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("a scheme"));
    let network = Network::find("paper").expect("built in");
    let plan = Plan::new(vec![Arc::new(page.clone())], schemes.into(), engines::IDEAL, network);
    let study = crate::study::run(&plan, serde_json::json!({}), &|| ())?;
    let sentences = answer(&plan, &study);
    assert_eq!(
        sentences[0],
        "This is page davies-meenan alone: for a conclusion, a test needs pages of at least six sites, or at least six seeds \
         where chance decides."
    );
    assert!(
        sentences[1].starts_with(
            "The send order alone changes the ByteIndex above the fold by a factor of "
        ),
        "{sentences:?}"
    );
    assert!(sentences[2].starts_with("On paper, the ratio of fifo over rr is 0."), "{sentences:?}");
    Ok(())
}
