//! `[limits]`: limits that an operator may change. The keys are the fields of [`Limits`] and [`UpstreamLimits`], with their
//! units last.

use crate::UpstreamLimits;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use server::Limits;
use std::time::Duration;

/// The largest value of a key, so that sums of seconds or bytes cannot overflow.
const LARGEST: i64 = 1 << 40;

/// The least value of most keys.
const ONE: i64 = 1;

/// The smallest receive windows. With less, a request with cookies could wait forever.
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

/// A value that a key can set: a count, or a time in seconds.
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

/// A table of keys, each with its minimum and the field that it sets.
macro_rules! keys {
    ($(#[$doc:meta])* $seen:vis $table:ident sets $limits:ty { $(#[doc = $help:literal] $key:ident from $least:ident => $($field:ident).+;)* } $($more:tt)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        $seen struct $table {
            $(#[doc = $help] $key: Option<Number<$least>>,)*
            $($more)*
        }

        impl $table {
            /// Sets the limits that the file names.
            fn apply(&self, limits: &mut $limits) {
                $(if let Some(Number(it)) = self.$key {
                    limits.$($field).+ = Limit::of(it);
                })*
            }

            /// Rows of a table: the keys, their defaults, and their help.
            #[cfg(test)]
            pub(super) fn rows() -> String {
                let limits = <$limits>::default();
                let rows = [$((stringify!($key), limits.$($field).+.number(), $help)),*];
                rows.map(|(key, value, help)| format!("| `{key}` | {value} | {} |\n", help.trim().trim_end_matches('.'))).concat()
            }
        }
    };
}

keys! {
    /// `[limits]`.
    pub ConfigLimits sets Limits {
        /// Connections at a time.
        connections from ONE => connections;
        /// Connections of one client.
        connections_per_network from ONE => connections_per_network;
        /// Incomplete handshakes before new clients must prove their address.
        handshakes from ONE => handshakes;
        /// Time of a handshake, in seconds.
        handshake_s from ONE => handshake;
        /// Handshakes over TCP of one client at once, and again each second.
        tcp_handshakes_per_second from ONE => tcp_handshakes_per_second;
        /// Requests in progress on a connection.
        streams from ONE => streams;
        /// Unread bytes that a client may send on a connection; at least 16384.
        receive_bytes from LEAST_WINDOW_BYTES => receive_bytes;
        /// Unread bytes that a client may send on a stream; at least 16384.
        stream_receive_bytes from LEAST_WINDOW_BYTES => stream_receive_bytes;
        /// Silence on a connection, in seconds.
        idle_s from ONE => idle;
        /// Deadline of a request's head, in seconds.
        head_s from ONE => head;
        /// Deadline in which a client must take `stalled_bytes` of a response, in seconds.
        stalled_s from ONE => stalled;
        /// Bytes that count as progress.
        stalled_bytes from ONE => stalled_bytes;
        /// Cancelled responses, stream errors, priority signals and control bytes at once.
        nuisances from ONE => nuisances;
        /// Nuisances that are forgiven each second.
        nuisances_per_second from ONE => nuisances_per_second;
        /// Logs in the directory of `--qlog`.
        qlog_files from ONE => qlog.files;
        /// Bytes of one log.
        qlog_file_bytes from ONE => qlog.file_bytes;
        /// Bytes of all logs in the directory.
        qlog_folder_bytes from ONE => qlog.folder_bytes;
    }
    #[serde(default)]
    upstream: ConfigUpstreamLimits,
}

keys! {
    /// `[limits.upstream]`.
    pub(super) ConfigUpstreamLimits sets UpstreamLimits {
        /// Requests in progress at a backend, and as many uploads.
        requests from ONE => requests;
        /// Slow requests in addition; also at most an eighth of the process's file descriptors.
        slow from ONE => slow;
        /// Requests of either kind that wait for a backend.
        waiting from ONE => waiting;
        /// Longest wait of a request for a slot, in seconds.
        queue_s from ONE => queue;
        /// Deadline of connecting to a backend, in seconds.
        connect_s from ONE => connect;
        /// Deadline of the beginning of a response, in seconds.
        answer_s from ONE => answer;
        /// Longest pause of a body, at the backend or from the client, in seconds.
        idle_s from ONE => idle;
        /// Longest pause of a response on its way to the client, in seconds.
        unread_s from ONE => unread;
        /// WebSockets that are open to a backend.
        tunnels from ONE => tunnels;
        /// Longest silence of a WebSocket, in seconds.
        tunnel_idle_s from ONE => tunnel_idle;
        /// Bytes of a response's head.
        header_bytes from ONE => header_bytes;
        /// Bytes of a request's body.
        upload_bytes from ONE => upload_bytes;
    }
}

impl ConfigLimits {
    /// These limits of a server, with the values from the file.
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
}
