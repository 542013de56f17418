//! Limits on the data that the client keeps and accepts.

/// The most cookies that are kept: as many as Chromium keeps for a site. Further ones are ignored.
pub(crate) const MAX_COOKIES: usize = 180;

/// The longest `Set-Cookie` field that is accepted.
pub(crate) const MAX_FIELD_BYTES: usize = 4096;

/// The most signals that wait for the server's SETTINGS. Beyond it, a page only loses the order of its
/// requests.
pub(crate) const EARLY_SIGNALS: usize = 1000;

/// The largest body that is kept.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;

/// The most bytes of a response's head over HTTP/2.
pub(crate) const HEAD_BYTES: u32 = 64 << 10;

/// The most unprocessed pieces of responses over TCP, so that a fast server does not fill the memory.
pub(crate) const ARRIVALS: usize = 64;
