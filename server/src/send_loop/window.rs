//! Room in the congestion window, and whether the bytes offered to the transport were sent.

use super::next::Room;
use super::restart::Restart;
use crate::outgoing::Outgoing;
use crate::streams::CONTROL_STREAM;
use crate::{CongestionControl, Datagrams, Options};
use schedulers::StreamId;
use std::time::{Duration, Instant};

/// How long a client may wait before it acknowledges (RFC 9000, 18.2).
const ACK_DELAY: Duration = Duration::from_millis(25);

/// The bookkeeping of hold and poke. It has many methods, because each event of the send loop changes several counts, which only
/// agree if they change together.
#[derive(Debug, Default)]
pub(crate) struct Window {
    staged: Option<Staged>,
    /// Something other than the staged bytes may have been sent in a datagram. They were certainly sent only once the transport
    /// reports that it has nothing left.
    doubtful: bool,
    datagrams: Datagrams,
    /// Under bbr2, bytes are staged after those that were likely sent.
    stages_ahead: bool,
    /// Room in the window when the last datagram arrived; `None`: not measured yet.
    opening_bytes: Option<u64>,
    /// Stream bytes offered since then.
    offered_bytes: u64,
    /// Datagram bytes sent since then.
    sent_bytes: u64,
    retransmitted_bytes: u64,
    /// Limits the window after a pause.
    restart: Option<Restart>,
    /// The time until which staged bytes may be held back.
    held_until: Option<Instant>,
}

/// Bytes offered to the transport and not known to have been sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staged {
    stream: StreamId,
    bytes: u64,
    /// Packet bytes besides the stream bytes, at least.
    overhead_bytes: u64,
    /// A window or credit cut it short of a full packet.
    pub(super) short: bool,
    /// They are more than one packet holds.
    pub(super) is_run: bool,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// No datagram has gone since.
    Unsent,
    /// A datagram was sent, perhaps with some of them.
    PerhapsGone,
    /// A datagram was sent that had room for all of them.
    LikelyGone,
}

impl Staged {
    /// `bytes` of `stream`, from `offset` on, have just been offered.
    pub(crate) fn new(quic: &connection::Quic, stream: StreamId, offset: u64, bytes: u64) -> Self {
        Self {
            stream,
            bytes,
            overhead_bytes: overhead_min(quic, stream, offset) as u64,
            short: false,
            is_run: false,
            fate: Fate::Unsent,
        }
    }
}

impl Window {
    /// Nothing is offered yet.
    pub(crate) fn new(options: &Options) -> Self {
        let initial_bytes = options.initial_window_packets * options.udp_payload_bytes;
        let restart = options.restarts().then(|| Restart::new(initial_bytes as u64));
        let stages_ahead = options.congestion_control == CongestionControl::Bbr2;
        let stages_ahead = stages_ahead && options.pace.is_none();
        Self { datagrams: options.datagrams, stages_ahead, restart, ..Self::default() }
    }

    /// The stream offset that determines the room in a packet with these bytes: that of its first byte.
    pub(crate) fn offset(&self, outgoing: &Outgoing) -> u64 {
        match self.datagrams {
            Datagrams::Fixed => outgoing.committed(),
            Datagrams::Fitted => outgoing.offset(),
        }
    }

    /// Whether nothing is before the transport.
    pub(crate) fn is_clear(&self) -> bool {
        self.staged.is_none()
    }

    /// Whether the next packet's bytes can be staged.
    pub(crate) fn takes_next(&self) -> bool {
        self.is_clear() || (self.stages_ahead && self.has_likely_gone())
    }

    /// Whether bytes of `stream` are offered to the transport.
    pub(crate) fn has_staged(&self, stream: StreamId) -> bool {
        self.staged.is_some_and(|it| it.stream == stream)
    }

    /// Whether the last datagram had room for all staged bytes, so that an acknowledgement can have pushed only a few
    /// of them out. The next packet's bytes are then staged behind those few. If the loop asked the transport instead,
    /// with nothing else staged, bbr2 would conclude that the application has no more to send.
    pub(crate) fn has_likely_gone(&self) -> bool {
        self.staged.is_some_and(|it| it.fate == Fate::LikelyGone)
    }

