//! `utmost qlog tree`: the scheduler's tree at given times, from a log of our server.

use super::input::{refusal, spare};
use crate::limits::TREES_MAX;
use crate::{figure_files, output, values};
use ::serve::Failure;
use figures::tree::{group_names, in_words};
use figures::{TreePanel, Trees};
use lab::scenario::node_json;
use qlog_tools::labels::short_name as last_part;
use qlog_tools::naming::short_name;
use qlog_tools::reader::read_file;
use qlog_tools::replay::{Replay, busiest_us, kinds, tree_changes};
use qlog_tools::short_texts::shown;
use qlog_tools::trace::Trace;
use schedulers::{Element, Scheme, Snapshot, StreamId};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Show the scheduler's tree at any time of a connection, from the log of `utmost serve --qlog`
///
/// Repeats the logged calls of the scheduler, and checks that its picks match the log.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog tree logs/SERVER.sqlog --at 120\n  \
utmost qlog tree logs/SERVER.sqlog --at 30,120,900 -o trees.png")]
pub(crate) struct Arguments {
    /// The log of a server's connection
    log: PathBuf,
    /// Times of the log, in ms, separated by commas; default: the first time with the most ready streams
    #[arg(long, value_name = "MS", value_delimiter = ',', value_parser = milliseconds)]
    at: Vec<f64>,
    /// The scheme that ran, if the log does not name it
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// The page that was served, by name or file; cpl needs it
    #[arg(long, value_name = "PAGE")]
    page: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the trees into FILE.svg or FILE.png
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the trees into this directory, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
}

const NAME_CHARACTERS: usize = 60;

struct Seen {
    at_ms: f64,
    scheme: Scheme,
    tree: Snapshot,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.at.len() > TREES_MAX {
        return Err(Failure::BadInput(format!("--at takes at most {TREES_MAX} times")));
    }
    if arguments.log.is_dir() {
        let remedy = "a directory; name the log of one server's connection in it";
        return Err(Failure::of_file(&arguments.log, remedy));
    }
    if let Some(out) = &arguments.out {
        spare(&arguments.log, out)?;
        figure_files::can_be_written(out)?;
    }
    arguments.figures.iter().try_for_each(|it| values::directory(it, "--figures"))?;
    let trace = read_file(&arguments.log).map_err(refusal)?;
    show(arguments, &trace)?;
    trace.incomplete().map_or(Ok(()), |line| Err(Failure::BadInput(line)))
}

fn show(arguments: &Arguments, trace: &Trace) -> Result<(), Failure> {
    let trees = trees(arguments, trace)?;
    let names = names(trace, &trees);
    if let Some(out) = &arguments.out {
        figure_files::write(out, &figure(trace, &trees, names.clone()).svg())?;
    }
    if let Some(folder) = &arguments.figures {
        let figure = figure(trace, &trees, names.clone());
        figure_files::write_all(
            folder,
            [(format!("{}-tree", stem(&arguments.log)), figure.svg())],
        )?;
    }
    if arguments.json {
        return print_json(trace, &trees, &names);
    }
    let names = numbered(&names);
    output::line("element (weight), the share of the connection for it and all below it")?;
    for Seen { at_ms, scheme, tree } in &trees {
        output::line(&format!("at {at_ms} ms, {}", scheme.name))?;
        for line in tree.in_words(|element| name(&names, element)).lines() {
            output::line(&format!("  {line}"))?;
        }
    }
    arguments.figures.iter().try_for_each(|it| output::line(&format!("figures: {}", it.display())))
}

