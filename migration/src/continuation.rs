//! The stream on the destination: unidirectional, opened by the server, and of its own type.
//!
//! | bytes | |
//! |---|---|
//! | 4 | the type |
//! | 12 | the source: a name |
//! | 1 | 1 incremental, 2 to 14 urgency times two, 16 the ID is that of a push |
//! | 1 to 8 | ID of the request stream or push, a varint |
//! | 1 to 8 | offset, a varint |
//!
//! The bytes of the response's stream follow, from the offset on. They need not begin at a frame
//! boundary.

use crate::frame::subject;
use crate::{Error, Name, Subject};
use http3::{PushId, StreamId, put_varint};
use octets::Octets;
use schedulers::{Priority, URGENCY_MAX};

/// The stream's type. `http3::Extension` has the table of our codepoints.
pub const CONTINUATION: u64 = 0x2539_634c;

const INCREMENTAL: u8 = 1;
const URGENCY_SHIFT: u8 = 1;
const PUSH: u8 = 16;

/// The header of a continuation: its subject, and the state that moves along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Continuation {
    /// The source connection.
    pub source: Name,
    /// The response.
    pub subject: Subject,
    /// The first byte of the response's stream that is sent here.
    pub offset: u64,
    /// Its priority, which later signals about the subject can change.
    pub priority: Priority,
}

impl Continuation {
    /// The first bytes of the stream, with its type.
    pub fn to_bytes(self) -> Vec<u8> {
        let (push, id) = match self.subject {
            Subject::Request(StreamId(id)) => (0, id),
            Subject::Push(PushId(id)) => (PUSH, id),
        };
        let urgency = self.priority.urgency_or_default().min(URGENCY_MAX) << URGENCY_SHIFT;
        let incremental = if self.priority.incremental_or_default() { INCREMENTAL } else { 0 };
        let mut bytes = Vec::new();
        put_varint(&mut bytes, CONTINUATION);
        bytes.extend(self.source.to_bytes());
        bytes.push(push | urgency | incremental);
        put_varint(&mut bytes, id);
        put_varint(&mut bytes, self.offset);
        bytes
    }

    /// Reads the bytes after the type: the header, and its length. `None`: more bytes must arrive.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Error> {
        let Some((source, rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let source = Name::from_bytes(*source).ok_or(Error::Layout)?;
        let mut octets = Octets::with_slice(rest);
        let (Ok(kind), Ok(id), Ok(offset)) =
            (octets.get_u8(), octets.get_varint(), octets.get_varint())
        else {
            return Ok(None);
        };
        if kind >= 2 * PUSH {
            return Err(Error::Layout);
        }
        let urgency = (kind & !PUSH) >> URGENCY_SHIFT;
        let priority = Priority::new(urgency, kind & INCREMENTAL != 0);
        let subject = subject(kind & PUSH != 0, id)?;
        let read = bytes.len() - octets.cap();
        Ok(Some((Self { source, subject, offset, priority }, read)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::any_subject;
    use proptest::prelude::*;

    const HEADER: Continuation = Continuation {
        source: Name { application: 1, own: 2 },
        subject: Subject::Request(StreamId(8)),
        offset: 100,
        priority: Priority { urgency: Some(5), incremental: Some(true) },
    };
    const TYPE_BYTES: usize = 4;

    #[test]
    fn a_header_is_a_type_a_name_a_priority_an_id_and_an_offset() {
        let bytes = HEADER.to_bytes();
        assert_eq!(bytes[..TYPE_BYTES], [0xa5, 0x39, 0x63, 0x4c]);
        assert_eq!(bytes[TYPE_BYTES..], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 11, 8, 0x40, 100]);
    }

    #[test]
    fn a_header_without_source_or_with_an_unknown_kind_is_an_error() {
        let mut bytes = HEADER.to_bytes().split_off(TYPE_BYTES);
        bytes[12] = 32;
        assert_eq!(Continuation::parse(&bytes), Err(Error::Layout));
        assert_eq!(Continuation::parse(&[0; 16]), Err(Error::Layout));
    }

    proptest! {
        #[test]
        fn any_header_comes_back_once_it_is_whole(
            (application, own, subject) in (1u64.., any::<u32>(), any_subject()),
            (offset, urgency, incremental) in (0u64..1 << 62, 0u8..8, any::<bool>()),
        ) {
            let source = Name { application, own };
            let priority = Priority::new(urgency, incremental);
            let header = Continuation { source, subject, offset, priority };
            let bytes = header.to_bytes().split_off(TYPE_BYTES);
            for length in 0..bytes.len() {
                prop_assert_eq!(Continuation::parse(&bytes[..length]), Ok(None));
            }
            let body = [bytes.as_slice(), b"body"].concat();
            prop_assert_eq!(Continuation::parse(&body), Ok(Some((header, bytes.len()))));
        }
    }
}
