//! The schemes, one file each: its description and source, its registry entry, its client's signals, its
//! server's places, and its order on a sample page.
//!
//! In the orders each letter is a packet: `h` the HTML (3 packets), `i` an image (3), `c` a stylesheet of
//! the head (2), `I` a hero image (3), `s` a deferred script (2), `f` a font (2), requested in this order
//! at once.

mod bucket;
mod bucket7;
mod cpl;
mod declared;
mod dependencies;
mod dfifo;
mod fifo;
mod firefox;
mod halves;
mod kway;
mod lifo;
mod mixed;
mod parallel_plus;
mod quicker;
mod random;
mod rfc9218;
mod rr;
mod serial_plus;
mod spdy;
mod spdyrr;
mod srpt;
mod strict;
mod tree;
mod weighted_incremental;
mod wrr;
mod zeroweight;

pub use declared::{ClientSignal, Condition, Declared, Group, Order, Rule};
pub use rfc9218::{priority as usual_priority, usual_urgency};

use crate::Scheme;

/// How many of [`all`] are from the paper; they come first.
pub(crate) const PAPER_SCHEMES: usize = 11;

/// Marx et al., the source of most schemes.
const PAPER: &str = "Marx et al., Of the Utmost Importance: Resource Prioritization in HTTP/3 over QUIC, WEBIST 2019";

/// Wijnants et al., the source of p+ and s+.
const WIJNANTS: &str =
    "Wijnants et al., HTTP/2 Prioritization and its Impact on Web Performance, WWW 2018";

/// Every scheme, the paper's eleven first.
pub(crate) fn all() -> Vec<Scheme> {
    vec![
        rr::scheme(),
        wrr::scheme(),
        fifo::scheme(),
        dfifo::scheme(),
        firefox::scheme(),
        parallel_plus::scheme(),
        serial_plus::scheme(),
        spdyrr::scheme(),
        bucket::scheme(),
        bucket::html_scheme(),
        zeroweight::scheme(),
        rfc9218::scheme(),
        strict::scheme(),
        spdy::scheme(),
        bucket7::scheme(),
        weighted_incremental::scheme(),
        mixed::scheme(),
        kway::scheme(),
        srpt::scheme(),
        cpl::scheme(),
        lifo::scheme(),
        random::scheme(),
        tree::scheme(),
    ]
}

fn nth_name(names: &[&str], id: u64) -> Option<String> {
    names.get(usize::try_from(id).ok()?).map(ToString::to_string)
}

#[cfg(test)]
mod sample {
    //! The sample page.

    use crate::{Kind, Resource, Scheduler, Scheme, StreamId, find_scheme};

    /// Letter, packets, resource; in the order of the requests.
    pub(super) fn page() -> Vec<(char, u32, Resource)> {
        let nothing = Resource::default();
        let image = Resource { kind: Kind::Image, ..nothing };
        vec![
            (
                'h',
                3,
                Resource {
                    kind: Kind::Html,
                    main: true,
                    critical: true,
                    above_fold: true,
                    ..nothing
                },
            ),
            ('i', 3, image),
            ('c', 2, Resource { kind: Kind::Css, in_head: true, above_fold: true, ..nothing }),
            ('I', 3, Resource { above_fold: true, ..image }),
            ('s', 2, Resource { kind: Kind::Js, in_head: true, deferred: true, ..nothing }),
            ('f', 2, Resource { kind: Kind::Font, above_fold: true, ..nothing }),
        ]
    }

    /// The order in which a scheme sends the page, one letter per packet.
    pub(super) fn order(scheme: &str) -> String {
        order_of(&find_scheme(scheme).unwrap())
    }

    /// As [`order`].
    pub(super) fn order_of(scheme: &Scheme) -> String {
        let mut scheduler = Scheduler::new(scheme);
        let page = page();
        let mut left: Vec<u32> = page.iter().map(|(_, packets, _)| *packets).collect();
        for (index, (_, packets, resource)) in page.iter().enumerate() {
            let stream = StreamId(4 * index as u64);
            let body_bytes = Some(1400 * u64::from(*packets));
            scheduler.open(stream, &Resource { id: Some(index), body_bytes, ..*resource });
            scheduler.set_ready(stream, true);
        }
        let mut order = String::new();
        while let Some(stream) = scheduler.pick() {
            let index = usize::try_from(stream.0 / 4).unwrap();
            order.push(page[index].0);
            scheduler.sent(stream, 1400);
            left[index] -= 1;
            if left[index] == 0 {
                scheduler.close(stream);
            }
        }
        order
    }
}
