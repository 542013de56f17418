//! Page loads on links that others use, too.

use corpus::Page;
use lab::network::Network;
use lab::study::{Plan, Study, engines, run};
use lab::{Contender, CrossTraffic};
use std::sync::Arc;

/// A document that takes a second on `cable`.
fn document() -> Page {
    let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
    page.resources.truncate(1);
    page.resources[0].bytes = 3_000_000;
    page
}

fn plan(page: Page, traffic: &[&str]) -> Plan {
    let schemes = ["rr", "fifo", "dfifo"].map(|it| Contender::find(it).expect("known")).to_vec();
    let cable = Network::find("cable").expect("built in");
    let mut plan = Plan::new(vec![Arc::new(page)], schemes, engines::STACK, cable);
    plan.settings.crosses = traffic.iter().map(|it| it.parse().expect("known")).collect();
    plan
}

fn study(plan: &Plan) -> Study {
    run(plan, serde_json::json!({}), &|| ()).expect("a study")
}

/// The duration of the page under `fifo`, by traffic.
fn durations_ms(study: &Study) -> Vec<(CrossTraffic, f64)> {
    let fifo = study.runs.iter().filter(|it| it.scheme == "fifo");
    fifo.map(|it| (it.setting.cross.unwrap_or_default(), it.duration_ms)).collect()
}

#[test]
fn a_download_beside_a_page_takes_about_half_of_the_link() {
    let study = study(&plan(document(), &["none", "bulk:bbr2", "web:0.3"]));
    let [(_, alone), (_, beside_bulk), (_, beside_web)] = durations_ms(&study)[..] else {
        panic!("three kinds of traffic")
    };
    let shares = (alone / beside_bulk, alone / beside_web);
    assert!((0.3..0.7).contains(&shares.0), "of {alone} ms and {beside_bulk} ms");
    assert!((0.5..0.98).contains(&shares.1), "of {alone} ms and {beside_web} ms");
    assert!(study.runs.iter().all(|it| it.resources.len() == 1), "only the page's own counts");
    // A page beside others has no lower bound: it would be that of a page alone.
    let has_bound: Vec<bool> = study.runs.iter().map(|it| it.lower_bound.atf.is_some()).collect();
    let is_alone = study.runs.iter().map(|it| it.setting.cross == Some(CrossTraffic::None));
    assert_eq!(has_bound, is_alone.collect::<Vec<_>>());
}

#[test]
fn nobody_else_on_the_links_is_what_a_study_without_cross_traffic_has() {
    let page = || corpus::bundled("davies-meenan").expect("bundled").clone();
    let without = study(&plan(page(), &[]));
    let none = study(&plan(page(), &["none"]));
    let durations = |study: &Study| durations_ms(study).into_iter().map(|it| it.1).collect();
    let (without_ms, none_ms): (Vec<f64>, Vec<f64>) = (durations(&without), durations(&none));
    assert_eq!(without_ms, none_ms);
    let timelines = |study: &Study| {
        study.loads.iter().flatten().map(|it| it.timeline.clone()).collect::<Vec<_>>()
    };
    assert!(timelines(&without) == timelines(&none));
}

/// Schemes cannot differ on a page without anything to order, so a difference would be one of the traffic.
#[test]
fn every_scheme_meets_the_same_traffic() {
    let mut plan = plan(document(), &["bulk:bbr2", "bulk:reno", "web:0.5"]);
    plan.seeds = vec![0, 1];
    let study = study(&plan);
    assert_eq!(study.summary.len(), 9);
    for row in &study.summary {
        let speedups = (row.worst_page_speedup.all, row.best_page_speedup.all);
        assert_eq!(speedups, (Some(1.0), Some(1.0)), "{} {:?}", row.scheme, row.setting);
    }
}

#[test]
fn a_seed_gives_the_same_loads_beside_others_on_one_thread_and_on_two() {
    let page = || corpus::bundled("davies-meenan").expect("bundled").clone();
    let mut plan = plan(page(), &["none", "bulk:cubic", "bulk:bbr2", "web"]);
    plan.settings.networks.push(Network::find("3g-lossy").expect("built in"));
    plan.seeds = vec![0, 1];
    let of = |jobs| {
        let study = study(&Plan { jobs, ..plan.clone() });
        serde_json::to_string(&study.runs).expect("a journal")
    };
    let one = of(1);
    assert_eq!(one, of(2));
    assert_eq!(one.matches("\"unfinished\":null").count(), 48);
}
