//! The MIGRATE frame.
//!
//! In HTTP/2, it travels on the migrating stream (SMig, Figure 1). Here it travels on its sender's control stream and
//! names the response: a client has ended its request stream, so it can send nothing there; and frames on a control
//! stream do not interrupt the response, which can be cut at any byte.
//!
//! | bytes | |
//! |---|---|
//! | 12 | the destination: a name, or all 0 for "a connection that you open" |
//! | 1 | flags: 1 `END_STREAM`, 2 `ACK`, 4 the ID is that of a push |
//! | 1 to 8 | ID of the request stream or push, a varint |
//! | 1 to 8 | offset, a varint |

use crate::{Error, Name};
use http3::{PushId, StreamId, put_varint, whole_frame};
use octets::Octets;

/// The frame's type. `http3::Extension` has the table of our codepoints, and explains why they are free.
pub const MIGRATE: u64 = 0x2539_634b;
/// The longest payload: name, flags, two varints.
pub const PAYLOAD_BYTES_MAX: u64 = 29;

const NAME_BYTES: usize = 12;
const END_STREAM: u8 = 1;
const ACK: u8 = 2;
const PUSH: u8 = 4;

/// A response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// To the request on this stream.
    Request(StreamId),
    /// A push, which its promise has announced.
    Push(PushId),
}

/// The place at which a response continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Destination {
    /// Only from a server: the client must open a connection, and name it.
    Any,
    /// This connection. If it is the source, the response returns or stays.
    Named(Name),
}

/// Proposal or answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A proposal.
    Start,
    /// An answer.
    Acknowledgement,
}

/// Whether the sender of a frame has more to send on the migrating stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rest {
    /// More follows.
    Follows,
    /// `END_STREAM`: there is nothing more. A client always sets it, because only complete requests migrate.
    Nothing,
}

/// A MIGRATE frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Migrate {
    /// The response that migrates.
    pub subject: Subject,
    /// Where it continues.
    pub destination: Destination,
    /// The first byte of the response's stream that is sent on the destination.
    pub offset: u64,
    /// Proposal or answer.
    pub kind: Kind,
    /// Whether its sender has more to send.
    pub rest: Rest,
}

impl Migrate {
    /// A server's answer about a response that is over: it did not move.
    #[must_use]
    pub fn too_late(self, source: Name) -> Self {
        let destination = Destination::Named(source);
        Self { destination, kind: Kind::Acknowledgement, rest: Rest::Nothing, ..self }
    }

    /// The whole frame, for our control stream.
    pub fn to_frame(self) -> Vec<u8> {
        let destination = match self.destination {
            Destination::Any => [0; NAME_BYTES],
            Destination::Named(name) => name.to_bytes(),
        };
        let (push, id) = match self.subject {
            Subject::Request(StreamId(id)) => (0, id),
            Subject::Push(PushId(id)) => (PUSH, id),
        };
        let kind = if self.kind == Kind::Acknowledgement { ACK } else { 0 };
        let rest = if self.rest == Rest::Nothing { END_STREAM } else { 0 };
        let mut payload = destination.to_vec();
        payload.push(push | kind | rest);
        put_varint(&mut payload, id);
        put_varint(&mut payload, self.offset);
        whole_frame(MIGRATE, &payload)
    }

    /// Reads a payload.
    pub fn parse(payload: &[u8]) -> Result<Self, Error> {
        let (destination, rest) = payload.split_first_chunk().ok_or(Error::Layout)?;
        let mut octets = Octets::with_slice(rest);
        let (Ok(flags), Ok(id), Ok(offset)) =
            (octets.get_u8(), octets.get_varint(), octets.get_varint())
        else {
            return Err(Error::Layout);
        };
        let destination = match Name::from_bytes(*destination) {
            Some(name) => Destination::Named(name),
            None if *destination == [0; NAME_BYTES] => Destination::Any,
            None => return Err(Error::Layout),
        };
        if octets.cap() > 0 || flags & !(END_STREAM | ACK | PUSH) != 0 {
            return Err(Error::Layout);
        }
        Ok(Self {
            subject: subject(flags & PUSH != 0, id)?,
            destination,
            offset,
            kind: if flags & ACK == 0 { Kind::Start } else { Kind::Acknowledgement },
            rest: if flags & END_STREAM == 0 { Rest::Follows } else { Rest::Nothing },
        })
    }
}

