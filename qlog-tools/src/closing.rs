//! Ends in a log: of its connection, and of streams that an end gave up; and the names of error codes.

use std::collections::BTreeMap;

use serde::Serialize;

/// The ends in a log ([`Detail::Full`](crate::trace::Detail)).
#[derive(Debug, Clone, Default)]
pub(crate) struct Closings {
    /// The first `CONNECTION_CLOSE` frame.
    pub(crate) frame: Option<Closing>,
    /// The first event that says how the connection ended.
    pub(crate) event: Option<Closing>,
    /// The first `RESET_STREAM` or `STOP_SENDING` of each stream, but rather one with an error.
    pub(crate) streams: BTreeMap<u64, GivenUp>,
}

/// How a connection ended, as an event or a frame says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Closing {
    pub(crate) time_us: u64,
    /// Whether the side that wrote the log ended it; `None`: not logged.
    pub(crate) is_own: Option<bool>,
    pub(crate) how: How,
    pub(crate) error: ErrorCode,
    pub(crate) reason: Option<String>,
}

schedulers::named! {
    /// How a connection ended.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum How {
        /// An end closed it.
        #[default]
        Closed = "closed",
        /// Nothing had arrived for too long (RFC 9000, section 10.1).
        IdleTimeout = "idle_timeout",
        /// The handshake took too long.
        HandshakeTimeout = "handshake_timeout",
        /// The ends had no version of QUIC in common (RFC 8999, section 6).
        VersionMismatch = "version_mismatch",
        /// An end had lost its state (RFC 9000, section 10.3).
        StatelessReset = "stateless_reset",
    }
}

/// An end gave a stream up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenUp {
    pub(crate) time_us: u64,
    /// Whether the side that wrote the log did.
    pub(crate) is_own: bool,
    /// Whether it stopped to receive (`STOP_SENDING`), not to send.
    pub(crate) is_stop: bool,
    pub(crate) error: ErrorCode,
}

/// An error code.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ErrorCode {
    /// Whether it is the application's, not the transport's; `None`: not logged.
    pub is_application: Option<bool>,
    /// Its number, when logged.
    pub code: Option<u64>,
    /// Its name in the RFCs, or the log's.
    pub name: Option<String>,
}

impl ErrorCode {
    /// The code with this number; without one, with this name.
    pub(crate) fn new(is_application: Option<bool>, code: Option<u64>, text: Option<&str>) -> Self {
        let code = code.or_else(|| text.and_then(tls_code));
        let named = code.zip(is_application).and_then(|(code, is_application)| {
            if is_application { application_name(code) } else { transport_name(code) }
        });
        let text = text.filter(|it| !it.eq_ignore_ascii_case("unknown"));
        let name = named.or_else(|| text.map(str::to_ascii_uppercase));
        Self { is_application, code, name }
    }

    /// Whether it states an error. Programs over HTTP/3 close with 0, too, when all is well.
    pub(crate) fn is_error(&self) -> bool {
        match (self.code, self.name.as_deref()) {
            (Some(0), _) | (None, None) => false,
            (_, Some(name)) => !name.ends_with("NO_ERROR"),
            (Some(_), None) => true,
        }
    }
}

/// The names of RFC 9000, section 20.1, and of RFC 9368, section 10.2, from 0 on.
const TRANSPORT: [&str; 18] = [
    "NO_ERROR",
    "INTERNAL_ERROR",
    "CONNECTION_REFUSED",
    "FLOW_CONTROL_ERROR",
    "STREAM_LIMIT_ERROR",
    "STREAM_STATE_ERROR",
    "FINAL_SIZE_ERROR",
    "FRAME_ENCODING_ERROR",
    "TRANSPORT_PARAMETER_ERROR",
    "CONNECTION_ID_LIMIT_ERROR",
    "PROTOCOL_VIOLATION",
    "INVALID_TOKEN",
    "APPLICATION_ERROR",
    "CRYPTO_BUFFER_EXCEEDED",
    "KEY_UPDATE_ERROR",
    "AEAD_LIMIT_REACHED",
    "NO_VIABLE_PATH",
    "VERSION_NEGOTIATION_ERROR",
];

