//! Downloads go after everything else (RFC 9218, 10: a server may depart from a client's signals).
//!
//! A browser requests a file of gigabytes as urgently as a page. Until it ends, the next page that the user opens would
//! wait.

use super::SendLoop;
use crate::Downloads;
use schedulers::{Call, StreamId, URGENCY_MAX};
use std::time::Instant;

impl SendLoop {
    /// Moves a response that has become a download behind all others. A later signal from the client counts again. A
    /// WebSocket never becomes one. `bytes` more make `committed` of the response.
    pub(super) fn stand_back(
        &mut self,
        stream: StreamId,
        bytes: u64,
        committed: u64,
        now: Instant,
    ) {
        let Some(downloads) = self.downloads else { return };
        let is_first = committed == bytes;
        if !is_first && committed < downloads.bytes {
            return;
        }
        let Some(record) = self.streams.get_mut(stream) else { return };
        let begun = *record.begun.get_or_insert(now);
        let age = now.saturating_duration_since(begun);
        if record.is_download || record.is_tunnel || !downloads.has(committed, age) {
            return;
        }
        record.is_download = true;
        self.streams.set_urgency(stream, URGENCY_MAX);
        self.call(Call::Signal(Downloads::place(stream)));
    }
}
