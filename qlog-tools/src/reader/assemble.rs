//! Turns the collected data into a trace at the end of the log.

use std::cmp::Ordering;

use super::collect::{Collector, Promise};
use super::flow::{Flow, FlowStream};
use super::http3::Message;
use super::quic::Direction;
use crate::limits;
use crate::packet::Space;
use crate::timeline::{Timeline, Transfer};
use crate::trace::{OTHER_PATHS, StreamRole, StreamSummary, Trace, TransferDetails, Vantage};

const IMPOSSIBLE_FRAMES: &str =
    "STREAM frames without stream ID, or beyond the largest offset that QUIC has, were left out";
const NO_SIDE: &str = "the vantage point is not given, and nothing shows it";
const GUESSED_SIDE: &str =
    "the vantage point is not given; it was guessed from who sent requests or more data";
const SIDE_OF_INITIAL: &str = "the vantage point is not given; the side that sent the first Initial packet was taken as the client";
const OTHER_SIDE: &str = "the log names the wrong side as its writer; the side that sent the first Initial packet was taken as the client";
const FROM_BEFORE: &str =
    "requests from before this part of a log: their time is the part's beginning";
const CUT_TEXTS: &str =
    "texts (URLs, fields) of more than 2000 characters were cut to their first 2000";

impl Collector {
    /// Completes the trace: its vantage if unknown, its timeline and related parts. `flows_as_server` comes from the header
    /// of a log from the network.
    pub(super) fn assemble(mut self, flows_as_server: bool) -> Trace {
        self.settle_side();
        let mut trace = std::mem::take(&mut self.trace);
        if let Some(lost) = self.lost_by_metrics.filter(|_| trace.counts.packets_lost == 0) {
            trace.counts.packets_lost = lost;
            trace.counts.knows_losses = true;
        }
        let is_sent = match trace.vantage {
            Vantage::Server => true,
            Vantage::Network => flows_as_server,
            Vantage::Client | Vantage::Unknown => false,
        };
        let responses = std::mem::take(if is_sent { &mut self.sent } else { &mut self.received });
        let requests = std::mem::take(if is_sent { &mut self.received } else { &mut self.sent });
        let (transfers, details) = self.transfers(&responses, &requests, &mut trace);
        trace.request_bytes = requests.distinct_bytes();
        trace.streams = self.summaries(&responses, &transfers, is_sent);
        trace.request_streams = self.summaries(&requests, &[], !is_sent);
        trace.request_frames = requests.frames;
        trace.timeline = Timeline {
            name: trace.file.clone(),
            transfers,
            frames: responses.frames,
            navigations_us: std::mem::take(&mut self.navigations_us),
            renders: std::mem::take(&mut self.renders),
        };
        trace.details = details;
        trace.arrivals = responses.arrivals;
        if let Some(packets) = &mut trace.packets {
            packets.of_frames = responses.frame_packets;
        }
        if let Some(acknowledged) = self.acknowledged.take(Space::Application) {
            trace.packets.get_or_insert_default().acknowledged = Some(acknowledged);
        }
        if let Some(events) = &mut trace.events {
            events.list.ends_are_beyond = self.acknowledged.are_beyond();
            // Names with too many were emptied.
            events.moments.retain(|_, times_us| !times_us.is_empty());
        }
        trace.repair_all(OTHER_PATHS, self.packets_of_others, true);
        trace.repair_all(IMPOSSIBLE_FRAMES, self.impossible_frames, true);
        trace.repair_all(CUT_TEXTS, self.cut_texts, false);
        if trace.connection.is_none() {
            trace.connection = self.connection;
        }
        trace.note_extent();
        trace
    }

    /// Determines the side that wrote the log. Its first packet has precedence over its header.
    fn settle_side(&mut self) {
        let (logged, side) = (self.trace.vantage, self.vantage());
        let is_named = self.side.is_none() && Some(side) == self.named_vantage;
        self.trace.vantage = if side == Vantage::Unknown { self.guess_vantage() } else { side };
        let repair = match (logged, side, self.trace.vantage) {
            _ if is_named => return,
            (Vantage::Unknown, Vantage::Unknown, Vantage::Unknown) => NO_SIDE,
            (Vantage::Unknown, Vantage::Unknown, _) => GUESSED_SIDE,
            (Vantage::Unknown, ..) => SIDE_OF_INITIAL,
            _ if side == logged || logged == Vantage::Network => return,
            _ => OTHER_SIDE,
        };
        self.trace.repair(repair, 0);
    }

    /// In the order of requests.
    fn transfers(
        &self,
        responses: &Flow,
        requests: &Flow,
        trace: &mut Trace,
    ) -> (Vec<Transfer>, Vec<TransferDetails>) {
        let with_frames = responses.streams.iter();
        let mut transfers: Vec<(Transfer, TransferDetails)> =
            with_frames.filter_map(|it| self.transfer(it.0, it.1, requests, trace)).collect();
        for (stream, exchange) in self.streams.iter() {
            if exchange.request.is_some() && responses.streams.get(stream).is_none() {
                let empty = FlowStream::default();
                transfers.extend(self.transfer(stream, &empty, requests, trace));
            }
        }
        transfers.sort_by_key(|(transfer, _)| (transfer.requested_us, transfer.stream));
        transfers.into_iter().unzip()
    }

