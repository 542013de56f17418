//! The guides are true: their links lead somewhere, and the commands that they show exist.

use crate::stdout_of;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every guide and its text.
fn guides() -> Vec<(PathBuf, String)> {
    let folders = ["", "docs", "cluster", "interop"];
    let entries = folders.iter().flat_map(|it| fs::read_dir(root().join(it)).expect("a folder"));
    let paths = entries.map(|it| it.expect("an entry").path());
    let guides = paths.filter(|it| it.extension().is_some_and(|it| it == "md"));
    guides.map(|it| (it.clone(), fs::read_to_string(it).expect("a text"))).collect()
}

/// A heading as a link names it.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

fn has_heading(text: &str, wanted: &str) -> bool {
    text.lines().any(|it| it.starts_with('#') && anchor(it) == wanted)
}

#[test]
fn every_link_of_the_guides_leads_somewhere() {
    let mut broken = Vec::new();
    for (path, text) in guides() {
        let targets = text.split("](").skip(1).filter_map(|it| it.split(')').next());
        for target in targets.filter(|it| !it.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() {
                path.clone()
            } else {
                path.parent().expect("a folder").join(file)
            };
            let leads = linked.exists()
                && (heading.is_empty()
                    || has_heading(&fs::read_to_string(&linked).unwrap_or_default(), heading));
            if !leads {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// The commands of the program in the code blocks of a guide, without comments and what follows a pipe.
fn commands(text: &str) -> Vec<Vec<String>> {
    let blocks = text.split("```").skip(1).step_by(2).filter(|it| it.starts_with("sh\n"));
    let joined: Vec<String> = blocks.map(|it| it.replace("\\\n", " ")).collect();
    let lines = joined.iter().flat_map(|it| it.lines());
    let parts =
        lines.flat_map(|it| it.split(" #").next().unwrap_or_default().split([';', '|', '&']));
    let words = parts.map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.filter(|it| it.first().is_some_and(|it| it == "utmost")).collect()
}

#[test]
fn the_commands_of_the_guides_have_the_options_that_they_name() {
    let mut wrong = BTreeSet::new();
    for (path, text) in guides() {
        for command in commands(&text) {
            let subcommands: Vec<&str> = match command.get(1).map(String::as_str) {
                Some(group @ ("qlog" | "corpus")) => vec![group, command[2].as_str()],
                Some(command) => vec![command],
                None => continue,
            };
            let help = stdout_of(&[&subcommands[..], &["--help"]].concat());
            let options = command.iter().filter(|it| it.starts_with("--") && it.len() > 2);
            for option in options.map(|it| it.split('=').next().unwrap_or_default()) {
                if !help
                    .split(|it: char| it.is_whitespace() || matches!(it, ',' | '[' | ']'))
                    .any(|it| it == option)
                {
                    wrong.insert(format!(
                        "{}: {}: {option}",
                        path.display(),
                        subcommands.join(" ")
                    ));
                }
            }
        }
    }
    assert_eq!(wrong, BTreeSet::new());
}
