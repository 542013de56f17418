//! The send loop decides which bytes are passed to the transport, and when.
//!
//! quiche puts one STREAM frame in a packet. If one packet's worth of one stream is offered right before the packet is made,
//! exactly the picked stream goes on the wire. This needs two rules:
//!
//! * **Hold.** With data waiting, quiche fills whatever the congestion window leaves, down to packets of a few bytes. So it is
//!   asked for a packet only when a full one fits.
//! * **Poke.** reno and cubic grow their window only if the sender once had data and no room. Offering only what fits never
//!   shows them that. So when the window is full, one packet's worth is offered anyway, and a packet is requested in a buffer
//!   that is too small for it: this marks the sender as limited by the window and sends nothing.
//!
//! On a path so fast that nothing holds packets back, the packets of a batch are picked one by one and offered in one call, as
//! long as the same stream is picked: a *run*.
//!
//! [`Window`] tracks the bytes that are offered and not yet on the wire. Its count is exact, or marked as doubtful. From it,
//! and from everything else that holds packets back, `next.rs` decides by these rules; [`SendLoop::datagram`] carries out the
//! decision.

mod downloads;
mod ending;
mod measures;
#[cfg(feature = "experiments")]
mod moving;
mod next;
mod pacing;
mod restart;
mod restraint;
mod staging;
mod token_bucket;
mod transport_packets;
mod window;

use crate::order::{Order, Picker};
use crate::outgoing::Outgoing;
use crate::read_ahead::Pages;
use crate::streams::Streams;
use crate::{Downloads, Options};
use connection::{Connection, Path};
pub(crate) use ending::Ending;
use measures::Measures;
use next::{Content, Facts, Handshake, Next, Paced, next};
use pacing::Pacing;
use push::Gate;
use schedulers::{Call, Resource, Restraint, Scheduler, Scheme, StreamId};
use staging::Passage;
use std::time::Instant;
use window::Window;

/// A finished datagram: its size and its destination.
pub(crate) type Datagram = (usize, Path);

/// The datagrams for one system call, as far as they are made: datagrams of one size, the last possibly shorter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Batch {
    /// The size of the first one; 0: there is none yet.
    pub(crate) segment_bytes: usize,
    /// How many more it accepts.
    pub(crate) packets: u64,
}

/// The sending half of one connection. It has many methods, because each step from the scheduler to a packet needs the
/// transport, its log and the streams together. Decisions that do not need the transport are made in separate structs:
/// [`next()`], [`Window`], [`Pacing`], [`Measures`].
pub(crate) struct SendLoop {
    pub(crate) connection: Connection,
    /// The client's address as the transport knows it, once there are others.
    pub(crate) home: Option<Path>,
    pub(crate) streams: Streams,
    pub(crate) order: Order,
    passage: Passage,
    window: Window,
    measures: Measures,
    pacing: Pacing,
    downloads: Option<Downloads>,
    batch: Batch,
    /// A timer of the transport has fired: its probes may ignore the window.
    owes_probe: bool,
    /// The last decision since something arrived.
    decided: Option<Next>,
    /// Responses that were dropped and not yet reported.
    pub(crate) unwanted: u64,
    /// Datagrams with part of a response since they were last counted.
    pub(crate) carried: u64,
    /// The last entry of the log.
    restraint: Option<Restraint>,
}

impl SendLoop {
    pub(crate) fn new(mut connection: Connection, options: &Options, pages: Pages) -> Self {
        let order = Order::new(&options.scheme, connection.quic.qlog_streamer());
        Self {
            connection,
            home: None,
            streams: Streams::default(),
            order,
            passage: Passage::new(options, pages),
            window: Window::new(options),
            measures: Measures::new(options.datagrams),
            pacing: Pacing::new(options),
            downloads: options.downloads,
            batch: Batch::default(),
            owes_probe: false,
            decided: None,
            unwanted: 0,
            carried: 0,
            restraint: None,
        }
    }

    pub(crate) fn call(&mut self, call: Call) {
        self.order.call(call, self.connection.quic.qlog_streamer());
    }

    /// Announces the response on `stream` to the scheduler; it begins with `frames`, which may be empty.
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
            self.passage.widen(bytes);
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

    /// Whether another scheme can take over: no response is in progress, and no other connection shares the order.
    pub(crate) fn is_between_pages(&self) -> bool {
        !self.order.picker().is_shared() && self.is_empty() && self.passage.is_empty()
    }

    pub(crate) fn adopt(&mut self, scheme: &Scheme) {
        self.reorder(&scheme.name, Box::new(Scheduler::new(scheme)));
    }

    /// Whether bytes of a response are available that are not known to have been sent.
    pub(crate) fn has_unsent(&self, stream: StreamId) -> bool {
        let is_left = |it: &Outgoing| it.pending() > 0 || it.committed() > it.offset();
        self.streams.outgoing(stream).is_some_and(is_left) || self.window.has_staged(stream)
    }

    /// Whether every response was passed to the transport.
    pub(crate) fn is_empty(&self) -> bool {
        self.streams.responses() == 0
    }

    /// The transport has read a datagram: windows and credit may have changed.
    pub(crate) fn received(&mut self) {
        self.decided = None;
        self.window.received();
        self.measures.renew(&self.connection.quic);
        for stream in self.streams.take_held() {
            match self.connection.quic.stream_capacity(stream.0) {
                Ok(0) => self.streams.hold(stream),
                Ok(_) => self.update_ready(stream),
                Err(_) => {
                    self.finish(stream, Ending::Shut);
                }
            }
        }
    }

