//! The send loop decides which bytes go before the transport, and when.
//!
//! quiche puts one STREAM frame in a packet. One packet's worth of one stream, offered right before the
//! packet is made, therefore puts exactly the picked stream on the wire. This needs two rules:
//!
//! * **Hold.** With data waiting, quiche fills whatever the congestion window leaves, down to packets of
//!   a few bytes. So it is asked for a packet only when a full one fits.
//! * **Poke.** reno and cubic grow their window only if the sender once had data and no room. Feeding
//!   just what fits never shows them that. So when the window is full, one packet's worth is offered all
//!   the same and a packet is asked for in a buffer too small for it: that marks the sender as limited
//!   by the window and sends nothing.
//!
//! [`Window`] tracks the bytes that are offered and not yet on the wire. Its count is exact, or marked as doubtful.

mod asking;
mod downloads;
mod holding;
mod measures;
mod restart;
mod restraint;
mod staging;
mod token_bucket;
mod window;

use crate::order::{Order, Picker};
use crate::outgoing::Outgoing;
use crate::pace::Ticks;
use crate::read_ahead::Pages;
use crate::send_buffer::SendBuffer;
use crate::streams::Streams;
use crate::{CongestionControl, Downloads, Options};
use connection::experiments::SendOrder;
use connection::{Connection, Path};
use measures::Measures;
use push::Gate;
use restart::Restart;
use schedulers::{Call, Resource, Restraint, Scheduler, Scheme, StreamId};
use std::time::{Duration, Instant};
use token_bucket::TokenBucket;
use window::Window;

/// Event loops sleep in steps of this, rounded up. A release that is nearer counts as now, and they are woken one step
/// before a later one. Otherwise a fast link would be idle between two packets.
const TIMER_STEP: Duration = Duration::from_millis(1);

/// How long a client may wait before it acknowledges (RFC 9000, 18.2).
const ACK_DELAY: Duration = Duration::from_millis(25);

/// A datagram that was made: its size and where it goes.
pub(crate) type Datagram = (usize, Path);

pub(crate) struct SendLoop {
    pub(crate) connection: Connection,
    /// The client's address as the transport knows it, once there are others.
    pub(crate) home: Option<Path>,
    pub(crate) streams: Streams,
    pub(crate) order: Order,
    buffer: SendBuffer,
    buffer_limit_bytes: u64,
    send_order: Option<SendOrder>,
    window: Window,
    measures: Measures,
    pace: Option<Ticks>,
    /// Under bbr2, bytes are staged behind those that have likely gone.
    stages_ahead: bool,
    /// Paces where the transport does not.
    bucket: Option<TokenBucket>,
    /// Limits the window after a pause.
    restart: Option<Restart>,
    downloads: Option<Downloads>,
    /// A timer of the transport has fired: its probes may ignore the window.
    timer_fired: bool,
    release: Option<Instant>,
    /// The time until which staged bytes may be held back.
    held_until: Option<Instant>,
    /// Responses that were dropped, not yet asked for.
    unwanted: u64,
    /// Datagrams with a part of a response since they were last counted.
    carried: u64,
    has_paused: bool,
    /// What the log said last.
    restraint: Option<Restraint>,
    /// Bytes of a full datagram, when the last one was asked for.
    datagram_bytes: usize,
    /// Responses from other connections that were dropped, not yet asked for.
    stopped: Vec<StreamId>,
    pages: Pages,
}

impl SendLoop {
    pub(crate) fn new(mut connection: Connection, options: &Options, pages: Pages) -> Self {
        let order = Order::new(&options.scheme, connection.quic.qlog_streamer());
        Self {
            connection,
            home: None,
            streams: Streams::default(),
            order,
            buffer: SendBuffer::default(),
            buffer_limit_bytes: options.send_buffer_bytes,
            send_order: options.experiments.send_order.clone(),
            window: Window::new(options.datagrams),
            measures: Measures::new(options.datagrams),
            pace: options.pace.map(Ticks::new),
            stages_ahead: options.congestion_control == CongestionControl::Bbr2
                && options.pace.is_none(),
            restart: options.restarts().then(|| {
                Restart::new((options.initial_window_packets * options.udp_payload_bytes) as u64)
            }),
            downloads: options.downloads,
            bucket: options.needs_bucket().then(|| TokenBucket::new(options.udp_payload_bytes)),
            timer_fired: false,
            release: None,
            held_until: None,
            unwanted: 0,
            carried: 0,
            has_paused: false,
            restraint: None,
            datagram_bytes: 0,
            stopped: Vec::new(),
            pages,
        }
    }

