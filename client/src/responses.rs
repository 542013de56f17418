//! A response while it arrives.

use crate::http_cache::{NOT_MODIFIED, Stored};
use crate::outcome::Problem;
use corpus::PageResource;
use http3::Header;
use std::time::Instant;

#[derive(Debug, Default)]
pub(crate) struct Receiving {
    /// `None`: a push whose promise has not arrived yet, or that another page needs.
    pub(crate) resource: Option<usize>,
    pub(crate) body_bytes: u64,
    pub(crate) status: u16,
    /// Whether and how its head allows storing it.
    pub(crate) stored: Option<Stored>,
    /// Kept until then.
    pub(crate) body: Vec<u8>,
    /// It ended before.
    pub(crate) ended: bool,
}

impl Receiving {
    pub(crate) fn of(resource: Option<usize>) -> Self {
        Self { resource, ..Self::default() }
    }

    /// Its head came, or an interim response's.
    pub(crate) fn on_head(&mut self, status: u16, headers: &[Header], now: Instant) {
        self.status = status;
        self.stored = Stored::of(headers, now).filter(|_| matches!(status, 200 | NOT_MODIFIED));
    }

    /// How it differs from the resource of the page.
    pub(crate) fn problem(&self, known: &PageResource) -> Option<Problem> {
        let url = known.url.clone();
        if self.status != known.status {
            return Some(Problem::Status { url, status: self.status, expected: known.status });
        }
        let (bytes, expected) = (self.body_bytes, known.bytes);
        (bytes != expected).then_some(Problem::Size { url, bytes, expected })
    }
}
