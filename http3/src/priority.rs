//! The `PRIORITY_UPDATE` frame (RFC 9218, section 7).

use crate::error::{Code, Error};
use crate::frame::{self, varints};
use octets::Octets;
use schedulers::{Priority, StreamId};

/// A complete `PRIORITY_UPDATE` frame about a request, for the client's control stream (RFC 9218, 7.2).
pub fn priority_update(stream: StreamId, urgency: u8, incremental: bool) -> Vec<u8> {
    let field = Priority::new(urgency, incremental).request_field();
    frame::whole(frame::PRIORITY_UPDATE_REQUEST, &[&varints([stream.0]), field.as_bytes()].concat())
}

/// Reads the payload of a `PRIORITY_UPDATE` frame: the prioritized element's ID, its priority, and the raw
/// field value.
pub(crate) fn parse_update(payload: &[u8]) -> Result<(u64, Priority, String), Error> {
    let mut octets = Octets::with_slice(payload);
    let Ok(id) = octets.get_varint() else {
        return Code::Frame.fail("PRIORITY_UPDATE has no element ID (RFC 9114, 7.1)");
    };
    let field = &payload[octets.off()..];
    let Ok(priority) = Priority::parse(field) else {
        return Code::GeneralProtocol
            .fail("PRIORITY_UPDATE holds no structured field (RFC 9218, 7)");
    };
    Ok((id, priority, String::from_utf8_lossy(field).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_priority_update_is_type_length_id_and_field_9218_7_2() {
        assert_eq!(priority_update(StreamId(4), 1, true), b"\x80\x0f\x07\x00\x07\x04u=1, i");
    }

    proptest! {
        #[test]
        fn a_priority_update_comes_back_as_sent(id in 0u64..1 << 62, urgency in 0u8..8, incremental: bool) {
            let frame = priority_update(StreamId(id), urgency, incremental);
            let (read_id, priority, field) = parse_update(&frame[5..]).unwrap();
            prop_assert_eq!(field, priority.request_field());
            prop_assert_eq!(read_id, id);
            prop_assert_eq!(priority.urgency_or_default(), urgency);
            prop_assert_eq!(priority.incremental_or_default(), incremental);
        }
    }
}