    /// Whether more than one packet's bytes are offered to the transport.
    pub(crate) fn is_run(&self) -> bool {
        self.staged.is_some_and(|it| it.is_run)
    }

    /// A datagram arrived: acknowledgements may have opened the window, and the transport may have control frames to send that
    /// take room in the next packet.
    pub(crate) fn received(&mut self) {
        self.opening_bytes = None;
        self.offered_bytes = 0;
        self.sent_bytes = 0;
        self.doubtful = true;
    }

    /// The transport has something else to send, too.
    pub(crate) fn doubt(&mut self) {
        self.doubtful = true;
    }

    pub(crate) fn stage(&mut self, staged: Staged) {
        self.offered_bytes += staged.bytes;
        self.staged = Some(staged);
        self.held_until = None;
    }

    /// The staged bytes, if they were cut short and none was sent yet.
    pub(crate) fn short(&self) -> Option<(StreamId, u64)> {
        let short = self.staged.filter(|it| it.short && it.fate == Fate::Unsent);
        short.map(|it| (it.stream, it.bytes))
    }

    /// More was offered on the staged stream.
    pub(crate) fn topped_up(&mut self, bytes: u64) {
        self.offered_bytes += bytes;
        if let Some(staged) = &mut self.staged {
            staged.bytes += bytes;
        }
    }

    /// The room for the staged bytes as a packet of at most `datagram_bytes`. If it is unknown how many of them are left, or if
    /// the window cut them short, there must be room for a full packet.
    pub(crate) fn room(
        &mut self,
        quic: &mut connection::Quic,
        datagram_bytes: usize,
        now: Instant,
    ) -> Room {
        self.end_pause(quic, now);
        self.measure(quic);
        let opening_bytes = self.opening_bytes.unwrap_or(0);
        if opening_bytes >= self.sent_bytes + self.needed_bytes(quic, datagram_bytes) {
            Room::Fits
        } else if !self.restarts() && congestion_lets(quic, datagram_bytes) {
            Room::LacksCredit
        } else if self.is_held_too_long(quic, now) {
            Room::HeldTooLong
        } else {
            Room::Full
        }
    }

    /// Limits the window if the staged bytes end a pause.
    fn end_pause(&mut self, quic: &connection::Quic, now: Instant) {
        if let Some(restart) = &mut self.restart
            && let Some(probe_timeout) = probe_timeout(quic)
            && restart.begins(now, probe_timeout)
        {
            // It is measured again.
            self.opening_bytes = None;
        }
    }

    /// Whether a pause limits the window further than the transport does.
    pub(crate) fn restarts(&self) -> bool {
        self.restart.as_ref().is_some_and(Restart::is_in_force)
    }

    /// The transport's window, or the limit after a pause.
    pub(crate) fn limited(&self, window_bytes: usize) -> usize {
        self.restart.as_ref().map_or(window_bytes, |it| it.window(window_bytes))
    }

    /// Whether the staged bytes have been held back long enough; if not, they are from now on.
    fn is_held_too_long(&mut self, quic: &connection::Quic, now: Instant) -> bool {
        let is_too_long = self.held_until.is_some_and(|it| it <= now);
        if is_too_long {
            self.held_until = None;
        } else if self.held_until.is_none() {
            self.hold(quic, now);
        }
        is_too_long
    }

    /// The transport did not accept the staged bytes: they are held back from now on.
    pub(crate) fn hold(&mut self, quic: &connection::Quic, now: Instant) {
        self.held_until = probe_timeout(quic).map(|it| now + it);
    }

    /// When held-back bytes may be sent, if that is later than now. Overdue bytes wait until pacing releases them.
    pub(crate) fn held_until(&self, now: Instant) -> Option<Instant> {
        self.held_until.filter(|at| *at > now)
    }

