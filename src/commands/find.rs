//! `utmost find`: which order should a site send its pages in?

mod again;
mod all_pages;
mod compared;
mod inputs;
mod measured;
mod policy;
mod show;

use crate::values::Choices;
use crate::{output, values};
use ::client::profile::Profile;
use ::serve::Failure;
use compared::{Compare, Compared};
use gateway::Config;
use inputs::{Browser, Inputs, Read, page_name};
pub(crate) use inputs::{page_of_file, page_of_url};
use lab::Contender;
use lab::export::{Server, of_policy};
use lab::finder::{
    Answer, BaselineServer, ByHints, ByResource, Change, Confirmation, Findings, Goal, PolicySite,
    Question, SiteAnswer, Step, Verdict, advice, at_host, candidates, confirm, find, report,
};
use lab::study::folder::REPORT;
use lab::study::{Engine, StudyError, engines};
use output::ProgressBar;
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const FORMAT: &str = "utmost-find/2";

/// Find which responses of a page should come earlier, and the configuration for it
///
/// The answer is a set of priorities for single responses, which every server that supports RFC 9218 can use. `find` searches on engine
/// ideal. It then loads the page on engine stack in the present order and with the new priorities, with the same seeds, until the 95 %
/// interval of their ratio is narrow. It never advises a change that shows the page or its largest image later on any network.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost find agency-index\n  \
utmost find home.har shop.har --networks lte,3g --out answer\n  \
utmost find @first-60 --networks cable --width 0.1 --json\n  \
utmost find client.sqlog\n  \
utmost find https://shop.example/ --networks lte,3g --measure\n  \
utmost find public --all-pages --baseline-server nginx --export nginx\n  \
utmost find home.har --policy policy.toml --site http://127.0.0.1:8080\n  \
utmost find home.har --export nginx > priorities.conf\n  \
utmost find public --policy policy.toml --host www.shop.example\n  \
utmost find home.har --metric byte_index:2,first_render:1\n  \
utmost find home.har --networks 3g --with-hints --policy policy.toml\n  \
utmost find agency-index --networks 3g --details\n  \
utmost find agency-home --networks 3g --profile chromium-156 --confirm=browser\n  \
utmost find --from policy.toml --export caddy\n  \
utmost find home.har --baseline main.json --markdown change.md --junit change.xml")]
#[expect(clippy::struct_excessive_bools, reason = "flags, independent of each other")]
pub(crate) struct Arguments {
    /// Pages, recordings, logs, a folder or a URL. Pages are bundled names, sets of them such as @first-60, and page files. Recordings have
    /// any format that `utmost corpus import` reads, such as HAR. Logs are clients' qlogs of any QUIC stack. Chromium loads a folder or URL
    #[arg(id = "INPUT", value_name = "INPUT", required_unless_present = "from")]
    inputs: Vec<String>,
    /// The visitors' networks [default: cable,lte,3g]. Names or TOML files, separated by commas. If all pages are from qlogs, the default
    /// is the links in these logs
    #[arg(
        long = "network",
        visible_alias = "networks",
        value_name = "LIST",
        value_delimiter = ','
    )]
    networks: Vec<String>,
    #[command(flatten)]
    browser: Browser,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// The metric of loads (docs/metrics.md). `seen` is the mean of three: the `ByteIndex` above the fold, the first rendering, and the
    /// rendering with the hero image. Name one metric, or metrics with weights, as in `byte_index:2,first_render:1`
    #[arg(long, value_name = "NAME[:WEIGHT],...", default_value = "seen")]
    metric: Goal,
    /// Load pages as this browser does, such as chromium-156. Its delays apply always, its signals if a page has none (`utmost play --help`
    /// lists all browsers)
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = Profile::find)]
    profile: Option<Profile>,
    /// Load until the half-width of the interval is at most this share of the ratio
    #[arg(long, hide_short_help = true, value_name = "SHARE", default_value = "0.05", value_parser = share)]
    width: f64,
    /// The maximum number of loads of a page on a network, in each order
    #[arg(long, hide_short_help = true, value_name = "N", default_value = "30", value_parser = clap::value_parser!(u32).range(9..=10_000))]
    most_loads: u32,
    /// Loads at a time [default: the number of cores]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = values::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Your server: rfc9218, nginx, caddy, h2o, fifo, rr. Each name is a model of that server's send order; rfc9218 is a server that obeys
    /// browsers
    #[arg(long, value_name = "SERVER", value_parser = BaselineServer::find, default_value = "rfc9218")]
    baseline_server: &'static BaselineServer,
    /// Measure the send order of the URL's server. `utmost probe` does the same. The model that sends in the same order stands for it
    #[arg(long, conflicts_with = "baseline_server")]
    measure: bool,
    /// Take all pages of a folder, a sitemap or a list of addresses. Loads one page for each template. Pages share a template if they are
    /// in one folder and, as files, reference the same style sheets and scripts
    #[arg(long)]
    all_pages: bool,
    /// Also try schemes, and print all findings. Only `utmost serve` can run schemes. Prints rankings, regrets, the oracle and
    /// all assumptions
    #[arg(long)]
    details: bool,
    /// The default; scripts may name it
    #[arg(long, hide = true)]
    by_resource: bool,
    /// Also test hints. These are `Link` fields that preload, and early hints
    #[arg(long)]
    with_hints: bool,
    /// Confirm the result in real time. Loads the chosen and the present order nine times each, over UDP or in Chromium
    #[arg(long, value_name = "ENGINE", value_parser = values::choice(CONFIRMING), num_args = 0..=1, default_missing_value = "wire",
        require_equals = true)]
    confirm: Option<&'static dyn Engine>,
    /// Write a configuration for `utmost serve`. It contains the priorities, and the hints of `--with-hints`
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The folder or backend that the policy serves [default: the input]. For recordings, the policy has a line to fill in
    #[arg(long, value_name = "DIR|URL", requires = "policy", value_parser = policy::site)]
    site: Option<PolicySite>,
    /// Print configuration for another server. It is one of nginx, caddy, h2o, apache, cloudflare and fastly
    #[arg(long, value_name = "SERVER", conflicts_with = "json")]
    export: Option<Server>,
    /// Load nothing, and export this policy
    #[arg(long, hide_short_help = true, value_name = "POLICY", requires = "export", conflicts_with_all = ["INPUT", "out", "policy", "details", "with_hints", "confirm"])]
    from: Option<PathBuf>,
    /// The host, for policy and export [default: the input's]. A folder has no host; the policy then applies to any
    #[arg(long, value_name = "NAME", value_parser = values::host)]
    host: Option<String>,
    #[command(flatten)]
    compare: Compare,
    /// Write the answer and a report into this directory. `answer.json` holds the answer, and `report.html` has figures and all of
    /// `--details`. Prints a line for cron that repeats the search when the page has changed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const CONFIRMING: Choices<&'static dyn Engine> = &[
    ("wire", "The real server and client over UDP on loopback", engines::WIRE),
    ("browser", "Chromium and the real server, as in `utmost browser`", engines::BROWSER),
];

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|it| (0.001..=1.0).contains(it));
    share.ok_or_else(|| "a share from 0.001 to 1 is needed, for example 0.05".to_owned())
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    /// The program, and the loaded pages.
    provenance: serde_json::Value,
    metric: String,
    /// The requested half-width of an interval, as a share of the ratio.
    width: f64,
    /// The maximum number of loads in the present order and with a change.
    most_loads: u32,
    /// The name of the server model that stands for the present server.
    baseline_server: &'static str,
    answer: &'a SiteAnswer,
    /// Priorities of single resources, one for each page.
    by_resource: &'a [ByResource],
    /// Hints; null if none were tested.
    by_hints: Option<&'a [ByHints]>,
    /// Whole schemes; null if none were searched.
    schemes: Option<&'a Answer>,
    /// The loads in real time; null if there were none.
    confirmations: Option<&'a [Confirmation]>,
    /// The comparison with an earlier answer; null if none was named.
    changes: Option<&'a [Change]>,
    /// How long it took.
    seconds: f64,
}

