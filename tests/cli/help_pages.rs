//! `docs/reference/commands` is the programs' help; `UTMOST_BLESS=1` writes it anew. For the tests of each program's `main.rs`.

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use std::fmt::Write as _;
use std::path::PathBuf;

/// A page of the reference: its file's name, and its text.
pub(crate) struct Page {
    pub(crate) file: String,
    pub(crate) text: String,
}

const MADE: &str =
    "<!-- Made from the help: UTMOST_BLESS=1 cargo test --workspace --bins reference -->\n";

/// The lines that `-h` of a command has at most.
const SHORT_LINES: usize = 40;

/// A page for each command of a program, after one that lists them.
pub(crate) fn pages(program: &Command, index: &str) -> Vec<Page> {
    let commands = leaves(program, program.get_name());
    let mut text = format!(
        "{MADE}\n# Commands of `{}`\n\n| command | what it does |\n|---|---|\n",
        program.get_name()
    );
    for (path, command) in &commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        // Writing to a text cannot fail.
        let _ = writeln!(text, "| [{path}]({}) | {} |", file(path), cell(&about));
    }
    let list = Page { file: index.to_owned(), text };
    let pages = commands.iter().map(|(path, it)| Page { file: file(path), text: page(path, it) });
    std::iter::once(list).chain(pages).collect()
}

/// Panics if a page is not as it should be, or writes it.
pub(crate) fn assert_current(pages: &[Page]) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder =
        folder.ancestors().map(|it| it.join("docs/reference/commands")).find(|it| it.is_dir());
    let folder = folder.expect("the reference");
    for Page { file, text } in pages {
        let path = folder.join(file);
        if std::env::var_os("UTMOST_BLESS").is_some() {
            std::fs::write(path, text).expect("written");
        } else {
            let intact = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                intact == *text,
                "docs/reference/commands/{file} is out of date: UTMOST_BLESS=1"
            );
        }
    }
}

/// Panics if `-h` of a command does not fit on a screen.
pub(crate) fn assert_short(program: &Command) {
    let mut long = Vec::new();
    for (path, command) in leaves(program, program.get_name()) {
        let lines = command.clone().term_width(100).render_help().to_string().lines().count();
        if lines > SHORT_LINES {
            long.push(format!("{path}: {lines}"));
        }
    }
    assert_eq!(long, Vec::<String>::new(), "-h has more than {SHORT_LINES} lines");
}

/// The commands without subcommands, by the words that call them.
fn leaves<'a>(command: &'a Command, path: &str) -> Vec<(String, &'a Command)> {
    let below = command.get_subcommands().filter(|it| it.get_name() != "help" && !it.is_hide_set());
    let leaves: Vec<_> =
        below.flat_map(|it| leaves(it, &format!("{path} {}", it.get_name()))).collect();
    if leaves.is_empty() { vec![(path.to_owned(), command)] } else { leaves }
}

/// `utmost-qlog-report.md` for `utmost qlog report`.
fn file(path: &str) -> String {
    format!("{}.md", path.replace(' ', "-"))
}

fn page(path: &str, command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let examples = command.get_before_long_help().map(ToString::to_string).unwrap_or_default();
    let mut text =
        format!("{MADE}\n# {path}\n\n{about}\n\n```sh\n{}\n```\n", commands_of(&examples));
    let mut groups: Vec<(&str, String)> = Vec::new();
    for option in command.get_arguments().filter(|it| it.get_id() != "help" && !it.is_hide_set()) {
        let heading = option.get_help_heading().unwrap_or("Options");
        let heading = if option.is_positional() { "Arguments" } else { heading };
        match groups.iter_mut().find(|it| it.0 == heading) {
            Some((_, rows)) => rows.push_str(&row(option)),
            None => groups.push((heading, row(option))),
        }
    }
    for (heading, rows) in groups {
        let _ = write!(
            text,
            "\n## {heading}\n\n| option | default | what it does |\n|---|---|---|\n{rows}"
        );
    }
    text
}

/// The commands of the examples, without their heading.
fn commands_of(examples: &str) -> String {
    examples
        .lines()
        .skip(1)
        .map(|it| it.strip_prefix("  ").unwrap_or(it))
        .collect::<Vec<_>>()
        .join("\n")
}

fn row(option: &Arg) -> String {
    let defaults: Vec<_> =
        option.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    let defaults =
        if option.get_action().takes_values() { defaults.join(",") } else { String::new() };
    let default = if defaults.is_empty() { String::new() } else { format!("`{defaults}`") };
    let help = option.get_long_help().or(option.get_help()).map(ToString::to_string);
    let values = option.get_possible_values();
    let values =
        if option.get_action().takes_values() { described(&values) } else { String::new() };
    let help = format!("{}{values}", help.unwrap_or_default());
    format!("| `{}` | {default} | {} |\n", option.to_string().replace('|', "\\|"), cell(&help))
}

/// The values that an option takes, each with its help.
fn described(values: &[PossibleValue]) -> String {
    let shown = values.iter().filter(|it| !it.is_hide_set());
    let each: Vec<String> = shown
        .map(|it| match it.get_help() {
            Some(help) => format!("`{}` ({help})", it.get_name()),
            None => format!("`{}`", it.get_name()),
        })
        .collect();
    if each.is_empty() { String::new() } else { format!(". Values: {}", each.join(", ")) }
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}
