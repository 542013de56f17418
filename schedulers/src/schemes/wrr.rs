//! `wrr`: weighted round robin, shares by the kind of the resource (Safari before HTTP/3).
//!
//! Source: the paper, Table 1; weights of its implementation. Order: `hchchsfsiIfiIiI`.

use super::PAPER;
use crate::scheme::obey;
use crate::{
    ClientHalf, Element, Halves, Kind, Place, Resource, Scheme, ServerHalf, Signal, StreamId, Tree,
};

pub(super) fn scheme() -> Scheme {
    Scheme::new(
        "wrr",
        "Weighted round robin: shares by kind, HTML and CSS the largest (Safari)",
        PAPER,
        |_, _| Ok(Halves::new(Weighted, Weighted)),
    )
}

struct Weighted;

fn weight(kind: Kind) -> u16 {
    match kind {
        Kind::Html | Kind::Css => 256,
        Kind::Js => 24,
        Kind::Font => 16,
        Kind::Image | Kind::Media | Kind::Xhr | Kind::Other => 8,
    }
}

impl ClientHalf for Weighted {
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal> {
        vec![Signal::Depend {
            element: Element::Stream(stream),
            parent: Element::Root,
            weight: weight(resource.kind),
            exclusive: false,
        }]
    }
}

impl ServerHalf for Weighted {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        tree.put(Element::Stream(stream), Place::DEFAULT.weight(weight(resource.kind)));
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
