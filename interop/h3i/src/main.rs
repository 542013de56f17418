//! An HTTP/3 client on h3i, which sends any frame on any stream: well-formed fetches with priorities, and priority frames
//! that no client may send.
//!
//! ```text
//! h3i-peer fetch --connect ADDR --ca FILE --out DIR [--then URL] [--update STREAM#PRIORITY] [--then-update ...] URL...
//! h3i-peer abuse --connect ADDR --case NAME      prints the error code that the server closed with
//! h3i-peer abuse --list                          prints the cases, each with the code that it deserves
//! ```
//!
//! h3i verifies no certificates with an authority of one's own, so `--ca` is taken and not used.

mod abuse;
mod fetch;

use std::error::Error;
use std::net::SocketAddr;

use h3i::actions::h3::{Action, WaitType};
use h3i::config::Config;
use h3i::quiche::{ConnectionError, h3::WireErrorCode};

/// Whatever goes wrong ends the program, so nothing needs to tell errors apart.
type AnyError = Box<dyn Error + Send + Sync>;

/// The client's control stream, by custom the first unidirectional one.
const CONTROL: u64 = 2;

fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("fetch") => fetch::fetch(&Options::parse(arguments)?),
        Some("abuse") => abuse::abuse(&Options::parse(arguments)?),
        _ => Err("usage: h3i-peer fetch|abuse ...".into()),
    }
}

/// `--name value` pairs in their order, and URLs after them.
struct Options {
    pairs: Vec<(String, String)>,
    urls: Vec<String>,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, AnyError> {
        let mut arguments = arguments.peekable();
        let mut pairs = Vec::new();
        while let Some(name) = arguments.next_if(|it| it.starts_with("--")) {
            let value = if name == "--list" { Some(String::new()) } else { arguments.next() };
            pairs.push((name.clone(), value.ok_or(format!("{name} needs a value"))?));
        }
        Ok(Self { pairs, urls: arguments.collect() })
    }

    /// All values of an option.
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |it| it.0 == name).map(|it| it.1.as_str())
    }

    /// The value of an option that must be there.
    fn get(&self, name: &str) -> Result<&str, AnyError> {
        let found = self.pairs.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
        found.ok_or_else(|| format!("{name} is missing").into())
    }

    fn config(&self) -> Result<Config, AnyError> {
        let address: SocketAddr = self.get("--connect")?.parse()?;
        Ok(Config::new()
            .with_host_port("localhost:443".to_owned())
            .with_connect_to(address.to_string())
            .verify_peer(false)
            .with_idle_timeout(10_000)
            .with_max_data(50_000_000)
            .with_max_stream_data_bidi_local(10_000_000)
            .with_max_window(50_000_000)
            .with_max_stream_window(10_000_000))
    }
}

/// The control stream with empty settings (RFC 9114, 6.2.1).
fn open_control() -> [Action; 2] {
    [
        Action::OpenUniStream {
            stream_id: CONTROL,
            fin_stream: false,
            stream_type: 0,
            expected_result: Default::default(),
        },
        bytes(CONTROL, vec![4, 0]),
    ]
}

fn bytes(stream_id: u64, bytes: Vec<u8>) -> Action {
    Action::StreamBytes { stream_id, fin_stream: false, bytes, expected_result: Default::default() }
}

fn wait_ms(ms: u64) -> Action {
    Action::Wait { wait_type: WaitType::WaitDuration(std::time::Duration::from_millis(ms)) }
}

fn close() -> Action {
    let error_code = WireErrorCode::NoError as u64;
    Action::ConnectionClose { error: ConnectionError { is_app: true, error_code, reason: vec![] } }
}
