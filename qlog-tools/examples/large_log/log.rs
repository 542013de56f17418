//! The log of a client like quiche's that fetches one response of 1 MB after the other, ten at a time in turn: packets
//! with STREAM frames, data moved, acknowledgements, recovery metrics, HTTP/3 frames. Now and then a
//! packet is lost and comes again 60 packets later, or is overtaken by three.

use std::collections::VecDeque;
use std::io::{self, Write};

const AT_A_TIME: u64 = 10;
const BODY_BYTES: u64 = 1_000_000;
const FRAME_BYTES: u64 = 1200;
/// Between packets.
const PACKET_MS: f64 = 0.1;
/// One packet of so many is lost, one of so many overtaken.
const LOST: u64 = 97;
const OVERTAKEN: u64 = 211;
/// Packets until what was lost comes again, and until what was overtaken comes.
const AGAIN_AFTER: u64 = 60;
const OVERTAKEN_BY: u64 = 3;

const HEADER: &str = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"},"event_schemas":[]}}"#;

/// Bytes of a stream.
#[derive(Clone, Copy)]
struct Part {
    stream: u64,
    offset: u64,
}

/// Writes a log of about so many bytes, in which all responses come to their end.
pub(crate) fn write(out: &mut impl Write, bytes: u64) -> io::Result<()> {
    let mut log = Log { out, bytes: 0, enough: bytes, packet: 0 };
    log.record(HEADER)?;
    let mut streams: Vec<Part> = Vec::new();
    for place in 0..AT_A_TIME {
        streams.push(log.request(place * 4)?);
    }
    let mut lost: VecDeque<(u64, Part)> = VecDeque::new();
    let mut overtaken: VecDeque<(u64, u64, Part)> = VecDeque::new();
    loop {
        let packet = log.packet;
        log.packet += 1;
        if overtaken.front().is_some_and(|(due, ..)| *due <= packet) {
            let late = overtaken.pop_front();
            late.map_or(Ok(()), |(_, number, part)| log.received(number, part))?;
        }
        let is_due = lost.front().is_some_and(|(due, _)| *due <= packet || streams.is_empty());
        let again = if is_due { lost.pop_front() } else { None };
        let part = match again {
            Some((_, part)) => part,
            None if !streams.is_empty() => next(&mut streams, &mut log)?,
            None if overtaken.is_empty() => return Ok(()),
            None => continue,
        };
        if packet.is_multiple_of(LOST) {
            lost.push_back((packet + AGAIN_AFTER, part));
        } else if packet.is_multiple_of(OVERTAKEN) {
            overtaken.push_back((packet + OVERTAKEN_BY, packet, part));
        } else {
            log.received(packet, part)?;
        }
    }
}

/// The next bytes of the stream whose turn it is. One that ends makes room for another, while there is not enough.
fn next<W: Write>(streams: &mut Vec<Part>, log: &mut Log<'_, W>) -> io::Result<Part> {
    let place = usize::try_from(log.packet).unwrap_or_default() % streams.len();
    let part = streams[place];
    streams[place].offset += FRAME_BYTES;
    if streams[place].offset >= BODY_BYTES {
        if log.bytes < log.enough {
            streams[place] = log.request(part.stream + 4 * AT_A_TIME)?;
        } else {
            streams.remove(place);
        }
    }
    Ok(part)
}

struct Log<'a, W> {
    out: &'a mut W,
    bytes: u64,
    enough: u64,
    /// The next packet's number.
    packet: u64,
}

impl<W: Write> Log<'_, W> {
    fn record(&mut self, record: &str) -> io::Result<()> {
        self.bytes += record.len() as u64 + 2;
        writeln!(self.out, "\x1e{record}")
    }

    fn event(&mut self, name: &str, data: &str) -> io::Result<()> {
        let time = self.packet as f64 * PACKET_MS;
        self.record(&format!(r#"{{"time":{time:.3},"name":"{name}","data":{data}}}"#))
    }

    fn request(&mut self, stream: u64) -> io::Result<Part> {
        self.event("http3:frame_created", &format!(r#"{{"stream_id":{stream},"frame":{{"frame_type":"headers","headers":[{{"name":":method","value":"GET"}},{{"name":":scheme","value":"https"}},{{"name":":authority","value":"large.test"}},{{"name":":path","value":"/{stream}.jpg"}},{{"name":"priority","value":"u=5, i"}}]}}}}"#))?;
        Ok(Part { stream, offset: 0 })
    }

    fn received(&mut self, packet: u64, Part { stream, offset }: Part) -> io::Result<()> {
        let bytes = FRAME_BYTES.min(BODY_BYTES - offset);
        let fin = offset + bytes == BODY_BYTES;
        self.event("quic:packet_received", &format!(r#"{{"header":{{"packet_type":"1RTT","packet_number":{packet},"dcid":"a654fd02ffc98f4ce216c941d23e020a53f43397"}},"raw":{{"length":1250,"payload_length":1230}},"frames":[{{"frame_type":"stream","stream_id":{stream},"offset":{offset},"fin":{fin},"raw":{{"payload_length":{bytes}}}}}]}}"#))?;
        self.event("quic:stream_data_moved", &format!(r#"{{"stream_id":{stream},"offset":{offset},"from":"transport","to":"application","raw":{{"length":{bytes}}}}}"#))?;
        if !packet.is_multiple_of(2) {
            return Ok(());
        }
        self.event("quic:packet_sent", &format!(r#"{{"header":{{"packet_type":"1RTT","packet_number":{}}},"raw":{{"length":43,"payload_length":26}},"send_at_time":{},"frames":[{{"frame_type":"ack","ack_delay":0.5,"acked_ranges":[[0,{packet}]]}}]}}"#, packet / 2, packet / 10))?;
        self.event("quic:recovery_metrics_updated", r#"{"cf_app_limited":false,"min_rtt":33.0,"smoothed_rtt":34.1,"latest_rtt":33.9,"rtt_variance":16.5,"congestion_window":13500,"bytes_in_flight":0}"#)
    }
}
