//! From the scheduler to the transport: picks bytes, commits them, and offers them right before their packet is made.

use super::window::{self, Staged, Window};
use super::{Ending, SendLoop};
use crate::Options;
use crate::outgoing::{Left, Outgoing};
use crate::pace::Ticks;
use crate::read_ahead::Pages;
use crate::send_buffer::SendBuffer;
use connection::Quic;
use connection::experiments::SendOrder;
use http3::Code;
use schedulers::{Call, StreamId};
use std::io;
use std::time::Instant;

/// The stages of committed bytes on their way to the transport.
pub(super) struct Passage {
    buffer: SendBuffer,
    limit_bytes: u64,
    pages: Pages,
    /// Records what the transport takes, for studies.
    send_order: Option<SendOrder>,
}

impl Passage {
    pub(super) fn new(options: &Options, pages: Pages) -> Self {
        Self {
            buffer: SendBuffer::default(),
            limit_bytes: options.send_buffer_bytes,
            pages,
            send_order: options.experiments.send_order.clone(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffer.bytes() == 0
    }

    /// Has room for this many bytes from now on.
    pub(super) fn widen(&mut self, bytes: u64) {
        self.limit_bytes = self.limit_bytes.max(bytes);
    }

    /// Forgets a stream on which nothing more is sent.
    pub(super) fn remove(&mut self, stream: StreamId) {
        self.buffer.remove(stream);
    }
}

impl SendLoop {
    /// Offers the next packet's bytes to the transport, unless others are staged. A tick of a fixed pace at which nothing is
    /// ready passes unused.
    pub(super) fn stage_next(&mut self, now: Instant) {
        let is_tick = |ticks: &mut Ticks| ticks.allow(now);
        if !self.window.takes_next() || !self.pacing.ticks_mut().is_none_or(is_tick) {
            return;
        }
        self.stage(now);
        if let Some(ticks) = self.pacing.ticks_mut().filter(|_| self.window.is_clear()) {
            ticks.idle();
        }
    }

    /// Fills the send buffer from the scheduler, and offers its first packets' worth to the transport.
    fn stage(&mut self, now: Instant) {
        let packets = self.run_packets();
        let packet_bytes = self.pacing.packet_bytes(self.measures.datagram_bytes);
        while self.passage.is_empty()
            || self.passage.buffer.bytes() + packet_bytes <= self.passage.limit_bytes
        {
            if !self.commit_run(packets, now) {
                break;
            }
        }
        while let Some((stream, run)) = self.passage.buffer.front(|it| self.streams.is_held(it)) {
            let chunk = self.chunk_bytes(stream, packets);
            let Some(credit) = self.credit(stream) else { continue };
            let bytes = (packets * chunk).min(run).min(credit);
            let short = bytes < chunk && (run > bytes || self.streams.pending(stream) > 0);
            let offset = self.streams.outgoing(stream).map_or(0, Outgoing::offset);
            if self.offer(stream, bytes) {
                let mut staged = Staged::new(&self.connection.quic, stream, offset, bytes);
                (staged.short, staged.is_run) = (short, bytes > chunk);
                self.window.stage(staged);
                if let Some(ticks) = self.pacing.ticks_mut() {
                    ticks.used();
                }
            }
            return;
        }
    }

    /// Packets that can be staged at once because all of them can be sent at once: they fit in the batch and in the window, and
    /// the transport paces at a rate at which it holds none of them back. Its rate shows in what it sends in 50 us, and is at
    /// least two packets. During the handshake, nothing is known about the path. Only datagrams that fit the path are joined in
    /// batches, and only there may a packet be a few bytes longer in a run than alone.
    fn run_packets(&self) -> u64 {
        let quic = &self.connection.quic;
        let Some(packet_bytes) = self.run_datagram_bytes() else { return 1 };
        let goes_at_once = self.measures.is_fitted()
            && quic.is_established()
            && !self.streams.has_gates()
            && self.pacing.is_transports()
            && quic.send_quantum() > 2 * quic.max_send_udp_payload_size();
        if !goes_at_once {
            return 1;
        }
        (self.window.room_bytes() / packet_bytes.max(1) as u64).min(self.batch.packets).max(1)
    }

    /// Commits up to `packets` packets' worth of the stream that the scheme picks, as long as it picks no other. Returns `false`
    /// if there is nothing to pick.
    fn commit_run(&mut self, packets: u64, now: Instant) -> bool {
        while let Some(stream) = self.order.picker().pick() {
            // With a send buffer, the bytes wait there for credit; without one, only bytes with credit are charged, so that
            // offered and charged bytes are the same.
            let is_buffered = self.passage.limit_bytes > 0;
            let credit = if is_buffered { Some(u64::MAX) } else { self.credit(stream) };
            let Some(mut credit) = credit else { continue };
            let chunk = self.chunk_bytes(stream, packets);
            // A response that is alone is picked again and again: once is enough.
            let (turns, turn_bytes) =
                if self.streams.responses() == 1 { (1, packets * chunk) } else { (packets, chunk) };
            for turn in 0..turns {
                let bytes = turn_bytes.min(credit).min(self.streams.pending(stream));
                let is_picked = turn == 0 || self.order.picker().pick() == Some(stream);
                if bytes == 0 || !is_picked {
                    return turn > 0;
                }
                self.call(Call::Pick(Some(stream)));
                self.commit(stream, bytes, now);
                credit -= bytes;
            }
            return true;
        }
        false
    }

    fn commit(&mut self, stream: StreamId, bytes: u64, now: Instant) {
        let Some(outgoing) = self.streams.outgoing_mut(stream) else { return };
        let left = outgoing.commit(bytes);
        let committed = outgoing.committed();
        #[cfg(feature = "experiments")]
        let left = self.streams.left(stream, left);
        self.passage.buffer.push(stream, bytes);
        self.call(Call::Sent(stream, bytes));
        match left {
            Left::Ready => self.stand_back(stream, bytes, committed, now),
            Left::Waiting => self.call(Call::SetReady(stream, false)),
            Left::Nothing => self.close(stream),
        }
    }

    /// Stream bytes that flow control allows; `None`: the stream was held back or dropped. A full congestion window is not a
    /// lack of credit.
    fn credit(&mut self, stream: StreamId) -> Option<u64> {
        match self.connection.quic.stream_capacity(stream.0) {
            Ok(0) if Window::is_full(&mut self.connection.quic) => Some(0),
            Ok(0) => {
                self.streams.hold(stream);
                self.call(Call::SetReady(stream, false));
                None
            }
            Ok(credit) => Some(credit as u64),
            Err(_) => {
                self.finish(stream, Ending::Shut);
                None
            }
        }
    }

    /// Offers committed bytes to the transport. Returns `false` if it did not accept them.
    fn offer(&mut self, stream: StreamId, bytes: u64) -> bool {
        let mut left = bytes;
        while left > 0 {
            let Some(outgoing) = self.streams.outgoing_mut(stream) else { return false };
            let Ok(sent) =
                send(&mut self.connection.quic, stream, outgoing, left, &self.passage.pages)
            else {
                // The file was shortened while it was being sent: the announced length is wrong.
                self.finish(stream, Ending::Reset(Code::Internal));
                return false;
            };
            let Ok(taken) = sent else { return false };
            let taken = taken as u64;
            debug_assert!((1..=left).contains(&taken), "the credit was asked for before");
            left -= taken;
            self.passage.buffer.pop(stream, taken);
            if self.streams.offered(stream, taken) {
                self.finish(stream, Ending::Sent);
            }
            if let Some(order) = &self.passage.send_order {
                order.sent(stream, taken);
            }
        }
        bytes > 0
    }

    /// Fills up the staged bytes that a full window had cut short, so that they become a full packet.
    pub(super) fn top_up(&mut self, now: Instant) {
        let Some((stream, staged)) = self.window.short() else { return };
        let wanted = self.chunk_bytes(stream, 1).saturating_sub(staged);
        let Some(credit) = self.credit(stream) else { return };
        let wanted = wanted.min(credit);
        let run = match self.passage.buffer.front(|_| false) {
            Some((front, run)) if front == stream => run,
            Some(_) => return,
            None => wanted.min(self.streams.pending(stream)),
        };
        let bytes = wanted.min(run);
        if self.passage.is_empty() && bytes > 0 {
            self.commit(stream, bytes, now);
        }
        if self.offer(stream, bytes) {
            self.window.topped_up(bytes);
        }
    }

    /// Bytes of each datagram of a run. They are as long as the first one of the batch, so that the system can split them.
    /// `None`: there is none, or it is shorter by more than an acknowledgement takes, so that they would not fit its batch.
    pub(super) fn run_datagram_bytes(&self) -> Option<usize> {
        let (full, first) = (self.measures.datagram_bytes, self.batch.segment_bytes);
        (first + window::ACK_FRAME_ROOM >= full).then_some(full.min(first))
    }

    /// Stream bytes that fit besides all headers in each of the next datagrams.
    fn chunk_bytes(&self, stream: StreamId, packets: u64) -> u64 {
        let quic = &self.connection.quic;
        let offset = self.streams.outgoing(stream).map_or(0, |it| self.window.offset(it));
        let run = self.run_datagram_bytes().filter(|_| packets > 1);
        let room = if let Some(datagram_bytes) = run {
            // The last one has the longest offset.
            let last_offset = offset + (packets - 1) * datagram_bytes as u64;
            datagram_bytes.saturating_sub(window::overhead_in_run(quic, stream, last_offset))
        } else {
            let overhead = window::overhead_max(quic, stream, offset) + self.window.reserve();
            self.measures.datagram_bytes.saturating_sub(overhead)
        };
        self.pacing.packet_bytes(room)
    }
}

/// Passes the next bytes of a response to the transport: those that are contiguous in memory, so perhaps not all of them.
/// Returns how many it accepted. The outer error is the file's.
fn send(
    quic: &mut Quic,
    stream: StreamId,
    outgoing: &mut Outgoing,
    bytes: u64,
    pages: &Pages,
) -> io::Result<quiche::Result<usize>> {
    let count = usize::try_from(bytes).unwrap_or(usize::MAX);
    if let Some(shared) = outgoing.share(count, pages)? {
        let fin = outgoing.is_end(shared.len() as u64);
        return Ok(quic.stream_send_zc(stream.0, shared, fin).map(|(taken, _)| taken));
    }
    let count = outgoing.copied(count);
    let fin = outgoing.is_end(count as u64);
    pages.lend(count, |copy| {
        outgoing.read(copy)?;
        Ok(quic.stream_send(stream.0, copy, fin))
    })
}
