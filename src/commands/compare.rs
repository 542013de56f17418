//! `utmost compare`: a study.

mod dimensions;
mod plan;
mod policy;
mod show;

use crate::values::Choices;
use crate::{figure_files, output, values};
use ::corpus::Query;
use ::serve::Failure;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as _, Command, Id};
use dimensions::Listed;
use figures::FigureStyle;
use lab::ideal::SendBufferModel;
use lab::study::engines::ENGINES;
use lab::study::record::{run_into, take_rounds_over};
use lab::study::{Engine, Plan, Shard, Study, StudyError, Sweep, Weights, folder, run_on};
use lab::{DeliveryOrder, Metadata};
use qlog_tools::metrics::{self, METRICS, Metric};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Load pages under several schemes and see which are better
///
/// A study loads every page under every scheme, in every setting and with every seed. All schemes are compared with one of them, the
/// baseline: a ratio is its ByteIndex divided by the scheme's. Without flags, it finds out which schemes are better than rfc9218 on the
/// pages of @web, over real QUIC on networks cable and 3g. With --paper, it repeats the study of Marx et al. (2019). With --out, each load
/// is recorded as soon as it is done, and the same command continues an interrupted study.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost compare @web --schemes dfifo,srpt --out out\n  \
utmost compare --paper --out paper\n  \
utmost compare agency-index --network 3g-lossy --seeds 9 --out study --shard 1/2\n  \
utmost compare agency-index --network 3g --seeds 9 --policy policy.toml\n  \
utmost compare davies-meenan --network cable --cc bbr2,cubic --queue 64k,2bdp\n  \
utmost compare davies-meenan --network cable --set rtt_ms=10,50,200 --set loss=0,0.01\n  \
utmost compare davies-meenan --cross none,bulk:cubic,web\n  \
utmost compare --pages 'recorded and resources > 40' --schemes fifo\n  \
utmost compare @first-60 --schemes dfifo,bucket-html --baseline fifo\n  \
utmost compare --from study/manifest.json --out again")]
pub(crate) struct Arguments {
    #[command(flatten)]
    asked: Asked,
    /// The scheme that others are compared with [default: rfc9218]
    ///
    /// It can also be a bracket. It runs whether or not --schemes names it. With --from, the default is the study's own.
    #[arg(long, value_name = "NAME", help_heading = SCHEMES)]
    baseline: Option<String>,
    /// The metric that ratios compare [default: `byte_index`]
    ///
    /// The tables have all metrics. With --from, the default is the study's own.
    #[arg(long, value_name = "NAME", value_parser = metric(), help_heading = STATISTICS, hide_short_help = true)]
    metric: Option<&'static Metric>,
    /// Weights of pages in means over pages and in their intervals [default: equal, or that of --from]
    #[arg(long, value_parser = values::choice(WEIGHTS), help_heading = STATISTICS, hide_short_help = true)]
    weights: Option<Weights>,
    /// Write tables, figures and the report into this directory
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    out: Option<PathBuf>,
    /// Repeat the study of this manifest, or in this folder
    #[arg(long, value_name = "FILE", conflicts_with_all = Asked::flags(), help_heading = OUTPUT)]
    from: Option<PathBuf>,
    /// Print JSON; with --out also into OUT/study.json
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Print which schemes differ from which: all of them against one another
    ///
    /// One table for each setting. The report, pairs.csv and the JSON always have all pairs.
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    all_pairs: bool,
    /// Loads at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = values::at_least_one, help_heading = OUTPUT, hide_short_help = true)]
    jobs: Option<NonZeroUsize>,
    /// Keep the qlogs, in OUT/qlogs
    #[arg(long, requires = "out", help_heading = OUTPUT, hide_short_help = true)]
    keep_qlogs: bool,
    #[command(flatten, next_help_heading = OUTPUT)]
    figures: values::Figures,
    /// Write a configuration for `utmost serve --config` with the better order of each page that has one
    ///
    /// It changes the scheme only for pages that get faster than with the default, which obeys browsers' signals. One third of the loads
    /// chooses a page's scheme, and the others must confirm it: the 95 % interval of the gain lies above 1 on every network. Needs an
    /// engine with a transport.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, hide_short_help = true)]
    policy: Option<PathBuf>,
    /// The scheme that others must beat to enter the policy. Its loads obey the clients' signals
    #[arg(long, value_name = "NAME", default_value = policy::OF_SITE, requires = "policy", help_heading = OUTPUT, hide_short_help = true)]
    policy_default: String,
    /// The host of your site, for the policy [default: the pages' hosts; the policy then serves the pages itself]
    #[arg(long, value_name = "NAME", value_parser = values::host, requires = "policy", help_heading = OUTPUT, hide_short_help = true)]
    host: Option<String>,
}

