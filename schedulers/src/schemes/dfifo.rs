//! `dfifo`: dynamic first in, first out. Sends whole responses, but a higher class interrupts (Chrome before HTTP/3).
//!
//! Source: the paper, Table 1; the classes are its implementation's. There a finished response could
//! pull later ones of its class up into a higher class (variant `quicker`); here the class always decides. Order:
//! `hhhccffiiiIIIss`.

use super::PAPER;
use super::halves::in_line;
use super::quicker::{self, QUICKER};
use crate::{Kind, Language, Place, Rank, Resource, Scheme, StreamId};

pub(super) fn scheme() -> Scheme {
    Scheme {
        parameters: QUICKER,
        placeholders: 5,
        signals: Language::Tree,
        ..Scheme::new(
            "dfifo",
            "Dynamic first in, first out: whole responses, a higher class interrupts (Chrome)",
            PAPER,
            |args, _| Ok(if quicker::is_asked(args)? { quicker::dfifo() } else { in_line(place) }),
        )
    }
}

fn place(arrival: u64, _stream: StreamId, resource: &Resource) -> Place {
    let class = class(resource);
    Place::DEFAULT.rank(Rank::sequence_in(class, arrival)).weight(WEIGHTS[usize::from(class)])
}

/// Chrome's weights of the five classes. They tell a server in which nothing shares how Chrome classified a response.
const WEIGHTS: [u16; 5] = [256, 220, 183, 147, 110];

/// Chrome's five classes, 0 the highest.
pub(super) fn class(resource: &Resource) -> u16 {
    match resource.kind {
        Kind::Html | Kind::Css | Kind::Font => 0,
        Kind::Js if resource.is_late_script() => 3,
        Kind::Js if resource.after_first_image => 2,
        Kind::Js | Kind::Xhr => 1,
        Kind::Image => 3,
        Kind::Media | Kind::Other => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{Kind, Resource, Scheduler, StreamId, find_scheme};

    #[test]
    fn the_higher_class_goes_first_each_response_whole() {
        assert_eq!(sample::order("dfifo"), "hhhccffiiiIIIss");
    }

    #[test]
    fn a_late_stylesheet_goes_before_waiting_images() {
        let mut scheduler = Scheduler::new(&find_scheme("dfifo").unwrap());
        let mut order = String::new();
        for (stream, kind) in [(0, Kind::Image), (4, Kind::Image), (8, Kind::Css)] {
            scheduler.open(StreamId(stream), &Resource { kind, ..Resource::default() });
            scheduler.set_ready(StreamId(stream), true);
            let picked = scheduler.pick().unwrap();
            order.push_str(&picked.0.to_string());
            scheduler.sent(picked, 1400);
        }
        assert_eq!(order, "008");
    }
}
