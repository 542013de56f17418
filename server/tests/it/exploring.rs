//! Visitors try orders, and the server measures them by what it sends.

use crate::simulation::{self, Client, Link, Requests, Seen, options};
use schedulers::find_scheme;
use server::{Candidate, Exploration, Options, PageReport, SignalUse};
use std::sync::Arc;
use std::time::Duration;

/// A page twice: the server knows that a load is over when another page begins.
const TWICE: Requests<'static> = &[
    (0, "/20000/html"),
    (60, "/100000/png"),
    (60, "/100000/png"),
    (60, "/100000/png"),
    (60, "/100000/png"),
    (3000, "/20000/html"),
];

fn exploration(share: f64) -> Arc<Exploration> {
    let fifo = Candidate {
        name: "fifo".to_owned(),
        scheme: find_scheme("fifo").expect("registered"),
        signals: SignalUse::Ignore,
    };
    Arc::new(Exploration::new(vec![fifo], share, 5))
}

/// A visitor of a server whose present order is `rr`.
fn visit(exploration: &Arc<Exploration>, requests: Requests<'_>) -> Seen {
    let exploration = Some(Arc::clone(exploration));
    let options = Options { exploration, ..options("rr") };
    simulation::run(options, Link::CABLE, Client::with_id(8), requests, Duration::from_secs(10))
}

fn page(exploration: &Exploration) -> PageReport {
    exploration.report().pages.swap_remove(0)
}

/// Four images that share the link are all complete at the end; one after another, at a quarter of the time each.
#[test]
fn the_order_that_is_better_becomes_that_of_all_visitors() {
    let exploration = exploration(0.4);
    for _ in 0..30 {
        visit(&exploration, TWICE);
    }
    let page = page(&exploration);
    assert_eq!(page.favourite, "fifo", "{page:?}");
    assert!(page.found.starts_with("fifo is 1.176 times as fast"), "{}", page.found);
    assert_eq!(page.orders.iter().map(|it| it.visits).sum::<u64>(), 30);
    assert_eq!((page.left_out.incomplete, page.left_out.cached), (0, 0));
    let mut later = (0..10).map(|_| visit(&exploration, TWICE).order());
    assert!(later.any(|it| it == "0,4,8,12,16,20"), "one after another");
}

#[test]
fn a_visitor_who_tries_nothing_gets_the_present_order() {
    let (with, without) = (exploration(0.0), options("rr"));
    let seen = visit(&with, TWICE).order();
    let link = Link::CABLE;
    let plain =
        simulation::run(without, link, Client::with_id(8), TWICE, Duration::from_secs(10)).order();
    assert_eq!(seen, plain);
    assert_eq!(page(&with).orders[1].visits, 0);
}

/// What comes after a pause is not part of the load.
#[test]
fn images_that_scrolling_asks_for_do_not_count() {
    let exploration = exploration(0.0);
    let scrolled: Requests<'_> =
        &[(0, "/20000/html"), (2500, "/500000/png"), (6000, "/20000/html")];
    visit(&exploration, scrolled);
    let page = page(&exploration);
    assert!((page.body_bytes - 20_000.0).abs() < 0.5, "{}", page.body_bytes);
}

#[test]
fn a_page_that_another_one_overlaps_does_not_count() {
    let exploration = exploration(0.0);
    let overlapping: Requests<'_> =
        &[(0, "/20000/html"), (60, "/900000/png"), (100, "/20000/html"), (4000, "/20000/html")];
    visit(&exploration, overlapping);
    assert_eq!(page(&exploration).left_out.incomplete, 1);
}