/// The names of RFC 9114, section 8.1, from 0x100 on.
const HTTP3: [&str; 17] = [
    "H3_NO_ERROR",
    "H3_GENERAL_PROTOCOL_ERROR",
    "H3_INTERNAL_ERROR",
    "H3_STREAM_CREATION_ERROR",
    "H3_CLOSED_CRITICAL_STREAM",
    "H3_FRAME_UNEXPECTED",
    "H3_FRAME_ERROR",
    "H3_EXCESSIVE_LOAD",
    "H3_ID_ERROR",
    "H3_SETTINGS_ERROR",
    "H3_MISSING_SETTINGS",
    "H3_REQUEST_REJECTED",
    "H3_REQUEST_CANCELLED",
    "H3_REQUEST_INCOMPLETE",
    "H3_MESSAGE_ERROR",
    "H3_CONNECT_ERROR",
    "H3_VERSION_FALLBACK",
];

/// The names of RFC 9204, section 6, from 0x200 on.
const QPACK: [&str; 3] =
    ["QPACK_DECOMPRESSION_FAILED", "QPACK_ENCODER_STREAM_ERROR", "QPACK_DECODER_STREAM_ERROR"];

/// The name of RFC 9297, section 5.2, at 0x33.
const DATAGRAMS: [&str; 1] = ["H3_DATAGRAM_ERROR"];

fn transport_name(code: u64) -> Option<String> {
    match code {
        0x100..=0x1ff => Some(format!("CRYPTO_ERROR, TLS alert {}", code - 0x100)),
        _ => TRANSPORT.get(usize::try_from(code).ok()?).map(|it| (*it).to_owned()),
    }
}

/// The code of a TLS alert in the words of newer qlog schemas: `crypto_error_0x128`.
fn tls_code(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let code = u64::from_str_radix(text.strip_prefix("crypto_error_0x")?, 16).ok()?;
    Some(code).filter(|it| (0x100..=0x1ff).contains(it))
}

fn application_name(code: u64) -> Option<String> {
    let from = |first: u64, names: &'static [&'static str]| {
        names.get(usize::try_from(code.checked_sub(first)?).ok()?)
    };
    let names = [(0x33, &DATAGRAMS[..]), (0x100, &HTTP3), (0x200, &QPACK)];
    names.into_iter().find_map(|it| from(it.0, it.1)).map(|it| (*it).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_their_space() {
        let name = |is_application, code| ErrorCode::new(is_application, Some(code), None).name;
        assert_eq!(name(Some(false), 3).as_deref(), Some("FLOW_CONTROL_ERROR"));
        assert_eq!(name(Some(false), 0x128).as_deref(), Some("CRYPTO_ERROR, TLS alert 40"));
        assert_eq!(name(Some(true), 0x10c).as_deref(), Some("H3_REQUEST_CANCELLED"));
        assert_eq!(name(Some(true), 0x201).as_deref(), Some("QPACK_ENCODER_STREAM_ERROR"));
        assert_eq!(
            [name(None, 0x101), name(Some(true), 7), name(Some(false), 99)],
            [None, None, None]
        );
        assert_eq!(name(Some(true), 0x33).as_deref(), Some("H3_DATAGRAM_ERROR"));
        let alert = ErrorCode::new(Some(false), None, Some("crypto_error_0x12A"));
        assert_eq!(
            (alert.code, alert.name.as_deref()),
            (Some(0x12a), Some("CRYPTO_ERROR, TLS alert 42"))
        );
        let of_log = ErrorCode::new(Some(true), None, Some("h3_internal_error"));
        assert_eq!(of_log.name.as_deref(), Some("H3_INTERNAL_ERROR"));
    }

    #[test]
    fn no_error_is_none_in_any_space() {
        let is_error =
            |is_application, code| ErrorCode::new(Some(is_application), code, None).is_error();
        assert_eq!(
            [(true, 0), (true, 0x100), (false, 0)].map(|it| is_error(it.0, Some(it.1))),
            [false; 3]
        );
        assert_eq!(
            [(false, 0x100), (true, 0x101), (true, 77)].map(|it| is_error(it.0, Some(it.1))),
            [true; 3]
        );
        assert!(!is_error(true, None), "not logged");
    }
}
