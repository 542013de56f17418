//! Figure 13: what jitter costs with and without head-of-line blocking between streams, under `rr` and `fifo`.

use super::published::{STACK_RR_BLOCKED, STACK_RR_JITTER};
use super::readings::Reading;
use super::stacks::{SLOT_US, Stacks};
use super::{KNOWN, load};
use crate::row::ratio;
use crate::{
    CONTROLS, Estimate, Experiment, Findings, Line, ReproduceError, Row, Setting, Table,
    in_parallel,
};
use corpus::Page;
use figures::axis::Axis;
use figures::delivery_stacks::{DeliveryStacks, StackRow};
use lab::ideal::Conditions;
use lab::network::Network;
use lab::stack::{self, Setup};
use lab::study::RunRecord;
use lab::study::statistics::median;
use lab::{DeliveryOrder, Load, Metadata, figure_resources};
use qlog_tools::page_resources::places_of_streams;
use server::{Identity, Options};
use simulator::link::{Jitter, OvertakenInTurn};
use std::sync::Arc;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "marx-figure13",
    about: "Figure 13: stacks of packets under jitter, with and without head-of-line blocking",
    source: "Marx et al. 2019, Figure 13, page 142, and section 5.2, pages 141 and 142",
    engine: "ideal",
    conditions: "page davies-meenan-public; engine ideal, network paper-jitter-turn (a packet of 1400 bytes each 10 ms), no send buffer, metadata full; 20 loads, of which the first is drawn (seed 0)",
    run,
};

const SEEDS: u64 = 20;
const STACK_SEEDS: u64 = 5;
/// The change of an index that counts as "hardly changes".
const HARDLY: f64 = 0.03;
/// With fewer resources to choose from even rr returns to one before a held packet has arrived.
const SHARED: usize = 4;
/// How long a packet is held at most: until three later ones have gone.
const HELD_US: u64 = 40_000;
/// The figure shows the beginning of the load, as the paper's ("partial results").
const SHOWN_MS: f64 = 3000.0;

/// A way to delay packets, and the page on which it is tried.
struct Jittering {
    network: &'static str,
    /// The place of the page among [`Reading::all`].
    reading: usize,
    prefix: &'static str,
    table: &'static str,
}

/// The paper says "about one packet in four is delayed until 1-3 other packets have been sent", of "semi-random packets".
const JITTERINGS: [Jittering; 4] = [
    Jittering {
        network: "paper-jitter-turn",
        reading: 0,
        prefix: "public-turn-",
        table: "The public page: each fourth packet waits for 1 to 3 later ones",
    },
    Jittering {
        network: "paper-jitter-turn",
        reading: 3,
        prefix: "turn-",
        table: "The page that we made by hand: each fourth packet waits for 1 to 3 later ones",
    },
    Jittering {
        network: "paper-jitter",
        reading: 3,
        prefix: "",
        table: "The same page: one of four packets, chosen at random, waits for 1 to 3 later ones",
    },
    Jittering {
        network: "paper-jitter-fourth",
        reading: 3,
        prefix: "fourth-",
        table: "The same page: each fourth packet is late by 20 to 25 ms, as the implementation had it",
    },
];

const MODES: [(&str, &str, DeliveryOrder); 4] = [
    ("rr, jitter only", "rr", DeliveryOrder::Stream),
    ("rr, HOL-blocking", "rr", DeliveryOrder::Connection),
    ("fifo, jitter only", "fifo", DeliveryOrder::Stream),
    ("fifo, HOL-blocking", "fifo", DeliveryOrder::Connection),
];

struct Mode {
    label: &'static str,
    loads: Vec<Measured>,
    first: Load,
}

struct Measured {
    stacks: Stacks,
    index_ms: Option<f64>,
    /// The largest stack at a moment at which [`SHARED`] resources or more were in progress.
    largest_shared: usize,
}

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let readings = Reading::all(setting)?;
    let (mut found, mut drawn) = (Vec::new(), None);
    for jittering in &JITTERINGS {
        let modes = modes(&readings[jittering.reading].page, jittering)?;
        found.extend(rows(&modes, jittering));
        drawn.get_or_insert(modes);
    }
    let page = &readings[0].page;
    let figure = figure(page, drawn.iter().flatten());
    Ok(Findings {
        method: format!(
            "The paper's \"semi-random\" in three readings, on engine `ideal`. On network `paper-jitter-turn`, each fourth packet is held until 1 \
             to 3 later ones have gone: the text's delay, of the packets that its implementation counted out. On `paper-jitter`, chance \
             chooses one of four. On `paper-jitter-fourth`, each fourth packet comes 20 to 25 ms late, which 2 later \
             ones overtake. {SEEDS} loads each, seeds 0 to {}; medians. Packets are handed up at one moment if it is in the \
             same slot of 10 ms, the width of a packet in the figure. With blocking the client hands packets up in the order \
             in which they left. {KNOWN}",
            SEEDS - 1
        ),
        rows: found,
        schemes: vec!["rr".to_owned(), "fifo".to_owned()],
        pages: Reading::pages(&readings),
        tables: vec![over_quic(page, setting.jobs)?],
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: format!(
            "Each block is one packet at the moment at which HTTP/3 got it; those that it got together stand on one another. The first {:.1} s are shown.",
            SHOWN_MS / 1000.0
        ),
    })
}

