//! What a scheduling decision costs: `pick` and `sent` under every scheme, beside a plain binary heap.
//!
//! A page of 10, 100, 1,000 or 10,000 responses of all kinds that never end; one iteration is one packet.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use schedulers::conformance::mixed;
use schedulers::{SCHEMES, Scheduler, Scheme, StreamId, find_scheme};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::path::PathBuf;

const STREAMS: [u64; 4] = [10, 100, 1000, 10_000];
const PACKET_BYTES: u64 = 1400;

/// A scheduler with `streams` ready streams, warm: each of those that share has sent.
fn busy(scheme: &Scheme, streams: u64) -> Scheduler {
    let mut scheduler = Scheduler::new(scheme);
    for index in 0..streams {
        scheduler.open(StreamId(4 * index), &mixed(usize::try_from(index).unwrap_or(0)));
        scheduler.set_ready(StreamId(4 * index), true);
    }
    for _ in 0..2 * streams {
        decide(&mut scheduler);
    }
    scheduler
}

fn decide(scheduler: &mut Scheduler) {
    if let Some(stream) = black_box(scheduler.pick()) {
        scheduler.sent(stream, PACKET_BYTES);
    }
}

fn pick(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pick");
    for streams in STREAMS {
        let mut heap: BinaryHeap<Reverse<(u64, u64)>> =
            (0..streams).map(|index| Reverse((0, 4 * index))).collect();
        group.bench_function(BenchmarkId::new("binary-heap", streams), |bencher| {
            bencher.iter(|| {
                if let Some(Reverse((turn, stream))) = black_box(heap.pop()) {
                    heap.push(Reverse((turn + PACKET_BYTES, stream)));
                }
            });
        });
        for scheme in SCHEMES.iter() {
            let mut scheduler = busy(scheme, streams);
            group.bench_function(BenchmarkId::new(&scheme.name, streams), |bencher| {
                bencher.iter(|| decide(&mut scheduler));
            });
        }
    }
    group.finish();
}

/// The schemes in `examples/schemes`, each beside the built-in one that it is written after.
fn own(criterion: &mut Criterion) {
    const STREAMS: u64 = 100;
    let mut group = criterion.benchmark_group("own");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/schemes");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|it| it.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        let file = scheme_files::read(&path, scheme_files::to_stderr()).expect("a scheme");
        let twin = file.twin.map(|it| find_scheme(&it).expect("a scheme"));
        for scheme in twin.iter().chain([&file.scheme]) {
            let mut scheduler = busy(scheme, STREAMS);
            group.bench_function(&scheme.name, |bencher| bencher.iter(|| decide(&mut scheduler)));
        }
    }
    group.finish();
}

criterion_group!(benches, pick, own);
criterion_main!(benches);
