//! `utmost-workshop reproduce`: a published table or figure, beside ours.

use ::reproduce::{
    EXPERIMENTS, Experiment, Findings, Reproduction, Setting, Table, as_published, headline, kinds,
    write,
};
use serve::{Failure, values};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use terminal::{at_least_one, cores, output};

/// Reproduce a published table or figure, ours beside theirs
///
/// Conditions come from the publication, from our models, or from this project. Exits with 1 if one does not hold. Without a name, lists
/// the experiments, and how much of each source holds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost-workshop reproduce marx-table2\n  \
utmost-workshop reproduce marx-figure12 --out results\n  utmost-workshop reproduce push-rules --runs 5\n  utmost-workshop reproduce all --out results --json")]
pub(crate) struct Arguments {
    /// Experiments, or `all`
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write NAME.json, NAME.md, NAME.svg and NAME.manifest.json into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Loads at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Load each case N times, in experiments on engine `stack` [default: as many as the publication]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    runs: Option<NonZeroUsize>,
    /// Print JSON; an array for `all` and for several
    #[arg(long)]
    json: bool,
}

/// The verdicts on each source, the summary first.
const SOURCES: &str = include_str!("../../docs/sources.md");

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.names.is_empty() {
        return list(arguments);
    }
    let experiments: Vec<&Experiment> = if arguments.names == ["all"] {
        EXPERIMENTS.iter().collect()
    } else {
        let found = arguments.names.iter().map(|it| Experiment::find(it));
        found.collect::<Result<_, _>>().map_err(Failure::bad_input)?
    };
    if let Some(name) = twice(&arguments.names) {
        return Err(Failure::BadInput(format!("{name} is named twice; name each experiment once")));
    }
    if let ([only], Some(runs)) = (&experiments[..], arguments.runs)
        && only.engine == "ideal"
    {
        let name = only.name;
        return Err(Failure::BadInput(format!(
            "--runs {runs}: {name} runs on engine ideal, where a load is the same each time; leave out --runs"
        )));
    }
    let setting = Setting {
        runs: arguments.runs.map(NonZeroUsize::get),
        ..Setting::bundled(arguments.jobs.map_or_else(cores, NonZeroUsize::get))
    };
    if let Some(folder) = &arguments.out {
        // An experiment can take minutes: report an unwritable folder first.
        values::directory(folder, "--out")?;
    }
    let bar = output::progress(experiments.len(), "experiments");
    let mut reproductions = Vec::new();
    for experiment in experiments {
        let made = experiment.run(&setting, output::provenance()).map_err(Failure::elsewhere)?;
        if let Some(folder) = &arguments.out {
            write(&made, folder).map_err(Failure::bad_input)?;
        }
        reproductions.push(made);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let as_array = arguments.names.len() > 1 || arguments.names == ["all"];
    show(&reproductions, as_array, arguments.json)?;
    outside(&reproductions)
}

fn twice(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find(|(place, it)| names[..*place].contains(it)).map(|it| it.1)
}

fn list(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.json || arguments.out.is_some() {
        let known: Vec<&str> = EXPERIMENTS.iter().map(|it| it.name).collect();
        return Err(Failure::BadInput(format!("name an experiment: all, {}", known.join(", "))));
    }
    let rows = EXPERIMENTS
        .iter()
        .map(|it| vec![it.name.to_owned(), it.about.to_owned(), it.source.to_owned()]);
    output::line(&output::table(&["name", "what", "source"], &[1, 2], rows).to_string())?;
    let summary = SOURCES.split_once("-->\n").and_then(|(_, made)| made.split_once("\n\n"));
    output::line(&format!(
        "\nWhat holds of the sources, whose rows are in docs/sources.md:\n\n{}",
        summary.map_or("", |it| it.0)
    ))
}

fn show(reproductions: &[Reproduction], as_array: bool, json: bool) -> Result<(), Failure> {
    if json {
        return match reproductions {
            [only] if !as_array => output::json(only),
            all => output::json(&all),
        };
    }
    for made in reproductions {
        output::line(&format!("{}: {}\n{}\n", made.name, made.source, made.found.method))?;
        as_published(&made.found.rows).iter().try_for_each(show_table)?;
        output::line(&table(&made.found))?;
        made.found.tables.iter().try_for_each(show_table)?;
        output::line(&format!("conditions that hold: {}", headline(&made.found.rows)))?;
        for row in made.found.rows.iter().filter(|row| row.verdicts.fail()) {
            output::line(&format!("{}: {}", row.id, row.told()))?;
        }
        output::line("")?;
    }
    Ok(())
}

fn show_table(table: &Table) -> Result<(), Failure> {
    let labels: Vec<usize> = (0..table.labels.len()).collect();
    let lines = output::table(&table.header(), &labels, table.cells());
    output::line(&format!("{}\n{lines}\n", table.heading))
}

fn table(found: &Findings) -> String {
    let kinds = kinds(&found.rows);
    let rows = found.rows.iter().map(|row| {
        let verdicts = kinds.iter().map(|(_, of)| match of(&row.verdicts) {
            None => String::new(),
            Some(it) => format!("{}: {}", it.word("NO"), it.condition),
        });
        let values = [
            row.id.clone(),
            row.ours_text().unwrap_or_else(|| "-".to_owned()),
            row.interval_text().unwrap_or_default(),
            output::number(row.published, 2),
            output::number(row.model, 2),
        ];
        values.into_iter().chain(verdicts).collect()
    });
    let mut header = vec!["row", "ours", "95 %", "published", "model"];
    header.extend(kinds.iter().map(|(name, _)| *name));
    let texts: Vec<usize> = (5..header.len()).collect();
    output::table(&header, &texts, rows).to_string()
}

fn outside(reproductions: &[Reproduction]) -> Result<(), Failure> {
    let rows = reproductions
        .iter()
        .flat_map(|made| made.found.rows.iter().map(move |row| (made.name, row)));
    let outside: Vec<String> = rows
        .filter(|(_, row)| row.verdicts.fail())
        .map(|(name, row)| format!("{name} {}", row.id))
        .collect();
    if outside.is_empty() {
        return Ok(());
    }
    Err(Failure::No(format!("conditions that do not hold: {}", outside.join(", "))))
}
