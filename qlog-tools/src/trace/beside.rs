//! Traffic on a connection besides requests and responses.

use super::{StreamRole, StreamSummary, Trace, Validation, Vantage};
use crate::assembly::StreamFrame;
use crate::timeline::{Timeline, Transfer};

/// The pseudo-streams for DATAGRAM frames in [`Trace::beside`]: arrived ones, and sent ones. No stream has these IDs.
pub const DATAGRAMS: [u64; 2] = [u64::MAX - 1, u64::MAX];
/// A stream in the direction of the requests with more bytes than this carries more than a request's head.
const UPLOAD_BYTES: u64 = 16 << 10;
/// The first one-way streams of a server: HTTP/3's control stream and QPACK's, in any order.
const CONTROL_STREAMS: [u64; 3] = [3, 7, 11];

impl StreamRole {
    /// Whether it carries no data of the application, but what HTTP/3 says of it.
    pub(crate) fn is_of_http(self) -> bool {
        matches!(self, Self::Control | Self::Qpack)
    }
}

impl Trace {
    /// The distinct bytes of responses and pushes.
    pub(crate) fn response_bytes(&self) -> u64 {
        let is_response =
            |it: &&StreamSummary| matches!(it.role, StreamRole::Request | StreamRole::Push);
        self.streams.iter().filter(is_response).fold(0, |sum, it| sum.saturating_add(it.bytes))
    }

    /// The streams that carry uploads. What HTTP/3 says of its requests is none, however long it is.
    fn uploads(&self) -> impl Iterator<Item = &StreamSummary> {
        self.request_streams.iter().filter(|it| it.bytes > UPLOAD_BYTES && !it.role.is_of_http())
    }

    /// Whether its server opened this stream for data, which nobody requests: a push, or a stream of another protocol. The first three
    /// one-way streams of HTTP/3 are its control streams, even if their types are not logged.
    pub(crate) fn is_own_data(&self, id: u64) -> bool {
        let is_data = || {
            self.stream(id).is_none_or(|it| match it.role {
                StreamRole::Control | StreamRole::Qpack => false,
                StreamRole::Other => !CONTROL_STREAMS.contains(&id) || it.bytes > UPLOAD_BYTES,
                StreamRole::Request | StreamRole::Push => true,
            })
        };
        self.vantage == Vantage::Server && id % 2 == 1 && is_data()
    }

    /// The bytes of uploads, if they are more than the responses' bytes.
    pub(crate) fn mostly_uploads(&self) -> Option<u64> {
        let is_own =
            |it: &&StreamSummary| it.role == StreamRole::Other && self.is_own_data(it.stream);
        let own: u64 = self.streams.iter().filter(is_own).map(|it| it.bytes).sum();
        let bytes: u64 = self.uploads().map(|it| it.bytes).sum();
        (bytes > self.response_bytes().saturating_add(own)).then_some(bytes)
    }

    /// A client's log as one of a server whose responses are the client's uploads, because these programs expect a sender to be the server.
    pub(crate) fn uploading(&self) -> Self {
        let uploads = self.uploads();
        let streams: Vec<StreamSummary> =
            uploads.map(|it| StreamSummary { role: StreamRole::Request, ..it.clone() }).collect();
        let is_upload = |stream| streams.binary_search_by_key(&stream, |it| it.stream).is_ok();
        let frames = self.request_frames.iter().filter(|it| is_upload(it.stream)).copied();
        let transfers = streams.iter().map(|it| Transfer {
            stream: it.stream,
            url: format!("stream {}", it.stream),
            requested_us: it.first_us,
            body_offset: 0,
            body_bytes: None,
            stream_bytes: None,
            cancel: None,
        });
        let frames: Vec<StreamFrame> = frames.collect();
        let arrivals = frames.iter().collect();
        let timeline = Timeline {
            name: self.timeline.name.clone(),
            frames,
            transfers: transfers.collect(),
            ..Timeline::default()
        };
        let mut flow_control = self.flow_control.clone();
        if let Some(limits) = &mut flow_control {
            // The client opens the streams.
            limits.initial.swap(0, 1);
        }
        let mut packets = self.packets.clone();
        if let Some(packets) = &mut packets {
            packets.of_frames = Vec::new();
            // A server's address needs no validation.
            packets.validations = vec![(0, Validation::Ends)];
        }
        Self {
            file: self.file.clone(),
            header: self.header.clone(),
            vantage: Vantage::Server,
            timeline,
            streams,
            arrivals,
            filled: self.filled.clone(),
            counts: self.counts.clone(),
            repairs: self.repairs.clone(),
            packets,
            recovery: self.recovery.clone(),
            recovery_events: self.recovery_events.clone(),
            flow_control,
            ..Self::default()
        }
    }