fn trees(arguments: &Arguments, trace: &Trace) -> Result<Vec<Seen>, Failure> {
    let page = arguments.page.as_deref().map(values::page).transpose()?.map(|it| it.graph());
    let catalogue = arguments.own.catalogue(&[])?;
    let scheme = arguments.scheme.as_deref().map(|name| catalogue.find_for_page(name)).transpose();
    let scheme = scheme.map_err(values::no_scheme)?;
    let replay = Replay::new(trace, scheme, page.as_ref()).map_err(Failure::bad_input)?;
    let own = catalogue.clone();
    let mut replay = replay.knowing(catalogue);
    let busiest_ms = busiest_us(trace).map(|it| it as f64 / 1000.0);
    let mut times_ms = arguments.at.clone();
    times_ms.extend(busiest_ms.filter(|_| arguments.at.is_empty()));
    times_ms.sort_by(f64::total_cmp);
    let end_ms = end_us(trace) as f64 / 1000.0;
    if let Some(late_ms) = times_ms.last().filter(|at_ms| **at_ms > end_ms) {
        let file = &trace.file;
        let reason =
            format!("--at {late_ms} is after the log's end: its last event is at {end_ms} ms");
        return Err(Failure::BadInput(format!("{file}: {reason}")));
    }
    let mut trees = Vec::new();
    for at_ms in times_ms {
        let Some((scheme, tree)) = replay.tree_at(micros(at_ms)).map_err(Failure::bad_input)?
        else {
            let file = &trace.file;
            return Err(Failure::BadInput(format!("{file}: no scheduler before {at_ms} ms")));
        };
        trees.push(Seen { at_ms, scheme: scheme.clone(), tree });
    }
    values::none_failed(own.own())?;
    Ok(trees)
}

/// The last time in the log at which its scheduler or its frames appear.
fn end_us(trace: &Trace) -> u64 {
    let calls = trace.scheduler_calls().iter().map(|it| it.time_us);
    let frames = trace.timeline.frames.iter().map(|it| it.time_us);
    calls.chain(frames).max().unwrap_or_default()
}

/// The last part of each stream's path, and the scheme's names for its groups.
fn names(trace: &Trace, trees: &[Seen]) -> BTreeMap<Element, String> {
    let streams = trace.timeline.transfers.iter().map(|transfer| {
        let name = shown(last_part(&transfer.url), NAME_CHARACTERS);
        (Element::Stream(StreamId(transfer.stream)), name)
    });
    streams.chain(trees.iter().flat_map(|it| group_names(&it.scheme, &it.tree))).collect()
}

/// Prefixes names with stream IDs, as in all other views.
fn numbered(names: &BTreeMap<Element, String>) -> BTreeMap<Element, String> {
    let mut numbered = names.clone();
    for (element, name) in &mut numbered {
        if let Element::Stream(StreamId(id)) = element
            && *name != id.to_string()
        {
            *name = format!("{id} {name}");
        }
    }
    numbered
}

fn name(names: &BTreeMap<Element, String>, element: Element) -> String {
    names.get(&element).cloned().unwrap_or_else(|| element.to_string())
}

fn figure(trace: &Trace, trees: &[Seen], names: BTreeMap<Element, String>) -> Trees {
    let numbered = numbered(&names);
    let before = std::iter::once(None).chain(trees.iter().map(Some));
    let panels = before.zip(trees).map(|(before, now)| {
        let Seen { at_ms, scheme, tree } = now;
        let is_new = before.is_none_or(|before| before.scheme.name != scheme.name);
        let mut what: Vec<String> = is_new.then(|| scheme.name.clone()).into_iter().collect();
        let changes = tree_changes(trace, before.map(|it| micros(it.at_ms)), micros(*at_ms));
        what.extend(in_words(&changes, &numbered));
        TreePanel { when: format!("{at_ms} ms"), what, tree: tree.clone() }
    });
    Trees {
        title: shown(&short_name(&trace.file), NAME_CHARACTERS),
        kinds: kinds(trace),
        panels: panels.collect(),
        note: "Times are the log's.".to_owned(),
        names,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
fn micros(ms: f64) -> u64 {
    (ms * 1000.0).round() as u64
}

fn print_json(
    trace: &Trace,
    trees: &[Seen],
    names: &BTreeMap<Element, String>,
) -> Result<(), Failure> {
    let mut documents = Vec::new();
    for Seen { at_ms, scheme, tree } in trees {
        let mut nodes = Vec::new();
        for node in &tree.nodes {
            let mut written = node_json(node);
            written["name"] = name(names, node.element).into();
            nodes.push(written);
        }
        documents.push(json!({"at_ms": at_ms, "scheme": scheme.name, "nodes": nodes}));
    }
    let document = json!({"log": trace.file, "trees": documents});
    output::json_of_program("utmost-qlog-tree/1", document)
}

fn stem(path: &std::path::Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn milliseconds(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|it| (0.0..=1e12).contains(it));
    number.ok_or_else(|| format!("`{text}` is not a time; use milliseconds, for example 120"))
}
