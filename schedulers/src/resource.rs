//! The facts about a resource that are known when its place in the order is chosen.

use crate::kind::Kind;

/// The facts about a resource that a scheme may know. An unknown fact is `false` or `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as in the scenario format")]
pub struct Resource {
    /// Its index in the page, and in the page's [`crate::PageGraph`].
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
    /// Requested by a prefetch hint, for a page that may come next.
    pub prefetch: bool,
    /// A browser's signal for it in RFC 9218's terms: urgency 0 to 7, incremental.
    pub browser: Option<(u8, bool)>,
    /// Bytes of the body on the wire, if known.
    pub body_bytes: Option<u64>,
}

/// A fact that is true or false for a resource. Logs, the metadata field, browser profiles and lint's
/// checks of a log are all derived from [`FACTS`].
#[derive(Debug)]
pub struct Fact {
    /// The name in logs, pages, scenarios and profiles.
    pub name: &'static str,
    /// Its member in the metadata field ([`crate::METADATA_FIELD`]).
    pub member: &'static str,
    /// A user's question about it: `is it in the head`.
    pub question: &'static str,
    /// Whether a browser knows it for a resource of this kind when it sends the request.
    pub is_known_to_browser: fn(Kind) -> bool,
    flag: fn(&mut Resource) -> &mut bool,
}

/// All facts, in the order of the metadata field.
pub static FACTS: [Fact; 10] = [
    fact(["main", "main", "is it the main document"], |it| &mut it.main),
    fact(["critical", "critical", "is it on the critical path"], |it| &mut it.critical)
        .known_if(|kind| matches!(kind, Kind::Html | Kind::Css | Kind::Js)),
    fact(["in_head", "in-head", "is it in the head"], |it| &mut it.in_head),
    fact(["async", "async", "is it `async`"], |it| &mut it.asynchronous),
    fact(["defer", "defer", "is it `defer`"], |it| &mut it.deferred),
    fact(["above_fold", "above-fold", "is it above the fold"], |it| &mut it.above_fold)
        .known_if(|_| false),
    fact(["after_first_image", "after-first-image", "does it come after the first image"], |of| {
        &mut of.after_first_image
    }),
    fact(["preload", "preload", "is it preloaded"], |it| &mut it.preload),
    fact(["lazy", "lazy", "is it loaded lazily"], |it| &mut it.lazy),
    fact(["prefetch", "prefetch", "is it prefetched"], |it| &mut it.prefetch),
];

/// A fact that browsers know: its name, its member, its question, and its place in a resource.
const fn fact(texts: [&'static str; 3], flag: fn(&mut Resource) -> &mut bool) -> Fact {
    let [name, member, question] = texts;
    Fact { name, member, question, is_known_to_browser: |_| true, flag }
}

impl Fact {
    const fn known_if(self, is_known_to_browser: fn(Kind) -> bool) -> Self {
        Self { is_known_to_browser, ..self }
    }

    /// Whether it holds.
    pub fn get(&self, resource: &Resource) -> bool {
        *(self.flag)(&mut { *resource })
    }

    /// Sets whether it is true.
    pub fn set(&self, resource: &mut Resource, holds: bool) {
        *(self.flag)(resource) = holds;
    }
}

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
