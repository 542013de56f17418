//! What scheduling costs: time of a decision and memory of a stream, for every scheme beside a binary heap.
//!
//! `cargo run --release -p utmost-schedulers --example cost > docs/cost.md`
//!
//! Each number is taken in a process of its own, so that memory that another freed is not used again.

#![expect(clippy::disallowed_methods, reason = "it measures time")]
#![expect(clippy::unwrap_used, reason = "a tool for developers, with input of its own only")]

use schedulers::conformance::mixed;
use schedulers::{
    Element, GraphResource, Needs, PageGraph, Place, REGISTRY, Resource, Scheduler, Scheme, Signal,
    StreamId, Tree, find_page_scheme,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

const STREAMS: [usize; 4] = [10, 100, 1000, 10_000];
const HEAP: &str = "binary heap";
const PLACEHOLDERS: &str = "placeholders";
const CHAIN: &str = "chain";
const BLOCKED_CHAIN: &str = "blocked chain";

/// Decisions of which the time is taken, in each of [`ROUNDS`]; the fastest round counts.
const DECISIONS: u32 = 50_000;
const ROUNDS: u32 = 5;

/// Streams that are made for a measure of memory, over as many schedulers as it takes.
const MEMORY_STREAMS: usize = 200_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [what, name, streams] => {
            let streams = streams.parse().unwrap();
            println!(
                "{}",
                if what == "time" { time_ns(name, streams) } else { bytes(name, streams) }
            );
        }
        _ => print!("{}", report()),
    }
}

fn report() -> String {
    let head = "# What scheduling costs

`cargo run --release -p utmost-schedulers --example cost > docs/cost.md` makes this page.

A decision is `pick` and `sent` for one packet. All streams of a mixed page are ready and warm; the number is the fastest of 5
rounds of 50,000 decisions. Memory is the growth of the process over 200,000 streams. The binary heap, for comparison, pops and
pushes a stream.

";
    let columns = STREAMS.map(|it| it.to_string()).join(" | ");
    let mut report = head.to_owned();
    let names: Vec<String> = REGISTRY.iter().flat_map(names_of).chain([HEAP.to_owned()]).collect();
    for (what, title) in [("time", "ns a decision"), ("bytes", "bytes a stream")] {
        writeln!(report, "## {title}\n\n| streams | {columns} |\n|---|---|---|---|---|").unwrap();
        let mut rows = names.clone();
        if what == "bytes" {
            rows.push(PLACEHOLDERS.to_owned());
        }
        for name in rows {
            let cells = STREAMS.map(|streams| measure(what, &name, streams)).join(" | ");
            writeln!(report, "| {name} | {cells} |").unwrap();
        }
        report += "\n";
    }
    write!(
        report,
        "## A chain of exclusive dependencies, obeyed (`tree`), all but the tail blocked\n\n\
         | links | {columns} |\n|---|---|---|---|---|\n"
    )
    .unwrap();
    for (title, name) in [
        ("ns a decision", CHAIN),
        ("ns a decision with the tail blocked and unblocked", BLOCKED_CHAIN),
    ] {
        let cells = STREAMS.map(|links| measure("time", name, links)).join(" | ");
        writeln!(report, "| {title} | {cells} |").unwrap();
    }
    report
}

/// The scheme by a name that runs, with the first example of what it takes if it needs that, and each of its variants.
fn names_of(scheme: &Scheme) -> Vec<String> {
    let example = format!("{}:", scheme.name);
    let words = || scheme.parameters.split([' ', ',']);
    let name = match scheme.needs {
        Needs::Parameter => words().find(|it| it.starts_with(&example)).unwrap().to_owned(),
        _ => scheme.name.clone(),
    };
    let variants = words().filter(|it| it.starts_with('@')).map(|it| it.trim_end_matches(':'));
    let variants = variants.map(|it| format!("{}{it}", scheme.name));
    std::iter::once(name).chain(variants).collect()
}

