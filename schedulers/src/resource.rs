//! What is known of a resource when its place in the order is chosen.

use crate::kind::Kind;

/// What a scheme may know of a resource. Absent knowledge is `false` or `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as in the scenario format")]
pub struct Resource {
    /// Its place in the page, and in the page's [`crate::PageGraph`].
    pub id: Option<usize>,
    /// Derived from the MIME type.
    pub kind: Kind,
    /// The main document of the page.
    pub main: bool,
    /// Referenced in the document's head.
    pub in_head: bool,
    /// On the critical path.
    pub critical: bool,
    /// In the above-the-fold set.
    pub above_fold: bool,
    /// Referenced after the first image of the document.
    pub after_first_image: bool,
    /// A script with `async`.
    pub asynchronous: bool,
    /// A script with `defer` (modules are deferred).
    pub deferred: bool,
    /// Asked for by a preload hint.
    pub preload: bool,
    /// What a browser signals for it in RFC 9218's terms: urgency 0 to 7, incremental.
    pub browser: Option<(u8, bool)>,
    /// Bytes of the body on the wire, when known.
    pub body_bytes: Option<u64>,
}

impl Resource {
    /// A script that nothing waits for: `async` or `defer`.
    pub(crate) fn is_late_script(&self) -> bool {
        self.kind == Kind::Js && (self.asynchronous || self.deferred)
    }
}
