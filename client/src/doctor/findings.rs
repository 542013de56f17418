//! The observations of a host, in words: each finding, its meaning, and the remedy.

use super::datagrams::VERSION_1;
use super::{Certificate, Observed, Quic, Tcp, Trouble, Trusted, Udp};
use serde::Serialize;

/// How good something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As it must be.
    Good,
    /// Browsers move, but it could be better, or is unknown.
    Note,
    /// Because of it, no browser moves.
    Bad,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject of the finding.
    pub of: &'static str,
    /// Its severity.
    pub state: State,
    /// The finding.
    pub found: String,
    /// Its meaning for a browser.
    pub means: &'static str,
    /// The remedy; empty: nothing is needed.
    pub remedy: String,
}

/// Whether a browser moves to HTTP/3.
pub fn will_move(findings: &[Finding]) -> bool {
    findings.iter().all(|it| it.state != State::Bad)
}

/// The findings, in the order in which a browser meets them.
pub fn findings(seen: &Observed) -> Vec<Finding> {
    let mut all = Vec::new();
    match &seen.tcp {
        Ok(tcp) => over_tcp(seen, tcp, &mut all),
        Err(cause) => all.push(bad(
            "TCP",
            format!("port {} by TCP: {cause}", seen.port),
            "a first visit uses TCP, so a browser does not learn of HTTP/3, unless the DNS has an HTTPS record",
            "open the port in the firewall, and serve HTTP/2 there: utmost serve does, without --no-tcp",
        )),
    }
    over_udp(&seen.udp, &mut all);
    all.push(note(
        "HTTPS record",
        "not checked: this program does not query the DNS for it",
        "with the record, a browser uses HTTP/3 on its first visit",
        &format!(
            "check with: dig {} HTTPS; utmost serve prints the record at its start",
            seen.host
        ),
    ));
    all
}

fn finding(
    of: &'static str,
    state: State,
    found: impl Into<String>,
    means: &'static str,
    remedy: &str,
) -> Finding {
    Finding { of, state, found: found.into(), means, remedy: remedy.to_owned() }
}

fn good(of: &'static str, found: impl Into<String>, means: &'static str) -> Finding {
    finding(of, State::Good, found, means, "")
}

fn note(of: &'static str, found: impl Into<String>, means: &'static str, remedy: &str) -> Finding {
    finding(of, State::Note, found, means, remedy)
}

fn bad(of: &'static str, found: impl Into<String>, means: &'static str, remedy: &str) -> Finding {
    finding(of, State::Bad, found, means, remedy)
}

fn over_tcp(seen: &Observed, tcp: &Tcp, all: &mut Vec<Finding>) {
    all.push(good("TCP", format!("port {} answers", seen.port), "a first visit uses TCP"));
    match &tcp.certificate {
        Ok(certificate) => all.extend(of_certificate(seen, certificate)),
        Err(cause) => all.push(bad(
            "TLS",
            cause,
            "without TLS there is neither HTTP/2 nor HTTP/3",
            "serve https at this port",
        )),
    }
    all.push(match &tcp.answer {
        Ok((status, values)) => alt_svc(seen.udp.port, *status, values),
        Err(cause) => bad(
            "Alt-Svc",
            format!("no HTTP answer: {cause}"),
            "a browser learns of HTTP/3 from a field of a response",
            "also serve the site at this port over HTTP/2 or HTTP/1.1",
        ),
    });
}

