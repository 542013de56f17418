//! The bytes that wait in the link's queue during a long download: the article's windows of a loss-based congestion
//! control and of BBR.

use super::{BDP_BYTES, BITS_PER_S, RTT_MS};
use crate::bench::Bench;
use crate::downloads::{Download, Downloaded, Downloads, network};
use crate::row::ratio;
use crate::{ReproduceError, Row};
use client::Migrating;
use figures::{Line, Lines};
use lab::network::Network;
use schedulers::Kind;
use server::{CongestionControl, Options};
use simulator::link::Queue;

const TABLE: &str = "The queue of a long download";

/// A minute at the link's rate.
const BYTES: u64 = 40_000_000;
/// The slow start is over.
const STEADY_FROM_MS: f64 = 5000.0;
const QUEUE_BYTES: u64 = 1_000_000;

const CONTROLS: [CongestionControl; 3] =
    [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno];

pub(super) fn measure(bench: &Bench) -> Result<(Vec<Row>, Lines), ReproduceError> {
    let network = network("bloated", BITS_PER_S, RTT_MS, Queue::Bytes(QUEUE_BYTES));
    let downloads = CONTROLS.into_iter().map(|it| download(it, &network));
    let loads = bench.downloads(&downloads.collect::<Result<Vec<_>, _>>()?)?;
    let queues: Vec<f64> = loads.iter().map(|it| mean_queue_bytes(it, &network)).collect();
    let mut rows: Vec<Row> =
        CONTROLS.iter().zip(&queues).map(|(control, queue)| queue_row(*control, *queue)).collect();
    rows.push(cubic_row(&queues));
    Ok((rows, figure(&loads)))
}

fn download(
    congestion_control: CongestionControl,
    network: &Network,
) -> Result<Downloads, ReproduceError> {
    let scheme = crate::scheme(super::blog::SCHEME)?;
    Ok(Downloads {
        options: Options { congestion_control, ..Options::new(scheme) },
        network: network.clone(),
        requests: vec![Download::new(0.0, BYTES, Kind::Other)],
        logs_window: true,
        migrating: Migrating::default(),
    })
}

/// The mean number of bytes that datagrams find in the queue once the window is steady.
fn mean_queue_bytes(load: &Downloaded, network: &Network) -> f64 {
    let queue = load.queue_bytes(network, STEADY_FROM_MS);
    queue.iter().map(|it| it.1).sum::<f64>() / queue.len() as f64
}

fn queue_row(control: CongestionControl, queue_bytes: f64) -> Row {
    let name = control.name();
    let metric = format!(
        "mean queue under {name} on a drop-tail queue of 1 MB, in bandwidth-delay products"
    );
    let queue = Some(queue_bytes / BDP_BYTES);
    let row = Row::shown(format!("steady-queue-{name}"), metric, queue).in_table(TABLE);
    if control == CongestionControl::Bbr2 { row.required().at_most(0.5) } else { row }
}

fn cubic_row(queues: &[f64]) -> Row {
    let metric = "mean queue under cubic divided by that under bbr2";
    Row::shown("steady-queue-cubic-over-bbr2", metric, ratio(Some(queues[1]), Some(queues[0])))
        .in_table(TABLE)
        .required()
        .at_least(5.0)
        .note("\"As a result the congestion window is often very close to the optimal\" under BBR.")
}

fn figure(loads: &[Downloaded]) -> Lines {
    let lines = CONTROLS.iter().zip(loads).map(|(control, load)| Line {
        label: control.name().to_owned(),
        points: steps(&load.window),
    });
    Lines {
        title: "Congestion windows on a bloated queue: 5 Mbit/s, 50 ms, 1 MB".to_owned(),
        across: "time (s)".to_owned(),
        up: "congestion window (kB)".to_owned(),
        lines: lines.collect(),
        levels: vec![
            ("bandwidth-delay product".to_owned(), BDP_BYTES / 1e3),
            ("and the queue of the link".to_owned(), (BDP_BYTES + QUEUE_BYTES as f64) / 1e3),
        ],
    }
}

/// Seconds and kilobytes; a window holds until the next.
fn steps(window: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut held = 0.0;
    let both = window.iter().flat_map(|&(at_ms, bytes)| {
        [std::mem::replace(&mut held, bytes), bytes].map(|it| (at_ms / 1e3, it / 1e3))
    });
    both.collect()
}
