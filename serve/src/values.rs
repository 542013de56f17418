//! Parsers for the flag values that commands share.

use crate::failure::Failure;
pub use crate::output_paths::{directory, writable};
use ::corpus::Page;
use ::corpus::import::{ImportError, import};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use schedulers::Catalogue;
use server::{CongestionControl, Pace, SignalUse};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `1400/10`: stream bytes of a packet, and the milliseconds from one to the next.
pub fn pace(text: &str) -> Result<Pace, String> {
    let parts = text
        .split_once('/')
        .and_then(|(bytes, ms)| Some((bytes.parse::<usize>().ok()?, ms.parse::<f64>().ok()?)));
    let Some((packet_bytes, ms)) = parts else {
        return Err(format!("`{text}` is not a pace: use BYTES/MS, for example 1400/10"));
    };
    // quiche makes no larger datagrams than 16 383 bytes.
    if !(100..=16_000).contains(&packet_bytes) || !(0.01..=60_000.0).contains(&ms) {
        return Err(format!("`{text}`: from 100 to 16000 bytes, each 0.01 to 60000 ms"));
    }
    Ok(Pace { packet_bytes, interval: Duration::from_secs_f64(ms / 1000.0) })
}

/// `ADDR:PORT` or `HOST:PORT`.
pub fn server_address(text: &str) -> Result<SocketAddr, String> {
    let addresses = text.to_socket_addrs();
    let found =
        addresses.map_err(|error| format!("`{text}`: {error}; use for example 127.0.0.1:4433"))?;
    // A server that listens only on IPv4 is the common case for a name with both kinds of addresses.
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(|| format!("`{text}`: no address"))
}

/// Schemes from the user's files, beside the built-in ones.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct OwnSchemes {
    /// Add the scheme of this TOML file (docs/own-schemes.md). The flag can be repeated
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    scheme_file: Vec<PathBuf>,
}

impl OwnSchemes {
    /// The built-in schemes, and the schemes of the files. `more`: files that a configuration names.
    pub fn catalogue(&self, more: &[PathBuf]) -> Result<Catalogue, Failure> {
        let files = [&self.scheme_file, more].concat();
        let read = scheme_files::read_all(&files, &scheme_files::to_stderr());
        let read = read.map_err(Failure::bad_input)?;
        Ok(Catalogue::with(read.into_iter().map(|it| it.scheme).collect()))
    }
}

/// A page by its bundled name or its file.
pub fn page(argument: &str) -> Result<Page, Failure> {
    ::corpus::page(argument).map_err(|error| {
        let file = Path::new(argument);
        let hint = match file {
            _ if file.is_dir() => {
                "; a folder is not a page: record its site with `utmost corpus record`, or make a page of a recording with \
                 `utmost corpus import`"
            }
            _ if !file.is_file() => "",
            _ => match import(file, None) {
                Ok(_) | Err(ImportError::Wrong(_)) => {
                    "; it is a recording: make a page of it with `utmost corpus import`"
                }
                Err(_) => "",
            },
        };
        Failure::BadInput(format!("{error}{hint}"))
    })
}

/// Pages: a set of bundled ones such as `@first-60`, all pages in a folder, or a single page by its bundled name or
/// file.
pub fn pages(argument: &str) -> Result<Vec<Page>, Failure> {
    let names = ::corpus::sets::spelled_out(&[argument.to_owned()]).map_err(Failure::bad_input)?;
    names.iter().map(|it| page(it)).collect()
}

/// The values that a flag takes: name, help text, value.
pub type Choices<T> = &'static [(&'static str, &'static str, T)];

/// Parses one of `choices` by its name.
pub fn choice<T: Clone + Send + Sync>(choices: Choices<T>) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(move |name| {
        let chosen = choices.iter().find(|it| it.0 == name);
        chosen.map(|it| it.2.clone()).ok_or("not one of the values")
    })
}

/// How a server uses signals.
pub const SIGNALS: Choices<SignalUse> = &[
    ("obey", "The client's signals place its streams", SignalUse::Obey),
    ("ignore", "The server places streams by its knowledge of the page", SignalUse::Ignore),
    ("override", "The client's signals add to the server's knowledge", SignalUse::Override),
];

/// A host name for a certificate: letters, digits, `-` and dots, perhaps with a leading `*.`; or an IP address.
pub fn host(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_name = name.len() <= 253 && name.split('.').all(is_label);
    if is_name || text.parse::<std::net::IpAddr>().is_ok() {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is not a host: use for example www.site.example or 192.0.2.1"))
}

fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_')
}

/// One or more addresses to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The addresses. Only the first is required.
    pub all: Vec<SocketAddr>,
}

/// An address to listen on, or `localhost` and a port for both loopback addresses.
pub fn addresses(text: &str) -> Result<Addresses, String> {
    let port = text.strip_prefix("localhost:").and_then(|it| it.parse().ok());
    if let Some(port) = port {
        let both = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
        return Ok(Addresses { all: both.map(|it| SocketAddr::new(it, port)).into() });
    }
    Ok(Addresses { all: vec![address(text)?] })
}

/// An address to listen on.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "an IP address and a port are needed, for example 127.0.0.1:4433, 0.0.0.0:443 or [::]:443"
            .to_owned()
    })
}

/// The congestion controls of the transport.
pub const CONGESTION_CONTROLS: Choices<CongestionControl> = &[
    ("bbr2", "BBR version 2", CongestionControl::Bbr2),
    ("cubic", "CUBIC, RFC 9438", CongestionControl::Cubic),
    ("reno", "New Reno, RFC 9002", CongestionControl::Reno),
];

/// Checks `--idle-reset`, which does not apply to bbr2.
pub fn idle_reset(wanted: bool, cc: CongestionControl) -> Result<bool, Failure> {
    if wanted && cc == CongestionControl::Bbr2 {
        let cause =
            "--idle-reset: bbr2 paces by the rate that it has measured; use --cc cubic or reno";
        return Err(Failure::BadInput(cause.to_owned()));
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address() {
        for good in ["localhost", "www.a.example", "*.a.example", "192.0.2.1", "::1"] {
            assert_eq!(host(good).as_deref(), Ok(good));
        }
        for bad in ["", "a b", "a..b", "a.example/", "https://a.example", "a,DNS:b", "*"] {
            assert!(host(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn localhost_is_both_loopback_addresses() {
        let all = |text| addresses(text).map(|it| it.all);
        let both = ["127.0.0.1:4433", "[::1]:4433"].map(|it| it.parse().expect("an address"));
        assert_eq!(all("localhost:4433"), Ok(both.to_vec()));
        assert_eq!(all("[::1]:4433"), Ok(both[1..].to_vec()));
        assert!(all("localhost").is_err() && all("nowhere:1").is_err());
    }

    #[test]
    fn a_pace_is_bytes_and_milliseconds() {
        assert_eq!(pace("1400/10"), Ok(Pace::PAPER));
        assert!(pace("60000/50").is_err());
        assert!(pace("1400").is_err() && pace("0/10").is_err() && pace("1400/0").is_err());
    }
}
