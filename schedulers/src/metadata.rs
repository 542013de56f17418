//! The `utmost-metadata` request field: a client's facts about a resource, with which the server can apply
//! any scheme (the paper's wish in section 6: metadata instead of instructions).
//!
//! `utmost-metadata: kind=css, render-blocking, critical, in-head` is a dictionary of structured fields
//! (RFC 8941). `critical`, `render-blocking`, `parser-blocking` and `incremental` are the paper's members.
//! The others are further facts that its schemes use. An absent member means unknown; `?0` means no.
//! Unknown members and wrong values are ignored, as in RFC 9218, section 4.

use crate::dictionary::Dictionary;
use crate::kind::Kind;
use crate::priority::{Priority, urgency};
use crate::resource::{FACTS, Resource};

/// The name of the request field.
pub const METADATA_FIELD: &str = "utmost-metadata";

/// A member that follows from facts, and implies facts.
struct Implied {
    member: &'static str,
    get: fn(&Resource) -> bool,
    set: fn(&mut Resource, bool),
}

/// They are applied before the facts, which override them.
static IMPLIED: [Implied; 2] = [
    Implied {
        member: "render-blocking",
        // Schemes recognize it by its place in the head.
        get: |it| it.in_head && (it.kind == Kind::Css || it.blocks_parser()),
        set: |it, holds| it.in_head = holds,
    },
    Implied { member: "parser-blocking", get: Resource::blocks_parser, set: set_parser_blocking },
];

fn set_parser_blocking(resource: &mut Resource, holds: bool) {
    if holds {
        (resource.asynchronous, resource.deferred) = (false, false);
    } else if resource.blocks_parser() {
        resource.deferred = true;
    }
}

/// The contents of a metadata field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Metadata {
    kind: Option<Kind>,
    implied: [Option<bool>; IMPLIED.len()],
    facts: [Option<bool>; FACTS.len()],
    priority: Priority,
}

impl Metadata {
    /// Parses a field value. A field that is not a dictionary is ignored.
    pub fn parse(field: &[u8]) -> Self {
        let Some(members) = Dictionary::parse(field) else { return Self::default() };
        Self {
            kind: members.token("kind").and_then(Kind::named),
            implied: IMPLIED.each_ref().map(|it| members.boolean(it.member)),
            facts: FACTS.each_ref().map(|it| members.boolean(it.member)),
            priority: Priority {
                urgency: urgency(&members),
                incremental: members.boolean("incremental"),
            },
        }
    }

    /// `resource` with these statements applied.
    ///
    /// Adds the members to a resource's facts. `render-blocking` sets `in-head`, which schemes use.
    /// `parser-blocking` clears `async` and `defer`; its opposite sets `defer`. `incremental` without an
    /// urgency means urgency 3, unless the resource has another.
    pub fn refine(&self, resource: &Resource) -> Resource {
        let mut refined = *resource;
        refined.kind = self.kind.unwrap_or(resource.kind);
        for (member, said) in IMPLIED.iter().zip(self.implied) {
            if let Some(holds) = said {
                (member.set)(&mut refined, holds);
            }
        }
        for (fact, said) in FACTS.iter().zip(self.facts) {
            if let Some(holds) = said {
                fact.set(&mut refined, holds);
            }
        }
        if self.priority != Priority::default() {
            let known =
                resource.browser.map(|(urgency, incremental)| Priority::new(urgency, incremental));
            let priority = known.unwrap_or_default().overridden_by(self.priority);
            refined.browser =
                Some((priority.urgency_or_default(), priority.incremental_or_default()));
        }
        refined
    }
}

