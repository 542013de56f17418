//! Bounds on pages and recordings, which may come from anywhere.

/// Most resources of a page.
pub const RESOURCES_MAX: usize = 10_000;
/// Most body bytes of a page on the wire, over all resources: a server holds all of them in memory.
pub const BODY_BYTES_MAX: u64 = 2_000_000_000;
/// Most decoded bytes of one resource.
pub const DECODED_BYTES_MAX: u64 = 1 << 40;
/// Longest time that a page may state, in milliseconds: a day.
pub const TIME_MS_MAX: f64 = 86_400_000.0;
/// Longest URL path, in bytes.
pub const URL_BYTES_MAX: usize = 8192;
/// Most problems that are listed; one is enough to refuse a page.
pub(crate) const PROBLEMS_MAX: usize = 100;
/// Largest page file, in bytes.
pub const FILE_BYTES_MAX: u64 = 16 << 20;
/// Longest query over pages, in bytes.
pub(crate) const QUERY_BYTES_MAX: usize = 4096;
/// Most parentheses and negations of a query that contain one another.
pub(crate) const QUERY_DEPTH_MAX: usize = 32;
/// Most keys of an object that are looked at.
pub(crate) const KEYS_MAX: usize = 64;
