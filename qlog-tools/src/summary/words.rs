//! Numbers, causes and sources as parts of sentences.

use super::held::Cause;
use super::measures::{Recovered, Spread};
use crate::loss_recovery::{Basis, RecoveryStep};
use crate::packet::Space;

/// The restraint of the sender, as the subject of a sentence.
pub(super) fn subject(cause: Cause, is_upload: bool) -> &'static str {
    match cause {
        Cause::Handshake => "The handshake",
        Cause::AddressValidation => {
            "The limit for an address that is not validated yet (three times the bytes that arrived from there)"
        }
        Cause::ThinkTime => "The server's time to answer",
        Cause::Application if is_upload => {
            "The application, which gave nothing to send while uploads were open,"
        }
        Cause::Application => {
            "The application, which gave nothing to send while responses were open,"
        }
        Cause::CongestionWindow => "The congestion window",
        Cause::Loss => "A congestion window kept small by loss",
        Cause::CongestionMarks => "A congestion window cut by congestion marks (ECN)",
        Cause::Reordering => "A congestion window cut because reordering was taken for loss",
        Cause::Queue => "A full path with a long queue (and so the congestion window)",
        Cause::ProbeTimeout => {
            "Waiting for acknowledgements that did not arrive, until the probe timer expired,"
        }
        Cause::ConnectionFlowControl if is_upload => {
            "The server's receive window for the connection"
        }
        Cause::StreamFlowControl if is_upload => "The server's receive windows for streams",
        Cause::ConnectionFlowControl => "The client's receive window for the connection",
        Cause::StreamFlowControl => "The client's receive windows for streams",
        Cause::Pacing => "Pacing, while windows were open,",
        Cause::Scheduler => "The scheduler, while bytes were available and windows open,",
        Cause::Nothing => "Nothing but its own sending",
    }
}

pub(super) fn queue_text(it: &Spread) -> String {
    format!(
        "Round trips took {} at least; 95 % took {} at most, {} more than the least",
        ms_text(it.least_ms),
        ms_text(it.p95_ms),
        ms_text(it.p95_ms - it.least_ms)
    )
}

/// The remark about something that no event states.
pub(super) fn inferred(basis: Basis) -> &'static str {
    match basis {
        Basis::Logged => "",
        Basis::Inferred => " (inferred from packets: not logged)",
    }
}

pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// The packet of a step in brackets, with its space if that is not the usual one.
pub(super) fn packet_text(step: &RecoveryStep) -> String {
    let space = match step.space {
        Some(Space::Initial) => "Initial packet",
        Some(Space::Handshake) => "Handshake packet",
        Some(Space::Application) | None => "packet",
    };
    step.packet.map_or_else(String::new, |it| format!(" ({space} {it})"))
}

/// Which of the packets declared lost say less about the path than others.
pub(super) fn kinds_of_lost(lost: u64, recovered: &Recovered) -> String {
    let part = |count: u64, what: &str| {
        let whole = if count == lost { "all".to_owned() } else { count.to_string() };
        (count > 0).then(|| format!(", {whole} of them {what}"))
    };
    let probes = "probing the path's MTU, which does not show congestion (RFC 9000, section 14.4)";
    let parts = [
        part(recovered.lost_in_handshake, "in the handshake"),
        part(recovered.lost_mtu_probes, probes),
    ];
    parts.into_iter().flatten().collect()
}

/// How often losses cut the window for good, and that other cuts were undone.
pub(super) fn cuts_text(recovered: &Recovered) -> String {
    let cuts = times(recovered.cuts());
    match recovered.cuts_undone {
        0 => cuts,
        1 => format!("{cuts} (1 more cut was undone)"),
        undone => format!("{cuts} ({undone} more cuts were undone)"),
    }
}

pub(super) fn cut_by_marks(recovered: &Recovered) -> String {
    format!("congestion marks cut the window {}", times(recovered.mark_cuts))
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

pub(super) fn ms_text(ms: f64) -> String {
    format!("{ms:.1} ms")
}

pub(super) fn rate_text(bits: f64) -> String {
    format!("{:.2} Mbit/s", bits / 1e6)
}
