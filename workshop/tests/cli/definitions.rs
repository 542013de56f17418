//! The meaning of a row of `results/` does not change: `results/definitions.json` keeps each definition with its
//! history, and each change has an entry in `results/README.md`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// By experiment and row, the definitions from the oldest to the present one.
type Definitions = BTreeMap<String, BTreeMap<String, Vec<Definition>>>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Definition {
    /// The day from which it applied.
    since: String,
    /// The quantity, the published value and the conditions; null: the row was removed.
    text: Option<String>,
    /// The heading in `results/README.md` that explains the change, for all but the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    change: Option<String>,
}

/// The row that stands for the pages of an experiment.
const PAGES: &str = "(pages)";

fn folder() -> PathBuf {
    Path::new(crate::REPOSITORY).join("results")
}

fn kept(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn definitions() -> Definitions {
    serde_json::from_str(&kept("definitions.json")).expect("results/definitions.json")
}

/// The present contents of the kept results. Another test keeps these as the program makes them.
fn of_results() -> Definitions {
    let experiments = reproduce::EXPERIMENTS.iter().map(|it| {
        let made: Value = serde_json::from_str(&kept(&format!("{}.json", it.name))).expect("JSON");
        let day = made["provenance"]["date"].as_str().expect("a date")[..10].to_owned();
        let definition =
            |text| vec![Definition { since: day.clone(), text: Some(text), change: None }];
        let rows = made["rows"].as_array().expect("rows").iter();
        let id = |row: &Value| row["id"].as_str().expect("an ID").to_owned();
        let mut all: BTreeMap<_, _> = rows.map(|row| (id(row), definition(text(row)))).collect();
        all.extend(pages(&made).map(|it| (PAGES.to_owned(), definition(it))));
        (it.name.to_owned(), all)
    });
    experiments.collect()
}

fn text(row: &Value) -> String {
    let mut parts = vec![row["metric"].as_str().expect("a metric").to_owned()];
    if !row["published"].is_null() {
        parts.push(format!("published: {}", row["published"]));
    }
    let kinds =
        [("source", "by the source"), ("model", "by the model"), ("requirement", "required here")];
    for (kind, words) in kinds {
        if let Some(condition) = row["verdicts"][kind]["condition"].as_str() {
            parts.push(format!("{words}: {condition}"));
        }
    }
    parts.join("; ")
}

fn pages(made: &Value) -> Option<String> {
    let pages = made["provenance"]["pages"].as_array()?.iter();
    let names: BTreeSet<&str> = pages.filter_map(|it| it["name"].as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| format!("pages: {}", names.join(", ")))
}

/// One line per row, so that a change is a line of a diff.
fn written(definitions: &Definitions) -> String {
    let experiments = definitions.iter().map(|(name, rows)| {
        let rows = rows.iter().map(|(id, all)| {
            let all = serde_json::to_string(all).expect("texts");
            format!("    {id:?}: {all}")
        });
        format!("  {name:?}: {{\n{}\n  }}", rows.collect::<Vec<_>>().join(",\n"))
    });
    format!("{{\n{}\n}}\n", experiments.collect::<Vec<_>>().join(",\n"))
}

/// The rows whose definition in `now` is not the last one of `kept`.
fn moved(kept: &Definitions, now: &Definitions) -> String {
    let mut report = String::new();
    let last = |of: &Definitions, experiment: &str, id: &str| {
        of.get(experiment)?.get(id)?.last()?.text.clone()
    };
    let rows = |of: &Definitions| {
        let all = of
            .iter()
            .flat_map(|(name, rows)| rows.keys().map(move |it| (name.clone(), it.clone())));
        all.collect::<BTreeSet<_>>()
    };
    for (experiment, id) in rows(kept).union(&rows(now)) {
        let (before, after) = (last(kept, experiment, id), last(now, experiment, id));
        if before != after {
            // Writing to a string cannot fail.
            let _ = writeln!(report, "{experiment}, {id}: was {before:?}, is {after:?}");
        }
    }
    report
}

#[test]
fn a_definition_moves_only_with_its_history() {
    let (mut kept, now) = (definitions(), of_results());
    if std::env::var_os("UTMOST_BLESS").is_some() {
        for (experiment, rows) in &now {
            let known = kept.entry(experiment.clone()).or_default();
            for (id, all) in rows {
                known.entry(id.clone()).or_insert_with(|| all.clone());
            }
        }
        std::fs::write(folder().join("definitions.json"), written(&kept)).expect("written");
    }
    let moved = moved(&kept, &now);
    assert!(
        moved.is_empty(),
        "results/definitions.json:\n{moved}A new row: UTMOST_BLESS=1 adds it. A changed one: append the new text (null \
         where the row is removed) with `change`, and say why under `Changed judgements` in results/README.md"
    );
}

#[test]
fn each_change_of_a_definition_has_its_entry() {
    let readme = kept("README.md");
    let (_, changes) = readme.split_once("## Changed judgements").expect("the section");
    let headings: BTreeSet<&str> =
        changes.lines().filter_map(|it| it.strip_prefix("### ")).collect();
    for (experiment, rows) in definitions() {
        for (id, all) in rows {
            let row = format!("results/definitions.json: {experiment}, {id}");
            assert_eq!(
                all.first().map(|it| it.change.clone()),
                Some(None),
                "{row}: its first definition"
            );
            for later in &all[1..] {
                let change = later.change.as_deref().unwrap_or_default();
                assert!(
                    headings.contains(change),
                    "{row}: `### {change}` is missing under `Changed judgements` in results/README.md"
                );
            }
        }
    }
}

#[test]
fn no_earlier_definition_is_rewritten() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(folder()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // A copy of the sources without their history has nothing to compare with.
    let commits = git(&["log", "--format=%H", "--", "definitions.json"]).unwrap_or_default();
    let now = definitions();
    for commit in commits.lines() {
        let Some(text) = git(&["show", &format!("{commit}:./definitions.json")]) else { continue };
        let before: Definitions = serde_json::from_str(&text).expect("JSON in each commit");
        for (experiment, rows) in before {
            for (id, all) in rows {
                let kept = now.get(&experiment).and_then(|it| it.get(&id));
                assert!(
                    kept.is_some_and(|it| it.starts_with(&all)),
                    "results/definitions.json: {experiment}, {id}: commit {commit} has {all:?}"
                );
            }
        }
    }
}

#[test]
fn a_moved_definition_is_told() {
    let definition = |text: &str| Definition {
        since: "2026-11-23".to_owned(),
        text: Some(text.to_owned()),
        change: None,
    };
    let of = |texts: &[(&str, &str)]| -> Definitions {
        let rows = texts.iter().map(|(id, text)| ((*id).to_owned(), vec![definition(text)]));
        BTreeMap::from([("marx".to_owned(), rows.collect())])
    };
    let kept = of(&[("a", "at most 2"), ("b", "same"), ("c", "gone")]);
    let told = moved(&kept, &of(&[("a", "at most 3"), ("b", "same"), ("d", "new")]));
    assert_eq!(
        told,
        "marx, a: was Some(\"at most 2\"), is Some(\"at most 3\")\n\
         marx, c: was Some(\"gone\"), is None\nmarx, d: was None, is Some(\"new\")\n"
    );
    assert_eq!(serde_json::from_str::<Definitions>(&written(&kept)).expect("JSON"), kept);
}