fn measure(what: &str, name: &str, streams: usize) -> String {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args([what, name, &streams.to_string()]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The fastest round's time of one decision.
fn time_ns(name: &str, streams: usize) -> u64 {
    let mut decide: Box<dyn FnMut()> = match name {
        HEAP => {
            let mut heap: BinaryHeap<_> = (0..streams as u64).map(|it| Reverse((0, it))).collect();
            Box::new(move || {
                if let Some(Reverse((turn, stream))) = black_box(heap.pop()) {
                    heap.push(Reverse((turn + 1400_u64, stream)));
                }
            })
        }
        CHAIN | BLOCKED_CHAIN => {
            let (mut scheduler, tail) = chain(streams);
            let toggles = name == BLOCKED_CHAIN;
            Box::new(move || {
                if toggles {
                    scheduler.set_ready(tail, false);
                    assert_eq!(black_box(scheduler.pick()), None);
                    scheduler.set_ready(tail, true);
                }
                decide(&mut scheduler);
            })
        }
        name => {
            let mut scheduler = busy(&scheme(name, streams), streams);
            Box::new(move || decide(&mut scheduler))
        }
    };
    (0..2 * streams).for_each(|_| decide());
    let mut round = || {
        let start = Instant::now();
        (0..DECISIONS).for_each(|_| decide());
        start.elapsed().as_nanos() / u128::from(DECISIONS)
    };
    u64::try_from((0..ROUNDS).map(|_| round()).min().unwrap()).unwrap()
}

fn decide(scheduler: &mut Scheduler) {
    if let Some(stream) = black_box(scheduler.pick()) {
        scheduler.sent(stream, 1400);
    }
}

/// What the process grows by for a stream.
fn bytes(name: &str, streams: usize) -> u64 {
    let copies = MEMORY_STREAMS / streams;
    let scheme = (name != HEAP && name != PLACEHOLDERS).then(|| scheme(name, streams));
    let before = resident_bytes();
    let made: Vec<Box<dyn std::any::Any>> = (0..copies)
        .map(|_| -> Box<dyn std::any::Any> {
            match (name, &scheme) {
                (_, Some(scheme)) => Box::new(Kept(busy(scheme, streams))),
                (PLACEHOLDERS, None) => {
                    let mut tree = Tree::new();
                    (0..streams as u64)
                        .for_each(|id| tree.put(Element::Placeholder(id), Place::DEFAULT));
                    Box::new(tree)
                }
                _ => Box::new(
                    (0..streams as u64).map(|it| (0, it)).collect::<BinaryHeap<(u64, u64)>>(),
                ),
            }
        })
        .collect();
    let grown = resident_bytes().saturating_sub(before);
    drop(black_box(made));
    grown / MEMORY_STREAMS as u64
}

/// A scheduler, as something to keep.
struct Kept(#[expect(dead_code, reason = "kept for its memory")] Scheduler);

/// Linux's count of the process's pages.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096 * pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
}

fn scheme(name: &str, streams: usize) -> Scheme {
    let resource = |id: usize| GraphResource {
        bytes: 1000 + 7 * id as u64,
        parents: (id > 0).then_some(id / 2).into_iter().collect(),
        ..GraphResource::default()
    };
    let graph = PageGraph { resources: (0..streams).map(resource).collect() };
    find_page_scheme(name).unwrap().for_page(&graph)
}

/// A scheduler with `streams` ready streams.
fn busy(scheme: &Scheme, streams: usize) -> Scheduler {
    let mut scheduler = Scheduler::new(scheme);
    for index in 0..streams {
        let stream = StreamId(4 * index as u64);
        scheduler.open(stream, &mixed(index));
        scheduler.set_ready(stream, true);
    }
    scheduler
}

/// Streams that each are above all before them; only the last in the chain is ready.
fn chain(links: usize) -> (Scheduler, StreamId) {
    let mut scheduler = Scheduler::new(&scheme("tree", 0));
    for index in 0..links as u64 {
        let stream = StreamId(4 * index);
        scheduler.open(stream, &Resource::default());
        let element = Element::Stream(stream);
        scheduler.signal(Signal::Depend {
            element,
            parent: Element::Root,
            weight: 16,
            exclusive: true,
        });
    }
    scheduler.set_ready(StreamId(0), true);
    (scheduler, StreamId(0))
}
