//! `[limits]`: limits that an operator may change. The keys are the fields of [`Limits`] and [`UpstreamLimits`], with their
//! units last.

use crate::UpstreamLimits;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use server::Limits;
use std::time::Duration;

/// The largest value of a key: times in seconds and sizes in bytes stay far from where sums overflow.
const LARGEST: i64 = 1 << 40;

/// The least value of most keys.
const ONE: i64 = 1;

/// The smallest receive windows. With less than this, a request with cookies could wait for ever for room.
const LEAST_WINDOW_BYTES: i64 = 16 << 10;

/// A whole number from `LEAST`.
#[derive(Debug, Clone, Copy)]
struct Number<const LEAST: i64>(u64);

impl<'de, const LEAST: i64> Deserialize<'de> for Number<LEAST> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        match i64::deserialize(value)? {
            it if (LEAST..=LARGEST).contains(&it) => Ok(Self(it.unsigned_abs())),
            it => {
                let expected = format!("a whole number from {LEAST} to {LARGEST}");
                Err(D::Error::invalid_value(Unexpected::Signed(it), &expected.as_str()))
            }
        }
    }
}

/// What a key can set: a count, or a time in seconds.
trait Limit {
    fn of(number: u64) -> Self;
    #[cfg(test)]
    fn number(&self) -> u64;
}

macro_rules! counts {
    ($($type:ty)*) => {
        $(impl Limit for $type {
            fn of(number: u64) -> Self {
                Self::try_from(number).unwrap_or(Self::MAX)
            }

            #[cfg(test)]
            fn number(&self) -> u64 {
                u64::try_from(*self).unwrap_or(u64::MAX)
            }
        })*
    };
}

counts!(u32 u64 usize);

impl Limit for Duration {
    fn of(number: u64) -> Self {
        Self::from_secs(number)
    }

    #[cfg(test)]
    fn number(&self) -> u64 {
        self.as_secs()
    }
}

/// A table of keys, each with its least value and the field that it sets.
macro_rules! keys {
    ($(#[$doc:meta])* $seen:vis $table:ident sets $limits:ty { $($key:ident from $least:ident => $($field:ident).+;)* } $($more:tt)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        $seen struct $table {
            $($key: Option<Number<$least>>,)*
            $($more)*
        }

        impl $table {
            /// The limits, with those that the file names.
            fn apply(&self, limits: &mut $limits) {
                $(if let Some(Number(it)) = self.$key {
                    limits.$($field).+ = Limit::of(it);
                })*
            }

            /// The keys, and their values if the file does not name them.
            #[cfg(test)]
            fn defaults() -> Vec<(&'static str, u64)> {
                let limits = <$limits>::default();
                vec![$((stringify!($key), limits.$($field).+.number())),*]
            }
        }
    };
}

keys! {
    /// `[limits]`.
    pub ConfigLimits sets Limits {
        connections from ONE => connections;
        connections_per_network from ONE => connections_per_network;
        handshakes from ONE => handshakes;
        handshake_s from ONE => handshake;
        tcp_handshakes_per_second from ONE => tcp_handshakes_per_second;
        streams from ONE => streams;
        receive_bytes from LEAST_WINDOW_BYTES => receive_bytes;
        stream_receive_bytes from LEAST_WINDOW_BYTES => stream_receive_bytes;
        idle_s from ONE => idle;
        head_s from ONE => head;
        stalled_s from ONE => stalled;
        stalled_bytes from ONE => stalled_bytes;
        nuisances from ONE => nuisances;
        nuisances_per_second from ONE => nuisances_per_second;
        qlog_files from ONE => qlog.files;
        qlog_file_bytes from ONE => qlog.file_bytes;
        qlog_folder_bytes from ONE => qlog.folder_bytes;
    }
    #[serde(default)]
    upstream: ConfigUpstreamLimits,
}

keys! {
    /// `[limits.upstream]`.
    ConfigUpstreamLimits sets UpstreamLimits {
        requests from ONE => requests;
        slow from ONE => slow;
        waiting from ONE => waiting;
        queue_s from ONE => queue;
        connect_s from ONE => connect;
        answer_s from ONE => answer;
        idle_s from ONE => idle;
        unread_s from ONE => unread;
        tunnels from ONE => tunnels;
        tunnel_idle_s from ONE => tunnel_idle;
        header_bytes from ONE => header_bytes;
        upload_bytes from ONE => upload_bytes;
    }
}

impl ConfigLimits {
    /// These limits of a server, with the ones that the file names.
    #[must_use]
    pub fn of_server(&self, mut limits: Limits) -> Limits {
        self.apply(&mut limits);
        limits
    }

    /// The limits of a backend.
    #[must_use]
    pub fn of_upstream(&self) -> UpstreamLimits {
        let mut limits = UpstreamLimits::default();
        self.upstream.apply(&mut limits);
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use std::path::Path;

    fn read(limits: &str) -> Result<Config, String> {
        let text = format!("[site]\nroot = \"a\"\n[limits]\n{limits}");
        Config::parse(&text, Path::new("x.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn limits_are_read_and_the_others_stay() {
        let config = read("idle_s = 60\nqlog_files = 5\n[limits.upstream]\nrequests = 8");
        let limits = config.expect("good").limits;
        let (server, upstream) = (limits.of_server(Limits::default()), limits.of_upstream());
        assert_eq!((server.idle, server.qlog.files), (Duration::from_secs(60), 5));
        assert_eq!((server.connections, upstream.requests, upstream.waiting), (10_000, 8, 512));
    }

    #[test]
    fn a_wrong_limit_names_its_line() {
        for (limits, expected) in [
            (
                "idle_s = 0",
                "x.toml: line 4: idle_s: invalid value: integer `0`, expected a whole number from 1 to 1099511627776",
            ),
            (
                "receive_bytes = 1",
                "x.toml: line 4: receive_bytes: invalid value: integer `1`, expected a whole number from 16384 to",
            ),
            ("idle = 3", "x.toml: line 4: unknown field `idle`"),
            (
                "idle_s = -1",
                "x.toml: line 4: idle_s: invalid value: integer `-1`, expected a whole",
            ),
            (
                "idle_s = 1.5",
                "x.toml: line 4: idle_s: invalid type: floating point `1.5`, expected a whole number",
            ),
            ("idle_s = true", "x.toml: line 4: idle_s: invalid type"),
            ("[limits.upstream]\nrequest = 3", "x.toml: line 5: unknown field `request`"),
        ] {
            let error = read(limits).expect_err(limits);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_document_lists_every_key_with_its_default() {
        let document = include_str!("../../../docs/serve.md");
        let of_server = ConfigLimits::defaults().into_iter();
        let of_upstream = ConfigUpstreamLimits::defaults().into_iter();
        let named = of_upstream.map(|(key, value)| (format!("upstream.{key}"), value));
        for (key, value) in of_server.map(|(key, value)| (key.to_owned(), value)).chain(named) {
            let row = format!("| `{key}` | {value} |");
            assert!(
                document.lines().any(|it| it.starts_with(&row)),
                "docs/serve.md has no row {row}"
            );
        }
    }
}