fn modes(page: &Arc<Page>, jittering: &Jittering) -> Result<[Mode; 4], ReproduceError> {
    let [rr, rr_blocked, fifo, fifo_blocked] = MODES.map(|(label, scheme, delivery_order)| {
        let conditions = Conditions { delivery_order, ..Conditions::default() };
        let mut loads = Vec::new();
        for seed in 0..SEEDS {
            let conditions = Conditions { seed, ..conditions };
            loads.push(measured(page, &load(page, scheme, jittering.network, conditions)?));
        }
        let first = load(page, scheme, jittering.network, conditions)?;
        Ok::<_, ReproduceError>(Mode { label, loads, first })
    });
    Ok([rr?, rr_blocked?, fifo?, fifo_blocked?])
}

fn measured(page: &Page, load: &Load) -> Measured {
    let stacks = Stacks::of(&load.timeline);
    let deliveries = load.timeline.deliveries();
    let transfers = load.timeline.transfers.iter().zip(&deliveries);
    let spans: Vec<(u64, u64)> =
        transfers.map(|it| (it.0.requested_us, it.1.complete_us.unwrap_or(u64::MAX))).collect();
    let mut largest_shared = 0;
    for (time_us, packets) in &stacks.handed_up {
        // A packet was chosen when the oldest of its stack could have come: some packets before.
        let chosen_us = time_us.saturating_sub(HELD_US);
        let under_way =
            spans.iter().filter(|it| (it.0..it.1).contains(&chosen_us) && it.1 > *time_us);
        if under_way.count() >= SHARED {
            largest_shared = largest_shared.max(packets.len());
        }
    }
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

    fn largest(&self) -> Option<f64> {
        self.median(|it| it.stacks.largest() as f64)
    }

    fn fours(&self) -> Option<f64> {
        self.median(|it| it.stacks.at_least(4) as f64)
    }

    fn rows(&self, prefix: &str) -> [Row; 2] {
        let label = self.label;
        let id = label.replace(", ", "-").replace(' ', "-");
        let stacked = self.median(|it| it.stacks.stacked_share());
        [
            ("largest", format!("largest stack, {label}, whole load"), self.largest()),
            ("stacked", format!("share of packets handed up with others, {label}"), stacked),
        ]
        .map(|(of, what, ours)| Row::shown(format!("{prefix}{id}-{of}"), what, ours))
    }

    /// Its ATF index, as a multiple of that of `plain`.
    fn change(&self, plain: &Self) -> Option<f64> {
        let [own, plain] =
            [self, plain].map(|mode| mode.median(|it| it.index_ms.unwrap_or(f64::NAN)));
        ratio(own, plain)
    }
}

fn rows(modes: &[Mode; 4], jittering: &Jittering) -> Vec<Row> {
    let [rr, rr_blocked, fifo, fifo_blocked] = modes;
    let prefix = jittering.prefix;
    let mut rows = stack_rows(rr, rr_blocked, prefix);
    rows.extend(modes.iter().flat_map(|it| it.rows(prefix)));
    rows.extend([
        Row::shown(
            format!("{prefix}rr-jitter-only-wait"),
            "mean time that a byte waits for others of its stream, rr, jitter only, in ms",
            rr.wait_ms(),
        ),
        Row::shown(format!("{prefix}fifo-jitter-only-wait"), "the same for fifo", fifo.wait_ms())
            .note("What \"this stream will always HOL-block itself\" costs."),
        Row::shown(
            format!("{prefix}fifo-change"),
            "ATF index of fifo with blocking, as a multiple of that without",
            fifo_blocked.change(fifo),
        )
        .published(1.0)
        .between(1.0 - HARDLY, 1.0 + HARDLY)
        .note("\"We do not see similar HOL-blocking resilience for the fifo scheme\": it blocks itself either way."),
        Row::shown(
            format!("{prefix}rr-change"),
            "ATF index of rr with blocking, as a multiple of that without",
            rr_blocked.change(rr),
        )
        .note("Delays of up to 30 ms are small beside the seconds that rr takes: stacks show them, indices hardly."),
    ]);
    rows.into_iter().map(|it| it.in_table(jittering.table)).collect()
}

