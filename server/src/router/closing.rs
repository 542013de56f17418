//! How a connection ended, in words.

use crate::Event;
use connection::Quic;
use http3::Code;
use quiche::ConnectionError;

/// RFC 9000, 20.1, and RFC 9368, 10.2: the codes of the transport, by their values.
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

/// The report to the observers about a connection that has ended.
pub(super) fn event(quic: &Quic) -> Event {
    let (by, error) = match (quic.peer_error(), quic.local_error()) {
        (Some(error), _) => ("client", Some(error)),
        (None, Some(error)) => ("server", Some(error)),
        (None, None) => ("timeout", None),
    };
    Event::Closed { by, code: error.map_or("none", name) }
}

fn name(error: &ConnectionError) -> &'static str {
    let transport = usize::try_from(error.error_code).ok().and_then(|it| TRANSPORT.get(it));
    match transport {
        _ if error.is_app => Code::of(error.error_code).map_or("other", Code::name),
        Some(name) => name,
        None if (0x100..0x200).contains(&error.error_code) => "CRYPTO_ERROR",
        None => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_cannot_make_up_names() {
        let name =
            |is_app, error_code| name(&ConnectionError { is_app, error_code, reason: vec![] });
        assert_eq!(name(true, 0x100), "H3_NO_ERROR");
        assert_eq!(name(true, 1 << 60), "other");
        assert_eq!(name(false, 0xa), "PROTOCOL_VIOLATION");
        assert_eq!(name(false, 0x11), "VERSION_NEGOTIATION_ERROR");
        assert_eq!(name(false, 0x128), "CRYPTO_ERROR");
        assert_eq!(name(false, 1 << 60), "other");
    }
}
