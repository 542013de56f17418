//! What held the server back, computed from events of any stack, matches its send loop's log.

use crate::summary::logs;
use client::ClientConfig;
use lab::network::Network;
use qlog_tools::restraints::{Basis, Evidence, Restraints};
use qlog_tools::trace::{Trace, Vantage};
use schedulers::Restraint;
use server::CongestionControl;

/// The server's log of a load of the page of Davies and Meenan.
fn server_log(network: &str, control: CongestionControl, transport: ClientConfig) -> Trace {
    let page = corpus::bundled("davies-meenan").expect("bundled").clone();
    let network = Network::find(network).expect("bundled");
    let logs = logs(page, &network, control, transport);
    logs.into_iter().find(|it| it.vantage == Vantage::Server).expect("the server's log")
}

/// The share of time in which both, of one log, have the same restraint.
fn agreement(one: &Restraints, other: &Restraints) -> f64 {
    let (mut same_us, mut all_us) = (0, 0);
    for (span, it) in one.spans.iter().flat_map(|span| other.spans.iter().map(move |it| (span, it)))
    {
        let us = it.to_us.min(span.to_us).saturating_sub(it.from_us.max(span.from_us));
        all_us += us;
        same_us += if span.by == it.by { us } else { 0 };
    }
    same_us as f64 / all_us as f64
}

fn share(restraints: &Restraints, by: Restraint) -> f64 {
    let totals = restraints.totals_ms();
    let held = totals.iter().find(|it| it.0 == by).map_or(0.0, |it| it.1);
    held / restraints.duration_ms()
}

#[test]
fn what_is_computed_agrees_with_what_the_send_loop_logs() {
    for network in ["cable", "3g-lossy"] {
        for control in [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno]
        {
            let trace = server_log(network, control, ClientConfig::default());
            let logged = Restraints::of(&trace, Evidence::All).expect("a server's log");
            assert_eq!(logged.basis, Basis::Logged);
            let computed = Restraints::of(&trace, Evidence::Plain).expect("a server's log");
            assert_eq!((computed.basis, &computed.assumed[..]), (Basis::Computed, &[][..]));
            let agreement = agreement(&logged, &computed);
            assert!(agreement >= 0.95, "{network}, {}: {agreement:.3}", control.name());
        }
    }
}

#[test]
fn a_client_with_a_small_window_holds_the_connection_back() {
    let narrow =
        ClientConfig { receive_bytes: 60_000, windows_grow: false, ..ClientConfig::default() };
    let trace = server_log("cable", CongestionControl::Bbr2, narrow);
    for evidence in [Evidence::All, Evidence::Plain] {
        let restraints = Restraints::of(&trace, evidence).expect("a server's log");
        let held = share(&restraints, Restraint::ConnectionFlowControl);
        assert!(held > 0.25, "{evidence:?}: {:?}", restraints.totals_ms());
    }
}

/// Bytes for which a small window has credit do not wait for a timer, whatever the congestion control.
#[test]
fn a_small_window_costs_no_more_time_under_one_congestion_control_than_under_another() {
    let duration_ms = |control| {
        let narrow =
            ClientConfig { receive_bytes: 60_000, windows_grow: false, ..ClientConfig::default() };
        let trace = server_log("cable", control, narrow);
        Restraints::of(&trace, Evidence::All).expect("a server's log").duration_ms()
    };
    let least_ms = duration_ms(CongestionControl::Bbr2);
    for control in [CongestionControl::Cubic, CongestionControl::Reno] {
        let it_ms = duration_ms(control);
        assert!(it_ms < 1.1 * least_ms, "{}: {it_ms:.0} of {least_ms:.0} ms", control.name());
    }
}

#[test]
fn a_client_with_small_windows_of_streams_holds_its_streams_back() {
    let narrow = ClientConfig {
        stream_receive_bytes: 20_000,
        windows_grow: false,
        ..ClientConfig::default()
    };
    let trace = server_log("cable", CongestionControl::Cubic, narrow);
    for evidence in [Evidence::All, Evidence::Plain] {
        let restraints = Restraints::of(&trace, evidence).expect("a server's log");
        let held = share(&restraints, Restraint::StreamFlowControl);
        assert!(held > 0.2, "{evidence:?}: {:?}", restraints.totals_ms());
    }
}