/// The groups of flags in the help.
const PAGES: &str = "Pages";
const SCHEMES: &str = "Schemes";
const LINK: &str = "Engine and link";
const SERVER: &str = "Server";
const STATISTICS: &str = "Statistics";
const OUTPUT: &str = "Output";

/// The requested study: what a manifest records.
#[derive(Debug, clap::Args)]
struct Asked {
    /// Bundled pages, sets such as @first-60, files, or folders [default: @web]
    #[arg(id = "PAGE", value_name = "PAGE", help_heading = PAGES)]
    page_names: Vec<String>,
    /// Select pages by a query, such as 'hero and resources > 40'
    ///
    /// Without PAGE, it selects from all bundled pages. Facts such as `recorded`, `hero` or `resources > 40` are joined by `and`, `or`,
    /// `not` and parentheses.
    #[arg(long, value_name = "QUERY", value_parser = Query::parse, help_heading = PAGES)]
    pages: Option<Query>,
    /// The conditions of Marx et al. (2019) in place of today's
    ///
    /// They are: engine ideal, network paper, baseline rr, pages @first-60, and one load of each. Other flags can replace each of these.
    #[arg(long, help_heading = PAGES)]
    paper: bool,
    /// Schemes, or `paper` or `all` [default: paper, and your own]
    ///
    /// They are separated by commas. `all` includes the schemes that look ahead in the page only with --metadata full. Engine ideal also
    /// has `oracle` and `anti-oracle`: the best and the worst order found for the resources above the fold.
    #[arg(long, value_name = "LIST", help_heading = SCHEMES)]
    schemes: Option<String>,
    #[command(flatten, next_help_heading = SCHEMES)]
    own: values::OwnSchemes,
    /// How pages are loaded [default: stack]
    #[arg(long, value_parser = engine(), help_heading = LINK)]
    engine: Option<&'static dyn Engine>,
    #[command(flatten, next_help_heading = LINK)]
    which: super::browser::Which,
    /// Networks such as lte, or files [default: cable,3g]
    #[arg(
        long,
        visible_alias = "networks",
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = LINK
    )]
    network: Vec<String>,
    #[command(flatten)]
    dimensions: Listed,
    /// `rtt_ms`, rate or loss for every network; can be repeated
    ///
    /// `rtt_ms` is the round-trip time without queues; rate is the downlink's rate in bit/s, such as 5M; loss is the share of packets lost
    /// on the downlink. Everything else keeps the network's own value.
    #[arg(long, value_name = "KEY=LIST", value_parser = Sweep::parse, help_heading = LINK)]
    set: Vec<Sweep>,
    /// The order in which the client hands over arrived bytes
    #[arg(long, value_parser = values::choice(values::DELIVERY_ORDERS), default_value = "stream", help_heading = LINK, hide_short_help = true)]
    delivery_order: DeliveryOrder,
    /// The facts that the server knows about the resources that it sends [default: browser]
    #[arg(long, value_parser = values::choice(METADATA), help_heading = SERVER, hide_short_help = true)]
    metadata: Option<Metadata>,
    /// The model of a send buffer
    #[arg(long, value_parser = values::choice(SEND_BUFFER_MODELS), default_value = "fifo", help_heading = SERVER, hide_short_help = true)]
    send_buffer_model: SendBufferModel,
    /// Initial congestion window [default: 10, or as large as needed if the server paces]
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u32).range(2..=100_000), help_heading = SERVER, hide_short_help = true)]
    initial_window: Option<u32>,
    /// Loads of each page and scheme [default: 9, or 1 where nothing is random]
    ///
    /// Seeds count up from --first-seed. All schemes meet the same link under the same seed. Nothing is random only on engine ideal without
    /// jitter: a transport skips packet numbers at random. In real time, and with --paper, the default is 1.
    #[arg(long, visible_alias = "loads", value_name = "N", value_parser = ::serve::whole_number(1..=100_000), help_heading = STATISTICS)]
    seeds: Option<u64>,
    /// Add seeds until each interval of a ratio is at most this wide, such as 5
    ///
    /// The width is how far the upper end of the widest 95 % interval lies above its lower end. There are 9 seeds, and 8 more in each
    /// round, but at most --seeds, by default 64. It also ends when 8 more do not narrow the interval. The conditions say why it ended.
    #[arg(long, value_name = "PERCENT", value_parser = width, conflicts_with = "policy", help_heading = STATISTICS, hide_short_help = true)]
    width: Option<f64>,
    /// The first seed. Other seeds repeat a study with other random numbers
    #[arg(long, value_name = "N", default_value = "0", value_parser = ::serve::whole_number(0..=(1 << 48) - 1), help_heading = STATISTICS, hide_short_help = true)]
    first_seed: u64,
    /// Carry out only part I of N of the study, for one of N machines. `utmost merge` joins the parts
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, requires = "out", help_heading = OUTPUT, hide_short_help = true)]
    shard: Option<Shard>,
}