fn of_certificate(seen: &Observed, certificate: &Certificate) -> Vec<Finding> {
    let Certificate { names, chain, days_left, trouble } = certificate;
    let what = format!("for {}, with {days_left} days left; {chain} sent", names.join(", "));
    let first = match trouble {
        Some(Trouble::Name) => bad(
            "certificate",
            format!("is for {}, and not for {}", names.join(", "), seen.host),
            "a browser refuses it, over QUIC without a page that offers to continue",
            "get a certificate that names the host",
        ),
        Some(Trouble::Date) => bad(
            "certificate",
            format!("not valid at this time ({days_left} days left)"),
            "a browser refuses it",
            "renew the certificate, and check the clocks of both machines",
        ),
        Some(Trouble::Untrusted(cause)) => bad(
            "certificate",
            format!("{cause}; the server sent {chain}"),
            "over QUIC, Chromium accepts only certificates of a public authority that it knows, with all intermediate ones",
            "get one from a public authority and serve its whole chain; for a test, start Chromium with --ignore-certificate-errors-spki-list, or name the authority here with --ca",
        ),
        None if *days_left < 7 => note(
            "certificate",
            what,
            "in a few days browsers will refuse it",
            "renew the certificate",
        ),
        None => good("certificate", what, "a browser takes it"),
    };
    let root = match seen.trusted {
        Trusted::System => None,
        Trusted::File => Some("it was trusted because of --ca"),
        Trusted::Anybody => Some("it was not verified (--insecure)"),
    };
    let root = root.filter(|_| first.state != State::Bad).map(|found| {
        note(
            "root",
            found,
            "over QUIC, Chromium accepts only its built-in authorities, not added ones; Firefox accepts both",
            "check again without the flag once it comes from a public authority",
        )
    });
    std::iter::once(first).chain(root).collect()
}

/// The HTTP/3 service in the values of `Alt-Svc` (RFC 7838, 3): port and lifetime in seconds of the first one for
/// HTTP/3.
pub(crate) fn alternative(values: &[String]) -> Option<(u16, u64)> {
    let each = values.iter().flat_map(|it| it.split(','));
    each.map(str::trim).find_map(|value| {
        let mut parts = value.split(';').map(str::trim);
        let authority = parts.next()?.strip_prefix("h3=\"")?.strip_suffix('"')?;
        let port = authority.rsplit_once(':')?.1.parse().ok()?;
        let ma = parts.find_map(|it| it.strip_prefix("ma="));
        Some((port, ma.map_or(Some(DAY), |it| it.parse().ok())?))
    })
}

/// The default lifetime of an alternative, in seconds (RFC 7838, 3.1).
const DAY: u64 = 86_400;
/// An alternative with a shorter lifetime expires before the next visit.
const SHORT: u64 = 3600;

fn alt_svc(asked_port: u16, status: u16, values: &[String]) -> Finding {
    let of = "Alt-Svc";
    match alternative(values) {
        None if values.is_empty() => bad(
            of,
            format!("the response ({status}) has no such field"),
            "a browser does not learn of HTTP/3",
            &format!("add the field to all responses: Alt-Svc: h3=\":{asked_port}\"; ma=86400"),
        ),
        None => bad(
            of,
            format!("names no h3: {}", values.join(", ")),
            "drafts of HTTP/3 such as h3-29 are no longer in use",
            &format!("say Alt-Svc: h3=\":{asked_port}\"; ma=86400"),
        ),
        Some((port, 0)) => bad(
            of,
            format!("h3 at port {port} for 0 s"),
            "that tells browsers to forget it",
            "say ma=86400, a day",
        ),
        Some((port, ma)) if ma < SHORT => note(
            of,
            format!("h3 at port {port} for {ma} s"),
            "browsers forget it before their next visit",
            "say ma=86400, a day",
        ),
        Some((port, ma)) => {
            good(of, format!("h3 at port {port} for {ma} s"), "a browser tries HTTP/3 there")
        }
    }
}