    /// Gives the transport the waiting bytes of our own streams. They may be sent instead of staged ones.
    pub(crate) fn flush(&mut self) {
        if self.connection.flush() {
            self.window.doubt();
        }
    }

    pub(crate) fn timer_fired(&mut self) {
        self.connection.quic.on_timeout();
        self.owes_probe = true;
        self.measures.renew(&self.connection.quic);
    }

    /// The size of a datagram that the transport sends on this path while the client moves.
    pub(crate) fn send_by(&mut self, by: Path, out: &mut [u8]) -> Option<usize> {
        let sent = self.connection.quic.send_on_path(out, Some(by.local), Some(by.peer)).ok();
        self.window.sent_unasked(sent.map_or(0, |it| it.0));
        sent.map(|it| it.0)
    }

    /// When `datagram` may have a new datagram, apart from the transport's timers.
    pub(crate) fn next_wakeup(&self, now: Instant) -> Option<Instant> {
        let has_data = || self.order.picker().pick().is_some() || !self.passage.is_empty();
        let tick = self.pacing.ticks().and_then(|it| it.next);
        let tick = tick.filter(|at| *at > now && has_data());
        let release = self.decided.and_then(Next::until).map(Pacing::wakeup);
        let held = self.window.held_until(now);
        [self.streams.next_release(), release, held, tick].into_iter().flatten().min()
    }

    /// The next datagram of `batch`, if one may be sent now: its size in `out`.
    pub(crate) fn datagram(
        &mut self,
        now: Instant,
        out: &mut [u8],
        batch: Batch,
    ) -> Result<Option<Datagram>, quiche::Error> {
        self.batch = batch;
        let carried = self.carried;
        let made = self.next_datagram(now, out)?;
        self.note_restraint(made.is_some(), self.carried > carried);
        Ok(made)
    }

    fn next_datagram(
        &mut self,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<Datagram>, quiche::Error> {
        for stream in self.streams.release(now) {
            self.update_ready(stream);
        }
        self.update_gates();
        let room = self.measures.room_bytes(&self.connection.quic, out.len());
        let mut asked_for_handshake = false;
        loop {
            let decided = next(&self.prepare(asked_for_handshake, now));
            self.decided = Some(decided);
            let content = match decided {
                Next::Send(content) => content,
                Next::Poke(_) => return self.poke(&mut out[..room]),
                Next::Wait(_) | Next::Idle => return Ok(None),
            };
            if content == Content::Staged {
                self.top_up(now);
            }
            let run = self.run_datagram_bytes().filter(|_| self.window.is_run());
            let room = run.unwrap_or(room);
            if let Some((bytes, path)) = self.send(&mut out[..room])? {
                self.went(content, bytes, now);
                return Ok(Some((bytes, path)));
            }
            match content {
                Content::Handshake => asked_for_handshake = true,
                Content::Probe => self.owes_probe = false,
                Content::Staged if self.window.proves_empty() => self.window.flushed(),
                Content::Staged => {
                    self.window.hold(&self.connection.quic, now);
                    return Ok(None);
                }
                Content::Unstaged => return Ok(None),
            }
        }
    }

    /// Stages the next packet's bytes, unless something precedes them, and gathers the facts that decide whether they are sent.
    fn prepare(&mut self, asked_for_handshake: bool, now: Instant) -> Facts {
        let quic = &self.connection.quic;
        let handshake = match (quic.is_established(), asked_for_handshake) {
            (true, _) => Handshake::LetsDataGo,
            (false, false) => Handshake::Goes,
            (false, true) if quic.is_in_early_data() => Handshake::LetsDataGo,
            (false, true) => Handshake::Waits,
        };
        let owes_probe = self.owes_probe;
        let mut facts = Facts { handshake, owes_probe, ..Facts::default() };
        if !facts.let_data_go() {
            return facts;
        }
        let datagram_bytes = self.measures.datagram_bytes;
        facts.paced = self.pacing.holds(quic, datagram_bytes, &self.window, now);
        // While the loop paces, a packet stays staged, to be shown. While the transport does, bytes are chosen when its pause
        // ends.
        if !matches!(facts.paced, Paced::ByTransport(_)) {
            self.stage_next(now);
        }
        facts.is_staged = !self.window.is_clear();
        if facts.is_staged && facts.paced == Paced::No {
            facts.room = self.window.room(&mut self.connection.quic, datagram_bytes, now);
        }
        facts.restarts = self.window.restarts();
        facts
    }

    /// Records that a datagram with these bytes was sent.
    fn went(&mut self, content: Content, bytes: usize, now: Instant) {
        match content {
            Content::Handshake | Content::Unstaged => self.window.sent_unasked(bytes),
            Content::Probe => {
                self.window.sent_unasked(bytes);
                self.window.sent_data(bytes, now);
            }
            Content::Staged => {
                self.carried += 1;
                if self.measures.is_probe(bytes) {
                    self.window.probed(bytes);
                } else {
                    let retransmitted = self.measures.retransmitted(&self.connection.quic);
                    self.window.sent(bytes, retransmitted);
                }
                self.window.sent_data(bytes, now);
                self.pacing.sent(bytes);
            }
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

    /// Whether both ends have finished `stream`. A response that the client stopped, and that the scheduler has not reached
    /// since, is dropped: quiche returns such a stream to the client only when asked about it.
    pub(crate) fn is_over(&mut self, stream: StreamId) -> bool {
        let quic = &mut self.connection.quic;
        let (unwanted, closed) =
            (quic.stream_capacity(stream.0).is_err(), quic.stream_closed(stream.0));
        if unwanted {
            self.finish(stream, Ending::Shut);
        }
        closed && !self.streams.is_sending(stream) && !self.streams.has_gate(stream)
    }
}