/// The value of a [`METADATA_FIELD`] for `resource`, without false facts and without the length of the
/// body. If it is empty, nothing is known: send no field.
pub fn metadata_field(resource: &Resource) -> String {
    let mut members = Vec::new();
    if resource.kind != Kind::Other {
        members.push(format!("kind={}", resource.kind.name()));
    }
    let implied = IMPLIED.iter().filter(|it| (it.get)(resource)).map(|it| it.member);
    let facts = FACTS.iter().filter(|it| it.get(resource)).map(|it| it.member);
    members.extend(implied.chain(facts).map(str::to_owned));
    if let Some((urgency, incremental)) = resource.browser {
        members.extend(incremental.then(|| "incremental".to_owned()));
        members.push(Priority { urgency: Some(urgency), incremental: None }.to_string());
    }
    members.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(field: &str) -> Resource {
        Metadata::parse(field.as_bytes()).refine(&Resource::default())
    }

    #[test]
    fn a_field_says_what_is_true_of_a_resource() {
        let stylesheet =
            Resource { kind: Kind::Css, in_head: true, critical: true, ..Resource::default() };
        assert_eq!(metadata_field(&stylesheet), "kind=css, render-blocking, critical, in-head");
        let script = Resource { kind: Kind::Js, ..Resource::default() };
        assert_eq!(metadata_field(&script), "kind=js, parser-blocking");
        let image = Resource {
            kind: Kind::Image,
            above_fold: true,
            preload: true,
            browser: Some((2, true)),
            ..Resource::default()
        };
        assert_eq!(metadata_field(&image), "kind=image, above-fold, preload, incremental, u=2");
        assert_eq!(metadata_field(&Resource::default()), "");
    }

    #[test]
    fn the_four_words_of_the_paper_are_enough_to_say_something() {
        let resource = read("critical, render-blocking, parser-blocking=?0, incremental, kind=js");
        assert_eq!(
            resource,
            Resource {
                kind: Kind::Js,
                critical: true,
                in_head: true,
                deferred: true,
                browser: Some((3, true)),
                ..Resource::default()
            }
        );
    }

    #[test]
    fn an_absent_member_changes_nothing_and_a_no_is_a_no() {
        let known = Resource {
            kind: Kind::Js,
            critical: true,
            asynchronous: true,
            in_head: true,
            browser: Some((1, false)),
            body_bytes: Some(9),
            ..Resource::default()
        };
        assert_eq!(Metadata::parse(b"").refine(&known), known);
        assert_eq!(
            Metadata::parse(b"critical=?0, parser-blocking, incremental").refine(&known),
            Resource { critical: false, asynchronous: false, browser: Some((1, true)), ..known }
        );
        let outside = Metadata::parse(b"render-blocking=?0").refine(&known);
        assert!(!outside.in_head);
        let inside = Metadata::parse(b"in-head, render-blocking=?0").refine(&known);
        assert!(inside.in_head, "the fact itself outweighs the member that implies it");
    }

    #[test]
    fn unknown_members_and_wrong_values_are_ignored() {
        for field in [
            "size=big, critical=1, main=\"yes\", kind=\"css\", kind=carrot, u=8, u=-1, in-head=(a b)",
            "Critical",
            "critical critical",
            "critical,",
            "=",
            "é",
        ] {
            assert_eq!(read(field), Resource::default(), "{field}");
        }
    }

    fn any_resource() -> impl Strategy<Value = Resource> {
        let kind = proptest::sample::select(&Kind::ALL);
        let facts = proptest::collection::vec(any::<bool>(), FACTS.len());
        let browser = proptest::option::of((0u8..8, any::<bool>()));
        (kind, facts, browser).prop_map(|(kind, facts, browser)| {
            let mut resource = Resource { kind, browser, ..Resource::default() };
            for (fact, holds) in FACTS.iter().zip(facts) {
                fact.set(&mut resource, holds);
            }
            resource
        })
    }

    proptest! {
        #[test]
        fn every_known_fact_comes_back(resource in any_resource()) {
            prop_assert_eq!(read(&metadata_field(&resource)), resource);
        }

        #[test]
        fn any_field_is_read(
            field in proptest::collection::vec(any::<u8>(), 0..64),
            resource in any_resource(),
        ) {
            let once = Metadata::parse(&field).refine(&resource);
            prop_assert_eq!(Metadata::parse(&field).refine(&once), once);
        }
    }
}