    /// Asks the transport for the room in the window, unless it is known. The transport shows it only in the capacity
    /// of a stream, which flow control limits too. So the larger capacity of two streams counts: the control stream and
    /// the staged stream. The transport computes the capacity when a datagram arrives. It subtracts offered bytes, but
    /// not the bytes of headers. After a pause the window is smaller than the transport's.
    fn measure(&mut self, quic: &mut connection::Quic) {
        if self.opening_bytes.is_none() {
            let free_bytes = self.free_bytes(quic);
            let limited = self.restart.as_mut().map(|it| it.room(window_bytes(quic), free_bytes));
            self.opening_bytes = Some(limited.unwrap_or(free_bytes));
        }
    }

    fn free_bytes(&self, quic: &mut connection::Quic) -> u64 {
        let control = quic.stream_capacity(CONTROL_STREAM.0).unwrap_or(0);
        let staged = self.staged.and_then(|it| quic.stream_capacity(it.stream.0).ok()).unwrap_or(0);
        control.max(staged) as u64 + self.offered_bytes
    }

    /// Room that is known to be left in the window.
    pub(crate) fn room_bytes(&self) -> u64 {
        self.opening_bytes.unwrap_or(0).saturating_sub(self.sent_bytes)
    }

    /// Whether there is room for a packet of at most `datagram_bytes`, without measuring it for the next packet.
    pub(crate) fn has_room(&self, quic: &mut connection::Quic, datagram_bytes: usize) -> bool {
        let opening_bytes = self.opening_bytes.unwrap_or_else(|| self.free_bytes(quic));
        opening_bytes >= self.sent_bytes + self.needed_bytes(quic, datagram_bytes)
    }

    /// Whether the congestion window has no room for a byte.
    pub(crate) fn is_full(quic: &mut connection::Quic) -> bool {
        quic.stream_capacity(CONTROL_STREAM.0) == Ok(0)
    }

    fn needed_bytes(&self, quic: &mut connection::Quic, datagram_bytes: usize) -> u64 {
        let full = datagram_bytes as u64;
        match self.staged {
            Some(it)
                if self.doubtful || (it.short && quic.stream_capacity(it.stream.0) != Ok(0)) =>
            {
                full
            }
            Some(it) => full.min(it.bytes + it.overhead_bytes + PACKET_NUMBER_ROOM as u64),
            None => full,
        }
    }

    /// A datagram was sent with the staged bytes; the transport has retransmitted `retransmitted` stream bytes so far.
    pub(crate) fn sent(&mut self, sent: usize, retransmitted: u64) {
        let sent = sent as u64;
        self.held_until = None;
        self.sent_bytes += sent;
        let repairs = retransmitted != self.retransmitted_bytes;
        self.retransmitted_bytes = retransmitted;
        self.doubtful |= repairs;
        let Some(staged) = &mut self.staged else { return };
        let had_room = sent >= staged.bytes + staged.overhead_bytes;
        if staged.is_run && !had_room && !repairs {
            staged.bytes -= sent.saturating_sub(staged.overhead_bytes);
        }
        let is_likely = had_room && !repairs && !staged.short;
        staged.fate = if is_likely { Fate::LikelyGone } else { Fate::PerhapsGone };
        if had_room && !self.doubtful {
            self.staged = None;
        }
    }

    /// A datagram was sent for another reason than staged bytes: an acknowledgement or a probe, which may have included the
    /// staged bytes.
    pub(crate) fn sent_unasked(&mut self, sent: usize) {
        self.sent_bytes += sent as u64;
        self.doubtful |= sent > 0;
        if let Some(staged) = self.staged.as_mut().filter(|it| sent > 0 && it.fate == Fate::Unsent)
        {
            staged.fate = Fate::PerhapsGone;
        }
    }

    /// The transport probed the path instead of sending the staged bytes.
    pub(crate) fn probed(&mut self, sent: usize) {
        self.held_until = None;
        self.sent_unasked(sent);
    }

    /// The client acknowledges the datagram that was sent: another pause begins after it.
    pub(crate) fn sent_data(&mut self, sent: usize, now: Instant) {
        if let Some(restart) = &mut self.restart {
            restart.sent(sent, now);
        }
    }

