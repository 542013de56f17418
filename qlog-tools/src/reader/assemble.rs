//! Collects what the events say, and at the end of the log makes a timeline of it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::http3::{FrameEvent, Framing, Message, StreamType};
use super::quic::{DataMoved, Direction, Packet};
use super::scheduler::SchedulerCall;
use super::{Trace, TransferDetails, Vantage, limits};
use crate::timeline::{StreamFrame, Timeline, Transfer};

/// What has been read so far. Which direction carries the responses is known only at the end.
#[derive(Default)]
pub(super) struct Collector {
    received: Flow,
    sent: Flow,
    streams: BTreeMap<u64, Exchange>,
    promises: BTreeMap<u64, Promise>,
    scheduler_calls: Vec<SchedulerCall>,
}

/// The STREAM frames of one direction.
#[derive(Default)]
struct Flow {
    frames: Vec<StreamFrame>,
    streams: BTreeMap<u64, FlowStream>,
}

/// One stream of one direction.
#[derive(Default, Clone, Copy)]
struct FlowStream {
    first_us: u64,
    farthest: u64,
    bytes: Option<u64>,
    framing: Framing,
}

/// The messages of one stream.
#[derive(Default)]
struct Exchange {
    request: Option<(u64, Direction, Message)>,
    response: Option<Message>,
    handed_over_us: Option<u64>,
    push_id: Option<u64>,
}

/// A promised request.
struct Promise {
    time_us: u64,
    request: Message,
}

impl Collector {
    pub(super) fn is_full(&self) -> bool {
        self.received.frames.len() + self.sent.frames.len() >= limits::FRAMES
            || self.streams.len() >= limits::STREAMS
            || self.received.streams.len() + self.sent.streams.len() >= limits::STREAMS
            || self.promises.len() >= limits::STREAMS
            || self.scheduler_calls.len() >= limits::SCHEDULER_CALLS
    }

    pub(super) fn packet(
        &mut self,
        time_us: u64,
        data: &str,
        direction: Direction,
    ) -> serde_json::Result<()> {
        let packet: Packet<'_> = serde_json::from_str(data)?;
        let flow = self.flow(direction);
        for frame in packet.frames.iter().filter_map(super::quic::Frame::stream) {
            let stream = flow
                .streams
                .entry(frame.id)
                .or_insert_with(|| FlowStream { first_us: time_us, ..FlowStream::default() });
            stream.farthest = stream.farthest.max(frame.offset + frame.bytes);
            if frame.ends {
                stream.bytes = Some(frame.offset + frame.bytes);
            }
            flow.frames.push(StreamFrame {
                time_us,
                stream: frame.id,
                offset: frame.offset,
                bytes: frame.bytes,
            });
        }
        Ok(())
    }

    pub(super) fn data_moved(&mut self, time_us: u64, data: &str) -> serde_json::Result<()> {
        let moved: DataMoved<'_> = serde_json::from_str(data)?;
        if let (Some(stream), Some("application")) = (moved.stream_id, moved.from.as_deref()) {
            self.streams.entry(stream.0).or_default().handed_over_us.get_or_insert(time_us);
        }
        Ok(())
    }

