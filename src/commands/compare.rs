//! `utmost compare`: a study.

use crate::failure::Failure;
use crate::output::number;
use crate::{output, values};
use ::corpus::Page;
use clap::ValueEnum;
use lab::Contender;
use lab::network::Network;
use lab::study::{Engine, Plan, Study, StudyError};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Load pages under several schemes and compare them
///
/// A study: every page under every scheme. `rr` is always run, as the baseline: a speedup is its
/// ByteIndex divided by the scheme's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost compare davies-meenan --schemes paper --out out\n  \
utmost compare gentelella-index agency-index --schemes all --engine wire --send-buffer 0,280k --json")]
pub(crate) struct Arguments {
    /// Pages: bundled names, or files
    #[arg(required = true, value_name = "PAGE")]
    pages: Vec<String>,
    /// Schemes, separated by commas; `paper` and `all` stand for several. On engine ideal also
    /// `oracle` and `anti-oracle`, the best and the worst order found
    #[arg(long, value_name = "LIST", default_value = "paper")]
    schemes: String,
    /// How pages are loaded
    #[arg(long, value_enum, default_value = "ideal")]
    engine: EngineName,
    /// The network: paper, 2g, 3g, lte, cable, satellite, ..., or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "paper")]
    network: String,
    /// Send buffers, separated by commas
    #[arg(long, value_name = "LIST", default_value = "0", value_delimiter = ',', value_parser = values::size)]
    send_buffer: Vec<u64>,
    /// Congestion control, where there is a transport
    /// [default: bbr2]
    #[arg(long, value_enum)]
    cc: Option<values::Cc>,
    /// Initial congestion window [default: 10; where the server paces, as large as needed]
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    initial_window: Option<u32>,
    /// Loads of each page under each scheme, each with its own chance: 0 to N - 1. With the same seed
    /// every scheme meets the same link
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// Loads at a time [default: the number of cores; on the wire half of it, or, where the server
    /// paces and loads mostly wait, 16]
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    /// Write tables, figures and the report into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep the qlogs, in OUT/qlogs
    #[arg(long, requires = "out")]
    keep_qlogs: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EngineName {
    /// No transport, one packet a tick: exact, and done in no time
    Ideal,
    /// The real server and client through the lab's links, in virtual time
    Stack,
    /// The real server and client over UDP on loopback, through the lab's links, in real time
    Wire,
}

const WIRE_JOBS: usize = 16;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    if let Some(folder) = &arguments.out {
        values::directory(folder, "--out")?;
    }
    let bar = output::progress(plan.loads(), "page loads");
    let study =
        lab::study::run(&plan, output::provenance(), &|| bar.inc(1)).map_err(
            |error| match error {
                StudyError::Network(_) | StudyError::NoBracket { .. } => Failure::bad_input(error),
                _ => Failure::elsewhere(error),
            },
        )?;
    bar.finish_and_clear();
    if arguments.json {
        output::json(&study)?;
    } else {
        show(&study)?;
    }
    if let Some(folder) = &arguments.out {
        let written =
            lab::study::folder::write(&plan, &study, folder).map_err(Failure::bad_input)?;
        if let Some(reason) = written.without_png {
            eprintln!("no PNG files: {reason}");
        }
        if !arguments.json {
            output::line(&format!("report: {}", written.report.display()))?;
        }
    }
    match study.runs.iter().find(|it| !it.completed) {
        Some(run) => Err(Failure::Elsewhere(format!(
            "page {} under {} with seed {} did not complete",
            run.page, run.scheme, run.seed
        ))),
        None => Ok(()),
    }
}

fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let mut pages: Vec<Arc<Page>> = Vec::new();
    for argument in &arguments.pages {
        let page = values::page(argument)?;
        if pages.iter().any(|it| it.name == page.name) {
            let name = &page.name;
            return Err(Failure::BadInput(format!(
                "{argument}: a second page named `{name}`; name each once"
            )));
        }
        pages.push(Arc::new(page));
    }
    let mut send_buffers_bytes = arguments.send_buffer.clone();
    send_buffers_bytes.sort_unstable();
    send_buffers_bytes.dedup();
    if arguments.cc.is_some() && matches!(arguments.engine, EngineName::Ideal) {
        let cause = "--cc: engine ideal has no congestion control; use --engine stack or wire";
        return Err(Failure::BadInput(cause.to_owned()));
    }
    let network = Network::find(&arguments.network).map_err(Failure::bad_input)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let (engine, default_jobs) = match arguments.engine {
        EngineName::Ideal => (Engine::Ideal, cores),
        EngineName::Stack => (Engine::Stack, cores),
        EngineName::Wire if network.server_pace => (Engine::Wire, WIRE_JOBS),
        // A link in real time must be in time: it has a core to itself.
        EngineName::Wire => (Engine::Wire, (cores / 2).max(1)),
    };
    let kept = arguments.out.as_ref().filter(|_| arguments.keep_qlogs).map(|it| it.join("qlogs"));
    Ok(Plan {
        pages,
        schemes: with_baseline(values::contenders(&arguments.schemes)?)?,
        engine,
        network,
        send_buffers_bytes,
        seeds: (0..arguments.seeds).collect(),
        congestion_control: arguments.cc.unwrap_or(values::Cc::Bbr2).into(),
        initial_window_packets: arguments.initial_window.map(|it| it as usize),
        jobs: arguments.jobs.map_or(default_jobs, NonZeroUsize::get),
        qlog_dir: kept,
    })
}

fn with_baseline(schemes: Vec<Contender>) -> Result<Vec<Contender>, Failure> {
    if schemes.iter().any(|it| it.name() == "rr") {
        return Ok(schemes);
    }
    let mut all = vec![Contender::find("rr").map_err(Failure::bad_input)?];
    all.extend(schemes);
    Ok(all)
}

fn show(study: &Study) -> Result<(), Failure> {
    let several_buffers =
        study.summary.iter().any(|it| it.send_buffer_bytes != study.summary[0].send_buffer_bytes);
    let rows = study.summary.iter().map(|row| {
        let indices = |pick: fn(&lab::study::RunRecord) -> Option<f64>| {
            let runs = study.runs.iter();
            let same = runs.filter(|it| {
                it.scheme == row.scheme && it.send_buffer_bytes == row.send_buffer_bytes
            });
            let values: Vec<f64> = same.filter_map(pick).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let name = if several_buffers {
            format!("{} {}", row.scheme, row.send_buffer_bytes)
        } else {
            row.scheme.clone()
        };
        vec![
            name,
            row.pages.to_string(),
            number(indices(|it| it.byte_index.all), 0),
            number(indices(|it| it.byte_index.atf), 0),
            number(row.mean_speedup.all, 2),
            number(row.mean_speedup.atf, 2),
            number(row.best_page_speedup.atf, 2),
            number(row.worst_page_speedup.atf, 2),
            number(row.mean_regret.atf, 2),
        ]
    });
    let header = [
        "scheme",
        "pages",
        "index all ms",
        "index ATF ms",
        "speedup all",
        "speedup ATF",
        "best ATF",
        "worst ATF",
        "regret ATF",
    ];
    output::line(&output::table(&header, &[], rows).to_string())
}
