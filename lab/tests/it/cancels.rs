//! A user who abandons a load, on the engine `stack`: what still arrives.

use client::Cancels;
use gateway::site::RuledSite;
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use page_site::PageSite;
use qlog_tools::tail::Tail;
use schedulers::find_scheme;
use server::{Identity, Options};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const AFTER: Duration = Duration::from_secs(3);

/// Loads the page of Davies and Meenan on `3g`: 1360 kbit/s, round trip 209 ms, a queue of 36,000 bytes.
fn load(send_buffer_bytes: u64, cancels: Cancels) -> StackLoad {
    let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
    let network = Network::find("3g").expect("built in");
    let identity = Identity::self_signed().expect("a certificate");
    let options =
        Options { send_buffer_bytes, ..Options::new(find_scheme("fifo").expect("a scheme")) };
    let site = RuledSite::of(PageSite::new(page.as_ref().clone()));
    let client = client::Options { cancels, ..client::Options::default() };
    load_between(&page, &Ends { site, client }, Setup::new(options, &network, &identity))
        .expect("a load")
}

fn rounded(tail: Tail) -> Tail {
    Tail { tail_ms: (tail.tail_ms * 10.0).round() / 10.0, ..tail }
}

#[test]
fn a_user_who_leaves_gets_what_is_on_its_way_and_no_send_buffer() {
    let tails = [0, 1_000_000].map(|send_buffer_bytes| {
        let cancels = Cancels { leave_after: Some(AFTER), ..Cancels::default() };
        let left = load(send_buffer_bytes, cancels);
        assert_eq!(left.problems, [""; 0]);
        assert!(left.outcome.left && !left.load.completed);
        rounded(Tail::of(&left.load.timeline).expect("a cancel"))
    });
    // The path holds 35,530 bytes and the queue 36,000 more. A reset takes the send buffer's bytes back.
    let tail = |tail_bytes, tail_ms| Tail { cancelled: 7, tail_bytes, tail_ms };
    assert_eq!(tails, [tail(58_095, 347.3), tail(36_148, 213.7)]);
}

#[test]
fn a_response_that_is_cancelled_has_a_tail_and_the_others_arrive() {
    // hidden1.jpg, hidden2.jpg and hidden3.jpg
    let resources = BTreeMap::from([2, 3, 4].map(|it| (it, AFTER)));
    let loaded = load(0, Cancels { resources, ..Cancels::default() });
    assert_eq!(loaded.problems, [""; 0]);
    assert_eq!(loaded.outcome.cancelled, [2, 3, 4]);
    let complete: Vec<bool> =
        loaded.load.timeline.deliveries().iter().map(|it| it.complete_us.is_some()).collect();
    assert_eq!(complete, [true, true, false, false, false, true, true, true, true]);
    let tail = Tail::of(&loaded.load.timeline).expect("a cancel");
    assert_eq!(rounded(tail), Tail { cancelled: 3, tail_bytes: 58_095, tail_ms: 347.3 });
}
