//! Figure 13: what jitter costs with and without head-of-line blocking between streams, under `rr` and `fifo`.

use super::published::{STACK_RR_BLOCKED, STACK_RR_JITTER};
use super::stacks::Stacks;
use super::{DAVIES, KNOWN, load};
use crate::row::ratio;
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use corpus::Page;
use lab::ideal::Conditions;
use lab::study::RunRecord;
use lab::study::statistics::median;
use lab::{DeliveryOrder, Load, figure_resources};
use qlog_tools::figures::delivery_stacks::{DeliveryStacks, StackRow};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "marx-figure13",
    about: "Figure 13: stacks of packets under jitter, with and without head-of-line blocking",
    source: "Marx et al. 2019, Figure 13, page 142, and section 5.2, pages 141 and 142",
    engine: "ideal",
    run,
};

const SEEDS: u64 = 20;
/// The change of an index that counts as "hardly changes".
const HARDLY: f64 = 0.03;
/// With fewer resources to choose from even rr comes back to one before a packet that is held has come.
const SHARED: usize = 4;
/// How long a packet is held at most: until three later ones have gone.
const HELD_US: u64 = 40_000;
/// The figure shows the beginning of the load, as the paper's ("partial results").
const SHOWN_MS: f64 = 3000.0;

/// Loads of one scheme in one mode, a seed each.
struct Mode {
    label: &'static str,
    loads: Vec<Measured>,
    first: Load,
}

struct Measured {
    stacks: Stacks,
    index_ms: Option<f64>,
    /// The largest stack at a moment at which [`SHARED`] resources or more were under way.
    largest_shared: usize,
}

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let page = setting.page(DAVIES)?;
    let modes = [
        mode(page, "rr, jitter only", "rr", DeliveryOrder::Stream)?,
        mode(page, "rr, HOL-blocking", "rr", DeliveryOrder::Connection)?,
        mode(page, "fifo, jitter only", "fifo", DeliveryOrder::Stream)?,
        mode(page, "fifo, HOL-blocking", "fifo", DeliveryOrder::Connection)?,
    ];
    let figure = figure(page, &modes);
    Ok(Findings {
        method: format!(
            "The page of Davies and Meenan, with sizes of our own, on engine `ideal` and network `paper-jitter`: of \
             four packets one is held until 1 to 3 later ones have gone. {SEEDS} loads each, seeds 0 to {}; medians. \
             With blocking the client hands packets up in the order in which they left. {KNOWN}",
            SEEDS - 1
        ),
        rows: rows(&modes),
        schemes: vec!["rr".to_owned(), "fifo".to_owned()],
        pages: vec![Arc::clone(page)],
        tables: Vec::new(),
        svg: figure.svg(),
        caption: figure.caption(),
    })
}

fn mode(
    page: &Arc<Page>,
    label: &'static str,
    scheme: &str,
    delivery_order: DeliveryOrder,
) -> Result<Mode, ReproduceError> {
    let load = |seed| {
        let conditions = Conditions { delivery_order, seed, ..Conditions::default() };
        load(page, scheme, "paper-jitter", conditions)
    };
    let loads = (0..SEEDS).map(|seed| Ok(measured(page, &load(seed)?)));
    Ok(Mode { label, loads: loads.collect::<Result<_, ReproduceError>>()?, first: load(0)? })
}

fn measured(page: &Page, load: &Load) -> Measured {
    let stacks = Stacks::of(&load.timeline);
    let deliveries = load.timeline.deliveries();
    let transfers = load.timeline.transfers.iter().zip(&deliveries);
    let spans: Vec<(u64, u64)> = transfers
        .map(|(transfer, delivery)| {
            (transfer.requested_us, delivery.complete_us.unwrap_or(u64::MAX))
        })
        .collect();
    // A packet was chosen when the oldest of its stack could have come: some packets before.
    let under_way = |time_us: u64| {
        let chosen_us = time_us.saturating_sub(HELD_US);
        spans.iter().filter(|it| (it.0..it.1).contains(&chosen_us) && it.1 > time_us).count()
    };
    let shared = stacks.handed_up.iter().filter(|it| under_way(*it.0) >= SHARED);
    let largest_shared = shared.map(|it| it.1.len()).max().unwrap_or(0);
    Measured { largest_shared, stacks, index_ms: RunRecord::of_load(page, load).byte_index().atf }
}

impl Mode {
    fn median(&self, value: fn(&Measured) -> f64) -> Option<f64> {
        median(&self.loads.iter().map(value).collect::<Vec<_>>())
    }

    fn shared(&self) -> Option<f64> {
        self.median(|it| it.largest_shared as f64)
    }

