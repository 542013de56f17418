//! Values that several flags take.

use crate::failure::Failure;
use ::client::Verify;
use ::corpus::Page;
use ::corpus::import::{ImportError, import};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lab::{Contender, DeliveryOrder};
use schedulers::{SCHEMES, Scheme, SchemeError, find_scheme, paper_schemes};
use server::{CongestionControl, Pace, SignalUse};
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// `1400/10`: stream bytes of a packet, and the milliseconds from one to the next.
pub(crate) fn pace(text: &str) -> Result<Pace, String> {
    let wrong = || format!("`{text}` is not a pace: use BYTES/MS, for example 1400/10");
    let (bytes, ms) = text.split_once('/').ok_or_else(wrong)?;
    let packet_bytes: usize = bytes.parse().map_err(|_| wrong())?;
    let ms: f64 = ms.parse().map_err(|_| wrong())?;
    // quiche makes no larger datagrams than 16 383 bytes.
    if !(100..=16_000).contains(&packet_bytes) || !(0.01..=60_000.0).contains(&ms) {
        return Err(format!("`{text}`: from 100 to 16000 bytes, each 0.01 to 60000 ms"));
    }
    Ok(Pace { packet_bytes, interval: Duration::from_secs_f64(ms / 1000.0) })
}

/// `paper`, `all`, or names separated by commas; each once, in the order given.
pub(crate) fn schemes(list: &str) -> Result<Vec<Scheme>, Failure> {
    listed(list, find_scheme, |it| &it.name)
}

/// Why a name does not name a scheme. A bracket is not a scheme.
pub(crate) fn no_scheme(error: SchemeError) -> Failure {
    match error {
        SchemeError::Unknown { name, .. }
            if Contender::BRACKETS.iter().any(|it| it.name() == name) =>
        {
            let what = "is a bracket, the best or the worst order of a page: for `compare` only";
            Failure::BadInput(format!("`{name}` {what}"))
        }
        error => Failure::bad_input(error),
    }
}

/// Like [`schemes`], with the brackets `oracle` and `anti-oracle`.
pub(crate) fn contenders(list: &str) -> Result<Vec<Contender>, Failure> {
    listed(list, Contender::find, Contender::name)
}

fn listed<T: From<Scheme>>(
    list: &str,
    find: fn(&str) -> Result<T, SchemeError>,
    name_of: fn(&T) -> &str,
) -> Result<Vec<T>, Failure> {
    let mut all: Vec<T> = Vec::new();
    for name in list.split(',').map(str::trim) {
        let found = match name {
            "paper" => paper_schemes().iter().cloned().map(T::from).collect(),
            "all" => SCHEMES.iter().cloned().map(T::from).collect(),
            name => vec![find(name).map_err(no_scheme)?],
        };
        for it in found {
            if !all.iter().any(|known| name_of(known) == name_of(&it)) {
                all.push(it);
            }
        }
    }
    Ok(all)
}

/// `ADDR:PORT` or `HOST:PORT`.
pub(crate) fn server_address(text: &str) -> Result<SocketAddr, String> {
    let addresses = text.to_socket_addrs();
    let found =
        addresses.map_err(|error| format!("`{text}`: {error}; use for example 127.0.0.1:4433"))?;
    // A server that listens on IPv4 only is the common case for a name with both.
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(|| format!("`{text}`: no address"))
}

/// An https URL without a user's name.
pub(crate) fn server_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok();
    let url = url.filter(|it| it.scheme() == "https" && it.username().is_empty());
    url.ok_or_else(|| format!("`{text}` is not an https URL: use https://HOST[:PORT]/PATH"))
}

/// A page by its bundled name or its file.
pub(crate) fn page(argument: &str) -> Result<Page, Failure> {
    ::corpus::page(argument).map_err(|error| {
        let file = Path::new(argument);
        let is_recording = || matches!(import(file, None), Ok(_) | Err(ImportError::Wrong(_)));
        let hint = if file.is_dir() {
            "; a folder is not a page: record its site with `utmost corpus record`, or make a page of a recording with \
             `utmost corpus import`"
        } else if file.is_file() && is_recording() {
            "; it is a recording: make a page of it with `utmost corpus import`"
        } else {
            ""
        };
        Failure::BadInput(format!("{error}{hint}"))
    })
}

/// A number of loads, threads or drawings.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| {
        "a whole number from 1 on is needed; leave out the flag for its default".to_owned()
    })
}

