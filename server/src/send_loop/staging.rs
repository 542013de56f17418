//! From the scheduler to the transport: what is picked, committed, and offered right before its packet is made.

use super::SendLoop;
use super::window::{self, Staged, Window};
use crate::qlog_events;
use crate::send_queue::Left;
use schedulers::StreamId;

impl SendLoop {
    /// Fills the send buffer from the scheduler, and puts its first packet's worth before the transport.
    pub(super) fn stage(&mut self, quic: &mut quiche::Connection, datagram_bytes: usize) {
        while self.buffer.bytes() == 0
            || self.buffer.bytes() + self.packet_bytes(datagram_bytes) <= self.buffer_limit_bytes
        {
            if !self.commit_one(quic, datagram_bytes) {
                break;
            }
        }
        while let Some((stream, run)) = self.buffer.front(|it| self.held.contains(&it)) {
            let chunk = self.chunk_bytes(quic, stream, datagram_bytes);
            let Some(credit) = self.credit(quic, stream) else { continue };
            let bytes = chunk.min(run).min(credit);
            let short = bytes < chunk && (run > bytes || self.queue.pending(stream) > 0);
            let offset = self.queue.offset(stream);
            if self.offer(quic, stream, bytes) {
                self.window.stage(Staged::new(quic, stream, offset, bytes).short(short));
                if let Some((_, ticks)) = &mut self.pace {
                    ticks.used();
                }
            }
            return;
        }
    }

    /// Commits one packet's worth of the stream that the scheme picks; false: there is nothing to pick.
    fn commit_one(&mut self, quic: &mut quiche::Connection, datagram_bytes: usize) -> bool {
        while let Some(stream) = self.order.pick() {
            // With a send buffer the bytes wait there for credit; without one, only what has credit is
            // charged, so that bytes offered and bytes charged are the same.
            let credit = if self.buffer_limit_bytes > 0 {
                Some(u64::MAX)
            } else {
                self.credit(quic, stream)
            };
            let Some(credit) = credit else { continue };
            let chunk = self.chunk_bytes(quic, stream, datagram_bytes);
            let bytes = chunk.min(credit).min(self.queue.pending(stream));
            if bytes == 0 {
                return false;
            }
            qlog_events::picked(quic, stream);
            self.commit(quic, stream, bytes);
            return true;
        }
        false
    }

    fn commit(&mut self, quic: &mut quiche::Connection, stream: StreamId, bytes: u64) {
        let left = self.queue.commit(stream, bytes);
        self.buffer.push(stream, bytes);
        qlog_events::sent(quic, stream, bytes);
        self.order.sent(stream, bytes);
        match left {
            Left::Ready => {}
            Left::Waiting => self.set_ready(quic, stream, false),
            Left::Nothing => {
                self.repairs.finished(stream, &self.order);
                self.close(quic, stream);
            }
        }
    }

    /// Stream bytes that flow control lets go; none: the stream was held back or dropped. A full
    /// congestion window is not a lack of credit.
    fn credit(&mut self, quic: &mut quiche::Connection, stream: StreamId) -> Option<u64> {
        match quic.stream_capacity(stream.0) {
            Ok(0) if Window::is_full(quic) => Some(0),
            Ok(0) => {
                self.held.insert(stream);
                self.set_ready(quic, stream, false);
                None
            }
            Ok(credit) => Some(credit as u64),
            Err(_) => {
                self.drop_response(quic, stream);
                None
            }
        }
    }

    /// Offers committed bytes to the transport.
    fn offer(&mut self, quic: &mut quiche::Connection, stream: StreamId, bytes: u64) -> bool {
        self.scratch.resize(usize::try_from(bytes).unwrap_or(0), 0);
        let Ok(fin) = self.queue.read(stream, &mut self.scratch) else {
            // The file became shorter while it was being sent: the length that was announced is a lie.
            quic.stream_shutdown(stream.0, quiche::Shutdown::Write, http3::Code::Internal as u64)
                .ok();
            self.drop_response(quic, stream);
            return false;
        };
        if bytes == 0 {
            return false;
        }
        match quic.stream_send(stream.0, &self.scratch, fin) {
            Ok(taken) => {
                debug_assert_eq!(taken as u64, bytes, "the credit was asked for before");
                self.buffer.pop(stream, taken as u64);
                self.queue.offered(stream, taken as u64);
                if let Some(order) = &self.send_order {
                    order.sent(stream, taken as u64);
                }
                true
            }
            Err(_) => false,
        }
    }

    /// What was staged while the window was full was cut short by it: now it becomes a full packet.
    pub(super) fn top_up(&mut self, quic: &mut quiche::Connection, datagram_bytes: usize) {
        let Some((stream, staged)) = self.window.short() else { return };
        let wanted = self.chunk_bytes(quic, stream, datagram_bytes).saturating_sub(staged);
        let Some(credit) = self.credit(quic, stream) else { return };
        let wanted = wanted.min(credit);
        let run = match self.buffer.front(|_| false) {
            Some((front, run)) if front == stream => run,
            Some(_) => return,
            None => wanted.min(self.queue.pending(stream)),
        };
        let bytes = wanted.min(run);
        if self.buffer.bytes() == 0 && bytes > 0 {
            self.commit(quic, stream, bytes);
        }
        if self.offer(quic, stream, bytes) {
            self.window.topped_up(bytes);
        }
    }

    /// Stream bytes that fit beside all headers in a datagram of `datagram_bytes`.
    fn chunk_bytes(
        &self,
        quic: &quiche::Connection,
        stream: StreamId,
        datagram_bytes: usize,
    ) -> u64 {
        let overhead = window::overhead_max(quic, stream, self.queue.committed(stream))
            + self.window.reserve();
        self.packet_bytes(datagram_bytes.saturating_sub(overhead))
    }

    fn packet_bytes(&self, room_bytes: usize) -> u64 {
        self.pace.as_ref().map_or(room_bytes, |(pace, _)| pace.packet_bytes.min(room_bytes)) as u64
    }
}