    /// The traffic besides requests and responses, as a separate log: uploads, streams of other protocols in the direction of the
    /// requests, and DATAGRAM frames of both directions ([`Detail::Full`]; with less detail, the streams without their frames). `None` if
    /// there was none.
    pub fn beside(&self) -> Option<Self> {
        let has_roles = self.request_streams.iter().any(|it| it.role.is_of_http());
        let is_upload = |it: &&StreamSummary| {
            !it.role.is_of_http()
                && (it.bytes > UPLOAD_BYTES || (has_roles && it.role == StreamRole::Other))
        };
        let uploads = self.request_streams.iter().filter(is_upload).cloned();
        let mut streams: Vec<StreamSummary> = uploads.collect();
        let is_shown = |stream| streams.binary_search_by_key(&stream, |it| it.stream).is_ok();
        let frames = self.request_frames.iter().filter(|it| is_shown(it.stream)).copied();
        let mut frames: Vec<StreamFrame> = frames.collect();
        for (stream, datagrams) in DATAGRAMS.into_iter().zip(&self.datagrams) {
            let Some((&first, &last)) = datagrams.first().zip(datagrams.last()) else { continue };
            let mut offset = 0;
            for &(time_us, bytes) in datagrams {
                frames.push(StreamFrame { time_us, stream, offset, bytes });
                offset = offset.saturating_add(bytes);
            }
            let (first_us, last_us, count) = (first.0, last.0, datagrams.len() as u64);
            let summary = StreamSummary { stream, first_us, last_us, ..StreamSummary::default() };
            streams.push(StreamSummary { frames: count, bytes: offset, ..summary });
        }
        frames.sort_by_key(|it| it.time_us);
        let arrivals = frames.iter().collect();
        let timeline = Timeline { name: self.timeline.name.clone(), frames, ..Timeline::default() };
        // A client's uploads take the place of a server's responses.
        let vantage = match self.vantage {
            Vantage::Server => Vantage::Client,
            Vantage::Client => Vantage::Server,
            other => other,
        };
        let file = self.file.clone();
        (!streams.is_empty()).then(|| Self {
            file,
            vantage,
            timeline,
            streams,
            arrivals,
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_responses_are_of_no_control_stream() {
        let stream =
            |stream, bytes, role| StreamSummary { stream, role, bytes, ..Default::default() };
        let streams = vec![
            stream(0, 500, StreamRole::Request),
            stream(3, 7, StreamRole::Control),
            stream(7, 90_000, StreamRole::Qpack),
            stream(11, 9, StreamRole::Other),
            stream(15, 40, StreamRole::Push),
        ];
        let mut trace = Trace { vantage: Vantage::Client, streams, ..Trace::default() };
        assert_eq!(trace.response_bytes(), 540);
        trace.request_streams = vec![stream(0, 50_000, StreamRole::Request)];
        assert_eq!(trace.mostly_uploads(), Some(50_000), "whatever the tables of fields have");
        assert_eq!(
            trace.stream_bytes_in_words(),
            "90556 distinct stream bytes (90556 from the server, 0 from the client)"
        );
    }

    #[test]
    fn uploads_and_datagrams_are_beside_and_heads_of_requests_are_not() {
        let stream =
            |stream, bytes, role| StreamSummary { stream, role, bytes, ..Default::default() };
        let streams = |bytes, role| vec![stream(0, bytes, StreamRole::Request), stream(2, 9, role)];
        let mut trace = Trace { vantage: Vantage::Client, ..Trace::default() };
        trace.request_streams = streams(500, StreamRole::Control);
        assert!(trace.beside().is_none(), "a request and a control stream");
        trace.request_streams = streams(600_000, StreamRole::Control);
        let encoder = |role| stream(6, 700_000, role);
        trace.request_streams.push(encoder(StreamRole::Qpack));
        assert_eq!(trace.mostly_uploads(), Some(600_000), "and no table of fields");
        trace.request_streams.pop();
        let frame = |stream, time_us| StreamFrame { time_us, stream, offset: 0, bytes: 9 };
        trace.request_frames = vec![frame(0, 5), frame(2, 6)];
        trace.datagrams = [vec![(4, 100), (7, 50)], Vec::new()];
        let beside = trace.beside().expect("an upload and datagrams");
        let of_streams: Vec<(u64, u64)> =
            beside.streams.iter().map(|it| (it.stream, it.bytes)).collect();
        assert_eq!(of_streams, [(0, 600_000), (DATAGRAMS[0], 150)]);
        let of_frames: Vec<(u64, u64)> =
            beside.timeline.frames.iter().map(|it| (it.time_us, it.stream)).collect();
        assert_eq!(of_frames, [(4, DATAGRAMS[0]), (5, 0), (7, DATAGRAMS[0])]);
        assert_eq!(beside.vantage, Vantage::Server, "a client sends its uploads");
    }
}
