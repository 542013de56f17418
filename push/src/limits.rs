//! Limits on data from clients, upstreams, files and logs.

/// Bytes of a `Cache-Digest` field with a Golomb-coded set. A longer one is rejected.
pub(crate) const DIGEST_FIELD_BYTES_MAX: usize = 8192;
/// Digests that are read from one field.
pub(crate) const DIGESTS_MAX: usize = 4;
/// The most resources stored for a load, so that an attacker's requests do not fill the memory.
pub(crate) const LEARNED_RESOURCES_MAX: usize = 500;
pub(crate) const PATH_BYTES_MAX: usize = 2048;
/// Bytes of a URL in a page's files. A longer one is ignored.
pub(crate) const URL_BYTES_MAX: usize = 8192;
pub(crate) const SCANNED_FILES_MAX: usize = 1000;
/// References that are read from one file.
pub(crate) const REFERENCES_MAX: usize = 5000;
pub(crate) const SCANNED_TEXT_BYTES_MAX: usize = 8 << 20;
/// Depth of nested blocks in a stylesheet. Deeper ones are skipped.
pub(crate) const CSS_DEPTH_MAX: usize = 32;
/// Open loads of an access log. Beyond it, the oldest count as complete.
pub(crate) const OPEN_LOADS_MAX: usize = 1000;
/// Bytes of the paths of these loads.
pub(crate) const LOG_TEXT_BYTES_MAX: usize = 16 << 20;
pub(crate) const ADDRESS_BYTES_MAX: usize = 2048;
/// Bytes of a logged body. A larger one is not part of a page.
pub(crate) const LOGGED_BODY_BYTES_MAX: u64 = 1_000_000_000;
/// The most hosts stored because requests came from their pages.
pub(crate) const HOSTS_MAX: usize = 16;
/// Links that are read from one response.
pub(crate) const LINKS_MAX: usize = 100;
/// Bytes of a `Link` field. A longer one is ignored.
pub(crate) const LINK_FIELD_BYTES_MAX: usize = 16 * 1024;
