//! The server that a site runs today, as a model of its send order.

use crate::probe::{Finding, Kind, Run, Verdict};
use crate::study::statistics::median;
use server::SignalUse;

/// If more than this share of the other responses has begun before the first is complete, they are sent in turn.
const SHARING_MIN: f64 = 0.5;

/// A server and the order in which it sends responses over HTTP/3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaselineServer {
    /// As on the command line.
    pub name: &'static str,
    /// The scheme by which it sends.
    pub scheme: &'static str,
    /// Whether it obeys its clients' signals.
    pub signals: SignalUse,
    /// How it sends, in words, and the source for that.
    pub model: &'static str,
}

/// All servers. The first is the default.
pub const BASELINE_SERVERS: [BaselineServer; 6] = [
    BaselineServer {
        name: "rfc9218",
        scheme: super::OBEYING,
        signals: SignalUse::Obey,
        model: "a server that obeys the priorities that browsers signal (RFC 9218)",
    },
    BaselineServer {
        name: "nginx",
        scheme: "rr",
        signals: SignalUse::Ignore,
        model: "a server that sends all responses in turn: no release of nginx sends by priority (nginx/nginx, pull request 1657)",
    },
    BaselineServer {
        name: "caddy",
        scheme: "rr",
        signals: SignalUse::Ignore,
        model: "a server that sends all responses in turn, as Caddy with quic-go before 0.62 does; later versions are rfc9218",
    },
    BaselineServer {
        name: "h2o",
        scheme: super::OBEYING,
        signals: SignalUse::Obey,
        model: "a server that obeys the priorities that browsers signal (RFC 9218), as h2o does (lib/http3/server.c)",
    },
    BaselineServer {
        name: "fifo",
        scheme: "fifo",
        signals: SignalUse::Ignore,
        model: "a server that sends one response after another, in the order of requests",
    },
    BaselineServer {
        name: "rr",
        scheme: "rr",
        signals: SignalUse::Ignore,
        model: "a server that sends all responses in turn, a packet each",
    },
];

impl BaselineServer {
    /// The server of this name; otherwise the known names, in words.
    pub fn find(name: &str) -> Result<&'static Self, String> {
        BASELINE_SERVERS.iter().find(|it| it.name == name).ok_or_else(|| {
            let known = BASELINE_SERVERS.map(|it| it.name).join(", ");
            format!("no model of a server `{name}`; use one of {known}")
        })
    }

    /// The model that sends like a probed server; `None` if the runs do not show it.
    pub fn of_probe(finding: &Finding, runs: &[Run]) -> Option<&'static Self> {
        let controls = runs.iter().filter(|it| it.kind == Kind::Control).map(|it| it.begun_share);
        let name = match finding.verdict {
            Verdict::Prioritizes | Verdict::Weakly => "rfc9218",
            Verdict::DoesNot if median(&controls.collect::<Vec<_>>())? > SHARING_MIN => "rr",
            Verdict::DoesNot => "fifo",
            Verdict::Inconclusive | Verdict::Undecided => return None,
        };
        Self::find(name).ok()
    }

    /// Whether it sends as browsers ask. Then only priorities can be changed.
    pub fn is_obeying(&self) -> bool {
        self.signals == SignalUse::Obey
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::judge;

    /// Runs in which this many tenths of the late response came before it, by kind.
    fn probed(control: u64, urgent: u64, inverse: u64, begun_share: f64) -> Option<&'static str> {
        let run = |kind, others: u64| Run {
            kind,
            others_bytes: others * 10_000,
            ahead_bytes: 0,
            left_bytes: 700_000,
            begun_share,
            late_bytes: 100_000,
            late_ms: 50.0,
        };
        let kinds = [
            (Kind::Control, control),
            (Kind::Urgent, urgent),
            (Kind::Inverse, inverse),
            (Kind::Incremental, control),
            (Kind::Updated, control),
        ];
        let runs: Vec<Run> = (0..5).flat_map(|_| kinds.map(|it| run(it.0, it.1))).collect();
        BaselineServer::of_probe(&judge(&runs), &runs).map(|it| it.name)
    }

    #[test]
    fn a_probed_server_has_the_model_that_sends_alike() {
        assert_eq!(probed(50, 1, 70, 0.1), Some("rfc9218"));
        assert_eq!(probed(50, 50, 50, 1.0), Some("rr"));
        assert_eq!(probed(65, 65, 65, 0.0), Some("fifo"));
    }

    #[test]
    fn an_unknown_server_is_refused_with_those_that_there_are() {
        let error = BaselineServer::find("iis").expect_err("no model");
        assert_eq!(
            error,
            "no model of a server `iis`; use one of rfc9218, nginx, caddy, h2o, fifo, rr"
        );
    }
}
