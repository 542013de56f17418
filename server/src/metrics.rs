//! Counters of a server's activity, as text for Prometheus. Counting takes no lock, except for the ends of
//! connections.

mod text;

use crate::site::Protocol;
use crate::{Answered, Event, Observer, Refusal, Validity};
use parking_lot::Mutex;
use schedulers::SCHEMES;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};
use text::{Text, escaped};

/// Upper bounds of the classes of response times, in milliseconds; the last class has none.
const TIMES_MS: [u64; 12] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000];

/// The counters of a server, or of servers that share a port: one field each.
#[derive(Debug, Default)]
pub struct Metrics {
    accepted: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
    proofs: AtomicU64,
    slow_handshakes: AtomicU64,
    not_entered: AtomicU64,
    /// By who ended the connection, and how.
    closed: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// By the first digit of the status; 0: there was none.
    answered: [AtomicU64; 6],
    by_protocol: [AtomicU64; Protocol::ALL.len()],
    incomplete: AtomicU64,
    body_bytes: AtomicU64,
    times: BTreeMap<String, Times>,
    times_of_others: Times,
    /// Responses that no scheme ordered.
    times_over_tcp: Times,
    overdue: AtomicU64,
    unlogged: AtomicU64,
    backend_requests: AtomicU64,
    tunnels_opened: AtomicU64,
    tunnels_ended: AtomicU64,
    is_draining: AtomicBool,
    /// Each with its name.
    certificates: Mutex<Vec<(String, Validity)>>,
}

/// How long the responses of one scheme took.
#[derive(Debug, Default)]
struct Times {
    /// Each counts the responses of its own class only.
    classes: [AtomicU64; TIMES_MS.len() + 1],
    sum_us: AtomicU64,
}

impl Times {
    fn add(&self, time: Duration) {
        let class = TIMES_MS.partition_point(|ms| time > Duration::from_millis(*ms));
        add(&self.classes[class], 1);
        add(&self.sum_us, u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }
}

impl Metrics {
    /// Counters at 0.
    pub fn new() -> Self {
        let times = SCHEMES.iter().map(|it| (it.name.clone(), Times::default())).collect();
        Self { times, ..Self::default() }
    }

    /// New connections get these certificates from now on; each has a name, such as its file.
    pub fn shows(&self, certificates: Vec<(String, Validity)>) {
        *self.certificates.lock() = certificates;
    }

    /// Whether the server accepts no more connections because it ends.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Relaxed)
    }

    fn answered(&self, answered: &Answered) {
        let class = usize::from(answered.status / 100);
        if let Some(counter) = self.answered.get(class) {
            add(counter, 1);
        }
        add(&self.by_protocol[answered.protocol as usize], 1);
        add(&self.incomplete, u64::from(!answered.is_complete));
        add(&self.body_bytes, answered.bytes);
        if answered.is_tunnel {
            // It lasts as long as its two ends want, so its time reveals nothing about the server.
            return add(&self.tunnels_ended, 1);
        }
        // Variants such as `rfc9218@guard:20` count as the scheme that they vary.
        let times = match answered.scheme.split('@').next() {
            None | Some("") => &self.times_over_tcp,
            Some(scheme) => self.times.get(scheme).unwrap_or(&self.times_of_others),
        };
        times.add(answered.duration);
    }
}

impl Observer for Metrics {
    fn notice(&self, event: &Event) {
        match event {
            Event::Answered(it) => self.answered(it),
            Event::Accepted => add(&self.accepted, 1),
            Event::Refused(refusal) => add(&self.refused[*refusal as usize], 1),
            Event::ProofAsked => add(&self.proofs, 1),
            Event::NotEntered => add(&self.not_entered, 1),
            Event::HandshakeGivenUp => add(&self.slow_handshakes, 1),
            Event::Closed { by, code } => {
                let mut closed = self.closed.lock();
                *closed.entry((by, code)).or_default() += 1;
            }
            Event::Overdue => add(&self.overdue, 1),
            Event::NotLogged => add(&self.unlogged, 1),
            Event::BackendAsked => add(&self.backend_requests, 1),
            Event::TunnelOpened => add(&self.tunnels_opened, 1),
            Event::Draining => self.is_draining.store(true, Relaxed),
        }
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Relaxed);
}

