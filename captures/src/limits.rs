//! Bounds on what is read from a capture, which may come from anywhere.

/// Largest file, in bytes, packed or not.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
/// Most requests of a capture.
pub const REQUESTS_MAX: usize = 200_000;
/// Most frames of a call stack, and most stacks behind asynchronous calls.
pub(crate) const STACK_MAX: usize = 32;
/// Largest number that counts bytes.
pub(crate) const NUMBER_MAX: f64 = 1e12;
/// Most lines of a log that may be something else than JSON.
pub(crate) const UNREAD_MAX: usize = 100;
