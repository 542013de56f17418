//! The guides are true: their links lead somewhere, and the `cargo` commands in them exist.

use crate::commands::guides;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(crate::REPOSITORY)
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

/// Pages that programs outside of the tests write whole: `make interop`, `make bench-peers`, `make bench-pages`, an example.
const WRITTEN_BY_PROGRAMS: [&str; 4] = ["interop.md", "speed.md", "page-loads.md", "cost.md"];

/// The lines of a page that a person wrote: all but those between `<!-- Made from` and `<!-- end -->`, or the end.
fn written_lines(text: &str) -> usize {
    let mut is_made = false;
    let lines = text.lines().filter(|line| {
        is_made |= line.starts_with("<!-- Made from");
        let counts = !is_made;
        is_made &= !line.starts_with("<!-- end");
        counts
    });
    lines.count()
}

/// The lines that all pages may have.
const WRITTEN_LINES: usize = 3_000;

#[test]
fn a_page_has_at_most_150_lines_that_a_person_wrote() {
    let docs = root().join("docs");
    let is_one_of = |names: &[&str], it: &Path| names.iter().any(|name| it.ends_with(name));
    let pages = guides().into_iter();
    let pages =
        pages.filter(|(path, _)| path.starts_with(&docs) && !is_one_of(&WRITTEN_BY_PROGRAMS, path));
    let lines: BTreeMap<PathBuf, usize> =
        pages.map(|(path, text)| (path, written_lines(&text))).collect();
    let long: Vec<_> = lines.iter().filter(|it| *it.1 > 150).collect();
    assert!(long.is_empty(), "split these pages, or move measurements to results/: {long:?}");
    let all: usize = lines.values().sum();
    assert!(all <= WRITTEN_LINES, "{all} lines are written by hand: shorten, or generate");
    assert_eq!(written_lines("a\n<!-- Made from x -->\nb\n<!-- end -->\nc"), 2);
}

/// The `cargo` commands in a text, in code blocks and within lines.
fn cargo_commands(text: &str) -> Vec<Vec<&str>> {
    let commands = text.split("cargo ").skip(1);
    let ends = ['\n', '`', '#', '|', '&', ';'];
    let commands = commands.map(|it| it.split(ends).next().unwrap_or_default());
    commands.map(|it| it.split_whitespace().take_while(|it| *it != "--").collect()).collect()
}

/// The word after a flag.
fn after<'a>(command: &[&'a str], flag: &str) -> Option<&'a str> {
    let place = command.iter().position(|it| *it == flag)?;
    command.get(place + 1).copied()
}

/// The folders of the workspace's packages, by name.
fn packages() -> BTreeMap<String, PathBuf> {
    let read = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let manifest = read(root());
    let members = manifest.lines().find(|it| it.starts_with("members = ")).expect("members");
    let folders = members.split('"').skip(1).step_by(2).chain([""]);
    let named = |folder: PathBuf| {
        let manifest = read(&folder);
        let name = manifest.lines().find_map(|it| it.strip_prefix("name = \""));
        (name.expect("a name").trim_end_matches('"').to_owned(), folder)
    };
    folders.map(|it| named(root().join(it))).collect()
}

/// Whether a package has this example, or this test.
fn has_target(package: &Path, kind: &str, name: &str) -> bool {
    let place = package.join(kind).join(name);
    place.with_extension("rs").exists() || place.join("main.rs").exists()
}

/// The names of all modules and functions of some packages.
fn names(packages: &BTreeMap<String, PathBuf>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders: Vec<PathBuf> =
        packages.values().flat_map(|it| [it.join("src"), it.join("tests")]).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                let functions = text.split("fn ").skip(1).filter_map(|it| it.split('(').next());
                names.extend(functions.map(str::to_owned));
            }
            names.insert(stem);
        }
    }
    names
}

/// The tests that `cargo test` names by a part of their path, if there are none.
fn without_tests<'a>(command: &[&'a str], names: &BTreeSet<String>) -> Option<&'a str> {
    let asked = command.strip_prefix(&["test"])?;
    let takes_value = |it: &str| matches!(it, "-p" | "--test" | "--example" | "--bin");
    let filter = asked.iter().enumerate().find(|(place, word)| {
        let is_value = *place > 0 && takes_value(asked[place - 1]);
        // `NAME` stands for any.
        !is_value && !word.starts_with('-') && **word != "NAME"
    });
    let (_, filter) = filter?;
    let has = |part: &str| names.iter().any(|it| it.contains(part));
    (!filter.split("::").all(has)).then_some(*filter)
}

/// Why cargo would refuse a command.
fn refused_by_cargo(command: &[&str], packages: &BTreeMap<String, PathBuf>) -> Option<String> {
    let of_all = command.contains(&"--workspace");
    let is_run = command.contains(&"run") && !command.contains(&"fuzz");
    let named = command.iter().filter(|it| **it == "-p").count();
    if is_run && (of_all || named > 1) {
        return Some("`cargo run` takes one package".to_owned());
    }
    for (flag, kind) in [("--example", "examples"), ("--test", "tests")] {
        let Some(target) = after(command, flag) else { continue };
        // Without a package and `--workspace`, cargo looks into the root's only.
        let package = after(command, "-p").unwrap_or("utmost");
        let has_it = match (of_all, packages.get(package)) {
            (true, _) => packages.values().any(|it| has_target(it, kind, target)),
            (false, Some(folder)) => has_target(folder, kind, target),
            (false, None) => return Some(format!("there is no package `{package}`")),
        };
        if !has_it {
            return Some(format!("`{package}` has no {kind}/{target}.rs"));
        }
    }
    None
}

#[test]
fn cargo_finds_what_the_commands_of_the_guides_name() {
    let packages = packages();
    let mut texts = guides();
    for folder in packages.values().map(|it| it.join("examples")).filter(|it| it.is_dir()) {
        let files = fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
        texts.extend(files.filter_map(|it| Some((it.clone(), fs::read_to_string(it).ok()?))));
    }
    let names = names(&packages);
    let mut wrong = BTreeSet::new();
    for (path, text) in &texts {
        for command in cargo_commands(text) {
            let nothing = without_tests(&command, &names);
            let cause = refused_by_cargo(&command, &packages)
                .or_else(|| nothing.map(|it| format!("no test has `{it}` in its path")));
            let said = |it| format!("{}: cargo {}: {it}", path.display(), command.join(" "));
            wrong.extend(cause.map(said));
        }
    }
    assert_eq!(wrong, BTreeSet::new());
}

#[test]
fn a_command_that_cargo_refuses_is_told_why() {
    let packages = packages();
    let refused = |text: &str| refused_by_cargo(&cargo_commands(text)[0], &packages);
    let expected = |it: &str| Some(it.to_owned());
    assert_eq!(
        refused("`cargo run --example measure_stack -- speed`"),
        expected("`utmost` has no examples/measure_stack.rs")
    );
    assert_eq!(
        refused("cargo run -p utmost-server --example measure_stack\n"),
        expected("`utmost-server` has no examples/measure_stack.rs")
    );
    assert_eq!(
        refused("cargo run --workspace --example measure_stack"),
        expected("`cargo run` takes one package")
    );
    assert_eq!(refused("cargo run -p utmost-lab --example measure_stack -- --test none"), None);
    assert_eq!(refused("cargo test --workspace --test it push # all"), None);
    assert_eq!(refused("cargo test --test it"), expected("`utmost` has no tests/it.rs"));
}
