//! A derived page under every scheme.

use super::derived::{Derived, Repeated, Sender};
use super::link;
use crate::finder::Step;
use crate::metadata::Metadata;
use crate::network::Network;
use crate::push_and_hints::PushAndHints;
use crate::stack::{self, Ends, Setup};
use crate::study::StudyError;
use crate::study::statistics::median;
use client::Says;
use connection::ClientConfig;
use qlog_tools::metrics::{BySet, Completions};
use qlog_tools::timeline::Timeline;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schedulers::Scheme;
use server::{CongestionControl, Identity, Options, SignalUse};
use std::collections::BTreeMap;

/// How a server orders its responses.
#[derive(Debug, Clone)]
pub struct Order {
    /// Its scheme.
    pub scheme: Scheme,
    /// Whether it obeys the priorities that the log's client signalled.
    pub obeys: bool,
}

/// How the load would have gone in one order.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The scheme, with `, obeys` if the server obeys signals.
    pub order: String,
    /// The `ByteIndex` in ms, the median over seeds; `None` if no load finished, or nothing belongs to the set.
    pub byte_index_ms: BySet,
    /// The relative difference of completion times from the log's: the median over resources, then over seeds.
    pub differs: Option<f64>,
    /// When the client made its first request, in ms after its start.
    first_request_ms: Option<f64>,
}

