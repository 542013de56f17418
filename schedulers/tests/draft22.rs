//! Figures 2 to 6 of the paper: what a signal does to the tree, before and after, by the rules of draft 22.
//!
//! Each line of a tree is a node: its name, its weight, and the part of the connection for it and all below it.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic as they do")]

use schedulers::{Element, Resource, Scheduler, Signal, StreamId, find_scheme};

const A: Element = Element::Stream(StreamId(0));
const B: Element = Element::Stream(StreamId(4));
const C: Element = Element::Stream(StreamId(8));
const D: Element = Element::Stream(StreamId(12));
const E: Element = Element::Stream(StreamId(16));
const X: Element = Element::Stream(StreamId(20));

fn connection() -> Scheduler {
    Scheduler::new(&find_scheme("tree").unwrap())
}

fn put(scheduler: &mut Scheduler, element: Element, parent: Element, exclusive: bool) {
    scheduler.signal(Signal::Depend { element, parent, weight: 16, exclusive });
}

fn open(scheduler: &mut Scheduler, element: Element) {
    let stream = element.stream().unwrap();
    scheduler.open(stream, &Resource::default());
    scheduler.set_ready(stream, true);
}

/// The tree with the figures' letters, without the orphan placeholder when it is empty.
fn tree(scheduler: &Scheduler) -> String {
    let mut text = scheduler.tree().to_string();
    for (letter, element) in [("A", A), ("B", B), ("C", C), ("D", D), ("E", E), ("X", X)] {
        text = text.replace(&format!("{element} "), &format!("{letter} "));
    }
    let lines: Vec<&str> = text.lines().filter(|it| *it != "  orphans (16)").collect();
    lines.join("\n")
}

/// A with its children B and C, as in Figure 2.
fn a_with_b_and_c() -> Scheduler {
    let mut scheduler = connection();
    put(&mut scheduler, A, Element::Root, false);
    put(&mut scheduler, B, A, false);
    put(&mut scheduler, C, A, false);
    for element in [A, B, C] {
        open(&mut scheduler, element);
    }
    scheduler
}

#[test]
fn figure_2_a_dependency_is_added_beside_the_others_or_above_them() {
    let before = "root 100%\n  A (16) 100%\n    B (16)  0%\n    C (16)  0%".replace("  0%", " 0%");
    for (exclusive, after) in [
        (false, "root 100%\n  A (16) 100%\n    B (16) 0%\n    C (16) 0%\n    D (16) 0%"),
        (true, "root 100%\n  A (16) 100%\n    D (16) 0%\n      B (16) 0%\n      C (16) 0%"),
    ] {
        let mut scheduler = a_with_b_and_c();
        assert_eq!(tree(&scheduler), before);
        put(&mut scheduler, D, A, exclusive);
        open(&mut scheduler, D);
        assert_eq!(tree(&scheduler), after);
    }
}

/// A and C in the root's tree, C below A, and D beside A.
fn with_c_below_a() -> Scheduler {
    let mut scheduler = connection();
    for (element, parent) in [(A, Element::Root), (C, A), (D, Element::Root)] {
        put(&mut scheduler, element, parent, false);
        open(&mut scheduler, element);
    }
    scheduler
}

#[test]
fn figure_3_a_dependency_on_a_parent_that_has_left_steals_nothing_any_more() {
    let mut still_there = with_c_below_a();
    put(&mut still_there, E, C, false);
    open(&mut still_there, E);
    let expected = "root 100%\n  A (16) 50%\n    C (16) 0%\n      E (16) 0%\n  D (16) 50%";
    assert_eq!(tree(&still_there), expected);

    // HTTP/2 made E a child of the root, where it shared with A and D; draft 22 has the orphan placeholder.
    let mut removed = with_c_below_a();
    removed.close(StreamId(8));
    assert_eq!(tree(&removed), "root 100%\n  A (16) 50%\n  D (16) 50%");
    put(&mut removed, E, C, false);
    open(&mut removed, E);
    let expected = "root 100%\n  A (16) 50%\n  D (16) 50%\n  orphans (16) 0%\n    E (16) 0%";
    assert_eq!(tree(&removed), expected);
}