/// A width of intervals, in percent.
fn width(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    percent
        .filter(|it| (0.1..=100.0).contains(it))
        .ok_or_else(|| "it must be from 0.1 to 100".to_owned())
}

impl Asked {
    /// Everything that a manifest records in place of flags.
    fn flags() -> Vec<Id> {
        let command = Self::augment_args(Command::new("asked"));
        command.get_arguments().map(|it| it.get_id().clone()).collect()
    }
}

fn metric() -> impl TypedValueParser<Value = &'static Metric> {
    let names = METRICS.iter().map(|it| PossibleValue::new(it.name).help(it.meaning));
    PossibleValuesParser::new(names).try_map(|it| metrics::find(&it).ok_or("not a metric"))
}

fn engine() -> impl TypedValueParser<Value = &'static dyn Engine> {
    let names = ENGINES.map(|it| PossibleValue::new(it.name()).help(it.facts().about));
    PossibleValuesParser::new(names).try_map(|name| {
        let found = ENGINES.into_iter().find(|it| it.name() == name);
        found.ok_or("not an engine")
    })
}

const SEND_BUFFER_MODELS: Choices<SendBufferModel> = &[
    ("fifo", "Bytes between scheduler and transport, first in, first out", SendBufferModel::Fifo),
    (
        "delay",
        "Every request except the document's is late by the time that a full buffer takes to drain: probably how the \
         paper emulated a buffer. On engine ideal",
        SendBufferModel::Delay,
    ),
];

const WEIGHTS: Choices<Weights> = &[
    ("equal", "Each the same", Weights::Equal),
    (
        "web",
        "As the web's pages by numbers of resources and bytes (HTTP Archive); the pages of a site share what one counts, and \
         handmade examples count nothing. `utmost corpus stats` shows the weights",
        Weights::Web,
    ),
];

