//! A qlog in memory.

use parking_lot::Mutex;
use std::io::{self, Write};
use std::sync::Arc;

/// A log with two owners: the transport, which writes it, and a reader at the end. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryLog(Arc<Mutex<Vec<u8>>>);

impl MemoryLog {
    /// Returns everything written so far and empties the log.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Write for MemoryLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
