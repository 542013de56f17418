//! The peer's unidirectional streams. Their first bytes give their purpose (RFC 9114, 6.2).

use crate::error::{Code, Error};
use crate::frame::varints;
use crate::pushes::PUSH_STREAM;
use crate::qpack::DecoderStream;
use crate::{PushId, Role, Settings, StreamId};
use octets::Octets;

const CONTROL: u64 = 0x00;
const QPACK_ENCODER: u64 = 0x02;
const QPACK_DECODER: u64 = 0x03;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The type is incomplete: the bytes so far.
    Unsaid(Vec<u8>),
    Control,
    QpackEncoder,
    QpackDecoder(DecoderStream),
    /// A push whose ID is incomplete: the bytes so far.
    PushUnsaid(Vec<u8>),
    Push(PushId),
    /// The type is unknown: its bytes are ignored (RFC 9114, 9).
    Ignored,
}

impl Purpose {
    /// Must stay open as long as the connection (RFC 9114, 6.2.1; RFC 9204, 4.2).
    pub(crate) fn is_critical(&self) -> bool {
        matches!(self, Self::Control | Self::QpackEncoder | Self::QpackDecoder(_))
    }
}

#[derive(Debug, Default)]
pub(crate) struct UnidirectionalStreams {
    /// A list, because most peers have three streams.
    open: Vec<(StreamId, Purpose)>,
}

impl UnidirectionalStreams {
    /// The stream's purpose, once its first bytes (taken from `bytes`) show it. New streams are accepted up to `limit`.
    pub(crate) fn purpose(
        &mut self,
        role: Role,
        stream: StreamId,
        bytes: &mut &[u8],
        limit: usize,
    ) -> Result<&mut Purpose, Error> {
        let place = match self.place(stream) {
            Some(place) => place,
            None if self.open.len() >= limit => {
                return Code::ExcessiveLoad.fail("more unidirectional streams than our limit");
            }
            None => {
                self.open.push((stream, Purpose::Unsaid(Vec::new())));
                self.open.len() - 1
            }
        };
        if let Purpose::Unsaid(start) = &mut self.open[place].1
            && let Some(stream_type) = take_varint(start, bytes)
        {
            let said = purpose_of(role, stream_type)?;
            if said.is_critical() && self.open.iter().any(|(_, other)| same_type(other, &said)) {
                return Code::StreamCreation
                    .fail("a second control or QPACK stream (RFC 9114, 6.2.1; RFC 9204, 4.2)");
            }
            self.open[place].1 = said;
        }
        Ok(&mut self.open[place].1)
    }

    pub(crate) fn close(&mut self, stream: StreamId) -> Result<(), Error> {
        match self.place(stream).map(|it| self.open.swap_remove(it)) {
            Some((_, purpose)) if purpose.is_critical() => Code::ClosedCriticalStream.fail("a control or QPACK stream ends before the connection (RFC 9114, 6.2.1; RFC 9204, 4.2)"),
            _ => Ok(()),
        }
    }

    pub(crate) fn is_push(&mut self, stream: StreamId, push: PushId) {
        if let Some(place) = self.place(stream) {
            self.open[place].1 = Purpose::Push(push);
        }
    }

    fn place(&self, stream: StreamId) -> Option<usize> {
        self.open.iter().position(|(it, _)| *it == stream)
    }
}

/// Takes a varint that may arrive in pieces.
pub(crate) fn take_varint(start: &mut Vec<u8>, bytes: &mut &[u8]) -> Option<u64> {
    while let Some((first, rest)) = bytes.split_first() {
        *bytes = rest;
        start.push(*first);
        if let Ok(value) = Octets::with_slice(start).get_varint() {
            return Some(value);
        }
    }
    None
}

fn purpose_of(role: Role, stream_type: u64) -> Result<Purpose, Error> {
    match (stream_type, role) {
        (CONTROL, _) => Ok(Purpose::Control),
        (QPACK_ENCODER, _) => Ok(Purpose::QpackEncoder),
        (QPACK_DECODER, _) => Ok(Purpose::QpackDecoder(DecoderStream::default())),
        (PUSH_STREAM, Role::Server) => {
            Code::StreamCreation.fail("a push stream from a client (RFC 9114, 6.2.2)")
        }
        (PUSH_STREAM, Role::Client) => Ok(Purpose::PushUnsaid(Vec::new())),
        _ => Ok(Purpose::Ignored),
    }
}

fn same_type(one: &Purpose, other: &Purpose) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

pub(crate) fn control_stream(role: Role) -> StreamId {
    match role {
        Role::Client => StreamId(2),
        Role::Server => StreamId(3),
    }
}

/// The first bytes of our own three streams, in the order of their IDs.
pub(crate) fn opening(role: Role, settings: &Settings) -> Vec<(StreamId, Vec<u8>)> {
    let StreamId(first) = control_stream(role);
    let types = [CONTROL, QPACK_ENCODER, QPACK_DECODER];
    let mut streams: Vec<(StreamId, Vec<u8>)> = (0u64..)
        .zip(types)
        .map(|(index, stream_type)| (StreamId(first + 4 * index), varints([stream_type])))
        .collect();
    if let Some((_, control)) = streams.first_mut() {
        control.extend(settings.to_frame());
    }
    streams
}
