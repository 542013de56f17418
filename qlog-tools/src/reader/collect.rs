//! Collects the contents of events, and turns them into a trace at the end of the log.

mod packets;

use std::collections::BTreeMap;

use schedulers::Milestone;

use super::ReadOptions;
use super::acknowledged::Acknowledged;
use super::by_stream::ByStream;
use super::event::{Event, body};
use super::flow::Flow;
use super::http3::{FrameEvent, Framing, Message, PriorityUpdated, StreamType, is_cut, kept};
use super::names::EventKind;
use super::paths::Paths;
use super::quic::{DataMoved, Direction, LoneStream, MilestoneEvent, Stream, stream_of};
use crate::assembly::StreamFrame;
use crate::event_list::About;
use crate::limits;
use crate::number_ranges::NumberRanges;
use crate::packet::{EVERY_PATH_BYTES, Space};
use crate::timeline::RenderTimes;
use crate::trace::{Detail, PrioritySignal, SchedulerCall, SignalKind, StreamRole, Trace, Vantage};

/// The data read so far. The direction of the responses is known only at the end.
#[derive(Default)]
pub(super) struct Collector {
    /// The parts in final form.
    pub(super) trace: Trace,
    pub(super) detail: Detail,
    /// The side that wrote the log, if the log does not say.
    pub(super) named_vantage: Option<Vantage>,
    pub(super) received: Flow,
    pub(super) sent: Flow,
    pub(super) streams: ByStream<Exchange>,
    pub(super) promises: BTreeMap<u64, Promise>,
    pub(super) acknowledged: Acknowledged,
    /// The subject of the current event, for the list of events.
    about: About,
    /// Packets declared lost, by quiche's metrics.
    pub(super) lost_by_metrics: Option<u64>,
    /// Their total, to detect metrics that were logged twice.
    pub(super) lost_total_by_metrics: Option<u64>,
    /// The largest 1-RTT packet that the other end acknowledged.
    pub(super) largest_acknowledged: Option<u64>,
    /// The largest packet of ours with other frames than PING and PADDING, but at least the size that every path carries.
    pub(super) largest_sent_bytes: u32,
    /// Consecutive probe timeouts, according to metrics.
    pub(super) timeouts_in_a_row: u64,
    /// Times of events and writes.
    pub(super) moments_kept: usize,
    pub(super) navigations_us: Vec<u64>,
    /// The original destination connection ID, from any event that has it.
    pub(super) connection: Option<String>,
    /// The direction of the first Initial packet, which is the client's.
    pub(super) first_initial: Option<Direction>,
    /// The side that wrote the log, by its first packet.
    pub(super) side: Option<Vantage>,
    /// The last packet of each direction, and the last lost one, to detect packets that were logged twice.
    pub(super) last_packets: [Option<(u64, Space, u64)>; 3],
    /// The packets of a capture in each direction.
    captured: BTreeMap<(usize, Space), NumberRanges>,
    paths: Paths,
    /// Packets of paths that number their own.
    pub(super) packets_of_others: u64,
    /// The memory used by texts: URLs, priorities, names of events.
    pub(super) text_bytes: usize,
    /// The time and space of the last packet in each direction.
    pub(super) latest: [Option<(u64, Space)>; 2],
    /// Texts that were cut because they were too long.
    pub(super) cut_texts: u64,
    /// STREAM frames that cannot be.
    pub(super) impossible_frames: u64,
    /// One for each navigation.
    pub(super) renders: Vec<RenderTimes>,
}

/// The messages of one stream.
#[derive(Default)]
pub(super) struct Exchange {
    pub(super) request: Option<(u64, Direction, Message)>,
    pub(super) response: Option<Message>,
    pub(super) handed_over_us: Option<u64>,
    pub(super) push_id: Option<u64>,
    pub(super) role: StreamRole,
}

pub(super) struct Promise {
    pub(super) time_us: u64,
    pub(super) request: Message,
}

impl Collector {
    pub(super) fn new(trace: Trace, options: ReadOptions) -> Self {
        let ReadOptions { detail, vantage: named_vantage } = options;
        let largest_sent_bytes = EVERY_PATH_BYTES;
        Self { trace, detail, named_vantage, largest_sent_bytes, ..Self::default() }
    }

    /// Items in memory; grows with the file as far as the level of detail requires.
    pub(super) fn kept(&self) -> usize {
        self.received.arrivals.len()
            + self.sent.arrivals.len()
            + self.received.holes
            + self.sent.holes
            + self.trace.scheduler_calls().len()
            + self.trace.packets().len()
            + self.trace.samples().len()
            + self.navigations_us.len()
            + self.moments_kept
            + self.trace.events.as_ref().map_or(0, |it| it.list.kept())
    }

    pub(super) fn streams(&self) -> usize {
        self.streams.len() + self.received.streams() + self.sent.streams() + self.promises.len()
    }