fn over_udp(udp: &Udp, all: &mut Vec<Finding>) {
    let port = udp.port;
    let is_silent = udp.answered.iter().all(|(_, it)| !it);
    match &udp.quic {
        Some(Ok(quic)) => {
            all.push(good(
                "QUIC",
                format!("port {port} by UDP: connected"),
                "a browser can connect",
            ));
            versions(udp, all);
            sizes(udp, all);
            limits(quic, all);
        }
        other if is_silent => {
            let cause = match other {
                Some(Err(cause)) => {
                    format!("{cause}; datagrams of all sizes were not answered either")
                }
                _ => "not answered".to_owned(),
            };
            all.push(bad(
                "QUIC",
                format!("port {port} by UDP: {cause}"),
                "UDP is blocked on the path, or nothing listens there; a browser stays with TCP",
                "open the port for UDP in the firewall and in the cloud's rules, and check whether the server listens on UDP",
            ));
        }
        other => {
            let cause = match other {
                Some(Err(cause)) => cause.as_str(),
                _ => "not tried",
            };
            all.push(bad(
                "QUIC",
                format!("port {port} by UDP answers, but there is no connection: {cause}"),
                "a browser stays with TCP",
                "check the server's log",
            ));
            versions(udp, all);
            sizes(udp, all);
        }
    }
}

fn versions(udp: &Udp, all: &mut Vec<Finding>) {
    let of = "versions of QUIC";
    let said: Vec<String> = udp.versions.iter().map(|it| format!("{it:#x}")).collect();
    all.push(if udp.versions.contains(&VERSION_1) {
        good(of, said.join(", "), "browsers speak version 1")
    } else if said.is_empty() {
        let means = "a client with another version cannot learn which there are";
        note(of, "the server did not list its versions", means, "")
    } else {
        bad(of, said.join(", "), "browsers use version 1, which is missing", "update the server")
    });
}

fn sizes(udp: &Udp, all: &mut Vec<Finding>) {
    let of = "sizes of datagrams";
    let (answered, lost): (Vec<_>, Vec<_>) = udp.answered.iter().partition(|(_, it)| *it);
    let [answered, lost] = [answered, lost]
        .map(|sizes| sizes.iter().map(|(size, _)| size.to_string()).collect::<Vec<_>>().join(", "));
    all.push(if lost.is_empty() {
        good(of, format!("answered: {answered} bytes"), "the path carries what browsers send")
    } else if answered.is_empty() {
        note(of, "no size was answered", "the server does not name its versions", "")
    } else {
        note(
            of,
            format!("answered: {answered} bytes; not answered: {lost}"),
            "Chromium's first datagrams have 1250 bytes; larger ones that are lost cost a browser time",
            "check the MTU of the path (tunnels, VPNs): 1500 is usual, and 1280 the least for IPv6",
        )
    });
}

fn limits(quic: &Quic, all: &mut Vec<Finding>) {
    let mut parameters = quic.parameters.iter();
    let requests = parameters.find(|(name, _)| *name == "initial_max_streams_bidi");
    let requests = requests.map_or(0, |(_, value)| *value);
    let of = "transport parameters";
    let said = list(&quic.parameters);
    all.push(if requests == 0 {
        bad(
            of,
            said,
            "a browser may not make any request",
            "allow requests: initial_max_streams_bidi of 100",
        )
    } else if requests < 100 {
        let means = "requests of a page wait for each other";
        note(of, said, means, "allow 100 requests at once (RFC 9114, 6.1)")
    } else {
        good(of, said, "all requests of a page can be sent at once")
    });
    all.push(match &quic.settings {
        Some(settings) => good("settings of HTTP/3", list(settings), "the server speaks HTTP/3"),
        None => bad(
            "settings of HTTP/3",
            "none came",
            "a browser waits for them, and leaves",
            "check the server's log",
        ),
    });
    all.push(match quic.status {
        Some(status) if status < 500 && status != 421 => {
            good("answer by HTTP/3", format!("status {status}"), "HTTP/3 works")
        }
        Some(status) => bad(
            "answer by HTTP/3",
            format!("status {status}"),
            "a browser that uses HTTP/3 gets an error",
            "check the server's log; 421 means that it does not have this host",
        ),
        None => {
            bad("answer by HTTP/3", "none", "a browser waits in vain", "check the server's log")
        }
    });
}