const METADATA: Choices<Metadata> = &[
    ("none", "Their kinds, from the MIME types, and their sizes", Metadata::None),
    (
        "browser",
        "Everything that a browser knows when it sends the request: in the head, async, defer, preload, blocking; not \
         what is above the fold",
        Metadata::Browser,
    ),
    (
        "full",
        "All facts of the page, also what is above the fold, which the metrics reward and no server knows by itself",
        Metadata::Full,
    ),
];

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut plan = plan::plan(arguments)?;
    if let Some(folder) = &arguments.out {
        values::directory(folder, "--out")?;
    }
    let mut study = carry_out_rounds(&mut plan, arguments.out.as_deref())?;
    plan::note_what_changes_nothing(arguments, &plan);
    let (out, style) = (arguments.out.as_deref(), arguments.figures.style());
    present(&plan, &mut study, out, style, arguments.json, arguments.all_pairs)?;
    policy::write(arguments, &plan, &study)?;
    finished(&plan, &study)
}

/// Carries out a study, whose seeds can come in rounds.
fn carry_out_rounds(plan: &mut Plan, out: Option<&Path>) -> Result<Study, Failure> {
    if let Some(folder) = out {
        take_rounds_over(plan, folder);
    }
    let mut study = carry_out(plan, Study::default(), out, "page loads")?;
    while plan.another_round(&mut study) {
        study = carry_out(plan, study, out, "page loads")?;
    }
    Ok(study)
}

/// Carries a study out and writes each load into `out` as soon as it is done. The loads of `before` are done. `what`: the unit of the
/// progress bar.
pub(crate) fn carry_out(
    plan: &Plan,
    before: Study,
    out: Option<&Path>,
    what: &'static str,
) -> Result<Study, Failure> {
    let bar = output::progress(plan.loads(), what);
    let study = match out {
        Some(folder) => run_into(plan, output::provenance(), folder, &|| bar.inc(1)),
        None => run_on(plan, before, output::provenance(), &|| bar.inc(1)),
    };
    bar.finish_and_clear();
    study.map_err(failure)
}

pub(crate) fn failure(error: StudyError) -> Failure {
    if error.is_bad_input() { Failure::bad_input(error) } else { Failure::elsewhere(error) }
}

/// Writes tables, figures and the report into `out`, and prints the study.
pub(crate) fn present(
    plan: &Plan,
    study: &mut Study,
    out: Option<&Path>,
    style: FigureStyle,
    json: bool,
    all_pairs: bool,
) -> Result<(), Failure> {
    if out.is_some() || json || all_pairs {
        study.compare_pairs(plan);
    }
    if let Some(folder) = out {
        let missing = folder::write(plan, study, folder, style, json);
        let missing = missing.map_err(Failure::elsewhere)?;
        figure_files::without_png(missing.as_ref());
    }
    if json {
        return output::json(study);
    }
    show::show(plan, study, all_pairs)?;
    match out {
        Some(it) => output::line(&format!("report: {}", it.join(folder::REPORT).display())),
        None => Ok(()),
    }
}

/// Fails if a load did not finish.
pub(crate) fn finished(plan: &Plan, study: &Study) -> Result<(), Failure> {
    let mut unfinished = study.runs.iter().filter_map(|it| Some((it, it.unfinished.as_ref()?)));
    let Some((run, why)) = unfinished.next() else { return Ok(()) };
    let more = match unfinished.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let what = if why.of_scheme { "failed" } else { "did not finish" };
    let folder = plan.unfinished_dir.as_deref().or(plan.qlog_dir.as_deref()).and_then(Path::parent);
    let logs = match (&why.qlog, folder) {
        (Some(qlog), Some(folder)) => format!("; its qlog is in {}", folder.join(qlog).display()),
        _ => String::new(),
    };
    Err(Failure::Elsewhere(format!(
        "page {} under {} on {} with seed {} {what}: {}{logs}{more}",
        run.page, run.scheme, run.setting.network, run.seed, why.problem
    )))
}
