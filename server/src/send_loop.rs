//! The send loop: which bytes go before the transport, and when.
//!
//! quiche puts one STREAM frame in a packet, so one packet's worth of one stream, offered right before
//! the packet is made, puts exactly the picked stream on the wire. Two things must be kept for that:
//!
//! * **Hold.** With data waiting, quiche fills whatever the congestion window leaves, down to packets of
//!   a few bytes. So it is asked for a packet only when a full one fits.
//! * **Poke.** reno and cubic grow their window only if the sender once had data and no room. Feeding
//!   just what fits never shows them that. So when the window is full, one packet's worth is offered all
//!   the same and a packet is asked for in a buffer too small for it: that marks the sender as limited
//!   by the window and sends nothing.
//!
//! What is offered and not yet on the wire is tracked by [`Window`]; it is exact, or says that it doubts.

use crate::experiments::repairs::Repairs;
use crate::order::Order;
use crate::pace::Ticks;
use crate::qlog_events;
use crate::send_buffer::SendBuffer;
use crate::send_queue::{Head, SendQueue};
use crate::site::{Availability, Body};
use crate::{Options, Pace};
use gated::Gated;
use http3::SendOrder;
use push::Gate;
use reorder::Told;
use schedulers::{Resource, Signal, StreamId};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use window::Window;

mod gated;
mod reorder;
mod staging;
mod window;

/// Event loops sleep in steps of this, rounded up. A release nearer than that counts as now, and they are woken by
/// as much before it, or a fast link would stand idle between two packets.
const TIMER_STEP: Duration = Duration::from_millis(1);

/// A datagram that was made: its size and where it goes.
pub(crate) type Datagram = (usize, SocketAddr);

/// A server's control stream and its two QPACK streams.
const OWN_STREAMS: usize = 3;

/// How long a client may wait before it acknowledges (RFC 9000, 18.2).
const ACK_DELAY: Duration = Duration::from_millis(25);

/// The sending half of a connection.
pub(crate) struct SendLoop {
    order: Order,
    /// What the scheduler was told, until it is settled which one it is.
    history: Option<Vec<Told>>,
    repairs: Repairs,
    scheme: String,
    queue: SendQueue,
    buffer: SendBuffer,
    buffer_limit_bytes: u64,
    send_order: Option<SendOrder>,
    /// Streams that flow control holds back.
    held: BTreeSet<StreamId>,
    gated: Gated,
    window: Window,
    pace: Option<(Pace, Ticks)>,
    /// A timer of the transport has fired: its probes may ignore the window.
    timer_fired: bool,
    release: Option<Instant>,
    /// What is staged is held back no longer than this.
    held_until: Option<Instant>,
    /// Responses that were dropped, not yet asked for.
    unwanted: u64,
    scratch: Vec<u8>,
}

