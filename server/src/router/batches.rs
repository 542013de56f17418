//! Datagrams of one connection that are sent in one system call.

use super::Server;
use crate::send_loop::Batch;
use connection::{Path, Transmit};
use std::time::Instant;

/// Bytes in one [`Transmit`]: the largest UDP payload.
const BATCH_BYTES: usize = 65_507;

/// A datagram that was too long for the batch of its connection.
pub(super) struct DeferredDatagram {
    pub(super) serial: u64,
    path: Path,
    bytes: Vec<u8>,
}

impl Server {
    /// A batch of one connection: datagrams of equal size, the last perhaps shorter.
    pub(super) fn transmit_from(
        &mut self,
        serial: u64,
        now: Instant,
        out: &mut [u8],
    ) -> Option<Transmit> {
        let mut batch = self.take_aside(out);
        let Some(entry) = self.connections.get_mut(&serial) else { return batch };
        entry.queued = false;
        let options = &self.shared.options;
        let largest = options.udp_payload_bytes.max(quiche::MIN_CLIENT_INITIAL_LEN);
        let most = options.datagrams.batch();
        for made in usize::from(batch.is_some())..most {
            let start = batch.map_or(0, |it| it.bytes);
            let packets = (most - made).min((BATCH_BYTES - start) / largest) as u64;
            let sofar = Batch { segment_bytes: batch.map_or(0, |it| it.segment_bytes), packets };
            let room = entry.unproven.as_ref().map_or(largest, |it| it.room().min(largest));
            let end = start + room;
            let Some(space) = out.get_mut(start..end).filter(|_| end <= BATCH_BYTES) else { break };
            let datagram =
                if room > 0 { entry.responder.datagram(now, space, sofar) } else { None };
            if let (Some(unproven), Some((bytes, _))) = (&mut entry.unproven, datagram) {
                unproven.sent(bytes);
            }
            let Some((bytes, path)) = datagram else {
                self.settle(serial, now);
                return batch;
            };
            let Some(sofar) = &mut batch else {
                batch = Some(Transmit { path, bytes, segment_bytes: bytes });
                continue;
            };
            if path != sofar.path || bytes > sofar.segment_bytes {
                self.aside =
                    Some(DeferredDatagram { serial, path, bytes: space[..bytes].to_vec() });
                break;
            }
            sofar.bytes += bytes;
            if bytes < sofar.segment_bytes {
                break;
            }
        }
        self.enqueue(serial);
        batch
    }

    /// The datagram that did not fit into the last batch begins the next one.
    pub(super) fn take_aside(&mut self, out: &mut [u8]) -> Option<Transmit> {
        let DeferredDatagram { path, bytes, .. } = self.aside.take()?;
        out[..bytes.len()].copy_from_slice(&bytes);
        Some(Transmit::single(path, bytes.len()))
    }
}
