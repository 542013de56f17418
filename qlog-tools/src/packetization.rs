//! The contents of a connection's packets, and the share of their bytes that is not application data.

use serde::Serialize;

use crate::distribution::Distribution;
use crate::filled::{Filled, FrameSum};
use crate::loss_recovery::Basis;
use crate::packet::{Packet, PacketEvent};
use crate::trace::Trace;

/// Both directions of a log, and HTTP/3 in the responses.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Packetization {
    /// The packets that its side sent; `None`: none.
    pub sent: Option<PacketsFilled>,
    /// The packets that arrived; `None`: none.
    pub received: Option<PacketsFilled>,
    /// The largest acknowledged packet, which the path can carry in that direction.
    pub largest_acknowledged_bytes: Option<u32>,
    /// The share of stream bytes that is not a body, over complete responses and the control and QPACK streams; `None`: no
    /// body's length is known.
    pub http_overhead_share: Option<f64>,
}

/// The packets of one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PacketsFilled {
    /// How many.
    pub packets: u64,
    /// Their bytes; 0 if not logged.
    pub bytes: u64,
    /// How long they were.
    pub lengths: Option<Distribution>,
    /// UDP datagrams: a datagram may hold several packets.
    pub datagrams: u64,
    /// Whether events state them; otherwise packets of different spaces at the same moment count as one datagram.
    pub datagrams_basis: Basis,
    /// Frames by kind, the most frequent first.
    pub frames: Vec<FrameSum>,
    /// Bytes of data in STREAM frames, repeated ones included.
    pub stream_bytes: u64,
    /// Bytes of data in DATAGRAM frames.
    pub datagram_bytes: u64,
    /// The share of the packets' bytes outside of both: headers, tags, other frames, padding.
    pub overhead_share: Option<f64>,
    /// Bytes of PADDING frames; `None` if their lengths are not logged.
    pub padding_bytes: Option<u64>,
}

impl Packetization {
    /// Derives it from a log that was read with [`crate::trace::Detail::Full`].
    pub(crate) fn of(trace: &Trace) -> Self {
        let [received, sent] = &trace.filled;
        Self {
            sent: PacketsFilled::of(trace, PacketEvent::Sent, sent),
            received: PacketsFilled::of(trace, PacketEvent::Received, received),
            largest_acknowledged_bytes: largest_acknowledged(trace),
            http_overhead_share: http_overhead_share(trace),
        }
    }
}

impl PacketsFilled {
    fn of(trace: &Trace, event: PacketEvent, filled: &Filled) -> Option<Self> {
        let each = trace.packets_of(event);
        let packets = each.clone().count() as u64;
        let sizes: Vec<f64> =
            each.filter(|it| it.bytes > 0).map(|it| f64::from(it.bytes)).collect();
        let all_are_sized = sizes.len() as u64 == packets;
        let bytes = trace.packets_of(event).map(|it| u64::from(it.bytes)).sum();
        let [stream_bytes, datagram_bytes, padding_bytes] =
            ["stream", "datagram", "padding"].map(|it| filled.data_bytes(it));
        let useful = stream_bytes + datagram_bytes;
        let has_padding = filled.frames.iter().any(|it| it.kind == "padding");
        let mut frames = filled.frames.clone();
        frames.sort_by_key(|it| std::cmp::Reverse(it.count));
        let is_logged = filled.datagrams > 0;
        (packets > 0).then(|| Self {
            packets,
            bytes,
            lengths: Distribution::of(sizes),
            datagrams: if is_logged { filled.datagrams } else { packets - filled.joined },
            datagrams_basis: if is_logged { Basis::Logged } else { Basis::Inferred },
            stream_bytes,
            datagram_bytes,
            overhead_share: (all_are_sized && !frames.is_empty() && useful <= bytes)
                .then(|| 1.0 - useful as f64 / bytes as f64),
            padding_bytes: (has_padding && padding_bytes > 0).then_some(padding_bytes),
            frames,
        })
    }
}

fn largest_acknowledged(trace: &Trace) -> Option<u32> {
    let is_acknowledged = |it: &&Packet| {
        it.number.zip(trace.acknowledged()).is_some_and(|(number, all)| all.has(number))
    };
    let sent = trace.packets_of(PacketEvent::Sent);
    let sent = sent.filter(|it| it.space == crate::packet::Space::Application && it.bytes > 0);
    sent.filter(is_acknowledged).map(|it| it.bytes).max()
}

fn http_overhead_share(trace: &Trace) -> Option<f64> {
    let (mut all, mut bodies) = (0, 0);
    for transfer in &trace.timeline.transfers {
        let is_complete = trace.stream(transfer.stream).filter(|it| it.complete_us.is_some());
        if let (Some(stream), Some(body)) = (is_complete, transfer.body_bytes) {
            all += stream.bytes;
            bodies += body.min(stream.bytes);
        }
    }
    let beside = trace.streams.iter().filter(|it| it.role.is_of_http()).map(|it| it.bytes);
    let with_others = beside.fold(all, u64::saturating_add);
    (bodies > 0).then(|| 1.0 - bodies as f64 / with_others as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{ReadOptions, read_traces};
    use crate::trace::Detail;

    /// A server's log: two packets in one datagram, then one with stream data, a datagram and padding; its acknowledgement.
    const LOG: &str = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"}}}
{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"initial","packet_number":0},"raw":{"length":200},"frames":[{"frame_type":"crypto","offset":0,"length":100}]}}
{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"handshake","packet_number":0},"raw":{"length":1000},"frames":[{"frame_type":"padding","length":900}]}}
{"time":2,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1300},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":1000},{"frame_type":"datagram","length":250}]}}
{"time":9,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":3},"raw":{"length":40},"frames":[{"frame_type":"ack","ack_delay":0,"acked_ranges":[[7,7]],"ect0":1,"ce":0}]}}"#;

    #[test]
    fn data_padding_and_datagrams_are_told_apart() {
        let options = ReadOptions { detail: Detail::Full, vantage: None };
        let trace = read_traces("log", LOG.as_bytes(), options).expect("a log").remove(0);
        let found = Packetization::of(&trace);
        let sent = found.sent.expect("three packets");
        assert_eq!((sent.packets, sent.bytes, sent.datagrams), (3, 2500, 2));
        assert_eq!(sent.datagrams_basis, Basis::Inferred);
        assert_eq!((sent.stream_bytes, sent.datagram_bytes), (1000, 250));
        assert_eq!((sent.padding_bytes, sent.overhead_share), (Some(900), Some(0.5)));
        assert_eq!(found.largest_acknowledged_bytes, Some(1300));
        let received = found.received.expect("one packet");
        assert_eq!((&*received.frames[0].kind, received.frames[0].count), ("ack", 1));
        assert_eq!(trace.datagrams[1], [(2000, 250)]);
        assert_eq!(trace.recovery_events.ecn, Some([1, 0, 0]));
    }
}
