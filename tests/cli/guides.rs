//! The guides are true: their links lead somewhere, and the commands that they show exist.

use crate::stdout_of;
use std::collections::{BTreeMap, BTreeSet};
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

/// What `cargo` is asked to do in a text, in code blocks and within lines.
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
    let mut wrong = BTreeSet::new();
    for (path, text) in &texts {
        for command in cargo_commands(text) {
            let cause = refused_by_cargo(&command, &packages);
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