fn stack_rows(rr: &Mode, rr_blocked: &Mode, prefix: &str) -> Vec<Row> {
    vec![
        Row::shown(
            format!("{prefix}rr-jitter"),
            "most packets handed up at one moment under rr, jitter only, whole load",
            rr.largest(),
        )
        .published(STACK_RR_JITTER)
        .at_most(STACK_RR_JITTER)
        .note("\"Maximum of two\" (page 141): one-sided, as these words are. The next two rows are other readings of them."),
        Row::shown(
            format!("{prefix}rr-jitter-moment"),
            format!("most packets handed up at one moment under rr, jitter only, while {SHARED} resources or more share the link"),
            rr.shared(),
        )
        .published(STACK_RR_JITTER)
        .note("Alternative: the paper shows \"partial results\", and at the ends of a load even rr is sequential."),
        Row::shown(
            format!("{prefix}rr-jitter-arrival"),
            "most packets that one arrival let go under rr, jitter only, whole load",
            rr.median(|it| it.stacks.blocking.largest_stack.frames as f64),
        )
        .published(STACK_RR_JITTER)
        .note("Alternative: packets that only came at the same moment do not count. The paper stacks these, too."),
        Row::shown(
            format!("{prefix}rr-blocked"),
            format!("most packets handed up at one moment under rr with blocking, while {SHARED} resources or more share the link"),
            rr_blocked.shared(),
        )
        .published(STACK_RR_BLOCKED)
        .between(STACK_RR_BLOCKED, STACK_RR_BLOCKED)
        .note("\"Frequent stacks of four packets\".")
        .because("20 to 25 ms are 2 packets' time: 2 packets wait for the late one, so 3 come together."),
        Row::shown(
            format!("{prefix}rr-blocked-fours"),
            "stacks of four packets or more in a load, rr with blocking",
            rr_blocked.fours(),
        )
        .note("\"Frequent\"."),
        Row::shown(
            format!("{prefix}rr-jitter-fours"),
            "stacks of four packets or more in a load, rr, jitter only",
            rr.fours(),
        ),
    ]
}

/// The same jitter under real congestion controls: a late packet counts as lost if three later ones have arrived (RFC 9002, 6.1.1).
fn over_quic(page: &Arc<Page>, jobs: usize) -> Result<Table, ReproduceError> {
    let identity = Identity::self_signed().map_err(ReproduceError::unusable)?;
    let plain = Network::find("cable").map_err(ReproduceError::unusable)?;
    let turn = OvertakenInTurn { every: 4, later: [1, 3], at_most_ms: HELD_US as f64 / 1e3 };
    let mut jittered = plain.clone();
    jittered.down.jitter = Some(Jitter::InTurn(turn));
    let modes = [
        (&plain, DeliveryOrder::Stream),
        (&jittered, DeliveryOrder::Stream),
        (&jittered, DeliveryOrder::Connection),
    ];
    let mut lines = Vec::new();
    for control in CONTROLS {
        for scheme in ["rr", "fifo"] {
            let options =
                Options { congestion_control: control, ..Options::new(crate::scheme(scheme)?) };
            let seeds: Vec<u64> = (0..STACK_SEEDS).collect();
            let values = modes.map(|(network, delivery_order)| {
                let indices = in_parallel(jobs, &seeds, |&seed| {
                    let setup = Setup::new(options.clone(), network, &identity);
                    let setup = Setup { seed, delivery_order, metadata: Metadata::Full, ..setup };
                    let load = stack::load(page, setup).map_err(ReproduceError::unusable)?.load;
                    Ok(RunRecord::of_load(page, &load).byte_index().atf.unwrap_or(f64::NAN))
                })?;
                Ok::<_, ReproduceError>(Estimate::new(median(&indices), None))
            });
            let values = values.into_iter().collect::<Result<_, _>>()?;
            lines.push(Line { labels: vec![control.name().to_owned(), scheme.to_owned()], values });
        }
    }
    Ok(Table {
        heading: format!(
            "Under real congestion controls: ByteIndex above the fold in ms, engine stack, network cable, medians of {STACK_SEEDS} loads"
        ),
        labels: vec!["congestion control", "scheme"],
        columns: ["no jitter", "jitter only", "HOL-blocking"].map(str::to_owned).into(),
        lines,
    })
}

fn figure<'a>(page: &Page, modes: impl Iterator<Item = &'a Mode>) -> DeliveryStacks {
    let resources = figure_resources(page);
    let rows = modes.map(|mode| {
        let timeline = &mode.first.timeline;
        let streams = places_of_streams(&resources, timeline);
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
        title: "davies-meenan-public under jitter: packets handed to HTTP/3 together, seed 0"
            .to_owned(),
        axis: Axis::Time,
        words: std::convert::identity,
        slot: SLOT_US as f64 / 1000.0,
        end: SHOWN_MS,
        resources,
        rows,
    }
}
