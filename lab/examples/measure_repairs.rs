//! How long lost bytes wait until they are sent again, in turns and in the scheme's order
//! ([`server::Experiments::retransmit_in_order`]): from the moment when the server's transport finds a packet lost to the
//! packet that carries its bytes again, from the server's logs of loads on the engine `stack`. Urgent are the bytes of
//! responses that the page needs to be shown at all (`critical`).
//!
//! ```sh
//! cargo run -p utmost-lab --example measure_repairs -- cable-lossy,3g-lossy SCHEME,SCHEME SEEDS PAGE...
//! ```

use corpus::Page;
use lab::network::Network;
use lab::stack::{Setup, load};
use schedulers::find_scheme;
use serde_json::Value;
use server::{CongestionControl, Experiments, Identity, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Ends early, for want of a better end.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// In ms: of urgent responses, and of all others.
#[derive(Default)]
struct Waits {
    urgent_ms: Vec<f64>,
    other_ms: Vec<f64>,
}

/// Stream bytes that were in a packet.
#[derive(Clone, Copy)]
struct Carried {
    stream: u64,
    offset: u64,
    bytes: u64,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, schemes, seeds, pages @ ..] = &arguments[..] else {
        return Err("NETWORKS SCHEMES SEEDS PAGE...".into());
    };
    println!("Lost packets, and ms from the loss being found to the same bytes in another packet");
    println!(
        "| network | scheme | lost bytes go | urgent | median | 95 % | others | median | 95 % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let identity = Identity::self_signed()?;
    for network in networks.split(',') {
        let network = Network::find(network)?;
        for scheme in schemes.split(',') {
            for in_order in [false, true] {
                let waits = waits(&network, scheme, in_order, seeds.parse()?, (pages, &identity))?;
                let way = if in_order { "in order" } else { "in turns" };
                let cells = [waits.urgent_ms, waits.other_ms].map(cells);
                println!("| {} | {scheme} | {way} | {} |", network.name, cells.join(" | "));
            }
        }
    }
    Ok(())
}

fn waits(
    network: &Network,
    scheme: &str,
    in_order: bool,
    seeds: u64,
    (pages, identity): (&[String], &Identity),
) -> Outcome<Waits> {
    let mut waits = Waits::default();
    for name in pages {
        let page: Arc<Page> = Arc::new(corpus::page(name)?);
        for seed in 0..seeds {
            let options = Options {
                experiments: Experiments {
                    retransmit_in_order: in_order,
                    ..Experiments::default()
                },
                congestion_control: CongestionControl::Cubic,
                ..Options::new(find_scheme(scheme)?)
            };
            let folder = tempfile::tempdir()?;
            let setup = Setup {
                seed,
                log_dir: Some(folder.path()),
                ..Setup::new(options, network, identity)
            };
            load(&page, setup)?;
            read(&server_log(folder.path())?, &mut waits)?;
        }
    }
    Ok(waits)
}

fn server_log(folder: &Path) -> Outcome<String> {
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.to_string_lossy().ends_with("_server.sqlog") {
            return Ok(std::fs::read_to_string(path)?);
        }
    }
    Err("the server wrote no log".into())
}

/// Adds the waits of one connection.
fn read(log: &str, waits: &mut Waits) -> Outcome<()> {
    let mut urgent: BTreeSet<u64> = BTreeSet::new();
    let mut in_flight: BTreeMap<u64, Vec<Carried>> = BTreeMap::new();
    let mut lost: Vec<(f64, Carried)> = Vec::new();
    for record in log.split('\u{1e}').filter(|it| !it.trim().is_empty()) {
        let event: Value = serde_json::from_str(record)?;
        let (data, time_ms) = (&event["data"], event["time"].as_f64().unwrap_or_default());
        match event["name"].as_str() {
            Some("utmost:scheduler") if data["op"] == "opened" => {
                let stream =
                    data["stream"].as_u64().filter(|_| data["resource"]["critical"] == true);
                urgent.extend(stream);
            }
            Some("quic:packet_sent") if data["header"]["packet_type"] == "1RTT" => {
                let carried = carried(data);
                for again in &carried {
                    lost.retain(|(found_ms, it)| {
                        let is_same = it.stream == again.stream
                            && it.offset < again.offset + again.bytes
                            && again.offset < it.offset + it.bytes;
                        if is_same {
                            let of = if urgent.contains(&it.stream) {
                                &mut waits.urgent_ms
                            } else {
                                &mut waits.other_ms
                            };
                            of.push(time_ms - found_ms);
                        }
                        !is_same
                    });
                }
                in_flight
                    .insert(data["header"]["packet_number"].as_u64().unwrap_or_default(), carried);
            }
            Some("quic:packet_received") if data["header"]["packet_type"] == "1RTT" => {
                acknowledge(data, &mut in_flight);
            }
            Some("quic:recovery_metrics_updated") => {
                // Of those in flight the oldest are found lost: both thresholds of RFC 9002, 6.1, rise with the number.
                for _ in 0..data["cf_lost_packets"]["delta"].as_u64().unwrap_or_default() {
                    let Some((_, carried)) = in_flight.pop_first() else { break };
                    lost.extend(carried.into_iter().map(|it| (time_ms, it)));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The bytes of responses in a packet.
fn carried(packet: &Value) -> Vec<Carried> {
    let frames = packet["frames"].as_array().map_or(&[][..], Vec::as_slice);
    let of_response = |it: &Value| {
        let stream = it["stream_id"].as_u64().filter(|id| id.is_multiple_of(4))?;
        let bytes = it["raw"]["payload_length"].as_u64()?;
        Some(Carried { stream, offset: it["offset"].as_u64()?, bytes })
    };
    frames.iter().filter_map(of_response).collect()
}

fn acknowledge(packet: &Value, in_flight: &mut BTreeMap<u64, Vec<Carried>>) {
    let frames = packet["frames"].as_array().map_or(&[][..], Vec::as_slice);
    let ranges = frames.iter().filter_map(|it| it["acked_ranges"].as_array()).flatten();
    for range in ranges {
        let ends: Vec<u64> =
            range.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
            in_flight.retain(|number, _| !(first..=last).contains(&number));
        }
    }
}

/// How many, the median, the 95th percentile.
fn cells(mut waits_ms: Vec<f64>) -> String {
    waits_ms.sort_by(f64::total_cmp);
    let at = |share: usize| {
        waits_ms.get((waits_ms.len() * share / 100).min(waits_ms.len().saturating_sub(1)))
    };
    let text = |it: Option<&f64>| it.map_or("-".to_owned(), |it| format!("{it:.1}"));
    format!("{} | {} | {}", waits_ms.len(), text(at(50)), text(at(95)))
}
