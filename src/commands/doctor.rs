//! `utmost doctor`: will a browser move to HTTP/3?

use crate::{output, values};
use ::client::Verify;
use ::client::doctor::{Finding, Patient, State, findings, will_move};
use ::client::event_loop::examine;
use ::serve::Failure;
use std::net::SocketAddr;
use std::time::Duration;

const FORMAT: &str = "utmost-doctor/1";

/// Say whether a browser will move to HTTP/3 at a host and, if not, why
///
/// Checks as a browser would: over TCP, the certificate and the header field that announces HTTP/3 (Alt-Svc); then over UDP, the
/// port that the field names, with small and large datagrams and a request over HTTP/3. Each line gives a finding, its meaning
/// for a browser, and a remedy. Exit codes: 0 a browser will move; 1 it will not; 2 bad usage; 3 unknown host.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost doctor www.example.com\n  \
utmost doctor localhost:4433 --insecure --json")]
pub(crate) struct Arguments {
    /// The host, optionally with a port [default port: 443]
    #[arg(value_name = "HOST[:PORT]", value_parser = host_and_port)]
    host: (String, u16),
    /// Connect to this address instead of resolving the host
    #[arg(long, value_name = "ADDR:PORT", value_parser = values::server_address)]
    server: Option<SocketAddr>,
    #[command(flatten)]
    trust: values::Trust,
    /// Seconds to wait for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=60))]
    within: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `HOST`, `HOST:PORT`, `ADDR`, `ADDR:PORT` or `[ADDR]:PORT`.
fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let plain = text.strip_prefix("https://").unwrap_or(text).trim_end_matches('/');
    let (host, port) = match plain.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, port.parse().ok())
        }
        _ => (plain, Some(443)),
    };
    let host = values::host(host.trim_matches(['[', ']'])).ok();
    host.zip(port).ok_or_else(|| {
        format!(
            "`{text}`: use a host, optionally with a port, for example www.example.com or localhost:4433"
        )
    })
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (host, port) = &arguments.host;
    let place =
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let address = match arguments.server {
        Some(address) => address,
        None => values::server_address(&place).map_err(Failure::Elsewhere)?,
    };
    let patient = Patient {
        host: host.clone(),
        port: *port,
        address,
        verify: Verify::from(&arguments.trust),
        within: Duration::from_secs(arguments.within.into()),
    };
    let all = findings(&examine(&patient)?);
    let moves = will_move(&all);
    if arguments.json {
        let document = serde_json::json!({
            "host": host,
            "port": port,
            "address": address.to_string(),
            "will_move": moves,
            "findings": all,
        });
        output::json_of_program(FORMAT, document)?;
    } else {
        show(&all)?;
    }
    let bad: Vec<&str> = all.iter().filter(|it| it.state == State::Bad).map(|it| it.of).collect();
    if moves {
        return Ok(());
    }
    Err(Failure::No(format!("{place}: a browser will not move to HTTP/3: {}", bad.join(", "))))
}

fn show(all: &[Finding]) -> Result<(), Failure> {
    for Finding { of, state, found, means, remedy } in all {
        let state = match state {
            State::Good => "good",
            State::Note => "note",
            State::Bad => "BAD ",
        };
        output::line(&format!("{state}  {of}: {found}"))?;
        output::line(&format!("      {means}"))?;
        if !remedy.is_empty() {
            output::line(&format!("      {remedy}"))?;
        }
    }
    if will_move(all) {
        output::line("A browser will move to HTTP/3.")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_port_443_unless_it_says_another() {
        for (text, host, port) in [
            ("a.test", "a.test", 443),
            ("https://a.test/", "a.test", 443),
            ("a.test:8443", "a.test", 8443),
            ("[::1]:4433", "::1", 4433),
            ("::1", "::1", 443),
            ("192.0.2.1:1", "192.0.2.1", 1),
        ] {
            assert_eq!(host_and_port(text), Ok((host.to_owned(), port)));
        }
        for bad in ["", "a b", "a.test:x", "a.test/path"] {
            assert!(host_and_port(bad).is_err(), "{bad}");
        }
    }
}
