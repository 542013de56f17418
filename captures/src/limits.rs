//! Limits on what is read from a capture, which may be untrusted.

/// The largest file, in bytes, compressed or not.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
/// Most requests of a capture.
pub const REQUESTS_MAX: usize = 200_000;
/// The most frames of a call stack, and the most stacks across asynchronous calls.
pub(crate) const STACK_MAX: usize = 32;
/// Largest number that counts bytes.
pub(crate) const NUMBER_MAX: f64 = 1e12;
/// The most lines of a log that may be something other than JSON.
pub(crate) const UNREAD_MAX: usize = 100;