/// How many loads can be under way without waiting for each other.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Makes a directory to write into, so that an error comes before any work. Errors name `flag`.
pub(crate) fn directory(path: &Path, flag: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| {
        Failure::BadInput(format!("{}: {error}; {flag} takes a directory", path.display()))
    })
}

/// The values that a flag takes: name, help text, value.
pub(crate) type Choices<T> = &'static [(&'static str, &'static str, T)];

/// Parses one of `choices` by its name.
pub(crate) fn choice<T: Clone + Send + Sync>(
    choices: Choices<T>,
) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(move |name| {
        let chosen = choices.iter().find(|it| it.0 == name);
        chosen.map(|it| it.2.clone()).ok_or("not one of the values")
    })
}

pub(crate) const SIGNALS: Choices<SignalUse> = &[
    ("obey", "The client's signals place its streams", SignalUse::Obey),
    ("ignore", "The server places streams by what it knows of the page", SignalUse::Ignore),
    ("override", "The client's signals add to what the server knows", SignalUse::Override),
];

/// Whether a client keeps a connection ready to which responses can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spare {
    Idle,
    New,
    Expected,
}

pub(crate) const MIGRATE: Choices<Spare> = &[
    ("idle", "To a connection that the client opens at once and keeps idle", Spare::Idle),
    ("new", "To a connection that the client opens when a response moves", Spare::New),
    ("expected", "As idle if a response moved in an earlier visit, else as new", Spare::Expected),
];

pub(crate) const DELIVERY_ORDERS: Choices<DeliveryOrder> = &[
    ("stream", "The bytes of each stream in their order, as in QUIC", DeliveryOrder::Stream),
    (
        "connection",
        "All bytes in the order in which the server first sent them, as over TCP: a late one holds back everything \
         that was sent after it, on any stream",
        DeliveryOrder::Connection,
    ),
];

pub(crate) const CONGESTION_CONTROLS: Choices<CongestionControl> = &[
    ("bbr2", "BBR version 2", CongestionControl::Bbr2),
    ("cubic", "CUBIC, RFC 9438", CongestionControl::Cubic),
    ("reno", "New Reno, RFC 9002", CongestionControl::Reno),
];

/// `--idle-reset`, which bbr2 has no use for.
pub(crate) fn idle_reset(wanted: bool, cc: CongestionControl) -> Result<bool, Failure> {
    if wanted && cc == CongestionControl::Bbr2 {
        let cause =
            "--idle-reset: bbr2 paces by the rate that it has measured; use --cc cubic or reno";
        return Err(Failure::BadInput(cause.to_owned()));
    }
    Ok(wanted)
}

/// Which certificates a client trusts.
#[derive(Debug, clap::Args)]
pub(crate) struct Trust {
    /// Trust the certificate authorities in this file (PEM)
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long)]
    insecure: bool,
}

impl From<&Trust> for Verify {
    fn from(trust: &Trust) -> Self {
        match &trust.ca {
            Some(file) => Self::Authorities(file.clone()),
            None if trust.insecure => Self::Nobody,
            None => Self::System,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_schemes_holds_each_once_and_refuses_unknown_names() {
        let names: Vec<String> =
            schemes("fifo,paper,fifo").expect("known").into_iter().map(|it| it.name).collect();
        assert_eq!(
            names.join(" "),
            "fifo rr wrr dfifo firefox p+ s+ spdyrr bucket bucket-html zeroweight"
        );
        assert!(schemes("fifo,nosuch").is_err());
    }

    #[test]
    fn a_pace_is_bytes_and_milliseconds() {
        assert_eq!(pace("1400/10"), Ok(Pace::PAPER));
        assert!(pace("60000/50").is_err());
        assert!(pace("1400").is_err() && pace("0/10").is_err() && pace("1400/0").is_err());
    }

    #[test]
    fn a_server_is_named_by_an_https_url() {
        let url = |text: &str| server_url(text).map(|it| it.to_string()).ok();
        assert_eq!(url("https://a.test").as_deref(), Some("https://a.test/"));
        assert_eq!(url("https://[::1]:4433?q").as_deref(), Some("https://[::1]:4433/?q"));
        for wrong in ["http://a.test/", "a.test", "https://", "https://a:b/", "https://u@a/"] {
            assert_eq!(url(wrong), None, "{wrong}");
        }
    }
}
