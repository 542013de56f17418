//! Networks by name: what each direction does to datagrams.
//!
//! A network file has a key for each property of a link; `[down]` and `[up]` override them for one direction. With
//! `server_pace = true`, the server, not the link, sets the pace, as in the paper: one packet of 1400 stream bytes in the time
//! that follows from `rate`.

mod file;
mod property;
mod queue;

pub use property::{Amount, Property};
pub use queue::QueueDepth;

use crate::FileError;
use serde::Serialize;
use server::Pace;
use simulator::link::{Profile, Queue, Rate};
use std::path::Path;
use std::time::Duration;

/// A network, resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Network {
    /// Its name, or the file that it was read from.
    pub name: String,
    /// The server sends one packet of 1400 stream bytes each [`Network::tick_us`]; the links do not.
    pub server_pace: bool,
    /// Server to client.
    pub down: Profile,
    /// Client to server.
    pub up: Profile,
}

/// Stream bytes of a packet, if the server paces, and on the engine `ideal`.
pub const PACKET_BYTES: u64 = 1400;

/// A macro, so that each name is written only once.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../networks/", $name, ".toml")))),*]
    };
}

const BUILT_IN: [(&str, &str); 19] = built_in!(
    "paper",
    "paper-jitter",
    "paper-jitter-turn",
    "paper-jitter-fourth",
    "2g",
    "3g",
    "3g-lossy",
    "lte",
    "lte-lossy",
    "cable",
    "cable-lossy",
    "satellite",
    "satellite-lossy",
    "loopback",
    "interop",
    "interop-longrtt",
    "interop-droprate",
    "interop-corruptrate",
    "interop-blackhole",
);

/// A network that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no such network, the file is not valid, or the engine does not support it: name or file, place and cause.
    #[error("{0}")]
    Wrong(String),
}

impl Network {
    /// A built-in network by name, or a file.
    pub fn find(argument: &str) -> Result<Self, NetworkError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == argument) {
            return file::parse(name, text);
        }
        let is_file = argument.contains('/')
            || Path::new(argument).extension().is_some_and(|it| it == "toml");
        if !is_file {
            let known = Self::names().join(", ");
            return Err(NetworkError::Wrong(format!(
                "no network named `{argument}`; there are {known}, or a file whose name has a `/` or ends in `.toml`"
            )));
        }
        let text = named_files::read_text(Path::new(argument))
            .map_err(FileError::at(Path::new(argument)))?;
        file::parse(argument, &text)
    }

    /// The names of the built-in networks.
    pub fn names() -> [&'static str; BUILT_IN.len()] {
        BUILT_IN.map(|(name, _)| name)
    }

    pub(crate) fn is_jittered(&self) -> bool {
        self.down.jitter.is_some() || self.up.jitter.is_some()
    }

    /// Microseconds that one packet of [`PACKET_BYTES`] stream bytes takes on the way down.
    pub fn tick_us(&self) -> f64 {
        PACKET_BYTES as f64 * 8.0 * 1e6 / self.down.rate.mean()
    }

    /// The round-trip time without queues: the sum of both directions' delays.
    pub fn round_trip_ms(&self) -> f64 {
        self.down.delay_ms + self.up.delay_ms
    }

    /// The server's pace, if the server paces.
    pub fn pace(&self) -> Option<Pace> {
        self.server_pace.then(|| Pace {
            packet_bytes: usize::try_from(PACKET_BYTES).unwrap_or(0),
            interval: Duration::from_secs_f64(self.tick_us() / 1e6),
        })
    }

    /// Both directions, down and up, for a server that keeps [`Network::pace`].
    pub fn profiles(&self) -> (Profile, Profile) {
        let (mut down, mut up) = (self.down.clone(), self.up.clone());
        if self.server_pace {
            down.rate = Rate::Constant(f64::INFINITY);
            up.rate = Rate::Constant(f64::INFINITY);
        }
        (down, up)
    }

    /// A network with the same name, mean rates and delays that the engine `ideal` supports, without randomness.
    #[must_use]
    pub fn for_ideal(&self) -> Self {
        let [down, up] =
            [&self.down, &self.up].map(|it| Profile::plain(it.rate.mean(), it.delay_ms));
        Self { down, up, ..self.clone() }
    }

    /// Rejects networks that the engine `ideal` does not support. Queues never form there, because one packet leaves per tick.
    pub fn check_ideal(&self) -> Result<(), NetworkError> {
        let down = beyond_ideal(&self.down);
        let up = beyond_ideal(&self.up).or(self.up.jitter.map(|_| "jitter on the way up"));
        match down.or(up) {
            None => Ok(()),
            Some(what) => Err(NetworkError::Wrong(format!(
                "network `{}`: {what}; engine ideal knows only rate, delay and jitter: use --engine stack",
                self.name
            ))),
        }
    }
}

fn beyond_ideal(profile: &Profile) -> Option<&'static str> {
    let beyond = [
        (matches!(profile.rate, Rate::Trace(_)), "a rate that changes"),
        (profile.loss.is_some(), "loss"),
        (profile.reorder.is_some(), "reordering"),
        (profile.duplicate > 0.0, "duplicates"),
        (profile.corrupt > 0.0, "corruption"),
        (profile.blackhole.is_some(), "a blackhole"),
        (profile.ecn.is_some(), "ECN marks"),
        (!profile.drops.is_empty(), "drops"),
    ];
    beyond.into_iter().find(|(has, _)| *has).map(|(_, what)| what)
}