    pub(crate) fn call(&mut self, call: Call) {
        self.order.call(call, self.connection.quic.qlog_streamer());
    }

    /// Opens the response on `stream` before the scheduler; it begins with `frames`, which may be empty.
    pub(crate) fn open(
        &mut self,
        stream: StreamId,
        resource: &Resource,
        urgency: u8,
        frames: Vec<u8>,
    ) {
        self.call(Call::Open(stream, *resource));
        let has_frames = !frames.is_empty();
        self.streams.begin(stream, resource, urgency, Outgoing::new(frames));
        if has_frames {
            self.update_ready(stream);
        }
    }

    /// Goes on with a response from another connection.
    pub(crate) fn go_on(
        &mut self,
        stream: StreamId,
        resource: &Resource,
        urgency: u8,
        rest: Outgoing,
    ) {
        self.call(Call::Open(stream, *resource));
        self.streams.begin(stream, resource, urgency, rest);
        self.update_ready(stream);
    }

    /// Ends the response here at its last committed byte, and returns the rest, if there is any.
    pub(crate) fn cut(&mut self, stream: StreamId) -> Option<Outgoing> {
        let rest = self.streams.cut(stream)?;
        self.close(stream);
        Some(rest)
    }

    /// The response goes no further than `after_bytes` of its stream before it is decided whether it moves.
    pub(crate) fn pause(&mut self, stream: StreamId, after_bytes: Option<u64>) {
        let Some(outgoing) = self.streams.outgoing_mut(stream) else { return };
        let was_paused = outgoing.is_paused();
        outgoing.pause = after_bytes.filter(|it| *it > outgoing.committed());
        if was_paused {
            self.update_ready(stream);
        }
    }

    /// Whether a response waits for this decision since the last call.
    pub(crate) fn take_paused(&mut self) -> bool {
        std::mem::take(&mut self.has_paused)
    }

    /// The responses from other connections that were dropped since the last call.
    pub(crate) fn take_stopped(&mut self) -> Vec<StreamId> {
        std::mem::take(&mut self.stopped)
    }

    /// Takes a response out, of which nothing more goes here.
    pub(crate) fn take(&mut self, stream: StreamId) -> Option<Outgoing> {
        let outgoing = self.streams.take(stream)?;
        self.buffer.remove(stream);
        self.close(stream);
        Some(outgoing)
    }

    pub(crate) fn extend(&mut self, stream: StreamId, frames: &[u8]) {
        if let Some(outgoing) = self.streams.outgoing_mut(stream).filter(|_| !frames.is_empty()) {
            outgoing.extend(frames);
            self.update_ready(stream);
        }
    }

    pub(crate) fn end(&mut self, stream: StreamId) {
        self.streams.end(stream);
        self.update_ready(stream);
    }

    /// The response on `stream` is a push that belongs to the response on `main`.
    pub(crate) fn gate(&mut self, stream: StreamId, main: StreamId, gate: Gate) {
        if let Gate::EagerFifo(bytes) = gate {
            self.buffer_limit_bytes = self.buffer_limit_bytes.max(bytes);
        }
        self.streams.gate(stream, main, gate);
        self.update_ready(main);
    }

    pub(crate) fn reorder(&mut self, scheme: &str, picker: Box<dyn Picker>) {
        self.order.pass_to(picker, scheme, self.connection.quic.qlog_streamer());
        let has_bytes = |it: &StreamId| self.streams.pending(*it) > 0;
        for stream in self.streams.under_way().filter(has_bytes).collect::<Vec<_>>() {
            self.update_ready(stream);
        }
    }

    /// Whether another scheme can take over: no response is under way, and no other connection shares the order.
    pub(crate) fn is_between_pages(&self) -> bool {
        !self.order.picker().is_shared() && self.is_empty() && self.buffer.bytes() == 0
    }

