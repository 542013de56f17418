//! How much of its connection a log shows.

use super::Trace;

impl Trace {
    /// Whether it was captured on the way.
    pub(crate) fn is_capture(&self) -> bool {
        self.header.format.as_deref() == Some("capture")
    }
}