/// The nearest whole number; saturates at the ends of the type's range.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
pub(crate) fn rounded(value: f64) -> u64 {
    value.round() as u64
}

/// A queue in words, for reports.
pub fn queue_text(queue: Queue) -> String {
    match queue {
        Queue::Unlimited => "unlimited".to_owned(),
        Queue::Bytes(bytes) => format!("{bytes} bytes"),
        Queue::Packets(packets) => format!("{packets} packets"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::link::Loss;

    fn refusal(text: &str) -> String {
        file::parse("x.toml", text).expect_err(text).to_string()
    }

    #[test]
    fn a_packet_of_the_papers_network_takes_ten_milliseconds() {
        let network = Network::find("paper").expect("built in");
        assert!((network.tick_us() - 10_000.0).abs() < 1e-9);
        assert_eq!(network.pace(), Some(Pace::PAPER));
        for name in Network::names() {
            let network = Network::find(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(network.name, name);
        }
    }

    #[test]
    fn a_bad_network_is_refused_by_file_line_and_cause() {
        let cases = [
            ("rate = 1e6\nqueue = \"unlimited\"\nlos = 0.1", "x.toml: line 3: unknown field `los`"),
            (
                "rate = 1e6\nqueue = \"unlimited\"\n[down]\nlos = 0.1",
                "x.toml: line 4: unknown field `los`",
            ),
            ("rate = 0\nqueue = \"unlimited\"", "x.toml: down: rate = 0: bits a second"),
            ("delay_ms = 1\nqueue = \"unlimited\"", "x.toml: down: no `rate`"),
            ("rate = 1e6", "x.toml: down: no `queue`"),
            ("rate = 1e6\nqueue = \"unlimited\"\nloss = 1.5", "x.toml: down: loss = 1.5: a share"),
            (
                "rate = 1e6\nqueue = \"unlimited\"\nloss = { bda = 1 }",
                "x.toml: line 3: loss: a share as 0.01",
            ),
            ("rate = 1e6\nqueue = { bytes = 10 }", "x.toml: down: queue.bytes = 10: room for"),
            (
                "rate = 1e6\nqueue = \"unlimited\"\n[up]\nduplicate = -1",
                "x.toml: up: duplicate = -1",
            ),
            ("rate = \"nosuch.trace\"\nqueue = \"unlimited\"", "x.toml: rate: nosuch.trace: "),
            ("rate = 1e6\nqueue = \"unlimited\"\n[up.down]\nrate = 1e6", "x.toml: [up] contains"),
            (
                "rate = 1e6\nqueue = \"unlimited\"\n[up]\ndelay_ms = nan",
                "x.toml: up: delay_ms = NaN",
            ),
            (
                "rate = 1e6\nqueue = \"unlimited\"\nblackhole = { windows_ms = [[5, 1]] }",
                "x.toml: down: blackhole.windows_ms = [5, 1]",
            ),
        ];
        for (text, expected) in cases {
            let message = refusal(text);
            assert!(message.starts_with(expected), "{message}");
        }
        let message = Network::find("4g").expect_err("unknown").to_string();
        assert!(
            message.contains(
                "there are paper, paper-jitter, paper-jitter-turn, paper-jitter-fourth, 2g"
            ),
            "{message}"
        );
    }

    #[test]
    fn a_direction_overrides_what_holds_for_both() {
        let text = "rate = 1e6\ndelay_ms = 5\nqueue = { packets = 9 }\nloss = 0.1\n[up]\nrate = 5e5\nloss = 0";
        let network = file::parse("x.toml", text).expect("a network");
        assert_eq!(network.down.loss, Some(Loss::Independent(0.1)));
        assert_eq!((network.up.loss, network.up.delay_ms), (Some(Loss::Independent(0.0)), 5.0));
        assert_eq!((network.down.rate.mean(), network.up.rate.mean()), (1e6, 5e5));
        assert_eq!(network.up.queue, Queue::Packets(9));
    }

    #[test]
    fn ideal_refuses_what_it_cannot_honour_by_name() {
        let check = |name: &str| Network::find(name).expect("built in").check_ideal();
        for name in [
            "paper",
            "paper-jitter",
            "paper-jitter-turn",
            "paper-jitter-fourth",
            "2g",
            "3g",
            "cable",
        ] {
            assert!(check(name).is_ok(), "{name}");
        }
        let message = check("cable-lossy").expect_err("loss").to_string();
        assert!(message.starts_with("network `cable-lossy`: loss; engine ideal"), "{message}");
        for name in Network::names() {
            let whole = Network::find(name).expect("built in");
            let honoured = whole.for_ideal();
            assert!(honoured.check_ideal().is_ok() && !honoured.is_jittered(), "{name}");
            assert!((honoured.tick_us() - whole.tick_us()).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn a_trace_is_read_from_beside_the_network() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write("steady.trace", "1\n");
        write("empty.trace", "");
        write("good.toml", "rate = \"steady.trace\"\nqueue = \"unlimited\"");
        write("bad.toml", "rate = \"empty.trace\"\nqueue = \"unlimited\"");
        let find = |name: &str| Network::find(&folder.path().join(name).display().to_string());
        assert!((find("good.toml").expect("a network").down.rate.mean() - 12e6).abs() < 1.0);
        let message = find("bad.toml").expect_err("empty").to_string();
        assert!(message.contains("empty.trace: an empty trace"), "{message}");
    }
}