impl Document<'_> {
    fn findings(&self) -> Findings<'_> {
        Findings {
            answer: self.answer,
            by_resource: self.by_resource,
            by_hints: self.by_hints.unwrap_or_default(),
            schemes: self.schemes,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let host = host(arguments)?;
    if let (Some(file), Some(server)) = (&arguments.from, arguments.export) {
        let config = Config::load(file).map_err(Failure::bad_input)?;
        return output::line(server.export(&of_policy(&config).at_host(host)).trim_end());
    }
    let before = arguments.compare.read(&arguments.metric)?;
    let question = question(arguments)?;
    let bar = output::progress(0, "page loads");
    let found =
        Found::search(arguments, &question, &counting(&bar)).map_err(super::compare::failure)?;
    values::none_failed(question.schemes.iter().filter_map(Contender::scheme))?;
    let compared = before.map(|it| arguments.compare.compared(&it, &found.by_resource));
    let document = Document {
        format: FORMAT,
        provenance: question.provenance(output::provenance()),
        metric: question.goal.text(),
        width: question.width,
        most_loads: arguments.most_loads,
        baseline_server: question.server.name,
        answer: &SiteAnswer::of(&question, &found.by_resource),
        by_resource: &found.by_resource,
        by_hints: found.by_hints.as_deref(),
        schemes: found.schemes.as_ref(),
        confirmations: found.confirmations.as_deref(),
        changes: compared.as_ref().map(|it| &it.changes[..]),
        seconds: bar.elapsed().as_secs_f64(),
    };
    policy::write(arguments, &question, &document)?;
    if let Some(folder) = &arguments.out {
        write_folder(folder, &question, &document, &counting(&bar))?;
    }
    bar.finish_and_clear();
    let ended = compared.as_ref().map_or(Ok(()), Compared::end);
    let ended = is_known(document.answer).and(ended);
    compared.as_ref().map_or(Ok(()), |it| arguments.compare.write(it))?;
    if arguments.json {
        return output::json(&document).and(ended);
    }
    if let Some(server) = arguments.export {
        let (found, hints) =
            at_host(document.by_resource, document.by_hints.unwrap_or_default(), host);
        let hints = document.by_hints.is_some().then_some(&hints[..]);
        let text = server.export(&advice(document.answer, &found, hints));
        return output::line(text.trim_end()).and(ended);
    }
    show::show(arguments, &question, &document)?;
    compared.as_ref().map_or(Ok(()), Compared::show)?;
    ended
}

