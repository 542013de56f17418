//! `bucket` and `bucket-html`: Patrick Meenan's byte of priority and concurrency.
//!
//! Source: the paper, section 3.3 and Figure 7 (the proposal as of January 2019). Higher buckets strictly go first.
//! Within a bucket, *exclusive sequential* responses (3) go first, one after another; then *shared sequential* (2: one
//! after another) and *shared* (1: round robin) each get half of the bandwidth. One after another means in order of
//! request. `bucket-html` puts HTML into bucket 63. Resources of no listed kind share the normal bucket, as in the
//! figure. The paper's implementation put them into bucket 0, where only prefetches belong: the variant `quicker`.
//! Orders: `ccfIfIIhihihiss` and `cchIhIhIffsisii`.

use super::PAPER;
use super::halves::{Arrivals, by_word_alone};
use super::quicker::{self, QUICKER};
use crate::{
    Args, Element, Halves, Kind, Language, Place, Rank, Resource, Scheme, SchemeError, StreamId,
    Tree,
};

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        signals: Language::Bucket,
        ..Scheme::new(
            "bucket",
            "Strict priority buckets with three kinds of concurrency (Meenan)",
            PAPER,
            |args, _| variant(args, normal_byte, |it| quicker_byte(it, normal_byte)),
        )
    }
}

pub(super) fn html_scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        signals: Language::Bucket,
        ..Scheme::new(
            "bucket-html",
            "Like bucket, with HTML in the critical bucket",
            PAPER,
            |args, _| {
                let html = byte_with_critical_html;
                variant(args, html, |it| quicker_byte(it, byte_with_critical_html))
            },
        )
    }
}

const CRITICAL: u8 = 63;
const NORMAL: u8 = 31;
const IDLE: u8 = 0;

const EXCLUSIVE_SEQUENTIAL: u8 = 3;
const SHARED_SEQUENTIAL: u8 = 2;

/// The byte of a resource (Figure 7); HTML goes into bucket `html`.
fn byte(resource: &Resource, html: u8) -> u8 {
    let needed = resource.in_head || resource.critical;
    let critical_if = |critical: bool| if critical { CRITICAL } else { NORMAL };
    let (priority, concurrency) = match resource.kind {
        _ if resource.prefetch => (IDLE, 2),
        _ if resource.asynchronous || resource.deferred => (NORMAL, 2),
        Kind::Js | Kind::Css => (critical_if(needed), 3),
        Kind::Xhr => (NORMAL, 3),
        Kind::Font => (critical_if(!resource.preload), 2),
        Kind::Html => (html, 2),
        Kind::Image => (critical_if(resource.above_fold), 1),
        Kind::Other if resource.critical => (CRITICAL, 3),
        Kind::Media | Kind::Other => (NORMAL, 1),
    };
    priority << 2 | concurrency
}

pub(super) fn normal_byte(resource: &Resource) -> u8 {
    byte(resource, NORMAL)
}

fn byte_with_critical_html(resource: &Resource) -> u8 {
    byte(resource, CRITICAL)
}

/// The byte in the paper's implementation (Quicker): resources of no listed kind are idle.
fn quicker_byte(resource: &Resource, byte: fn(&Resource) -> u8) -> u8 {
    let is_late = resource.asynchronous || resource.deferred;
    if resource.kind == Kind::Other && !is_late { IDLE << 2 | 2 } else { byte(resource) }
}

fn variant(
    args: &Args,
    figure: fn(&Resource) -> u8,
    quicker: fn(&Resource) -> u8,
) -> Result<Halves, SchemeError> {
    let byte = if quicker::is_asked(args)? { quicker } else { figure };
    Ok(by_word_alone(byte, put))
}

fn put(tree: &mut Tree, stream: StreamId, byte: u8, arrivals: &mut Arrivals) {
    let (priority, concurrency) = (byte >> 2, byte & 3);
    // Two levels for each bucket: exclusive responses, then the two groups that share.
    let level = 2 * u16::from(CRITICAL - priority);
    let place = match concurrency {
        EXCLUSIVE_SEQUENTIAL => Place::DEFAULT.rank(Rank::sequence_in(level, arrivals.next())),
        SHARED_SEQUENTIAL => {
            Place::below(shared_group(tree, level, 0)).rank(Rank::sequence(arrivals.next()))
        }
        _ => Place::below(shared_group(tree, level, 1)),
    };
    tree.put(Element::Stream(stream), place);
}

/// One of the two groups that share a bucket: 0 sequential, which wins ties, 1 round robin.
fn shared_group(tree: &mut Tree, level: u16, which: u16) -> Element {
    let group = Element::Placeholder(u64::from(level + which));
    if !tree.contains(group) {
        tree.put(group, Place::DEFAULT.rank(Rank::level(level + 1)));
    }
    group
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn other_things_share_the_normal_bucket_and_prefetches_are_idle() {
        let byte = |it: Resource| (normal_byte(&it) >> 2, normal_byte(&it) & 3);
        let other = Resource { kind: Kind::Other, ..Resource::default() };
        assert_eq!(byte(other), (31, 1));
        assert_eq!(byte(Resource { critical: true, ..other }), (63, 3));
        assert_eq!(byte(Resource { prefetch: true, kind: Kind::Html, ..other }), (0, 2));
    }

    #[test]
    fn exclusive_goes_first_then_sequence_and_sharing_alternate() {
        assert_eq!(sample::order("bucket"), "ccfIfIIhihihiss");
    }

    #[test]
    fn html_in_the_critical_bucket_shares_it_with_visible_images() {
        assert_eq!(sample::order("bucket-html"), "cchIhIhIffsisii");
    }
}