#[test]
fn figure_4_of_two_exclusive_children_the_later_signal_is_above() {
    // On one control stream the order of signals is that of the client; each order has its own outcome.
    let outcome = |first, second| {
        let mut scheduler = connection();
        put(&mut scheduler, A, Element::Root, false);
        put(&mut scheduler, first, A, true);
        put(&mut scheduler, second, A, true);
        for element in [B, A, C] {
            open(&mut scheduler, element);
        }
        tree(&scheduler)
    };
    assert_eq!(outcome(B, C), "root 100%\n  A (16) 100%\n    C (16) 0%\n      B (16) 0%");
    assert_eq!(outcome(C, B), "root 100%\n  A (16) 100%\n    B (16) 0%\n      C (16) 0%");
}

#[test]
fn figure_5_a_child_that_comes_before_its_parent_waits_among_the_orphans() {
    let mut scheduler = connection();
    put(&mut scheduler, X, Element::Root, false);
    open(&mut scheduler, X);
    put(&mut scheduler, B, A, false);
    open(&mut scheduler, B);
    // Before draft 22 B stole half of X's bandwidth here.
    let before = "root 100%\n  X (16) 100%\n  orphans (16) 0%\n    A (16) 0%\n      B (16) 0%";
    assert_eq!(tree(&scheduler), before);
    put(&mut scheduler, A, X, false);
    open(&mut scheduler, A);
    assert_eq!(tree(&scheduler), "root 100%\n  X (16) 100%\n    A (16) 0%\n      B (16) 0%");
}

#[test]
fn figure_6_what_nobody_prioritized_yet_is_sent_only_once_x_has_finished() {
    let mut scheduler = connection();
    put(&mut scheduler, X, Element::Root, false);
    for element in [X, A, B] {
        open(&mut scheduler, element);
    }
    let before = "root 100%\n  X (16) 100%\n  orphans (16) 0%\n    A (16) 0%\n    B (16) 0%";
    assert_eq!(tree(&scheduler), before);
    put(&mut scheduler, A, X, false);
    put(&mut scheduler, B, A, false);
    assert_eq!(tree(&scheduler), "root 100%\n  X (16) 100%\n    A (16) 0%\n      B (16) 0%");
}

#[test]
fn orphans_send_when_nobody_else_can() {
    let mut scheduler = connection();
    put(&mut scheduler, X, Element::Root, false);
    open(&mut scheduler, X);
    open(&mut scheduler, A);
    assert_eq!(scheduler.pick(), Some(StreamId(20)));
    scheduler.set_ready(StreamId(20), false);
    assert_eq!(scheduler.pick(), Some(StreamId(0)));
    scheduler.set_ready(StreamId(20), true);
    assert_eq!(scheduler.pick(), Some(StreamId(20)));
}

#[test]
fn an_exclusive_child_of_the_root_leaves_the_orphans_where_they_are() {
    let mut scheduler = connection();
    put(&mut scheduler, X, Element::Root, false);
    for element in [X, A] {
        open(&mut scheduler, element);
    }
    put(&mut scheduler, D, Element::Root, true);
    open(&mut scheduler, D);
    let expected = "root 100%\n  D (16) 100%\n    X (16) 0%\n  orphans (16) 0%\n    A (16) 0%";
    assert_eq!(tree(&scheduler), expected);
}

#[test]
fn a_flood_of_names_makes_only_so_many_nodes() {
    let mut scheduler = connection();
    for id in 0..5_000 {
        put(&mut scheduler, Element::Placeholder(id), Element::Root, false);
        put(&mut scheduler, Element::Stream(StreamId(4 * id)), Element::Placeholder(id), false);
    }
    let nodes = scheduler.tree().nodes;
    let placeholders = nodes.iter().filter(|it| matches!(it.element, Element::Placeholder(_)));
    assert_eq!((placeholders.count(), nodes.len()), (17, 1 + 17 + 256));
    put(&mut scheduler, Element::Placeholder(u64::MAX), Element::Placeholder(0), false);
    let orphans = scheduler.tree().nodes.into_iter().find(|it| it.element.to_string() == "orphans");
    assert_eq!(orphans.unwrap().parent, Element::Root);
}