    /// Packet bytes to leave free: after a datagram arrived, the next packet may carry an acknowledgement. Without room for it,
    /// the last bytes of the packet's data would travel in a packet of their own.
    pub(crate) fn reserve(&self) -> usize {
        // Even datagrams leave the room in the first of a batch only, which carries the acknowledgement.
        let is_even = self.datagrams == Datagrams::Fitted;
        let may_carry = self.doubtful && !(is_even && self.sent_bytes > 0);
        if may_carry { ACK_FRAME_ROOM } else { 0 }
    }

    /// Whether all offered bytes were sent if the transport has nothing to send. That does not follow if nothing was sent since:
    /// then the window is smaller than it seemed.
    pub(crate) fn proves_empty(&self) -> bool {
        self.staged.is_none_or(|it| it.fate != Fate::Unsent)
    }

    /// All offered bytes have gone.
    pub(crate) fn flushed(&mut self) {
        self.staged = None;
        self.doubtful = false;
        self.held_until = None;
    }
}

/// A packet number has 1 byte, or up to this many more.
const PACKET_NUMBER_ROOM: usize = 3;

/// An ACK frame with one range: type, largest, delay, count, first range.
pub(super) const ACK_FRAME_ROOM: usize = 14;

/// Packet bytes besides the stream bytes, at most: first byte, connection ID, packet number of 4 bytes, AEAD tag, and the STREAM
/// frame's type, stream ID, offset and length (quiche writes it in 2 bytes).
pub(crate) fn overhead_max(quic: &connection::Quic, stream: StreamId, offset: u64) -> usize {
    overhead_min(quic, stream, offset) + PACKET_NUMBER_ROOM
}

/// The same in a run on a fast path, where a packet number has at most 2 bytes.
pub(crate) fn overhead_in_run(quic: &connection::Quic, stream: StreamId, offset: u64) -> usize {
    overhead_min(quic, stream, offset) + 1
}

/// Bytes in flight and offered to the transport; bytes that flow control holds back count, because the transport does not
/// distinguish them.
pub(crate) fn in_flight_bytes(quic: &mut connection::Quic) -> u64 {
    let free = quic.stream_capacity(CONTROL_STREAM.0).unwrap_or(0);
    window_bytes(quic).saturating_sub(free as u64)
}

/// Whether the congestion window has room for a datagram. The transport does not distinguish its room from the connection's flow
/// control, so bytes in flight are computed from its counts: what was sent and neither acknowledged nor lost. A packet that is
/// never acknowledged, because it only acknowledges, counts forever, so the answer can wrongly be no.
pub(crate) fn congestion_lets(quic: &connection::Quic, datagram_bytes: usize) -> bool {
    let counts = quic.stats();
    let ended_bytes = counts.acked_bytes.saturating_add(counts.lost_bytes);
    let in_flight_bytes = counts.sent_bytes.saturating_sub(ended_bytes);
    in_flight_bytes + datagram_bytes as u64 <= window_bytes(quic)
}

/// RFC 9002, 6.2.1.
fn probe_timeout(quic: &connection::Quic) -> Option<Duration> {
    let path = quic.path_stats().find(|it| it.active)?;
    Some(path.rtt + 4 * path.rttvar + ACK_DELAY)
}

fn window_bytes(quic: &connection::Quic) -> u64 {
    quic.path_stats().find(|it| it.active).map_or(0, |it| it.cwnd as u64)
}

/// Whether round trips have become longer than the shortest by an eighth, which `HyStart++` (RFC 9406, 4.2) takes as the sign
/// that packets wait in a queue.
#[cfg(feature = "experiments")]
pub(crate) fn path_has_queue(quic: &connection::Quic) -> bool {
    let path = quic.path_stats().find(|it| it.active);
    path.is_some_and(|it| it.min_rtt.is_some_and(|least| it.rtt > least + least / 8))
}

/// Like [`overhead_max`], with a packet number of 1 byte.
fn overhead_min(quic: &connection::Quic, stream: StreamId, offset: u64) -> usize {
    let frame = 1 + octets::varint_len(stream.0) + octets::varint_len(offset) + 2;
    1 + quic.destination_id().len() + 1 + 16 + frame
}