fn list(of: &[(&'static str, u64)]) -> String {
    of.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Observed {
        let certificate = Certificate {
            names: vec!["a.test".to_owned()],
            chain: 2,
            days_left: 60,
            trouble: None,
        };
        let answer = Ok((200, vec!["h3=\":443\"; ma=86400".to_owned()]));
        let quic = Quic {
            status: Some(200),
            parameters: vec![("initial_max_streams_bidi", 100)],
            settings: Some(Vec::new()),
        };
        Observed {
            host: "a.test".to_owned(),
            port: 443,
            trusted: Trusted::System,
            tcp: Ok(Tcp { certificate: Ok(certificate), answer }),
            udp: Udp {
                port: 443,
                answered: vec![(1200, true), (1350, true)],
                versions: vec![1],
                quic: Some(Ok(quic)),
            },
        }
    }

    /// The findings that are not good.
    fn faults(seen: &Observed) -> Vec<(&'static str, State)> {
        let all = findings(seen);
        assert_eq!(will_move(&all), all.iter().all(|it| it.state != State::Bad));
        let faults = all.iter().filter(|it| it.state != State::Good && it.of != "HTTPS record");
        faults.map(|it| (it.of, it.state)).collect()
    }

    #[test]
    fn each_broken_state_has_its_finding() {
        type Change = fn(&mut Observed);
        let cases: [(Change, &[(&str, State)]); 13] = [
            (|_| {}, &[]),
            (|it| it.tcp = Err("refused".to_owned()), &[("TCP", State::Bad)]),
            (|it| certificate(it).trouble = Some(Trouble::Name), &[("certificate", State::Bad)]),
            (|it| certificate(it).trouble = Some(Trouble::Date), &[("certificate", State::Bad)]),
            (|it| certificate(it).days_left = 3, &[("certificate", State::Note)]),
            (|it| it.trusted = Trusted::File, &[("root", State::Note)]),
            (|it| values(it).clear(), &[("Alt-Svc", State::Bad)]),
            (|it| values(it)[0] = "h3-29=\":443\"".to_owned(), &[("Alt-Svc", State::Bad)]),
            (|it| values(it)[0] = "h3=\":443\"; ma=60".to_owned(), &[("Alt-Svc", State::Note)]),
            (
                |it| it.udp = Udp { port: 443, answered: vec![(1200, false)], ..Udp::default() },
                &[("QUIC", State::Bad)],
            ),
            (|it| it.udp.answered[1].1 = false, &[("sizes of datagrams", State::Note)]),
            (|it| it.udp.versions = vec![0x6b33_43cf], &[("versions of QUIC", State::Bad)]),
            (
                |it| it.udp.quic = Some(Ok(Quic { status: Some(421), ..quic(it).clone() })),
                &[("answer by HTTP/3", State::Bad)],
            ),
        ];
        for (change, expected) in cases {
            let mut seen = whole();
            change(&mut seen);
            assert_eq!(faults(&seen), expected);
        }
    }

    fn certificate(seen: &mut Observed) -> &mut Certificate {
        seen.tcp.as_mut().expect("TCP").certificate.as_mut().expect("one")
    }

    fn values(seen: &mut Observed) -> &mut Vec<String> {
        &mut seen.tcp.as_mut().expect("TCP").answer.as_mut().expect("one").1
    }

    fn quic(seen: &Observed) -> &Quic {
        seen.udp.quic.as_ref().expect("tried").as_ref().expect("connected")
    }

    #[test]
    fn the_first_alternative_for_http_3_counts() {
        let said = |text: &str| alternative(&[text.to_owned()]);
        assert_eq!(said("h2=\":1\", h3=\":8443\"; ma=60; persist=1"), Some((8443, 60)));
        assert_eq!(said("h3=\"b.test:443\""), Some((443, 86_400)));
        assert_eq!(said("clear"), None);
        assert_eq!(said("h3-29=\":443\""), None);
    }
}
