//! What a client knows of a resource, as a request header field: the paper's wish (section 6) for metadata
//! instead of instructions, which the server turns into any scheme.
//!
//! `utmost-metadata: kind=css, critical, render-blocking, in-head` is a dictionary of structured fields
//! (RFC 8941). `critical`, `render-blocking`, `parser-blocking` and `incremental` are the paper's; the
//! other members are what its schemes look at besides. A boolean member that is absent says nothing, `?0`
//! says no. Unknown members and values of a wrong type are ignored, as in RFC 9218, 4.

use crate::priority::bare;
use schedulers::{Kind, Resource};
use sfv::{BareItem, Dictionary, Parser};
use std::collections::BTreeMap;

/// The request header field.
pub const METADATA_FIELD: &str = "utmost-metadata";

const URGENCY_MAX: u8 = 7;
/// What RFC 9218, 4.1 takes for an urgency that is not said.
const URGENCY_DEFAULT: u8 = 3;

/// One boolean member.
struct Fact {
    key: &'static str,
    read: fn(&Resource) -> bool,
    write: fn(&mut Resource, bool),
}

/// The boolean members that stand in a resource. What a later one says overrides what an earlier one
/// implied.
static FACTS: [Fact; 10] = [
    Fact { key: "main", read: |it| it.main, write: |it, yes| it.main = yes },
    Fact { key: "critical", read: |it| it.critical, write: |it, yes| it.critical = yes },
    // Schemes know what blocks rendering by its place in the head.
    Fact {
        key: "render-blocking",
        read: |it| it.in_head && (it.kind == Kind::Css || blocks_parser(it)),
        write: |it, yes| it.in_head = yes,
    },
    Fact { key: "in-head", read: |it| it.in_head, write: |it, yes| it.in_head = yes },
    Fact { key: "parser-blocking", read: blocks_parser, write: block_parser },
    Fact { key: "async", read: |it| it.asynchronous, write: |it, yes| it.asynchronous = yes },
    Fact { key: "defer", read: |it| it.deferred, write: |it, yes| it.deferred = yes },
    Fact { key: "above-fold", read: |it| it.above_fold, write: |it, yes| it.above_fold = yes },
    Fact {
        key: "after-first-image",
        read: |it| it.after_first_image,
        write: |it, yes| it.after_first_image = yes,
    },
    Fact { key: "preload", read: |it| it.preload, write: |it, yes| it.preload = yes },
];

/// What a `utmost-metadata` field says. Absent: no opinion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    facts: BTreeMap<&'static str, bool>,
    kind: Option<Kind>,
    urgency: Option<u8>,
    incremental: Option<bool>,
}

impl Metadata {
    /// `resource` with what this says of it; the rest stays.
    ///
    /// `render-blocking` is taken for `in-head`, which is how schemes know it; `parser-blocking` for neither
    /// `async` nor `defer`, and its opposite for `defer`. `incremental` without an urgency is of urgency 3
    /// unless the resource has one.
    pub fn refine(&self, resource: &Resource) -> Resource {
        let mut refined = *resource;
        refined.kind = self.kind.unwrap_or(resource.kind);
        for fact in &FACTS {
            if let Some(yes) = self.facts.get(fact.key) {
                (fact.write)(&mut refined, *yes);
            }
        }
        if self.urgency.is_some() || self.incremental.is_some() {
            let (urgency, incremental) = resource.browser.unwrap_or((URGENCY_DEFAULT, false));
            refined.browser =
                Some((self.urgency.unwrap_or(urgency), self.incremental.unwrap_or(incremental)));
        }
        refined
    }
}

/// What is known of a resource, as the value of a [`METADATA_FIELD`]: what is not true, and the length of the
/// body, are left out. Empty: nothing is known, send no field.
pub fn metadata_field(resource: &Resource) -> String {
    let kind = Some(resource.kind).filter(|&it| it != Kind::Other);
    let kind = kind.map(|it| format!("kind={}", it.name()));
    let facts = FACTS.iter().filter(|it| (it.read)(resource)).map(|it| it.key.to_owned());
    let urgency = resource.browser.map(|(urgency, _)| format!("u={}", urgency.min(URGENCY_MAX)));
    let incremental = resource.browser.is_some_and(|it| it.1).then(|| "incremental".to_owned());
    kind.into_iter().chain(facts).chain(incremental).chain(urgency).collect::<Vec<_>>().join(", ")
}