impl SendLoop {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            order: Order::alone(&options.scheme),
            history: Some(Vec::new()),
            repairs: Repairs::new(options.retransmit_in_order),
            scheme: options.scheme.name.clone(),
            queue: SendQueue::default(),
            buffer: SendBuffer::default(),
            buffer_limit_bytes: options.send_buffer_bytes,
            send_order: options.send_order.clone(),
            held: BTreeSet::new(),
            gated: Gated::default(),
            window: Window::default(),
            pace: options.pace.map(|pace| (pace, Ticks::new(pace.interval))),
            timer_fired: false,
            release: None,
            held_until: None,
            unwanted: 0,
            scratch: Vec::new(),
        }
    }

    /// A response will be sent on `stream`.
    pub(crate) fn respond(
        &mut self,
        quic: &mut quiche::Connection,
        stream: StreamId,
        resource: &Resource,
        (head, body): (Head, Body),
        when: (Availability, Instant),
    ) {
        self.open(quic, stream, resource);
        self.queue.insert(stream, head, body, when);
    }

    fn open(&mut self, quic: &mut quiche::Connection, stream: StreamId, resource: &Resource) {
        qlog_events::opened(quic, stream, resource);
        self.order.open(stream, resource);
        if let Some(history) = &mut self.history {
            history.push(Told::Opened(stream, *resource));
        }
    }

    /// A response will be sent on `stream` of which only `ahead` is there.
    pub(crate) fn await_response(
        &mut self,
        quic: &mut quiche::Connection,
        stream: StreamId,
        resource: &Resource,
        ahead: Vec<u8>,
    ) {
        self.open(quic, stream, resource);
        self.queue.insert_growing(stream, ahead);
        self.set_ready_if_open(quic, stream);
    }

    /// More of an awaited response; `ended`: the last of it, at least a byte.
    pub(crate) fn extend(
        &mut self,
        quic: &mut quiche::Connection,
        stream: StreamId,
        bytes: &[u8],
        ended: bool,
    ) {
        self.queue.extend(stream, bytes, ended);
        self.set_ready_if_open(quic, stream);
    }

    /// Bytes of an awaited response that have come and were not offered to the transport.
    pub(crate) fn waiting_bytes(&self, stream: StreamId) -> usize {
        self.queue.waiting_bytes(stream)
    }

    /// The response on `stream` is a push that belongs to the response on `main`.
    pub(crate) fn gate(&mut self, stream: StreamId, main: StreamId, gate: Gate) {
        if let Gate::EagerFifo(bytes) = gate {
            self.buffer_limit_bytes = self.buffer_limit_bytes.max(bytes);
        }
        self.gated.insert(stream, main, gate);
    }

    /// In a group: the connection whose turn it is, as the router numbers it.
    pub(crate) fn turn(&self) -> Option<u64> {
        self.order.turn()
    }

    /// The connection ends: in a group others go first.
    pub(crate) fn rest(&self) {
        self.order.rest();
    }

    /// The stream is over on both sides.
    pub(crate) fn forget(&mut self, stream: StreamId) {
        self.repairs.forget(stream);
    }

    /// The name of the scheme in whose order it sends.
    pub(crate) fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The client said something about order.
    pub(crate) fn signal(&mut self, quic: &mut quiche::Connection, signal: Signal) {
        qlog_events::signalled(quic, &signal);
        if let Some(history) = &mut self.history {
            history.push(Told::Signalled(signal));
        }
        self.order.signal(signal);
    }

    /// Nobody wants the rest of a response.
    pub(crate) fn drop_response(&mut self, quic: &mut quiche::Connection, stream: StreamId) {
        if self.queue.contains(stream) {
            self.queue.remove(stream);
            self.buffer.remove(stream);
            self.held.remove(&stream);
            self.unwanted += 1;
            self.close(quic, stream);
        }
    }

    /// How many responses have been dropped since this was last asked.
    pub(crate) fn take_unwanted(&mut self) -> u64 {
        std::mem::take(&mut self.unwanted)
    }

    /// Whether `stream` still has something to send.
    pub(crate) fn contains(&self, stream: StreamId) -> bool {
        self.queue.contains(stream)
    }

    /// Whether every response has gone to the transport.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The transport has read a datagram: windows and credit may have changed.
    pub(crate) fn received(&mut self, quic: &mut quiche::Connection) {
        self.window.received();
        self.order.heard();
        self.repairs.rank(quic, &self.order, self.queue.streams());
        for stream in std::mem::take(&mut self.held) {
            match quic.stream_capacity(stream.0) {
                Ok(0) => {
                    self.held.insert(stream);
                }
                Ok(_) => self.set_ready_if_open(quic, stream),
                Err(_) => self.drop_response(quic, stream),
            }
        }
    }

    /// Bytes of a control stream were given to the transport, which may go instead of what is staged.
    pub(crate) fn control_written(&mut self) {
        self.window.doubt();
    }

    /// A timer of the transport has fired.
    pub(crate) fn timer_fired(&mut self, quic: &mut quiche::Connection) {
        self.timer_fired = true;
        self.order.rest();
        self.repairs.rank(quic, &self.order, self.queue.streams());
    }

    /// When `datagram` may have something that it had not, the transport's timers aside.
    pub(crate) fn next_wakeup(&self, now: Instant) -> Option<Instant> {
        let tick =
            self.pace.as_ref().filter(|_| self.order.pick().is_some() || self.buffer.bytes() > 0);
        let tick = tick.and_then(|(_, ticks)| ticks.next()).filter(|at| *at > now);
        // What is overdue waits for the pacing's release.
        let held = self.held_until.filter(|at| *at > now);
        let release = self.release.map(|at| at.checked_sub(TIMER_STEP).unwrap_or(at));
        [self.queue.next_release(), release, held, tick].into_iter().flatten().min()
    }

    /// The next datagram, if one may go now: its size in `out`.
    pub(crate) fn datagram(
        &mut self,
        quic: &mut quiche::Connection,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<Datagram>, quiche::Error> {
        for stream in self.queue.release(now) {
            self.set_ready_if_open(quic, stream);
        }
        self.update_gates(quic);
        let size = quic.max_send_udp_payload_size().min(out.len());
        let out = &mut out[..size];
        if !quic.is_established() {
            // The handshake goes by itself; answers to early data behind it.
            let sent = self.plain(quic, out)?;
            self.window.sent_unasked(sent.map_or(0, |it| it.0));
            if sent.is_some() || !quic.is_in_early_data() {
                return Ok(sent);
            }
        }
        if self.timer_fired {
            let sent = self.plain(quic, out)?;
            self.window.sent_unasked(sent.map_or(0, |it| it.0));
            self.timer_fired = sent.is_some();
            if sent.is_some() {
                return Ok(sent);
            }
        }
        // A fixed pace alone decides; the transport's own would shift packets off the ticks.
        let release = quic.get_next_release_time().filter(|_| self.pace.is_none());
        let soon = now + TIMER_STEP;
        self.release = release.and_then(|it| it.time(now)).filter(|at| *at > soon);
        if self.release.is_some() {
            return Ok(None);
        }
        self.data_datagram(quic, now, out)
    }

    fn data_datagram(
        &mut self,
        quic: &mut quiche::Connection,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<Datagram>, quiche::Error> {
        loop {
            if self.window.is_clear() {
                self.held_until = None;
                if self.may_tick(now) {
                    self.stage(quic, out.len());
                    self.idle_tick();
                }
                if self.window.is_clear() {
                    let sent = self.plain(quic, out)?;
                    self.window.sent_unasked(sent.map_or(0, |it| it.0));
                    return Ok(sent);
                }
            }
            self.window.measure(quic);
            if !self.window.fits(quic, out.len()) && !self.held_too_long(quic, now) {
                self.order.window_full(|| window::path_has_queue(quic));
                return poke(quic, out);
            }
            self.top_up(quic, out.len());
            match self.send(quic, out) {
                Ok((sent, info)) => {
                    self.held_until = None;
                    self.window.sent(sent, quic);
                    return Ok(Some((sent, info.to)));
                }
                Err(quiche::Error::Done) if self.window.proves_empty() => self.window.flushed(),
                Err(quiche::Error::Done) => {
                    // Nothing of it went: it is held back from now on.
                    self.held_until = None;
                    self.held_too_long(quic, now);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether what is staged has been held back for as long as a probe timeout lasts (RFC 9002, 6.2.1).
    /// A window that is full because packets are in flight opens sooner. What seemed a full window was
    /// then the end of the connection's flow control credit, of which the transport does not tell, and
    /// which the client may not extend before it has the bytes that are held back.
    fn held_too_long(&mut self, quic: &quiche::Connection, now: Instant) -> bool {
        if self.held_until.is_some_and(|it| it <= now) {
            self.held_until = None;
            return true;
        }
        let patience = || quic.path_stats().find(|it| it.active).map(|it| it.rtt + 4 * it.rttvar);
        self.held_until = self.held_until.or_else(|| Some(now + patience()? + ACK_DELAY));
        false
    }

    fn may_tick(&mut self, now: Instant) -> bool {
        match &mut self.pace {
            Some((_, ticks)) => ticks.allow(now),
            None => true,
        }
    }

    /// Where nothing was ready at this tick, it passes unused.
    fn idle_tick(&mut self) {
        if let Some((_, ticks)) = &mut self.pace
            && self.window.is_clear()
        {
            ticks.idle();
        }
    }

    /// Whatever the transport has to say beside staged data.
    fn plain(
        &mut self,
        quic: &mut quiche::Connection,
        out: &mut [u8],
    ) -> Result<Option<Datagram>, quiche::Error> {
        match self.send(quic, out) {
            Ok((sent, info)) => Ok(Some((sent, info.to))),
            Err(quiche::Error::Done) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks the transport for a packet, as often as it takes to be sure that it has none.
    ///
    /// quiche keeps a stream in its queue whose lost bytes were acknowledged before they were sent again.
    /// When it comes to such a stream it makes no packet, says that it is done, and puts the stream
    /// behind the others, to which it comes only when asked again. Only streams with an open end can be
    /// in that state: our own three, and those of responses under way.
    fn send(
        &mut self,
        quic: &mut quiche::Connection,
        out: &mut [u8],
    ) -> Result<(usize, quiche::SendInfo), quiche::Error> {
        let repairs = quic.path_stats().any(|it| it.lost > 0 || it.total_pto_count > 0);
        let others = if repairs { OWN_STREAMS + self.queue.len() } else { 0 };
        for _ in 0..others {
            match quic.send(out) {
                Err(quiche::Error::Done) if self.repairs.level(quic) => {}
                Err(quiche::Error::Done) => {}
                other => return other,
            }
        }
        quic.send(out)
    }

    /// Opens and closes the gates of pushes.
    fn update_gates(&mut self, quic: &mut quiche::Connection) {
        if self.gated.is_empty() {
            return;
        }
        for stream in self.gated.update(&self.queue, window::in_flight_bytes(quic)) {
            self.set_ready_if_open(quic, stream);
        }
    }

    /// Ready if there is something to send that neither flow control nor a gate holds back.
    fn set_ready_if_open(&mut self, quic: &mut quiche::Connection, stream: StreamId) {
        if !self.queue.contains(stream) {
            return;
        }
        let held = self.held.contains(&stream) || self.gated.holds(stream);
        self.set_ready(quic, stream, !held && self.queue.pending(stream) > 0);
    }

    fn set_ready(&mut self, quic: &mut quiche::Connection, stream: StreamId, ready: bool) {
        qlog_events::ready(quic, stream, ready);
        self.order.set_ready(stream, ready);
    }

    fn close(&mut self, quic: &mut quiche::Connection, stream: StreamId) {
        qlog_events::closed(quic, stream);
        self.gated.remove(stream);
        self.order.close(stream);
        if let Some(history) = &mut self.history {
            history.retain(|told| told.stream() != Some(stream));
        }
    }
}

/// Asks for a packet in a buffer that holds its header but nothing more.
fn poke(quic: &mut quiche::Connection, out: &mut [u8]) -> Result<Option<Datagram>, quiche::Error> {
    let size = (1 + quic.destination_id().len() + 8).min(out.len());
    match quic.send(&mut out[..size]) {
        Ok((sent, info)) => Ok(Some((sent, info.to))),
        Err(quiche::Error::Done) => Ok(None),
        Err(error) => Err(error),
    }
}