impl Metrics {
    /// The text of `/metrics`. `descriptors`: how many the process has open, if that is known.
    pub fn text(&self, descriptors: Option<usize>, now: SystemTime) -> String {
        let mut text = Text::default();
        self.write_connections(&mut text);
        self.write_responses(&mut text);
        self.write_certificates(&mut text, now);
        if let Some(open) = descriptors {
            text.head("process_open_fds", "gauge", "Descriptors of the process.");
            text.value("", open);
        }
        text.text
    }

    fn write_connections(&self, text: &mut Text) {
        let closed = self.closed.lock().clone();
        let accepted = self.accepted.load(Relaxed);
        let open = accepted.saturating_sub(closed.values().sum());
        text.head("utmost_connections_open", "gauge", "Connections that are open.");
        text.value("", open);
        text.counter(
            "utmost_connections_accepted_total",
            "Clients that completed their handshakes.",
            accepted,
        );
        let help = "First datagrams that were refused; a client can send two.";
        text.head("utmost_connections_refused_total", "counter", help);
        for (refusal, counter) in Refusal::ALL.iter().zip(&self.refused) {
            text.value(&format!("cause=\"{}\"", refusal.name()), counter.load(Relaxed));
        }
        let help = "Connections that ended, by who ended them and the error code.";
        text.head("utmost_connections_closed_total", "counter", help);
        for ((by, code), count) in closed {
            text.value(&format!("by=\"{by}\",code=\"{code}\""), count);
        }
        for (name, help, counter) in [
            ("utmost_retries_total", "Clients that had to prove their address.", &self.proofs),
            (
                "utmost_handshakes_given_up_total",
                "Handshakes that took too long.",
                &self.slow_handshakes,
            ),
            (
                "utmost_handshakes_ended_total",
                "Handshakes that led to no connection.",
                &self.not_entered,
            ),
            ("utmost_qlogs_refused_total", "Connections without a qlog.", &self.unlogged),
        ] {
            text.counter(name, help, counter.load(Relaxed));
        }
    }

    fn write_certificates(&self, text: &mut Text, now: SystemTime) {
        let certificates = self.certificates.lock();
        let help = "Seconds until a certificate or one of its chain expires; below 0 afterwards.";
        text.head("utmost_certificate_expiry_seconds", "gauge", help);
        for (name, validity) in certificates.iter() {
            text.value(&format!("certificate=\"{}\"", escaped(name)), validity.left_s(now));
        }
    }

