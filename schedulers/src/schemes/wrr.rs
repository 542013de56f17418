//! `wrr`: weighted round robin; shares depend on the kind of the resource (Safari before HTTP/3).
//!
//! Source: the paper, Table 1; weights of its implementation. Order: `hchchsfsiIfiIiI`.

use super::PAPER;
use super::halves::Says;
use crate::scheme::obey;
use crate::{
    Element, Halves, Kind, Language, Place, Resource, Scheme, ServerHalf, Signal, StreamId, Tree,
};

pub(super) fn scheme() -> Scheme {
    Scheme {
        signals: Language::Tree,
        ..Scheme::new(
            "wrr",
            "Weighted round robin: shares by kind, HTML and CSS the largest (Safari)",
            PAPER,
            |_, _| Ok(Halves::new(Says(weight), Weighted)),
        )
    }
}

struct Weighted;

fn weight(resource: &Resource) -> u16 {
    match resource.kind {
        Kind::Html | Kind::Css => 256,
        Kind::Js => 24,
        Kind::Font => 16,
        Kind::Image | Kind::Media | Kind::Xhr | Kind::Other => 8,
    }
}

impl ServerHalf for Weighted {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        tree.put(Element::Stream(stream), Place::DEFAULT.weight(weight(resource)));
    }
    fn signalled(&mut self, tree: &mut Tree, signal: Signal) {
        obey(tree, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn html_and_css_leave_the_others_little() {
        assert_eq!(sample::order("wrr"), "hchchsfsiIfiIiI");
    }
}
