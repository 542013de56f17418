//! Room in the congestion window, and whether the bytes offered to the transport have gone.

use super::restart::Restart;
use crate::Datagrams;
use crate::outgoing::Outgoing;
use crate::streams::CONTROL_STREAM;
use schedulers::StreamId;

/// The bookkeeping of hold and poke.
#[derive(Debug, Default)]
pub(crate) struct Window {
    staged: Option<Staged>,
    /// Something other than the staged bytes may have gone in a datagram. They have certainly gone only when the
    /// transport says that it has nothing left.
    doubtful: bool,
    datagrams: Datagrams,
    /// A datagram has gone since the bytes were staged.
    sent_since_staged: bool,
    /// That datagram had room for all of them.
    likely_gone: bool,
    /// Room in the window when the last datagram came; `None`: not measured yet.
    opening_bytes: Option<u64>,
    /// Stream bytes offered since then.
    offered_bytes: u64,
    /// Datagram bytes sent since then.
    sent_bytes: u64,
    retransmitted_bytes: u64,
}

/// Bytes offered to the transport and not known to have gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staged {
    stream: StreamId,
    bytes: u64,
    /// Packet bytes beside the stream bytes, at least.
    overhead_bytes: u64,
    /// A window or credit cut it short of a full packet.
    short: bool,
}

impl Staged {
    /// `bytes` of `stream`, from `offset` on, have just been offered.
    pub(crate) fn new(quic: &connection::Quic, stream: StreamId, offset: u64, bytes: u64) -> Self {
        Self {
            stream,
            bytes,
            overhead_bytes: overhead_min(quic, stream, offset) as u64,
            short: false,
        }
    }

    /// The same, cut short of a full packet by a window or by flow control.
    pub(crate) fn short(self, short: bool) -> Self {
        Self { short, ..self }
    }
}

impl Window {
    /// Nothing is offered yet.
    pub(crate) fn new(datagrams: Datagrams) -> Self {
        Self { datagrams, ..Self::default() }
    }

    /// The stream offset that counts in the room of a packet of these bytes: that of its first byte.
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

    /// Whether bytes of `stream` are before the transport.
    pub(crate) fn has_staged(&self, stream: StreamId) -> bool {
        self.staged.is_some_and(|it| it.stream == stream)
    }

    /// Whether the last datagram had room for all staged bytes, so that an acknowledgement can have pushed only a few
    /// of them out. The next packet's bytes are then staged behind those few. If the loop asked the transport instead,
    /// with nothing else staged, bbr2 would conclude that the application has no more to send.
    pub(crate) fn has_likely_gone(&self) -> bool {
        self.staged.is_some() && self.likely_gone
    }