    /// Sends in the order of `scheme` from now on.
    pub(crate) fn adopt(&mut self, scheme: &Scheme) {
        self.reorder(&scheme.name, Box::new(Scheduler::new(scheme)));
    }

    /// Drops a response that the client does not want, or that cannot be sent whole.
    pub(crate) fn drop_response(&mut self, stream: StreamId) {
        if self.streams.is_sending(stream) {
            let is_push = self.streams.get(stream).is_some_and(|it| it.push.is_some());
            if !stream.0.is_multiple_of(4) && !is_push {
                self.stopped.push(stream);
            }
            self.streams.finish(stream);
            self.buffer.remove(stream);
            self.unwanted += 1;
            self.close(stream);
        }
    }

    /// How many datagrams with a part of a response went since this was last asked.
    pub(crate) fn take_carried(&mut self) -> u64 {
        std::mem::take(&mut self.carried)
    }

    pub(crate) fn take_unwanted(&mut self) -> u64 {
        std::mem::take(&mut self.unwanted)
    }

    /// Whether bytes of a response are here that are not known to have gone.
    pub(crate) fn has_unsent(&self, stream: StreamId) -> bool {
        let is_left = |it: &Outgoing| it.pending() > 0 || it.committed() > it.offset();
        self.streams.outgoing(stream).is_some_and(is_left) || self.window.has_staged(stream)
    }

    /// Whether every response has gone to the transport.
    pub(crate) fn is_empty(&self) -> bool {
        self.streams.responses() == 0
    }

    /// The transport has read a datagram: windows and credit may have changed.
    pub(crate) fn received(&mut self) {
        self.window.received();
        self.measures.renew(&self.connection.quic);
        self.order.picker_mut().heard();
        for stream in self.streams.take_held() {
            match self.connection.quic.stream_capacity(stream.0) {
                Ok(0) => self.streams.hold(stream),
                Ok(_) => self.update_ready(stream),
                Err(_) => self.drop_response(stream),
            }
        }
    }

    /// Gives the transport the waiting bytes of our own streams. They may go instead of staged ones.
    pub(crate) fn flush(&mut self) {
        if self.connection.flush() {
            self.window.doubt();
        }
    }

    pub(crate) fn timer_fired(&mut self) {
        self.connection.quic.on_timeout();
        self.timer_fired = true;
        self.measures.renew(&self.connection.quic);
        self.order.picker_mut().silent();
    }

    /// A datagram that the transport sends by this path while the client moves: its size.
    pub(crate) fn send_by(&mut self, by: Path, out: &mut [u8]) -> Option<usize> {
        let sent = self.connection.quic.send_on_path(out, Some(by.local), Some(by.peer)).ok();
        self.window.sent_unasked(sent.map_or(0, |it| it.0));
        sent.map(|it| it.0)
    }

    /// When `datagram` may have a new datagram, apart from the transport's timers.
    pub(crate) fn next_wakeup(&self, now: Instant) -> Option<Instant> {
        let has_data = || self.order.picker().pick().is_some() || self.buffer.bytes() > 0;
        let tick = self.pace.as_ref().filter(|_| has_data()).and_then(Ticks::next);
        let tick = tick.filter(|at| *at > now);
        // What is overdue waits for the pacing's release.
        let held = self.held_until.filter(|at| *at > now);
        let release = self.release.map(|at| at.checked_sub(TIMER_STEP).unwrap_or(at));
        [self.streams.next_release(), release, held, tick].into_iter().flatten().min()
    }