    pub(super) fn http_frame(
        &mut self,
        time_us: u64,
        data: &str,
        direction: Direction,
    ) -> serde_json::Result<()> {
        let event: FrameEvent<'_> = serde_json::from_str(data)?;
        let stream = event.stream_id.0;
        match &*event.frame.kind {
            "data" => self.framing(stream, time_us, direction).data(event.bytes()),
            "headers" => {
                self.framing(stream, time_us, direction).headers(event.bytes());
                self.message(stream, time_us, direction, Message::read(&event.frame.headers));
            }
            "push_promise" => {
                self.framing(stream, time_us, direction).headers(event.bytes());
                if let Some(push_id) = event.frame.push_id {
                    let request = Message::read(&event.frame.headers);
                    self.promises.entry(push_id.0).or_insert(Promise { time_us, request });
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn stream_type(&mut self, data: &str) -> serde_json::Result<()> {
        let event: StreamType<'_> = serde_json::from_str(data)?;
        if let (Some("push"), Some(push_id)) = (event.kind.as_deref(), event.associated_push_id) {
            self.streams.entry(event.stream_id.0).or_default().push_id = Some(push_id.0);
        }
        Ok(())
    }

    pub(super) fn scheduler_call(&mut self, time_us: u64, data: &str) -> serde_json::Result<()> {
        self.scheduler_calls.push(SchedulerCall::read(time_us, data)?);
        Ok(())
    }

    fn flow(&mut self, direction: Direction) -> &mut Flow {
        match direction {
            Direction::Received => &mut self.received,
            Direction::Sent => &mut self.sent,
        }
    }

    fn framing(&mut self, stream: u64, time_us: u64, direction: Direction) -> &mut Framing {
        let streams = &mut self.flow(direction).streams;
        &mut streams
            .entry(stream)
            .or_insert_with(|| FlowStream { first_us: time_us, ..FlowStream::default() })
            .framing
    }

    fn message(&mut self, stream: u64, time_us: u64, direction: Direction, message: Message) {
        let exchange = self.streams.entry(stream).or_default();
        if message.is_request {
            exchange.request.get_or_insert((time_us, direction, message));
        } else if message.is_final_response() {
            exchange.response.get_or_insert(message);
        }
    }

    /// Fills the trace: its vantage if that is unknown, its timeline and what goes with it.
    pub(super) fn assemble(mut self, trace: &mut Trace) {
        if trace.vantage == Vantage::Unknown {
            trace.vantage = self.guess_vantage();
            trace.repair(
                match trace.vantage {
                    Vantage::Unknown => "the vantage point is not given, and nothing tells it",
                    _ => "the vantage point is not given; it was guessed from who sent requests or more data",
                },
                0,
            );
        }
        let responses = match trace.vantage {
            Vantage::Server => std::mem::take(&mut self.sent),
            _ => std::mem::take(&mut self.received),
        };
        let mut transfers: Vec<(Transfer, TransferDetails)> = responses
            .streams
            .iter()
            .filter_map(|(&stream, flow)| self.transfer(stream, flow, trace))
            .collect();
        for (&stream, exchange) in &self.streams {
            if exchange.request.is_some() && !responses.streams.contains_key(&stream) {
                transfers.extend(self.transfer(stream, &FlowStream::default(), trace));
            }
        }
        transfers.sort_by_key(|(transfer, _)| (transfer.requested_us, transfer.stream));
        let (transfers, details) = transfers.into_iter().unzip();
        trace.timeline = Timeline { name: trace.file.clone(), transfers, frames: responses.frames };
        trace.details = details;
        trace.scheduler_calls = self.scheduler_calls;
    }

    /// A client sends requests, and receives more than it sends.
    fn guess_vantage(&self) -> Vantage {
        let request = self.streams.values().find_map(|exchange| exchange.request.as_ref());
        let bytes =
            |flow: &Flow| flow.frames.iter().map(|frame| u128::from(frame.bytes)).sum::<u128>();
        match request {
            Some((_, Direction::Sent, _)) => Vantage::Client,
            Some((_, Direction::Received, _)) => Vantage::Server,
            None => match bytes(&self.received).cmp(&bytes(&self.sent)) {
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
        trace: &mut Trace,
    ) -> Option<(Transfer, TransferDetails)> {
        let exchange = self.streams.get(&stream);
        let push_id = exchange.and_then(|exchange| exchange.push_id);
        // Streams 0, 4, 8.. are the client's two-way streams (RFC 9000, section 2.1).
        if !stream.is_multiple_of(4) && push_id.is_none() {
            return None;
        }
        let promise = push_id.and_then(|push_id| self.promises.get(&push_id));
        let request = promise.map(|promise| &promise.request).or(exchange
            .and_then(|exchange| exchange.request.as_ref())
            .map(|(_, _, request)| request));
        let response = exchange.and_then(|exchange| exchange.response.as_ref());
        let stream_bytes = stream_end(flow, response, trace);
        let transfer = Transfer {
            stream,
            url: request.map_or_else(|| format!("stream {stream}"), |request| request.url.clone()),
            requested_us: self.requested_us(stream, flow, promise, trace),
            body_offset: flow.framing.body_offset(stream_bytes),
            body_bytes: body_bytes(flow, response, stream_bytes),
            stream_bytes,
        };
        let details = TransferDetails {
            stream,
            status: response.and_then(|response| response.status),
            content_type: response.and_then(|response| response.content_type.clone()),
            priority: request.and_then(|request| request.priority.clone()),
            pushed: push_id.is_some(),
        };
        Some((transfer, details))
    }

    /// When the client handed the request to the transport, or the nearest thing the log has.
    fn requested_us(
        &self,
        stream: u64,
        flow: &FlowStream,
        promise: Option<&Promise>,
        trace: &mut Trace,
    ) -> u64 {
        let exchange = self.streams.get(&stream);
        let request = exchange.and_then(|exchange| exchange.request.as_ref());
        if let Some(time_us) =
            promise.map(|promise| promise.time_us).or(request.map(|&(time_us, ..)| time_us))
        {
            return time_us;
        }
        trace.repair("requests without HTTP/3 events: their time is that of their first data", 0);
        let (moved_us, asked) = match trace.vantage {
            Vantage::Server => (None, &self.received),
            _ => (exchange.and_then(|exchange| exchange.handed_over_us), &self.sent),
        };
        let first_us = asked.streams.get(&stream).map(|stream| stream.first_us);
        moved_us.or(first_us).unwrap_or(flow.first_us)
    }
}

/// The bytes of the stream: where FIN was, or else where the farthest frame ended, once the
/// DATA frames add up to the content length.
fn stream_end(flow: &FlowStream, response: Option<&Message>, trace: &mut Trace) -> Option<u64> {
    if flow.bytes.is_some() {
        return flow.bytes;
    }
    let content_length = response?.content_length?;
    if flow.framing.data_frames == 0 || flow.framing.data_bytes != content_length {
        return None;
    }
    trace.repair("streams without FIN whose body has its content-length were taken as ended", 0);
    Some(flow.farthest)
}

/// What was announced, or what the DATA frames of a finished stream add up to, whichever is more:
/// a log may miss the last frames. Neither counts if the stream has no room for it: the answer to
/// HEAD announces a body that never comes, and a damaged log may tell of DATA twice.
fn body_bytes(
    flow: &FlowStream,
    response: Option<&Message>,
    stream_bytes: Option<u64>,
) -> Option<u64> {
    let fits = |bytes: &u64| *bytes <= stream_bytes.unwrap_or(limits::STREAM_OFFSET);
    let announced = response.and_then(|response| response.content_length).filter(fits);
    let parsed = stream_bytes
        .filter(|_| flow.framing.data_frames > 0)
        .map(|_| flow.framing.data_bytes)
        .filter(fits);
    announced.max(parsed)
}