    /// An event that the figures can mark.
    pub(super) fn moment(&mut self, time_us: u64, name: &str) {
        if self.detail < Detail::Full {
            return;
        }
        let moments = &mut self.trace.events.get_or_insert_default().moments;
        if let Some(times_us) = moments.get_mut(name) {
            // Emptied because there were too many.
            if times_us.is_empty() {
                return;
            }
            times_us.push(time_us);
            self.moments_kept += 1;
            if times_us.len() > limits::MOMENTS {
                self.moments_kept -= times_us.len();
                *times_us = Vec::new();
            }
        } else if moments.len() < limits::EVENT_NAMES {
            let name = kept(name);
            self.text_bytes += name.len();
            self.moments_kept += 1;
            moments.insert(name, vec![time_us]);
        }
    }

    /// Adds an event that was read to the list of all.
    pub(super) fn list(&mut self, time_us: u64, kind: EventKind, event: &Event<'_>) {
        let read = std::mem::take(&mut self.about);
        if self.detail < Detail::Events {
            return;
        }
        let about = match (read, kind) {
            (about @ (About::Packet { .. } | About::Stream(_)), _) => about,
            (_, EventKind::Recovery) => About::Metrics,
            _ => stream_of(event.data).map_or(About::Connection, About::Stream),
        };
        self.trace.events.get_or_insert_default().list.add(
            time_us,
            &event.name,
            &about,
            event.data,
        );
    }

    /// A STREAM frame in a packet with this number, whose record has this index.
    fn frame(
        &mut self,
        time_us: u64,
        frame: Stream,
        packet: Option<u64>,
        record: u32,
        direction: Direction,
    ) {
        self.trace.counts.stream_frames += 1;
        let detail = self.detail;
        let is_of_requests = self.is_of_requests(direction);
        let flow = self.flow(direction);
        if is_of_requests && detail < Detail::Arrivals {
            flow.begin(time_us, frame);
            return;
        }
        flow.frame(time_us, frame, packet, direction == Direction::Sent);
        let Stream { id: stream, offset, bytes, .. } = frame;
        let frame = StreamFrame { time_us, stream, offset, bytes };
        if is_of_requests {
            if detail >= Detail::Full {
                flow.frames.push(frame);
                self.moments_kept += 1;
            }
            return;
        }
        if detail >= Detail::Arrivals {
            flow.arrivals.push(frame, packet);
        }
        if detail >= Detail::Frames {
            flow.frames.push(frame);
        }
        if detail >= Detail::Full {
            flow.frame_packets.push(record);
        }
    }

    /// A STREAM frame without a packet: in qlog 0.1, or from a response that arrived on another
    /// connection.
    pub(super) fn lone_stream(
        &mut self,
        time_us: u64,
        data: &[u8],
        direction: Direction,
    ) -> serde_json::Result<()> {
        let event: LoneStream = body(data)?;
        let packet = event.packet_nr.map(|number| number.0);
        if let Some(stream) = event.stream().filter(|_| self.detail >= Detail::Events) {
            self.about = About::Packet {
                event: direction.event(),
                space: Space::Application,
                number: packet,
                bytes: 0,
                frames: vec![stream.content()],
            };
        }
        self.stream_frame(time_us, event.stream(), packet, direction);
        Ok(())
    }

    /// A STREAM frame whose packet is not logged; `None` if it cannot be.
    fn stream_frame(
        &mut self,
        time_us: u64,
        frame: Option<Stream>,
        packet: Option<u64>,
        direction: Direction,
    ) {
        match frame {
            Some(frame) => self.frame(time_us, frame, packet, self.last_record(), direction),
            None => self.impossible_frames += 1,
        }
    }

    pub(super) fn milestone(&mut self, time_us: u64, data: &[u8]) -> serde_json::Result<()> {
        let event: MilestoneEvent<'_> = body(data)?;
        let time_us = time_us.saturating_add(event.after_us.map_or(0, |it| it.0));
        let [weight, of] = [event.weight, event.of].map(|it| it.map_or(0, |it| it.0));
        let milestone = Milestone::named(&event.milestone, weight, of);
        if self.renders.len() <= self.navigations_us.len() {
            self.renders.resize(self.navigations_us.len() + 1, RenderTimes::default());
        }
        let Some(render) = self.renders.last_mut() else { return Ok(()) };
        if let Some(milestone) = milestone.filter(|_| render.regions.len() < limits::REGIONS) {
            render.reached(time_us, milestone);
        }
        Ok(())
    }

    pub(super) fn data_moved(&mut self, time_us: u64, data: &[u8]) -> serde_json::Result<()> {
        let moved: DataMoved<'_> = body(data)?;
        self.about = moved.stream_id.map_or(About::Connection, |it| About::Stream(it.0));
        if let (Some(stream), Some("application")) = (moved.stream_id, moved.from.as_deref()) {
            self.exchange(stream.0).handed_over_us.get_or_insert(time_us);
            let keeps = self.detail >= Detail::Order && self.is_of_requests(Direction::Received);
            if let Some(end) = moved.end().filter(|_| keeps) {
                let all = self.trace.written.get_or_insert_default();
                let written = all.entry(stream.0).or_default();
                if written.last().is_none_or(|last| last.1 < end) {
                    written.push((time_us, end));
                    self.moments_kept += 1;
                }
            }
        }
        Ok(())
    }

