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
    /// An image with `loading=lazy`, which the load event does not wait for.
    pub lazy: bool,
    /// What a browser signals for it in RFC 9218's terms: urgency 0 to 7, incremental.
    pub browser: Option<(u8, bool)>,
    /// Bytes of the body on the wire, when known.
    pub body_bytes: Option<u64>,
}

/// A fact that holds for a resource or does not. Logs, the metadata field, browser profiles and lint's
/// checks of a log all follow from [`FACTS`].
#[derive(Debug)]
pub struct Fact {
    /// The name in logs, pages, scenarios and profiles.
    pub name: &'static str,
    /// The member of the metadata field ([`crate::METADATA_FIELD`]).
    pub member: &'static str,
    /// What a user asks about it: `is it in the head`.
    pub question: &'static str,
    /// Whether a browser knows it of a resource of this kind when it sends the request.
    pub is_known_to_browser: fn(Kind) -> bool,
    /// Whether it holds.
    pub get: fn(&Resource) -> bool,
    /// Says whether it holds.
    pub set: fn(&mut Resource, bool),
}

/// All facts, in the order of the metadata field.
pub static FACTS: [Fact; 9] = [
    Fact {
        name: "main",
        member: "main",
        question: "is it the main document",
        is_known_to_browser: |_| true,
        get: |it| it.main,
        set: |it, holds| it.main = holds,
    },
    Fact {
        name: "critical",
        member: "critical",
        question: "is it on the critical path",
        is_known_to_browser: |kind| matches!(kind, Kind::Html | Kind::Css | Kind::Js),
        get: |it| it.critical,
        set: |it, holds| it.critical = holds,
    },
    Fact {
        name: "in_head",
        member: "in-head",
        question: "is it in the head",
        is_known_to_browser: |_| true,
        get: |it| it.in_head,
        set: |it, holds| it.in_head = holds,
    },
    Fact {
        name: "async",
        member: "async",
        question: "is it `async`",
        is_known_to_browser: |_| true,
        get: |it| it.asynchronous,
        set: |it, holds| it.asynchronous = holds,
    },
    Fact {
        name: "defer",
        member: "defer",
        question: "is it `defer`",
        is_known_to_browser: |_| true,
        get: |it| it.deferred,
        set: |it, holds| it.deferred = holds,
    },
    Fact {
        name: "above_fold",
        member: "above-fold",
        question: "is it above the fold",
        is_known_to_browser: |_| false,
        get: |it| it.above_fold,
        set: |it, holds| it.above_fold = holds,
    },
    Fact {
        name: "after_first_image",
        member: "after-first-image",
        question: "does it come after the first image",
        is_known_to_browser: |_| true,
        get: |it| it.after_first_image,
        set: |it, holds| it.after_first_image = holds,
    },
    Fact {
        name: "preload",
        member: "preload",
        question: "is it preloaded",
        is_known_to_browser: |_| true,
        get: |it| it.preload,
        set: |it, holds| it.preload = holds,
    },
    Fact {
        name: "lazy",
        member: "lazy",
        question: "is it loaded lazily",
        is_known_to_browser: |_| true,
        get: |it| it.lazy,
        set: |it, holds| it.lazy = holds,
    },
];

impl Resource {
    /// A script that nothing waits for: `async` or `defer`.
    pub(crate) fn is_late_script(&self) -> bool {
        self.kind == Kind::Js && (self.asynchronous || self.deferred)
    }

    /// A script that the parser waits for.
    pub(crate) fn blocks_parser(&self) -> bool {
        self.kind == Kind::Js && !self.is_late_script()
    }
}