/// Chooses the link and the sender for which some order is closest to the log. Tries only orders that are close to it over the
/// first link.
pub fn fitted(
    derived: &Derived,
    orders: &[Order],
    seeds: u64,
    jobs: usize,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Derived, StudyError> {
    let (likely, lead_ms) = likely(derived, orders, jobs, progress)?;
    nearest(derived, &likely, ways(derived, lead_ms), seeds, jobs, progress)
}

/// The same, but only for links that suit any server: none is tied to the times at which the log's server sent.
pub fn fitted_to_links(
    derived: &Derived,
    orders: &[Order],
    seeds: u64,
    jobs: usize,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Derived, StudyError> {
    let (likely, _) = likely(derived, orders, jobs, progress)?;
    let ways = derived.networks.iter().map(|it| (it.clone(), derived.sender)).collect();
    nearest(derived, &likely, ways, seeds, jobs, progress)
}

/// The combination with the order closest to the log; the first among equals.
fn nearest(
    derived: &Derived,
    orders: &[Order],
    ways: Vec<(Network, Sender)>,
    seeds: u64,
    jobs: usize,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Derived, StudyError> {
    progress(Step::Planned(ways.len() * orders.len() * usize::try_from(seeds).unwrap_or(0)));
    let mut ranked = Vec::new();
    for (network, sender) in ways {
        let over = Derived { networks: vec![network], sender, ..derived.clone() };
        let replays = replay(&over, orders, seeds, jobs, &|| progress(Step::Loaded))?;
        let best = replays.into_iter().next();
        let repeated = best.and_then(|it| Some(Repeated { order: it.order, differs: it.differs? }));
        let differs = repeated.as_ref().map_or(f64::INFINITY, |it| it.differs);
        ranked.push((differs, Derived { repeated, ..over }));
    }
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut chosen = ranked.swap_remove(0).1;
    chosen.assumptions.push(link::text(chosen.network()));
    let initial_window_packets = chosen.initial_window_packets;
    chosen.assumptions.push(format!(
        "the uplink is as fast as the downlink, and {}",
        sender_text(chosen.sender, initial_window_packets)
    ));
    Ok(chosen)
}

fn sender_text(sender: Sender, initial_window_packets: usize) -> String {
    match sender {
        Sender::Controlled(control) => format!(
            "the congestion control is {} with an initial window of {initial_window_packets} packets",
            control.name()
        ),
        Sender::UnderWay(bytes) => format!(
            "the server always has up to {bytes} bytes in flight, the most that became readable in a round trip of the log"
        ),
    }
}

/// The links and senders to try. `lead_ms`: the time of the client's first request after its start.
fn ways(derived: &Derived, lead_ms: f64) -> Vec<(Network, Sender)> {
    let controls = [CongestionControl::Bbr2, CongestionControl::Cubic].map(Sender::Controlled);
    let mut ways: Vec<(Network, Sender)> = Vec::new();
    for network in &derived.networks {
        ways.extend(controls.map(|sender| (network.clone(), sender)));
    }
    let came = &derived.came;
    let busy = derived.network();
    let recorded = link::as_recorded(busy, came, &came.datagrams, link::OF_DATAGRAMS, lead_ms);
    ways.extend(recorded.map(|it| (it, controls[0])));
    let under_way = Sender::UnderWay(came.most_readable(busy.round_trip_ms()));
    let recorded = link::as_recorded(busy, came, &came.readable, link::OF_STREAMS, lead_ms);
    ways.extend(recorded.map(|it| (it, under_way)));
    ways
}

/// The orders closest to the log over the first link, one of each group of similar ones; and the time of the client's first
/// request, in ms after its start.
fn likely(
    derived: &Derived,
    orders: &[Order],
    jobs: usize,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<(Vec<Order>, f64), StudyError> {
    progress(Step::Planned(orders.len()));
    let first = replay(derived, orders, 1, jobs, &|| progress(Step::Loaded))?;
    let mut kept: Vec<&Replay> = Vec::new();
    for replay in &first {
        if kept.len() < LIKELY && kept.iter().all(|other| other.differs != replay.differs) {
            kept.push(replay);
        }
    }
    let mut likely = orders.to_vec();
    likely.retain(|order| kept.iter().any(|it| it.order == name(order)));
    let lead_ms = first.first().and_then(|it| it.first_request_ms).unwrap_or_default();
    Ok((likely, lead_ms))
}

/// The number of orders for which every link is tried.
const LIKELY: usize = 4;

/// Loads the derived page over its first network with each seed in each order, `jobs` at a time; returns the order closest to the
/// log first. Calls `done` after each load, from any thread.
pub fn replay(
    derived: &Derived,
    orders: &[Order],
    seeds: u64,
    jobs: usize,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Replay>, StudyError> {
    let identity = Identity::self_signed()?;
    let cells: Vec<(&Order, u64)> =
        orders.iter().flat_map(|order| (0..seeds).map(move |seed| (order, seed))).collect();
    let loads = cells.par_iter().map(|(order, seed)| {
        let seen = load(derived, order, *seed, &identity);
        done();
        seen
    });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build()?;
    let seen: Vec<Option<Replayed>> = pool.install(|| loads.collect::<Result<_, StudyError>>())?;
    let per_order = seen.chunks(usize::try_from(seeds).unwrap_or(1).max(1));
    let mut replays: Vec<Replay> =
        orders.iter().zip(per_order).map(|(order, seen)| medians(order, seen)).collect();
    replays.sort_by(|one, other| {
        let [one, other] = [one, other].map(|it| it.differs.unwrap_or(f64::INFINITY));
        one.total_cmp(&other)
    });
    Ok(replays)
}

/// The medians over the loads that finished.
fn medians(order: &Order, seen: &[Option<Replayed>]) -> Replay {
    let finished = seen.iter().flatten();
    let byte_index_ms = BySet::each(|set| {
        median(&finished.clone().filter_map(|it| it.byte_index_ms.get(set)).collect::<Vec<_>>())
    });
    let differs: Vec<f64> = finished.clone().filter_map(|it| it.differs).collect();
    let first_request_ms: Vec<f64> = finished.filter_map(|it| it.first_request_ms).collect();
    Replay {
        order: name(order),
        byte_index_ms,
        differs: median(&differs),
        first_request_ms: median(&first_request_ms),
    }
}

fn name(order: &Order) -> String {
    let obeys = if order.obeys { ", obeys" } else { "" };
    format!("{}{obeys}", order.scheme.name)
}

/// The server's options and the client's transport.
fn ends(derived: &Derived, scheme: &Scheme) -> (Options, ClientConfig) {
    let options = Options::new(scheme.clone());
    match derived.sender {
        Sender::Controlled(congestion_control) => {
            let initial_window_packets = derived.initial_window_packets;
            let options = Options { congestion_control, initial_window_packets, ..options };
            (options, ClientConfig::default())
        }
        Sender::UnderWay(bytes) => {
            // The client's window limits the data in flight; half of it is granted again at a time.
            let receive_bytes = (2 * bytes).max(LEAST_WINDOW_BYTES);
            let (congestion_control, initial_window_packets) =
                (CongestionControl::Cubic, packets(receive_bytes));
            let options = Options { congestion_control, initial_window_packets, ..options };
            let window =
                ClientConfig { receive_bytes, windows_grow: false, ..ClientConfig::default() };
            (options, window)
        }
    }
}

/// The smallest window of a client that limits the data in flight: some packets for each response.
const LEAST_WINDOW_BYTES: u64 = 64 << 10;

fn packets(bytes: u64) -> usize {
    usize::try_from(bytes / LEAST_PACKET_BYTES + 1).unwrap_or(usize::MAX)
}

/// The minimum size of a full packet (RFC 9000, 14).
const LEAST_PACKET_BYTES: u64 = 1200;

struct Replayed {
    byte_index_ms: BySet,
    differs: Option<f64>,
    first_request_ms: Option<f64>,
}

/// One load; `None` if it did not finish.
fn load(
    derived: &Derived,
    order: &Order,
    seed: u64,
    identity: &Identity,
) -> Result<Option<Replayed>, StudyError> {
    let page = &derived.page;
    let scheme = order.scheme.clone().for_page(&page.graph());
    let (mut options, transport) = ends(derived, &scheme);
    let mut says = Says::Nothing;
    if order.obeys {
        (options.signals, says) = (SignalUse::Obey, Says::Signals);
    }
    let metadata = Metadata::default();
    let site = PushAndHints::default().site(page, metadata);
    let client =
        client::Options { scheme: Some(scheme), says, transport, ..client::Options::default() };
    let setup = Setup { metadata, seed, ..Setup::new(options, derived.network(), identity) };
    let loaded = stack::load_between(page, &Ends { site, client }, setup)?.load;
    Ok(loaded.completed.then(|| replayed(derived, loaded.timeline)))
}

fn replayed(derived: &Derived, mut timeline: Timeline) -> Replayed {
    let page = &derived.page;
    if derived.has_stand_in {
        let stand_in = page.url(0);
        timeline.transfers.retain(|it| it.url != stand_in);
    }
    let has_set = derived.recorded.byte_index_ms.atf.is_some();
    let all = Completions::new(&timeline, |_| true);
    let atf = Completions::new(&timeline, |transfer| {
        let id = page.find(&transfer.url).filter(|_| has_set);
        id.is_some_and(|it| page.resources[it].above_fold)
    });
    let [all, atf] = [all, atf].map(|it| it.ok().map(|it| it.byte_index_ms()));
    let first_request_ms = timeline.start_us().map(|it| it as f64 / 1000.0);
    let (byte_index_ms, differs) = (BySet { all, atf }, differs(derived, &timeline));
    Replayed { byte_index_ms, differs, first_request_ms }
}

/// The relative difference of completion times from the log's: the median over resources.
fn differs(derived: &Derived, timeline: &Timeline) -> Option<f64> {
    let start_us = timeline.start_us()?;
    let came =
        timeline.transfers.iter().zip(timeline.deliveries()).filter_map(|(transfer, delivery)| {
            let complete_us = delivery.complete_us?.checked_sub(start_us)?;
            Some((derived.page.find(&transfer.url)?, complete_us as f64 / 1000.0))
        });
    let came: BTreeMap<usize, f64> = came.collect();
    let mut shares: Vec<f64> = Vec::new();
    for (id, recorded_ms) in &derived.recorded.complete_ms {
        shares.extend(came.get(id).map(|it| (it - recorded_ms).abs() / recorded_ms));
    }
    shares.retain(|it| it.is_finite());
    median(&shares)
}