/// A push, or a request on a client-initiated bidirectional stream (RFC 9000, 2.1).
pub(crate) fn subject(is_push: bool, id: u64) -> Result<Subject, Error> {
    match is_push {
        true => Ok(Subject::Push(PushId(id))),
        false if id.is_multiple_of(4) => Ok(Subject::Request(StreamId(id))),
        false => Err(Error::Layout),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAME: Name = Name { application: 1, own: 2 };
    const FRAME: Migrate = Migrate {
        subject: Subject::Request(StreamId(8)),
        destination: Destination::Named(NAME),
        offset: 100,
        kind: Kind::Acknowledgement,
        rest: Rest::Nothing,
    };
    /// Type and length.
    const HEADER_BYTES: usize = 5;

    pub(crate) fn any_subject() -> impl Strategy<Value = Subject> {
        prop_oneof![
            (0u64..1 << 60).prop_map(|it| Subject::Request(StreamId(4 * it))),
            (0u64..1 << 62).prop_map(|it| Subject::Push(PushId(it))),
        ]
    }

    #[test]
    fn a_frame_is_a_name_flags_an_id_and_an_offset() {
        let bytes = FRAME.to_frame();
        assert_eq!(bytes[..HEADER_BYTES], [0xa5, 0x39, 0x63, 0x4b, 16]);
        assert_eq!(bytes[HEADER_BYTES..], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 3, 8, 0x40, 100]);
        let push = Migrate { subject: Subject::Push(PushId(8)), ..FRAME };
        assert_eq!(push.to_frame()[HEADER_BYTES + NAME_BYTES], 7);
    }

    #[test]
    fn another_layout_is_an_error() {
        let good = FRAME.to_frame()[HEADER_BYTES..].to_vec();
        let changed = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            bytes
        };
        let no_application = changed(7, 0);
        let unknown_flag = changed(12, 8);
        let not_a_request = changed(13, 9);
        let longer = [good.as_slice(), &[0]].concat();
        for wrong in [no_application, unknown_flag, not_a_request, longer, Vec::new()] {
            assert_eq!(Migrate::parse(&wrong), Err(Error::Layout), "{wrong:?}");
        }
        for length in 0..good.len() {
            assert_eq!(Migrate::parse(&good[..length]), Err(Error::Layout));
        }
    }

    proptest! {
        #[test]
        fn any_frame_comes_back(
            (subject, application, own) in (any_subject(), 0u64.., any::<u32>()),
            (offset, is_answer, is_end) in (0u64..1 << 62, any::<bool>(), any::<bool>()),
        ) {
            let named = Destination::Named(Name { application, own });
            let frame = Migrate {
                subject,
                destination: if application > 0 { named } else { Destination::Any },
                offset,
                kind: if is_answer { Kind::Acknowledgement } else { Kind::Start },
                rest: if is_end { Rest::Nothing } else { Rest::Follows },
            };
            let bytes = frame.to_frame();
            prop_assert!((bytes.len() - HEADER_BYTES) as u64 <= PAYLOAD_BYTES_MAX);
            prop_assert_eq!(Migrate::parse(&bytes[HEADER_BYTES..]), Ok(frame));
        }

        #[test]
        fn any_bytes_are_a_frame_or_an_error(payload in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(frame) = Migrate::parse(&payload) {
                prop_assert_eq!(Migrate::parse(&frame.to_frame()[HEADER_BYTES..]), Ok(frame));
            }
        }
    }
}