/// Reads the value of a [`METADATA_FIELD`]. It is total: a field that is no dictionary says nothing.
pub fn parse_metadata(field: &[u8]) -> Metadata {
    let Ok(dictionary) = Parser::parse_dictionary(field) else { return Metadata::default() };
    let said = |key: &str| boolean(&dictionary, key);
    let kind = dictionary.get("kind").and_then(bare).and_then(BareItem::as_token);
    let urgency = dictionary.get("u").and_then(bare).and_then(BareItem::as_int);
    Metadata {
        facts: FACTS.iter().filter_map(|it| Some((it.key, said(it.key)?))).collect(),
        kind: kind.and_then(Kind::of_name),
        urgency: urgency.and_then(|it| u8::try_from(it).ok()).filter(|it| *it <= URGENCY_MAX),
        incremental: said("incremental"),
    }
}

fn boolean(dictionary: &Dictionary, key: &str) -> Option<bool> {
    dictionary.get(key).and_then(bare).and_then(BareItem::as_bool)
}

fn blocks_parser(resource: &Resource) -> bool {
    resource.kind == Kind::Js && !resource.asynchronous && !resource.deferred
}

fn block_parser(resource: &mut Resource, yes: bool) {
    if yes {
        (resource.asynchronous, resource.deferred) = (false, false);
    } else if blocks_parser(resource) {
        resource.deferred = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(field: &str) -> Resource {
        parse_metadata(field.as_bytes()).refine(&Resource::default())
    }

    #[test]
    fn a_field_says_what_is_true_of_a_resource() {
        let stylesheet =
            Resource { kind: Kind::Css, in_head: true, critical: true, ..Resource::default() };
        assert_eq!(metadata_field(&stylesheet), "kind=css, critical, render-blocking, in-head");
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
    fn what_is_absent_stays_and_a_no_is_a_no() {
        let known = Resource {
            kind: Kind::Js,
            critical: true,
            asynchronous: true,
            in_head: true,
            browser: Some((1, false)),
            body_bytes: Some(9),
            ..Resource::default()
        };
        assert_eq!(parse_metadata(b"").refine(&known), known);
        assert_eq!(
            parse_metadata(b"critical=?0, parser-blocking, incremental").refine(&known),
            Resource { critical: false, asynchronous: false, browser: Some((1, true)), ..known }
        );
        let outside = parse_metadata(b"render-blocking=?0").refine(&known);
        assert!(!outside.in_head);
        let inside = parse_metadata(b"in-head, render-blocking=?0").refine(&known);
        assert!(inside.in_head, "the plain fact wins over what another implies");
    }

    #[test]
    fn what_is_unknown_or_of_a_wrong_type_is_ignored() {
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
        let browser = proptest::option::of((0u8..8, any::<bool>()));
        (kind, proptest::array::uniform8(any::<bool>()), browser).prop_map(
            |(kind, [a, b, c, d, e, f, g, h], browser)| Resource {
                id: None,
                kind,
                main: a,
                in_head: b,
                critical: c,
                above_fold: d,
                after_first_image: e,
                asynchronous: f,
                deferred: g,
                preload: h,
                browser,
                body_bytes: None,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_known_of_a_resource_comes_back(resource in any_resource()) {
            prop_assert_eq!(read(&metadata_field(&resource)), resource);
        }

        #[test]
        fn any_field_is_read(
            field in proptest::collection::vec(any::<u8>(), 0..64),
            resource in any_resource(),
        ) {
            let once = parse_metadata(&field).refine(&resource);
            prop_assert_eq!(parse_metadata(&field).refine(&once), once);
        }
    }
}