    fn wait_ms(&self) -> Option<f64> {
        self.median(|it| it.stacks.blocking.intra.mean_ms)
    }

    /// The stacks of its whole loads.
    fn rows(&self) -> [Row; 2] {
        let label = self.label;
        let id = label.replace(", ", "-").replace(' ', "-").to_lowercase();
        [
            Row::shown(
                format!("{id}-largest"),
                format!("largest stack, {label}, whole load"),
                self.median(|it| it.stacks.largest() as f64),
            ),
            Row::shown(
                format!("{id}-stacked"),
                format!("share of packets handed up with others, {label}"),
                self.median(|it| it.stacks.stacked_share()),
            ),
        ]
    }

    /// Its ATF index, as a multiple of that of `plain`.
    fn change(&self, plain: &Self) -> Option<f64> {
        let index = |mode: &Self| mode.median(|it| it.index_ms.unwrap_or(f64::NAN));
        ratio(index(self), index(plain))
    }
}

fn rows(modes: &[Mode; 4]) -> Vec<Row> {
    let [rr, rr_blocked, fifo, fifo_blocked] = modes;
    let mut rows = stack_rows(rr, rr_blocked).to_vec();
    rows.extend(modes.iter().flat_map(Mode::rows));
    rows.extend([
        Row::shown(
            "rr-jitter-only-wait",
            "mean time that a byte waits for others of its stream, rr, jitter only, in ms",
            rr.wait_ms(),
        ),
        Row::shown("fifo-jitter-only-wait", "the same for fifo", fifo.wait_ms())
            .note("What \"this stream will always HOL-block itself\" costs."),
        Row::shown(
            "fifo-change",
            "ATF index of fifo with blocking, as a multiple of that without",
            fifo_blocked.change(fifo),
        )
        .published(1.0)
        .between(1.0 - HARDLY, 1.0 + HARDLY)
        .note("\"We do not see similar HOL-blocking resilience for the fifo scheme\": it blocks itself either way."),
        Row::shown(
            "rr-change",
            "ATF index of rr with blocking, as a multiple of that without",
            rr_blocked.change(rr),
        )
        .note("Delays of up to 30 ms are small beside the seconds that rr takes: stacks show them, indices hardly."),
    ]);
    rows
}

fn stack_rows(rr: &Mode, rr_blocked: &Mode) -> [Row; 3] {
    [
        Row::shown(
            "rr-jitter",
            "most packets that one arrival let go under rr, jitter only, whole load",
            rr.median(|it| it.stacks.blocking.largest_stack.frames as f64),
        )
        .published(STACK_RR_JITTER)
        .at_most(STACK_RR_JITTER)
        .note("\"Maximum of two\"."),
        Row::shown(
            "rr-blocked",
            format!("most packets handed up at one moment under rr with blocking, while {SHARED} resources or more share the link"),
            rr_blocked.shared(),
        )
        .published(STACK_RR_BLOCKED)
        .at_least(STACK_RR_BLOCKED)
        .note("\"Frequent stacks of four packets\"."),
        Row::shown(
            "rr-jitter-moment",
            format!("most packets handed up at one moment under rr, jitter only, while {SHARED} resources or more share the link"),
            rr.shared(),
        )
        .published(STACK_RR_JITTER)
        .note(
            "Packets that only came at the same moment count too: each is held with a probability of one in four \
             here, so that two can come with a third; the paper's implementation held each fourth packet.",
        ),
    ]
}

fn figure(page: &Page, modes: &[Mode]) -> DeliveryStacks {
    let resources = figure_resources(page);
    let by_url: BTreeMap<&str, usize> =
        resources.iter().enumerate().map(|(place, it)| (&*it.url, place)).collect();
    let rows = modes.iter().map(|mode| {
        let timeline = &mode.first.timeline;
        let streams: BTreeMap<u64, Option<usize>> = timeline
            .transfers
            .iter()
            .map(|it| (it.stream, by_url.get(&*it.url).copied()))
            .collect();
        let stacks = Stacks::of(timeline);
        let stacks = stacks.handed_up.iter().map(|(time_us, packets)| {
            let packets = packets.iter().map(|it| streams.get(it).copied().flatten()).collect();
            (*time_us as f64 / 1000.0, packets)
        });
        StackRow { label: mode.label.to_owned(), stacks: stacks.collect() }
    });
    let rows: Vec<StackRow> = rows.collect();
    DeliveryStacks {
        id: "marx-figure13".to_owned(),
        title: "davies-meenan under jitter: packets handed to HTTP/3 together, seed 0".to_owned(),
        slot_ms: 10.0,
        end_ms: SHOWN_MS,
        resources,
        rows,
    }
}
