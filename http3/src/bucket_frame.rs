//! The frame of Patrick Meenan's bucket byte: a stream ID and the byte.
//!
//! The proposal (2019) defines the byte and leaves its frame open. Its two revisions interpret the
//! byte differently, so each has its own frame type ([`crate::Extension`]).

use crate::StreamId;
use crate::error::{Code, Error};
use crate::frame::varints;
use octets::Octets;

pub(crate) fn payload(stream: StreamId, byte: u8) -> Vec<u8> {
    [varints([stream.0]), vec![byte]].concat()
}

pub(crate) fn parse(payload: &[u8]) -> Result<(u64, u8), Error> {
    let mut octets = Octets::with_slice(payload);
    match (octets.get_varint(), octets.get_u8()) {
        (Ok(id), Ok(byte)) if octets.cap() == 0 => Ok((id, byte)),
        _ => Code::Frame.fail("a bucket frame is not one ID and one byte (RFC 9114, 7.1)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bucket_frame_is_an_id_and_a_byte() {
        assert_eq!(payload(StreamId(400), 63 << 2 | 3), [0x41, 0x90, 0xff]);
        for wrong in [&[][..], &[8], &[0x40, 8], &[8, 1, 2]] {
            assert_eq!(parse(wrong).unwrap_err().kind(), Code::Frame);
        }
    }

    proptest! {
        #[test]
        fn a_bucket_frame_comes_back_as_sent(id in 0u64..1 << 62, byte: u8) {
            prop_assert_eq!(parse(&payload(StreamId(id), byte)), Ok((id, byte)));
        }
    }
}