    fn write_responses(&self, text: &mut Text) {
        text.head("utmost_responses_total", "counter", "Responses that ended, by status.");
        let classes = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];
        for (class, counter) in classes.iter().zip(&self.answered) {
            text.value(&format!("status=\"{class}\""), counter.load(Relaxed));
        }
        let help = "Responses that ended, by the version of HTTP.";
        text.head("utmost_responses_by_protocol_total", "counter", help);
        for (protocol, counter) in Protocol::ALL.iter().zip(&self.by_protocol) {
            text.value(&format!("protocol=\"{}\"", protocol.name()), counter.load(Relaxed));
        }
        for (name, help, counter) in [
            (
                "utmost_responses_incomplete_total",
                "Responses that ended before their last byte.",
                &self.incomplete,
            ),
            (
                "utmost_responses_overdue_total",
                "Responses given up because their clients did not accept them.",
                &self.overdue,
            ),
            ("utmost_body_bytes_total", "Bytes of bodies that were sent.", &self.body_bytes),
            (
                "utmost_backend_requests_total",
                "Requests forwarded to backends.",
                &self.backend_requests,
            ),
            ("utmost_tunnels_opened_total", "WebSockets that opened.", &self.tunnels_opened),
        ] {
            text.counter(name, help, counter.load(Relaxed));
        }
        let ended = self.tunnels_ended.load(Relaxed);
        text.head("utmost_tunnels_open", "gauge", "WebSockets that are open.");
        text.value("", self.tunnels_opened.load(Relaxed).saturating_sub(ended));
        let help = "Times from a request to the last byte of its response.";
        text.head("utmost_response_seconds", "histogram", help);
        let others = [("other", &self.times_of_others), ("none", &self.times_over_tcp)];
        for (scheme, times) in self.times.iter().map(|(name, it)| (name.as_str(), it)).chain(others)
        {
            let classes = times.classes.each_ref().map(|it| it.load(Relaxed));
            if classes.iter().any(|it| *it > 0) {
                let sum_us = times.sum_us.load(Relaxed);
                text.histogram(&format!("scheme=\"{scheme}\""), &TIMES_MS, &classes, sum_us);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn answered(scheme: &str, status: u16, time_ms: u64, is_complete: bool) -> Event {
        Event::Answered(Arc::new(Answered {
            protocol: Protocol::Http3,
            client: None,
            method: String::new(),
            host: String::new(),
            path: String::new(),
            referer: None,
            user_agent: None,
            status,
            bytes: 1_000,
            duration: Duration::from_millis(time_ms),
            scheme: scheme.to_owned(),
            priority: schedulers::Priority::default(),
            is_complete,
            is_tunnel: false,
        }))
    }

    #[test]
    fn what_happened_is_counted_under_its_labels() {
        let metrics = Metrics::new();
        let closed = Event::Closed { by: "client", code: "H3_NO_ERROR" };
        for event in [
            Event::Accepted,
            Event::Accepted,
            closed,
            Event::Refused(Refusal::Network),
            Event::ProofAsked,
            Event::NotEntered,
            Event::Overdue,
            answered("rfc9218@guard:20", 200, 5, true),
            answered("rfc9218", 404, 6, true),
            answered("made up", 0, 100_000, false),
        ] {
            metrics.notice(&event);
        }
        let text = metrics.text(Some(7), SystemTime::UNIX_EPOCH);
        for line in [
            "# TYPE utmost_connections_open gauge",
            "utmost_connections_open 1",
            "utmost_connections_accepted_total 2",
            "utmost_connections_refused_total{cause=\"network\"} 1",
            "utmost_connections_closed_total{by=\"client\",code=\"H3_NO_ERROR\"} 1",
            "utmost_retries_total 1",
            "utmost_handshakes_ended_total 1",
            "utmost_responses_overdue_total 1",
            "utmost_responses_total{status=\"none\"} 1",
            "utmost_responses_total{status=\"2xx\"} 1",
            "utmost_responses_total{status=\"4xx\"} 1",
            "utmost_responses_by_protocol_total{protocol=\"HTTP/3\"} 3",
            "utmost_responses_incomplete_total 1",
            "utmost_body_bytes_total 3000",
            "utmost_response_seconds_bucket{scheme=\"rfc9218\",le=\"0.001\"} 0",
            "utmost_response_seconds_bucket{scheme=\"rfc9218\",le=\"0.005\"} 1",
            "utmost_response_seconds_bucket{scheme=\"rfc9218\",le=\"0.01\"} 2",
            "utmost_response_seconds_sum{scheme=\"rfc9218\"} 0.011",
            "utmost_response_seconds_bucket{scheme=\"other\",le=\"60\"} 0",
            "utmost_response_seconds_bucket{scheme=\"other\",le=\"+Inf\"} 1",
            "utmost_response_seconds_count{scheme=\"other\"} 1",
            "process_open_fds 7",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn websockets_are_counted_and_their_time_is_not_that_of_responses() {
        let metrics = Metrics::new();
        let Event::Answered(one) = answered("rfc9218", 200, 3_600_000, true) else { return };
        metrics.notice(&Event::TunnelOpened);
        metrics.notice(&Event::TunnelOpened);
        metrics.notice(&Event::Answered(Arc::new(Answered { is_tunnel: true, ..(*one).clone() })));
        let text = metrics.text(None, SystemTime::UNIX_EPOCH);
        assert!(text.contains("\nutmost_tunnels_opened_total 2\n"), "{text}");
        assert!(text.contains("\nutmost_tunnels_open 1\n"), "{text}");
        assert!(!text.contains("utmost_response_seconds_bucket"), "{text}");
    }

    const HEAD: &str = "<!-- Made from the code: UTMOST_BLESS=1 cargo test -p utmost-server --lib metrics -->

# Metrics of the server

`utmost serve --metrics ADDR:PORT` answers `/metrics` with these, as text for Prometheus. Alert on certificates that expire, refused
connections, and incomplete responses. Over TCP, the `scheme` of a response is `none`.

| metric | kind | labels | meaning |
|---|---|---|---|
";

    /// The row of a metric: the part of a text after its `# HELP `.
    fn row(one: &str) -> String {
        let (name, rest) = one.split_once(' ').expect("a name");
        let (help, rest) = rest.split_once('\n').expect("a line");
        let (kind, samples) = rest.split_once('\n').expect("a line");
        let kind = kind.rsplit(' ').next().expect("a kind");
        let labels = samples.lines().next().and_then(|it| it.split_once('{')).map_or("", |it| it.1);
        let names = labels.split("=\"").filter_map(|it| it.rsplit([',', '{']).next());
        let names = names.filter(|it| !it.is_empty() && *it != "le" && !it.contains('}'));
        let labels: Vec<String> = names.map(|it| format!("`{it}`")).collect();
        format!("| `{name}` | {kind} | {} | {} |\n", labels.join(", "), help.trim_end_matches('.'))
    }

    #[test]
    fn the_document_lists_every_metric() {
        let metrics = Metrics::new();
        let identity = crate::Identity::self_signed().expect("a certificate");
        metrics.shows(vec![("cert.pem".to_owned(), identity.validities().remove(0))]);
        metrics.notice(&Event::Closed { by: "client", code: "H3_NO_ERROR" });
        metrics.notice(&answered("rfc9218", 200, 5, true));
        let expected = format!(
            "{HEAD}{}",
            metrics
                .text(Some(7), SystemTime::UNIX_EPOCH)
                .split("# HELP ")
                .skip(1)
                .map(row)
                .collect::<String>()
        );
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/server-metrics.md");
        if std::env::var_os("UTMOST_BLESS").is_some() {
            std::fs::write(file, expected).expect("written");
        } else {
            let intact = std::fs::read_to_string(file).unwrap_or_default();
            assert!(
                intact == expected,
                "docs/reference/server-metrics.md is out of date: UTMOST_BLESS=1"
            );
        }
    }

    #[test]
    fn each_certificate_has_the_seconds_until_it_expires() {
        let metrics = Metrics::new();
        let identity = crate::Identity::self_signed().expect("a certificate");
        let validity = identity.validities().remove(0);
        metrics.shows(vec![("/etc/a \"b\".pem".to_owned(), validity.clone())]);
        let line = |now| {
            let text = metrics.text(None, now);
            let line = text.lines().find(|it| it.starts_with("utmost_certificate_expiry_seconds"));
            line.map(str::to_owned).unwrap_or(text)
        };
        let name = r#"utmost_certificate_expiry_seconds{certificate="/etc/a \"b\".pem"}"#;
        assert_eq!(line(validity.from), format!("{name} 2592000"));
        assert_eq!(line(validity.until + Duration::from_secs(60)), format!("{name} -60"));
    }

    #[test]
    fn a_server_that_ends_is_draining() {
        let metrics = Metrics::new();
        assert!(!metrics.is_draining());
        metrics.notice(&Event::Draining);
        assert!(metrics.is_draining());
    }
}
