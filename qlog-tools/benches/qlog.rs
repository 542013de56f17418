//! How fast logs are read, beside a plain reader that makes a `serde_json::Value` of each record.
//!
//! The log is that of a client like quiche's (`examples/large_log/log.rs`). The last lines are the rates and the
//! ratio, of the best of five passes in turn. With a file's name as argument (`cargo bench --bench qlog -- FILE`) that
//! file is read instead.

#[path = "../examples/large_log/log.rs"]
mod log;

use qlog_tools::reader::{Detail, ReadOptions, read_traces};
use std::hint::black_box;
use std::time::{Duration, Instant};

const LOG_BYTES: u64 = 50_000_000;
const PASSES: usize = 5;

/// JSON-SEQ.
fn log() -> Vec<u8> {
    let mut bytes = Vec::new();
    // Memory takes all that is written.
    log::write(&mut bytes, LOG_BYTES).map_or_else(|_| Vec::new(), |()| bytes)
}

/// Every record as a value, as a simple reader would.
fn plain(log: &[u8]) -> usize {
    let records = log.split(|&byte| byte == 0x1e).filter(|record| !record.is_empty());
    let values = records.filter_map(|it| serde_json::from_slice::<serde_json::Value>(it).ok());
    values.map(|value| value["data"]["frames"].as_array().map_or(0, Vec::len)).sum()
}

fn ours(log: &[u8], detail: Detail) -> usize {
    let options = ReadOptions { detail, vantage: None };
    let traces = read_traces("bench", log, options).unwrap_or_default();
    traces.iter().map(|trace| trace.streams.len()).sum()
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed(work: impl FnOnce() -> usize) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn main() {
    let named = std::env::args().skip(1).find(|it| !it.starts_with("--"));
    let log = named.map_or_else(log, |file| std::fs::read(file).unwrap_or_default());
    let mut best = [Duration::MAX; 4];
    for _ in 0..PASSES {
        let passes = [
            timed(|| plain(&log)),
            timed(|| ours(&log, Detail::Summary)),
            timed(|| ours(&log, Detail::Frames)),
            timed(|| ours(&log, Detail::Full)),
        ];
        for (best, pass) in best.iter_mut().zip(passes) {
            *best = pass.min(*best);
        }
    }
    println!("{:.1} MB, best of {PASSES}", log.len() as f64 / 1e6);
    for (name, time) in ["a Value a record", "summary", "frames", "full"].iter().zip(best) {
        let rate = log.len() as f64 / 1e6 / time.as_secs_f64();
        let ratio = best[0].as_secs_f64() / time.as_secs_f64();
        println!("{name:18} {rate:7.0} MB/s  x{ratio:.2}");
    }
}