    pub(super) fn http_frame(
        &mut self,
        time_us: u64,
        data: &[u8],
        direction: Direction,
    ) -> serde_json::Result<()> {
        let event: FrameEvent<'_> = body(data)?;
        let stream = event.stream_id.0;
        self.about = About::Stream(stream);
        let bytes = event.bytes();
        match &*event.frame.kind.to_ascii_lowercase() {
            "data" if let Some(piece) = event.piece() => {
                self.trace.counts.tcp_pieces += 1;
                self.frame(time_us, piece, None, self.last_record(), direction);
            }
            "data" => self.framing(stream, time_us, direction, |framing| framing.data(bytes)),
            "headers" => {
                self.framing(stream, time_us, direction, |framing| framing.headers(bytes));
                self.message(stream, time_us, direction, Message::read(&event.frame.headers));
            }
            "push_promise" => {
                self.framing(stream, time_us, direction, |framing| framing.headers(bytes));
                if let Some(push_id) = event.frame.push_id {
                    let request = Message::read(&event.frame.headers);
                    self.count_texts(request.texts());
                    self.promises.entry(push_id.0).or_insert(Promise { time_us, request });
                }
            }
            "priority_update" => {
                let value = event.frame.priority_field_value.as_deref();
                if let Some(((element, how), value)) = event.frame.prioritized().zip(value) {
                    self.signal(time_us, element, how, value);
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn priority_updated(&mut self, time_us: u64, data: &[u8]) -> serde_json::Result<()> {
        let event: PriorityUpdated<'_> = body(data)?;
        if let (Some(stream), Some(value)) = (event.stream_id, event.new) {
            self.signal(time_us, stream.0, SignalKind::Applied, &value);
        }
        Ok(())
    }

    pub(super) fn stream_type(&mut self, data: &[u8]) -> serde_json::Result<()> {
        let event: StreamType<'_> = body(data)?;
        let exchange = self.exchange(event.stream_id.0);
        match event.kind.as_deref() {
            Some("push") => {
                exchange.role = StreamRole::Push;
                exchange.push_id = event.associated_push_id.map(|push_id| push_id.0);
            }
            Some("control") => exchange.role = StreamRole::Control,
            Some(kind) if kind.starts_with("qpack") => exchange.role = StreamRole::Qpack,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn scheduler_call(&mut self, time_us: u64, data: &[u8]) -> serde_json::Result<()> {
        let call = SchedulerCall::read(time_us, data)?;
        if self.detail >= Detail::Order {
            self.trace.own_server.get_or_insert_default().scheduler_calls.push(call);
        }
        Ok(())
    }

    fn signal(&mut self, time_us: u64, element: u64, how: SignalKind, value: &str) {
        if self.trace.signals.len() < limits::SIGNALS {
            let value = kept(value);
            self.count_texts([&value]);
            self.trace.signals.push(PrioritySignal { time_us, element, how, value });
        }
    }

    fn count_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        for text in texts {
            self.text_bytes += text.len();
            self.cut_texts += u64::from(is_cut(text));
        }
    }

    fn flow(&mut self, direction: Direction) -> &mut Flow {
        match direction {
            Direction::Received => &mut self.received,
            Direction::Sent => &mut self.sent,
        }
    }

    /// Whether only requests go in this direction, little of which matters; false until the log reveals
    /// its side.
    pub(super) fn is_of_requests(&self, direction: Direction) -> bool {
        match self.vantage() {
            Vantage::Client => direction == Direction::Sent,
            Vantage::Server => direction == Direction::Received,
            Vantage::Network | Vantage::Unknown => false,
        }
    }

    /// The side that wrote the log, as far as known: the log's own statement may be wrong, and a capture has none.
    pub(super) fn vantage(&self) -> Vantage {
        let logged = self.trace.vantage;
        let side = match logged {
            Vantage::Network => self.named_vantage,
            Vantage::Unknown => self.side.or(self.named_vantage),
            Vantage::Client | Vantage::Server => self.side,
        };
        side.unwrap_or(logged)
    }

    fn framing(
        &mut self,
        stream: u64,
        time_us: u64,
        direction: Direction,
        add: impl FnOnce(&mut Framing),
    ) {
        if !self.is_of_requests(direction) {
            add(&mut self.flow(direction).stream(stream, time_us).framing);
        }
    }

    fn exchange(&mut self, stream: u64) -> &mut Exchange {
        self.streams.entry(stream, Exchange::default)
    }

    fn message(&mut self, stream: u64, time_us: u64, direction: Direction, message: Message) {
        if let Some(value) = &message.priority {
            let how = if message.is_request { SignalKind::Request } else { SignalKind::Response };
            self.signal(time_us, stream, how, value);
        }
        self.count_texts(message.texts());
        let exchange = self.exchange(stream);
        if message.is_request {
            exchange.request.get_or_insert((time_us, direction, message));
        } else if message.status.is_some_and(|status| status >= 200) {
            // No interim response.
            exchange.response.get_or_insert(message);
        }
    }
}
