//! Limits on pages and recordings, which may be untrusted.

/// Most resources of a page.
pub const RESOURCES_MAX: usize = 10_000;
/// The most body bytes of a page on the wire, over all resources, because a server holds all of
/// them in memory.
pub const BODY_BYTES_MAX: u64 = 2_000_000_000;
/// The most decoded bytes of one resource.
pub const DECODED_BYTES_MAX: u64 = 1 << 40;
/// The longest time that a page may state, in milliseconds: a day.
pub const TIME_MS_MAX: f64 = 86_400_000.0;
/// Longest URL path, in bytes.
pub const URL_BYTES_MAX: usize = 8192;
/// The most problems that are listed; a single one is enough to reject a page.
pub(crate) const PROBLEMS_MAX: usize = 100;
/// Largest page file, in bytes.
pub const FILE_BYTES_MAX: u64 = 16 << 20;
/// Longest query over pages, in bytes.
pub(crate) const QUERY_BYTES_MAX: usize = 4096;
/// The deepest nesting of parentheses and negations in a query.
pub(crate) const QUERY_DEPTH_MAX: usize = 32;
/// The most keys of an object that are examined.
pub(crate) const KEYS_MAX: usize = 64;
