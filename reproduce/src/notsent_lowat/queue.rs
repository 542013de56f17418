//! The bytes that wait in the link's queue during a long download: the article's windows of a loss-based congestion
//! control and of BBR.

use super::{BDP_BYTES, BITS_PER_S, RTT_MS};
use crate::bench::Bench;
use crate::downloads::{Download, Downloaded, Downloads, network};
use crate::row::ratio;
use crate::{CONTROLS, ReproduceError, Row};
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

pub(super) fn measure(bench: &Bench) -> Result<(Vec<Row>, Lines), ReproduceError> {
    let network = network("bloated", BITS_PER_S, RTT_MS, Queue::Bytes(QUEUE_BYTES));
    let downloads = CONTROLS.into_iter().map(|it| download(it, &network));
    let loads = bench.downloads(&downloads.collect::<Result<Vec<_>, _>>()?)?;
    let queues: Vec<f64> = loads.iter().map(|it| mean_queue_bytes(it, &network)).collect();
    let mut rows: Vec<Row> =
        CONTROLS.iter().zip(&queues).map(|(control, queue)| queue_row(*control, *queue)).collect();
    rows.push(cubic_row(&queues));
    for (control, load) in CONTROLS.into_iter().zip(&loads).skip(1) {
        rows.extend(reduction_rows(control, load));
    }
    Ok((rows, figure(&loads)))
}

fn download(
    congestion_control: CongestionControl,
    network: &Network,
) -> Result<Downloads, ReproduceError> {
    let scheme = crate::scheme(super::blog::SCHEME)?;
    let options = Options { congestion_control, ..Options::new(scheme) };
    let requests = vec![Download::new(0.0, BYTES, Kind::Other)];
    Ok(Downloads { logs_window: true, ..Downloads::new(options, network.clone(), requests) })
}

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
    let row = if control == CongestionControl::Bbr2 { row.required().at_most(0.5) } else { row };
    row.under(control)
}

fn cubic_row(queues: &[f64]) -> Row {
    let metric = "mean queue under cubic divided by that under bbr2";
    Row::shown("steady-queue-cubic-over-bbr2", metric, ratio(Some(queues[1]), Some(queues[0])))
        .in_table(TABLE)
        .required()
        .at_least(5.0)
        .note("\"As a result the congestion window is often very close to the optimal\" under BBR.")
        .under(CongestionControl::Cubic)
}

/// How a loss-based window reacted to the queue's drops.
fn reduction_rows(control: CongestionControl, load: &Downloaded) -> [Row; 3] {
    let name = control.name();
    let lost = load.sent.iter().filter(|it| it.arrived_ms.is_none()).count();
    let (reductions, taken_back) = reductions(&load.window);
    let rows = [
        ("lost", "datagrams that the queue dropped", lost),
        ("reductions", "reductions of the window by a fifth or more", reductions),
        ("reductions-taken-back", "reductions that one step took back", taken_back),
    ];
    rows.map(|(id, what, count)| {
        let metric = format!("{what} during the same download, {name}");
        let row = Row::shown(format!("{id}-{name}"), metric, Some(count as f64));
        row.in_table(TABLE).under(control)
    })
}

/// How often a window fell by a fifth or more at once, and how often one step brought it back to where it had been.
fn reductions(window: &[(f64, f64)]) -> (usize, usize) {
    let (mut reductions, mut taken_back) = (0, 0);
    let mut reduced_from = f64::INFINITY;
    for (before, after) in window.iter().zip(window.iter().skip(1)).map(|it| (it.0.1, it.1.1)) {
        if after <= before * 0.8 {
            reductions += 1;
            reduced_from = before;
        } else if after >= reduced_from && after >= before * 1.2 {
            taken_back += 1;
            reduced_from = f64::INFINITY;
        }
    }
    (reductions, taken_back)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9438, 4.9 restores a window only where the packets turn out not to have been lost. Here the link did drop them.
    #[test]
    fn the_transports_cubic_takes_reductions_back_although_packets_were_lost() {
        let network = network("test", 10e6, 50.0, Queue::Bytes(125_000));
        let bench = Bench::new(2, 1, 0.0).expect("threads");
        let of = |control| {
            let download = download(control, &network).expect("a scheme");
            let requests = vec![Download::new(0.0, 20_000_000, Kind::Other)];
            let loads = bench.downloads(&[Downloads { requests, ..download }]).expect("runs");
            let lost = loads[0].sent.iter().filter(|it| it.arrived_ms.is_none()).count();
            (lost, reductions(&loads[0].window))
        };
        let cubic = of(CongestionControl::Cubic);
        let reno = of(CongestionControl::Reno);
        // Datagrams that the queue dropped, reductions, and those that one step took back.
        assert_eq!(cubic, (398, (28, 23)));
        assert_eq!(reno, (84, (2, 0)));
    }
}
