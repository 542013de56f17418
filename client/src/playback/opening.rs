//! Holds a document's bytes back until the browser reads them: it first commits to the navigation and gives the page a process.

use super::micros;
use corpus::Page;

/// The document between its first byte and the moment when the browser reads it.
#[derive(Debug, Clone, Default)]
pub(super) struct Opening {
    commit_us: u64,
    /// When the browser reads the bytes it has. `None`: nothing has arrived.
    reads_us: Option<u64>,
    held: Option<Held>,
}

/// Bytes that have arrived and are still unread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Bytes of the body, counted from its start.
    pub(super) body_bytes: Option<u64>,
    pub(super) is_complete: bool,
}

impl Opening {
    pub(super) fn new(page: &Page) -> Self {
        Self { commit_us: micros(page.commit_ms), ..Self::default() }
    }

    /// Bytes of the document have arrived (`Some`), or the whole document (`None`). Returns `false` if the browser reads them
    /// at once.
    pub(super) fn holds(&mut self, body_bytes: Option<u64>, now_us: u64) -> bool {
        let reads_us = *self.reads_us.get_or_insert(now_us.saturating_add(self.commit_us));
        if now_us >= reads_us && self.held.is_none() {
            return false;
        }
        let held = self.held.get_or_insert_default();
        match body_bytes {
            Some(_) => held.body_bytes = held.body_bytes.max(body_bytes),
            None => held.is_complete = true,
        }
        true
    }

    /// When the browser reads the arrived bytes.
    pub(super) fn reads_us(&self) -> Option<u64> {
        self.reads_us.filter(|_| self.held.is_some())
    }

    /// The bytes that the browser reads now, if the time has come.
    pub(super) fn read(&mut self, now_us: u64) -> Option<Held> {
        let is_time = self.reads_us().is_some_and(|it| it <= now_us);
        self.held.take_if(|_| is_time)
    }
}