    /// The next datagram, if one may go now: its size in `out`.
    fn next_datagram(
        &mut self,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<Datagram>, quiche::Error> {
        for stream in self.streams.release(now) {
            self.update_ready(stream);
        }
        self.update_gates();
        let quic = &self.connection.quic;
        self.datagram_bytes = self.measures.datagram_bytes(quic).min(out.len());
        let room = self.measures.room_bytes(quic).min(out.len());
        let out = &mut out[..room];
        if !quic.is_established() {
            // The handshake goes by itself; answers to early data behind it.
            let sent = self.unasked(out)?;
            if sent.is_some() || !self.connection.quic.is_in_early_data() {
                return Ok(sent);
            }
        }
        if self.timer_fired {
            let sent = self.unasked(out)?;
            self.timer_fired = sent.is_some();
            if let (Some(restart), Some((bytes, _))) = (&mut self.restart, sent) {
                restart.sent(bytes, now);
            }
            if sent.is_some() {
                return Ok(sent);
            }
        }
        match self.must_wait(now) {
            false => self.data_datagram(now, out),
            true if self.bucket.is_some() => self.show_more(now, out),
            true => Ok(None),
        }
    }

    fn data_datagram(
        &mut self,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<Datagram>, quiche::Error> {
        loop {
            if self.window.is_clear() || (self.stages_ahead && self.window.has_likely_gone()) {
                self.stage_at_tick(now);
                if self.window.is_clear() {
                    self.held_until = None;
                    return self.unasked(out);
                }
                if self.window.is_unsent() {
                    self.held_until = None;
                }
            }
            self.restart_after_pause(now);
            self.window.measure(&mut self.connection.quic, self.restart.as_mut());
            let datagram_bytes = self.datagram_bytes;
            if !self.window.fits(&mut self.connection.quic, datagram_bytes)
                && !self.lacks_only_credit()
                && !self.held_too_long(now)
            {
                let quic = &self.connection.quic;
                self.order.picker_mut().window_full(&|| window::path_has_queue(quic));
                return if self.restarts() { Ok(None) } else { self.poke(out) };
            }
            self.top_up(now);
            match self.send(out)? {
                Some((sent, path)) => {
                    self.carried += 1;
                    self.held_until = None;
                    if self.measures.is_probe(sent, self.datagram_bytes) {
                        self.window.sent_unasked(sent);
                    } else {
                        let retransmitted = self.measures.retransmitted(&self.connection.quic);
                        self.window.sent(sent, retransmitted);
                    }
                    if let Some(restart) = &mut self.restart {
                        restart.sent(sent, now);
                    }
                    if let Some(bucket) = &mut self.bucket {
                        bucket.sent(sent);
                    }
                    return Ok(Some((sent, path)));
                }
                None if self.window.proves_empty() => self.window.flushed(),
                None => {
                    // Nothing of it went: it is held back from now on.
                    self.held_until = None;
                    self.held_too_long(now);
                    return Ok(None);
                }
            }
        }
    }

    /// Stages a packet's worth, at a tick if there is a fixed pace. A tick at which nothing is ready passes unused.
    fn stage_at_tick(&mut self, now: Instant) {
        if self.pace.as_mut().is_some_and(|ticks| !ticks.allow(now)) {
            return;
        }
        self.stage(now);
        if let Some(ticks) = self.pace.as_mut().filter(|_| self.window.is_clear()) {
            ticks.idle();
        }
    }

    fn update_gates(&mut self) {
        if self.streams.has_gates() {
            let in_flight_bytes = window::in_flight_bytes(&mut self.connection.quic);
            for stream in self.streams.update_gates(in_flight_bytes) {
                self.update_ready(stream);
            }
        }
    }

    /// Tells the scheduler whether there is something to send that neither flow control nor a gate holds back.
    fn update_ready(&mut self, stream: StreamId) {
        if self.streams.is_sending(stream) {
            self.call(Call::SetReady(stream, self.streams.is_ready(stream)));
        }
    }

    fn close(&mut self, stream: StreamId) {
        self.streams.leave_gate(stream);
        self.call(Call::Close(stream));
    }

    /// Whether both ends have finished `stream`. A response that the client stopped, and that the scheduler has not
    /// come to since, is dropped: quiche gives such a stream back to the client only when asked about it.
    pub(crate) fn is_over(&mut self, stream: StreamId) -> bool {
        let quic = &mut self.connection.quic;
        let (unwanted, closed) =
            (quic.stream_capacity(stream.0).is_err(), quic.stream_closed(stream.0));
        if unwanted {
            self.drop_response(stream);
        }
        closed && !self.streams.is_sending(stream) && !self.streams.has_gate(stream)
    }
}
