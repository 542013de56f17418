//! How fast logs are read, beside a plain reader that makes a `serde_json::Value` of each record.
//!
//! The log is that of a client like quiche's (`qlog-tools/examples/large_log/log.rs`). The last lines give each reader's
//! best rate and how many times faster than the plain reader it is. The environment variable `UTMOST_BENCH_LOG` names
//! another log.

#[path = "../../qlog-tools/examples/large_log/log.rs"]
mod log;

use criterion::{Criterion, Throughput};
use qlog_tools::reader::{Detail, ReadOptions, read_traces};
use std::hint::black_box;
use std::time::{Duration, Instant};

const LOG_BYTES: u64 = 50_000_000;

/// Reads a log and returns something that depends on all of it.
type Reader = fn(&[u8]) -> usize;

/// The plain reader first: the others are compared with it.
const READERS: [(&str, Reader); 5] = [
    ("a Value a record", plain),
    ("summary", |log| ours(log, Detail::Summary)),
    ("frames", |log| ours(log, Detail::Frames)),
    ("full", |log| ours(log, Detail::Full)),
    ("events", |log| ours(log, Detail::Events)),
];

/// JSON-SEQ.
fn made_up_log() -> Vec<u8> {
    let mut bytes = Vec::new();
    log::write(&mut bytes, LOG_BYTES).expect("memory takes all that is written");
    bytes
}

/// Every record as a value, as a simple reader would.
fn plain(log: &[u8]) -> usize {
    let records = log.split(|&byte| byte == 0x1e).filter(|record| !record.is_empty());
    let values = records.filter_map(|it| serde_json::from_slice::<serde_json::Value>(it).ok());
    values.map(|value| value["data"]["frames"].as_array().map_or(0, Vec::len)).sum()
}

fn ours(log: &[u8], detail: Detail) -> usize {
    let options = ReadOptions { detail, vantage: None };
    let traces = read_traces("bench", log, options).expect("a qlog");
    traces.iter().map(|trace| trace.streams.len()).sum()
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed(mut work: impl FnMut() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn main() {
    let named = std::env::var_os("UTMOST_BENCH_LOG");
    let log = named.map_or_else(made_up_log, |file| std::fs::read(file).expect("a readable log"));
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("qlog");
    group.throughput(Throughput::Bytes(log.len() as u64));
    let mut best = [Duration::MAX; READERS.len()];
    for ((name, read), best) in READERS.iter().zip(&mut best) {
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|count| {
                let times = (0..count).map(|_| timed(|| read(&log)));
                times.inspect(|time| *best = (*time).min(*best)).sum()
            });
        });
    }
    group.finish();
    criterion.final_summary();
    for ((name, _), time) in READERS.iter().zip(best).filter(|it| it.1 != Duration::MAX) {
        let rate = log.len() as f64 / 1e6 / time.as_secs_f64();
        let ratio = best[0].as_secs_f64() / time.as_secs_f64();
        println!("{name:18} {rate:7.0} MB/s  x{ratio:.2}");
    }
}
