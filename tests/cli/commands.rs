//! Every command explains itself, and the guides call it with the options that it has.

use crate::stdout_of;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_help_of_every_command_has_an_example_of_it() {
    for command in crate::COMMANDS {
        let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = stdout_of(&arguments);
        let (_, examples) = help.split_once("Example").expect(command);
        assert!(examples.contains(&format!("\n  {} {command}", crate::NAME)), "{help}");
    }
}

#[test]
fn the_programs_own_help_names_every_command() {
    let help = stdout_of(&["--help"]);
    let (listed, rest) = help.split_once("\nOptions:\n").expect("options");
    let rows = listed.lines().filter_map(|it| it.strip_prefix("  "));
    let names = rows.filter_map(|it| it.split(' ').next()).filter(|it| !it.is_empty());
    let names: BTreeSet<&str> = names.filter(|it| *it != "help").collect();
    let known = crate::COMMANDS.iter().copied().filter(|it| !it.contains(' '));
    assert_eq!(names, known.collect());
    assert!(rest.contains("Exit codes: 0 done"), "{help}");
}

/// Every guide and its text.
pub(crate) fn guides() -> Vec<(PathBuf, String)> {
    let folders = [
        "",
        "docs",
        "docs/reference",
        "docs/reference/commands",
        "results",
        "results/measured",
        "cluster",
        "interop",
    ];
    let entries = folders
        .iter()
        .flat_map(|it| fs::read_dir(Path::new(crate::REPOSITORY).join(it)).expect("a folder"));
    let paths = entries.map(|it| it.expect("an entry").path());
    let guides = paths.filter(|it| it.extension().is_some_and(|it| it == "md"));
    guides.map(|it| (it.clone(), fs::read_to_string(it).expect("a text"))).collect()
}

/// The commands of the program in the code blocks of a guide, without comments and what follows a pipe.
fn commands(text: &str) -> Vec<Vec<String>> {
    let blocks = text.split("```").skip(1).step_by(2).filter(|it| it.starts_with("sh\n"));
    let joined: Vec<String> = blocks.map(|it| it.replace("\\\n", " ")).collect();
    let lines = joined.iter().flat_map(|it| it.lines());
    let parts =
        lines.flat_map(|it| it.split(" #").next().unwrap_or_default().split([';', '|', '&']));
    let words = parts.map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.filter(|it| it.first().is_some_and(|it| it == crate::NAME)).collect()
}

#[test]
fn the_commands_of_the_guides_have_the_options_that_they_name() {
    let mut wrong = BTreeSet::new();
    let mut called = 0;
    for (path, text) in guides() {
        for command in commands(&text) {
            let subcommands: Vec<&str> = match command.get(1).map(String::as_str) {
                Some(group @ ("qlog" | "corpus")) => vec![group, command[2].as_str()],
                Some(command) => vec![command],
                None => continue,
            };
            called += 1;
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
    assert!(called > 0, "no guide calls {}", crate::NAME);
}
