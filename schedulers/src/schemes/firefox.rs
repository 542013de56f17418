//! `firefox`: the tree of weighted placeholders that Firefox created for HTTP/2.
//!
//! Source: the paper, Figure 9 and case study 1 (section 5). Where the paper and its implementation differ, this
//! follows the paper: a sixth placeholder URGENT with the main document, scripts with `async` or `defer` in
//! UNBLOCKED wherever they stand, fonts weigh 42 and unknown kinds 16.
//!
//! ```text
//! root -+- URGENT (240): the main document (255)
//!       +- LEADERS (201) -+- stylesheets, blocking scripts (32)
//!       |                 +- FOLLOWERS (1): fonts (42), other HTML (32), images (22)
//!       +- UNBLOCKED (101): async and deferred scripts, XHR (32)
//!       +- BACKGROUND (1) -+- the rest (16)
//!                          +- SPECULATIVE (1): preloads that are not scripts
//! ```
//! Order: `hchschfsiIfiIiI`.

use super::halves::depend;
use super::quicker::{self, QUICKER};
use super::{PAPER, nth_name};
use crate::scheme::obey;
use crate::{
    ClientHalf, Element, Halves, Kind, Language, Place, Resource, Scheme, ServerHalf, Signal,
    StreamId, Tree,
};
use std::sync::Arc;

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        placeholders: 6,
        signals: Language::Tree,
        group_name: Arc::new(group_name),
        ..Scheme::new("firefox", "A tree of six weighted groups (Firefox)", PAPER, |args, _| {
            Ok(if quicker::is_asked(args)? {
                Halves::new(Firefox::QUICKER, Firefox::QUICKER)
            } else {
                Halves::new(Firefox::PAPER, Firefox::PAPER)
            })
        })
    }
}

const LEADERS: Element = Element::Placeholder(0);
const FOLLOWERS: Element = Element::Placeholder(1);
const UNBLOCKED: Element = Element::Placeholder(2);
const BACKGROUND: Element = Element::Placeholder(3);
const SPECULATIVE: Element = Element::Placeholder(4);
const URGENT: Element = Element::Placeholder(5);

/// Placeholder, weight, parent.
const GROUPS: [(Element, u16, Element); 6] = [
    (LEADERS, 201, Element::Root),
    (FOLLOWERS, 1, LEADERS),
    (UNBLOCKED, 101, Element::Root),
    (BACKGROUND, 1, Element::Root),
    (SPECULATIVE, 1, BACKGROUND),
    (URGENT, 240, Element::Root),
];

pub(super) fn group_name(id: u64) -> Option<String> {
    const NAMES: [&str; 6] =
        ["LEADERS", "FOLLOWERS", "UNBLOCKED", "BACKGROUND", "SPECULATIVE", "URGENT"];
    nth_name(&NAMES, id)
}

/// Both halves: the groups, and the group and weight of a resource.
pub(super) struct Firefox {
    has_urgent: bool,
    placement: fn(&Resource) -> (Element, u16),
}

impl Firefox {
    pub(super) const PAPER: Self = Self { has_urgent: true, placement };

    /// The mapping of the paper's implementation (Quicker): no URGENT, so that the document is a follower; every
    /// script in the head leads, even a deferred one; and all weigh 32 except images, because a test for
    /// `javascript` was true for nearly everything.
    const QUICKER: Self = Self { has_urgent: false, placement: quicker_placement };

    fn groups(&self) -> impl Iterator<Item = (Element, u16, Element)> + use<> {
        let has_urgent = self.has_urgent;
        GROUPS.into_iter().filter(move |(group, ..)| has_urgent || *group != URGENT)
    }
}

fn placement(resource: &Resource) -> (Element, u16) {
    if resource.main && resource.kind == Kind::Html && !resource.preload {
        return (URGENT, 255);
    }
    (group(resource, resource.is_late_script()), weight(resource.kind))
}

/// The weight of a kind within its group (Figure 9).
pub(super) fn weight(kind: Kind) -> u16 {
    match kind {
        Kind::Html | Kind::Css | Kind::Js | Kind::Xhr => 32,
        Kind::Font => 42,
        Kind::Image => 22,
        Kind::Media | Kind::Other => 16,
    }
}

fn quicker_placement(resource: &Resource) -> (Element, u16) {
    let group = group(resource, resource.is_late_script() && !resource.in_head);
    (group, if resource.kind == Kind::Image { 22 } else { 32 })
}

/// The group of a resource. Scripts that are `late` do not lead.
fn group(resource: &Resource, late: bool) -> Element {
    match resource.kind {
        Kind::Js if late => UNBLOCKED,
        Kind::Js => LEADERS,
        _ if resource.preload => SPECULATIVE,
        Kind::Css => LEADERS,
        Kind::Html | Kind::Image | Kind::Font => FOLLOWERS,
        Kind::Xhr => UNBLOCKED,
        Kind::Media | Kind::Other => BACKGROUND,
    }
}

impl ClientHalf for Firefox {
    fn setup(&mut self) -> Vec<Signal> {
        self.groups().map(|(group, weight, parent)| depend(group, parent, weight)).collect()
    }
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        let (parent, weight) = (self.placement)(resource);
        vec![depend(Element::Stream(stream), parent, weight)]
    }
}

impl ServerHalf for Firefox {
    fn setup(&mut self, tree: &mut Tree) {
        for (group, weight, parent) in self.groups() {
            tree.put(group, Place::below(parent).weight(weight));
        }
    }
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let (group, weight) = (self.placement)(resource);
        tree.put(Element::Stream(stream), Place::below(group).weight(weight));
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        obey(tree, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn in_the_papers_implementation_deferred_scripts_of_the_head_lead() {
        assert_eq!(sample::order("firefox@quicker"), "cscshfiIhfiIhiI");
    }

    #[test]
    fn groups_share_by_weight_and_followers_wait_for_leaders() {
        assert_eq!(sample::order("firefox"), "hchschfsiIfiIiI");
    }
}
