//! How fast logs are read, beside a plain reader that makes a `serde_json::Value` of each record.
//!
//! A log like quiche's: packets with ACK and STREAM frames, recovery metrics, data moved, HTTP/3
//! DATA frames. The last lines are the rates and the ratio, of the best of five passes in turn.
//! With a file's name as argument (`cargo bench --bench qlog -- FILE`) that file is read instead.

use qlog_tools::reader::{Detail, ReadOptions, read_traces};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

const PACKETS: u64 = 60_000;
const PASSES: usize = 5;

/// JSON-SEQ, about 50 MB.
fn log() -> Vec<u8> {
    let mut log = String::from(
        "\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"JSON-SEQ\",\"trace\":{\"vantage_point\":{\"type\":\"server\"},\"event_schemas\":[]}}\n",
    );
    for packet in 0..PACKETS {
        let (stream, offset) = (packet % 10 * 4, packet / 10 * 1200);
        let time = packet as f64 / 10.0;
        let fin = offset + 1200 >= PACKETS / 10 * 1200;
        let _ = write!(
            log,
            "\x1e{{\"time\":{time},\"name\":\"quic:stream_data_moved\",\"data\":{{\"stream_id\":{stream},\"offset\":{offset},\"from\":\"application\",\"to\":\"transport\",\"raw\":{{\"length\":1200}}}}}}\n\
             \x1e{{\"time\":{time},\"name\":\"quic:packet_sent\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{packet},\"dcid\":\"a654fd02ffc98f4ce216c941d23e020a53f43397\"}},\"raw\":{{\"length\":1250,\"payload_length\":1230}},\"send_at_time\":{time},\"frames\":[{{\"frame_type\":\"ack\",\"ack_delay\":0.017,\"acked_ranges\":[[2,{packet}]]}},{{\"frame_type\":\"stream\",\"stream_id\":{stream},\"offset\":{offset},\"fin\":{fin},\"raw\":{{\"payload_length\":1200}}}}]}}}}\n\
             \x1e{{\"time\":{time},\"name\":\"quic:recovery_metrics_updated\",\"data\":{{\"cf_app_limited\":false,\"cf_lost_bytes\":{{\"total\":0,\"delta\":0}},\"min_rtt\":33.0,\"smoothed_rtt\":34.1,\"rtt_variance\":16.5,\"congestion_window\":13500,\"bytes_in_flight\":1200,\"ssthresh\":18446744073709551615}}}}\n\
             \x1e{{\"time\":{time},\"name\":\"quic:packet_received\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{packet}}},\"raw\":{{\"length\":43,\"payload_length\":26}},\"frames\":[{{\"frame_type\":\"ack\",\"ack_delay\":0.5,\"acked_ranges\":[[0,{packet}]]}}]}}}}\n"
        );
    }
    log.into_bytes()
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