    /// A datagram came: acknowledgements may have opened the window, and the transport may have control
    /// frames to send that take room in the next packet.
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
        self.sent_since_staged = false;
        self.likely_gone = false;
    }

    /// Whether bytes are staged of which certainly none has gone.
    pub(crate) fn is_unsent(&self) -> bool {
        self.staged.is_some() && !self.sent_since_staged
    }

    /// The staged bytes, if they were cut short and none has gone yet.
    pub(crate) fn short(&self) -> Option<(StreamId, u64)> {
        self.staged.filter(|it| it.short && !self.sent_since_staged).map(|it| (it.stream, it.bytes))
    }

    /// More was offered on the staged stream.
    pub(crate) fn topped_up(&mut self, bytes: u64) {
        self.offered_bytes += bytes;
        if let Some(staged) = &mut self.staged {
            staged.bytes += bytes;
        }
    }

    /// Asks the transport for the room in the window, unless it is known. The transport shows it only in the capacity
    /// of a stream, which flow control limits too. So the larger capacity of two streams counts: the control stream and
    /// the staged stream. The transport computes the capacity when a datagram comes. It subtracts offered bytes, but
    /// not the bytes of headers.
    /// After a pause the window is smaller than the transport's.
    pub(crate) fn measure(&mut self, quic: &mut connection::Quic, restart: Option<&mut Restart>) {
        if self.opening_bytes.is_none() {
            let free_bytes = self.free_bytes(quic);
            let room_bytes = restart.map(|it| it.room(window_bytes(quic), free_bytes));
            self.opening_bytes = Some(room_bytes.unwrap_or(free_bytes));
        }
    }

    fn free_bytes(&self, quic: &mut connection::Quic) -> u64 {
        let control = quic.stream_capacity(CONTROL_STREAM.0).unwrap_or(0);
        let staged = self.staged.and_then(|it| quic.stream_capacity(it.stream.0).ok()).unwrap_or(0);
        control.max(staged) as u64 + self.offered_bytes
    }

    /// Whether there is room for a packet of at most `datagram_bytes`, without measuring it for the next packet.
    pub(crate) fn has_room(&self, quic: &mut connection::Quic, datagram_bytes: usize) -> bool {
        let opening_bytes = self.opening_bytes.unwrap_or_else(|| self.free_bytes(quic));
        opening_bytes >= self.sent_bytes + self.needed_bytes(quic, datagram_bytes)
    }

    /// The room is measured again before the next packet.
    pub(crate) fn forget_room(&mut self) {
        self.opening_bytes = None;
    }

    /// Whether the congestion window has no room for a byte.
    pub(crate) fn is_full(quic: &mut connection::Quic) -> bool {
        quic.stream_capacity(CONTROL_STREAM.0) == Ok(0)
    }

    /// Whether the staged bytes fit in the window as one packet of at most `datagram_bytes`. Where it is
    /// not known how much of them is left, or where the window cut them short, only a full packet will do.
    pub(crate) fn fits(&self, quic: &mut connection::Quic, datagram_bytes: usize) -> bool {
        self.opening_bytes.unwrap_or(0) >= self.sent_bytes + self.needed_bytes(quic, datagram_bytes)
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

    /// A datagram went; the transport has retransmitted so many stream bytes by now.
    pub(crate) fn sent(&mut self, sent: usize, retransmitted: u64) {
        let sent = sent as u64;
        self.sent_bytes += sent;
        let repairs = retransmitted != self.retransmitted_bytes;
        self.retransmitted_bytes = retransmitted;
        self.doubtful |= repairs;
        let Some(staged) = self.staged else { return };
        self.sent_since_staged = true;
        let had_room = sent >= staged.bytes + staged.overhead_bytes;
        self.likely_gone = had_room && !repairs && !staged.short;
        if had_room && !self.doubtful {
            self.staged = None;
        }
    }

    /// A datagram went for another reason than staged bytes: an acknowledgement or a probe, which may have taken the
    /// staged bytes along.
    pub(crate) fn sent_unasked(&mut self, sent: usize) {
        self.sent_bytes += sent as u64;
        self.doubtful |= sent > 0;
        self.sent_since_staged |= sent > 0;
    }

    /// Packet bytes to leave free: after a datagram came, the next packet may carry an acknowledgement.
    /// Without room for it the last bytes of the packet's data would travel alone in a packet of their own.
    pub(crate) fn reserve(&self) -> usize {
        // Even datagrams leave the room in the first of a batch only: the acknowledgement goes with it.
        let is_even = self.datagrams == Datagrams::Fitted;
        let may_carry = self.doubtful && !(is_even && self.sent_bytes > 0);
        if may_carry { ACK_FRAME_ROOM } else { 0 }
    }

    /// Whether all offered bytes have gone if the transport has nothing to send. That does not follow if nothing has
    /// gone since: then the window is smaller than it seemed.
    pub(crate) fn proves_empty(&self) -> bool {
        self.sent_since_staged
    }

    /// All offered bytes have gone.
    pub(crate) fn flushed(&mut self) {
        self.staged = None;
        self.doubtful = false;
    }
}

/// A packet number has 1 byte, or up to this many more.
const PACKET_NUMBER_ROOM: usize = 3;

/// An ACK frame with one range: type, largest, delay, count, first range.
const ACK_FRAME_ROOM: usize = 14;

/// Packet bytes beside the stream bytes, at most: first byte, connection ID, packet number of 4 bytes,
/// AEAD tag, and the STREAM frame's type, stream ID, offset and length (quiche writes it in 2 bytes).
pub(crate) fn overhead_max(quic: &connection::Quic, stream: StreamId, offset: u64) -> usize {
    overhead_min(quic, stream, offset) + PACKET_NUMBER_ROOM
}

/// Bytes in flight and before the transport; what flow control holds back counts, because the transport does not
/// tell it apart.
pub(crate) fn in_flight_bytes(quic: &mut connection::Quic) -> u64 {
    let free = quic.stream_capacity(CONTROL_STREAM.0).unwrap_or(0);
    window_bytes(quic).saturating_sub(free as u64)
}

fn window_bytes(quic: &connection::Quic) -> u64 {
    quic.path_stats().find(|it| it.active).map_or(0, |it| it.cwnd as u64)
}

/// Whether round trips have become longer than the shortest by an eighth, the sign of `HyStart++` (RFC 9406, 4.2)
/// that packets wait in a queue.
pub(crate) fn path_has_queue(quic: &connection::Quic) -> bool {
    let path = quic.path_stats().find(|it| it.active);
    path.is_some_and(|it| it.min_rtt.is_some_and(|least| it.rtt > least + least / 8))
}

/// As [`overhead_max`] with a packet number of 1 byte.
fn overhead_min(quic: &connection::Quic, stream: StreamId, offset: u64) -> usize {
    let frame = 1 + octets::varint_len(stream.0) + octets::varint_len(offset) + 2;
    1 + quic.destination_id().len() + 1 + 16 + frame
}
