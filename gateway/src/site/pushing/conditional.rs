//! Conditional pushes: what a pushed response would save if the client could state which version it has.

use hyper::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

/// The conditions that promised requests have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConditionalPushes {
    /// Pushes a 304 for a copy that is still valid and that the client would have to validate.
    pub not_modified: bool,
    /// Includes the entity tag of the pushed resource, so that a client that has it can refuse.
    pub if_match: bool,
}

impl ConditionalPushes {
    /// The condition of a promise that is pushed as a 304; `None` if it is not pushed.
    pub(crate) fn if_none_match(self, etag: Option<&str>) -> Option<(HeaderName, HeaderValue)> {
        let etag = etag.filter(|_| self.not_modified)?;
        Some((IF_NONE_MATCH, HeaderValue::from_str(etag).ok()?))
    }

    /// The condition of a promise for a resource that the client does not have, if any. A weak tag never matches.
    pub(crate) fn if_match(self, etag: Option<&str>) -> Option<(HeaderName, HeaderValue)> {
        let strong = etag.filter(|it| self.if_match && !it.starts_with("W/"))?;
        Some((IF_MATCH, HeaderValue::from_str(strong).ok()?))
    }
}