/// Fails if the loads show nothing.
fn is_known(answer: &SiteAnswer) -> Result<(), Failure> {
    match answer.verdict {
        Verdict::Unknown => Err(Failure::Elsewhere(answer.sentence.clone())),
        _ => Ok(()),
    }
}

/// The findings of the searches.
struct Found {
    by_resource: Vec<ByResource>,
    by_hints: Option<Vec<ByHints>>,
    schemes: Option<Answer>,
    confirmations: Option<Vec<Confirmation>>,
}

impl Found {
    fn search(
        arguments: &Arguments,
        question: &Question,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Self, StudyError> {
        let by_resource = lab::finder::by_resource(question, progress)?;
        let by_hints =
            arguments.with_hints.then(|| lab::finder::by_hints(question, progress)).transpose()?;
        let schemes = arguments.is_detailed().then(|| find(question, progress)).transpose()?;
        let confirm = || confirm(question, &by_resource, progress);
        let confirmations = arguments.confirm.map(|_| confirm()).transpose()?;
        Ok(Self { by_resource, by_hints, schemes, confirmations })
    }
}

impl Arguments {
    fn is_detailed(&self) -> bool {
        self.details || self.out.is_some()
    }
}

/// Shows loads on `bar`, including loads that are planned while others run, and the search that precedes them.
pub(super) fn counting(bar: &ProgressBar) -> impl Fn(Step) + Sync {
    let (what, tried) = (bar.message(), AtomicUsize::new(0));
    move |step| match step {
        Step::Planned(loads) => {
            bar.inc_length(loads as u64);
            bar.set_message(what.clone());
        }
        Step::Loaded => bar.inc(1),
        Step::Tried => {
            let tried = tried.fetch_add(1, Ordering::Relaxed) + 1;
            bar.set_message(format!("{tried} orders tried on engine ideal; then {what}"));
        }
    }
}

/// The host that policies and exports are for, if one is named.
fn host(arguments: &Arguments) -> Result<Option<&str>, Failure> {
    let Arguments { host, policy, export, .. } = arguments;
    if host.is_some() && policy.is_none() && export.is_none() {
        let cause = "--host names the host of a policy or an export: add --policy or --export";
        return Err(Failure::BadInput(cause.to_owned()));
    }
    Ok(host.as_deref())
}

/// The question, after checking that all inputs can be read and all outputs written.
fn question(arguments: &Arguments) -> Result<Question, Failure> {
    let schemes = candidates(&arguments.own.catalogue(&[])?);
    let jobs = arguments.jobs.map_or_else(values::cores, NonZeroUsize::get);
    let named = values::networks(&arguments.networks)?;
    // Recording in a browser takes long: check the outputs first.
    can_be_written(arguments)?;
    let root =
        arguments.inputs.first().map(Path::new).filter(|it| arguments.all_pages && it.is_dir());
    let inputs = Inputs { browser: &arguments.browser, schemes: &schemes, jobs, root };
    let (mut named_pages, mut alike) = (arguments.inputs.clone(), BTreeMap::new());
    if arguments.all_pages {
        named_pages.clear();
        for template in all_pages::templates(&arguments.inputs, &arguments.browser)? {
            alike.insert(page_name(&template.argument, root), template.alike);
            named_pages.push(template.argument);
        }
    }
    // Recording in a browser takes long, and a server without HTTP/3 cannot be measured.
    let server = if arguments.measure {
        measured::server(&arguments.inputs, &arguments.browser)?
    } else {
        arguments.baseline_server
    };
    let Read { pages, networks } = inputs.read(&named_pages, named)?;
    Ok(Question {
        pages,
        alike,
        networks,
        schemes,
        server,
        goal: arguments.metric.clone(),
        oracle: arguments.is_detailed(),
        width: arguments.width,
        most_loads: arguments.most_loads as usize,
        jobs,
        profile: arguments.profile.clone(),
        browser: confirming_browser(arguments)?,
    })
}

/// The browser that confirms the answer, if requested.
fn confirming_browser(
    arguments: &Arguments,
) -> Result<Option<Arc<dyn lab::browsing::Browser>>, Failure> {
    if arguments.confirm != Some(engines::BROWSER) {
        return Ok(None);
    }
    // Fails now if it is not installed, and not after a long search.
    super::browser::Which::default().installed().map(Some)
}

/// Rejects files and folders that cannot be written, before anything is loaded.
fn can_be_written(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(folder) = &arguments.out {
        values::directory(folder, "--out")?;
    }
    arguments.compare.can_be_written()?;
    arguments.policy.iter().try_for_each(|it| values::writable(it, "--policy"))
}

fn write_folder(
    folder: &Path,
    question: &Question,
    document: &Document<'_>,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<(), Failure> {
    let provenance = document.provenance.clone();
    let report = report(question, document.findings(), provenance, progress);
    let report = report.map_err(super::compare::failure)?;
    let json = serde_json::to_string_pretty(document).map_err(Failure::elsewhere)?;
    for (name, text) in [("answer.json", json), (REPORT, report)] {
        lab::write_file(&folder.join(name), text).map_err(Failure::elsewhere)?;
    }
    Ok(())
}