    /// By stream.
    fn summaries(
        &self,
        responses: &Flow,
        transfers: &[Transfer],
        is_sent: bool,
    ) -> Vec<StreamSummary> {
        let ends: std::collections::BTreeMap<u64, Option<u64>> =
            transfers.iter().map(|transfer| (transfer.stream, transfer.stream_bytes)).collect();
        let mut summaries = Vec::new();
        for (stream, flow) in responses.streams.iter() {
            let exchange = self.streams.get(stream);
            let role = match exchange.map(|exchange| exchange.role) {
                Some(StreamRole::Other) | None if self.is_of_request(stream) => StreamRole::Request,
                Some(role) => role,
                None => StreamRole::Other,
            };
            let bytes = ends.get(&stream).copied().unwrap_or(flow.bytes);
            summaries.extend(flow.summary(stream, role, bytes, is_sent));
        }
        summaries
    }

    /// Guesses: a client sends requests, and receives more than it sends.
    fn guess_vantage(&self) -> Vantage {
        let request = self.streams.iter().find_map(|(_, exchange)| exchange.request.as_ref());
        match request {
            Some((_, Direction::Sent, _)) => Vantage::Client,
            Some((_, Direction::Received, _)) => Vantage::Server,
            None => match self.received.frame_bytes.cmp(&self.sent.frame_bytes) {
                Ordering::Greater => Vantage::Client,
                Ordering::Less => Vantage::Server,
                Ordering::Equal => Vantage::Unknown,
            },
        }
    }

    /// The transfer on a stream; `None` for streams that carry no response.
    fn transfer(
        &self,
        stream: u64,
        flow: &FlowStream,
        requests: &Flow,
        trace: &mut Trace,
    ) -> Option<(Transfer, TransferDetails)> {
        let exchange = self.streams.get(stream);
        let push_id = exchange.and_then(|exchange| exchange.push_id);
        if !self.is_of_request(stream) && push_id.is_none() {
            return None;
        }
        let promise = push_id.and_then(|push_id| self.promises.get(&push_id));
        let asked = exchange.and_then(|exchange| exchange.request.as_ref()).map(|it| &it.2);
        let request = promise.map(|promise| &promise.request).or(asked);
        let response = exchange.and_then(|exchange| exchange.response.as_ref());
        let stream_bytes = stream_end(flow, response, trace);
        let transfer = Transfer {
            stream,
            url: request.map_or_else(|| format!("stream {stream}"), |request| request.url.clone()),
            requested_us: self.requested_us(stream, flow, requests, promise, trace),
            body_offset: flow.framing.body_offset(stream_bytes),
            body_bytes: body_bytes(flow, response, stream_bytes),
            stream_bytes,
            cancel: flow.cancel.as_deref().copied(),
        };
        let details = TransferDetails {
            status: response.and_then(|response| response.status),
            content_type: response.and_then(|response| response.content_type.clone()),
            priority: request.and_then(|request| request.priority.clone()),
            pushed: push_id.is_some(),
        };
        Some((transfer, details))
    }

    /// Whether a stream carries a request: 0, 4, 8.. are the client's bidirectional streams (RFC 9000, section 2.1); streams
    /// of HTTP/2 need a request in the log.
    fn is_of_request(&self, stream: u64) -> bool {
        let exchange = self.streams.get(stream);
        stream.is_multiple_of(4) || exchange.is_some_and(|it| it.request.is_some())
    }

    /// When the client handed the request to the transport, or the closest event in the log.
    fn requested_us(
        &self,
        stream: u64,
        flow: &FlowStream,
        requests: &Flow,
        promise: Option<&Promise>,
        trace: &mut Trace,
    ) -> u64 {
        let exchange = self.streams.get(stream);
        let request = exchange.and_then(|exchange| exchange.request.as_ref());
        if let Some(time_us) =
            promise.map(|promise| promise.time_us).or(request.map(|&(time_us, ..)| time_us))
        {
            let begins_us = trace.header.part_begins_us.unwrap_or_default();
            if time_us < begins_us {
                trace.repair(FROM_BEFORE, 0);
            }
            return time_us.max(begins_us);
        }
        trace.repair("requests without HTTP/3 events: their time is that of their first data", 0);
        let moved_us = match trace.vantage {
            Vantage::Server => None,
            _ => exchange.and_then(|exchange| exchange.handed_over_us),
        };
        let first_us = requests.begun_us(stream);
        moved_us.or(first_us).unwrap_or(flow.first_us)
    }
}

/// The length of the stream: the position of FIN, otherwise the farthest frame end, once the DATA frames add up to the
/// content length and the stream has reached it, because a DATA frame is logged when it begins.
fn stream_end(flow: &FlowStream, response: Option<&Message>, trace: &mut Trace) -> Option<u64> {
    if flow.bytes.is_some() {
        return flow.bytes;
    }
    let content_length = response?.content_length?;
    let is_whole =
        flow.framing.data_bytes == content_length && flow.farthest >= flow.framing.least_bytes();
    if flow.framing.data_frames == 0 || !is_whole {
        return None;
    }
    trace.repair("streams without FIN whose body has its content-length were taken as ended", 0);
    Some(flow.farthest)
}

/// The larger of the announced length and the sum of a finished stream's DATA frames, because a log may miss the last frames.
/// Values larger than the stream are ignored: the answer to HEAD announces a body that never arrives, and a damaged log may
/// contain DATA twice.
fn body_bytes(
    flow: &FlowStream,
    response: Option<&Message>,
    stream_bytes: Option<u64>,
) -> Option<u64> {
    let announced = response.and_then(|response| response.content_length);
    let is_parsed = stream_bytes.is_some() && flow.framing.data_frames > 0;
    let parsed = is_parsed.then_some(flow.framing.data_bytes);
    let room = stream_bytes.unwrap_or(limits::STREAM_OFFSET);
    [announced, parsed].into_iter().flatten().filter(|it| *it <= room).max()
}
