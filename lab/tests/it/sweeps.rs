//! Studies that set properties of their networks.

use lab::Contender;
use lab::network::Network;
use lab::study::{Engine, Plan, RunRecord, Setting, Study, Sweep, engines, run};
use qlog_tools::timeline::Timeline;
use std::sync::Arc;

fn study(engine: &'static dyn Engine, network: &str, sweeps: &[&str]) -> Study {
    let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
    let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("known")).to_vec();
    let network = Network::find(network).expect("built in");
    let mut plan = Plan::new(vec![page], schemes, engine, network);
    let sweeps: Vec<Sweep> = sweeps.iter().map(|it| Sweep::parse(it).expect(it)).collect();
    plan.settings.sweep(&sweeps).expect("each property once");
    run(&plan, serde_json::json!({}), &|| ()).expect("a study")
}

/// Its loads without their settings.
fn loads(study: &Study) -> Vec<RunRecord> {
    let plain = |run: &RunRecord| RunRecord { setting: Setting::default(), ..run.clone() };
    study.runs.iter().map(plain).collect()
}

fn timelines(study: &Study) -> Vec<&Timeline> {
    study.loads.iter().flatten().map(|it| &it.timeline).collect()
}

#[test]
fn a_networks_own_values_give_the_networks_own_loads() {
    let own = study(engines::STACK, "cable", &[]);
    let same = study(engines::STACK, "cable", &["rtt_ms=50", "rate=25M", "loss=0"]);
    assert_eq!(loads(&same), loads(&own));
    assert_eq!(timelines(&same), timelines(&own));
    let own = study(engines::IDEAL, "paper", &[]);
    let same = study(engines::IDEAL, "paper", &["rtt_ms=0", "rate=1120k"]);
    assert_eq!(loads(&same), loads(&own));
}

#[test]
fn each_value_has_a_link_and_a_lower_bound_of_its_own() {
    for (engine, network) in [(engines::IDEAL, "paper"), (engines::STACK, "cable")] {
        let near_and_far = study(engine, network, &["rtt_ms=10,200"]);
        let slow_and_fast = study(engine, network, &["rate=1M,10M"]);
        for (study, worse) in [(near_and_far, 1), (slow_and_fast, 0)] {
            let fifo: Vec<&RunRecord> =
                study.runs.iter().filter(|it| it.scheme == "fifo").collect();
            let (bad, good) = (fifo[worse], fifo[1 - worse]);
            assert!(bad.byte_index().atf > good.byte_index().atf);
            assert!(bad.lower_bound.atf > good.lower_bound.atf);
            for run in [bad, good] {
                assert!(run.lower_bound.atf > Some(0.0));
                assert!(run.lower_bound.atf < run.byte_index().atf, "no order is below it");
            }
        }
    }
}

#[test]
fn loss_delays_a_page_whose_network_loses_nothing() {
    let study = study(engines::STACK, "cable", &["loss=0,0.1"]);
    let fifo = study.runs.iter().filter(|it| it.scheme == "fifo");
    let durations: Vec<f64> = fifo.map(|it| it.duration_ms).collect();
    assert!(durations[1] > 1.2 * durations[0], "{durations:?}");
    assert_eq!(study.summary.len(), 4, "two schemes under two losses");
}
