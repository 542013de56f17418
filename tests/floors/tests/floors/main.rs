//! The crates lie on the floors of ARCHITECTURE.md, and so do the top-level modules of each crate: a module uses modules below
//! it, and none of them uses it.

mod arrows;
mod circles;
mod imports;
mod lock_files;

use circles::circles;
use imports::{Imports, imports, imports_in};
use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files with which the libraries and programs of the workspace begin.
fn roots() -> Vec<PathBuf> {
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).expect("a manifest");
    let members = manifest.lines().find(|it| it.starts_with("members = ")).expect("members");
    let crates = members.split('"').skip(1).step_by(2).map(|it| Path::new(it).join("src"));
    let folders = crates.chain([PathBuf::from("src")]);
    let files = folders.flat_map(|it| [it.join("lib.rs"), it.join("main.rs")]);
    files.filter(|it| workspace().join(it).is_file()).collect()
}

/// The circles of a crate, each with its imports and the files that have them.
fn described(root: &Path, imports: &Imports) -> Vec<String> {
    let mut lines = Vec::new();
    for circle in circles(imports) {
        let modules: Vec<&str> = circle.iter().copied().collect();
        lines.push(format!("{}: {}", root.display(), modules.join(", ")));
        for ((from, to), files) in imports {
            if circle.contains(from.as_str()) && circle.contains(to.as_str()) {
                let files: Vec<_> = files.iter().map(|it| it.display().to_string()).collect();
                lines.push(format!("    {from} uses {to}: {}", files.join(", ")));
            }
        }
    }
    lines
}

/// Libraries that a crate must do without, and so must all crates of ours that it uses.
const APART: [(&str, &[&str]); 2] = [
    ("server", &["tokio", "hyper", "h2", "toml"]),
    // It draws nothing, and fills in no page.
    (
        "qlog-tools",
        &["resvg", "pdf-writer", "skrifa", "subsetter", "minijinja", "figures", "report"],
    ),
];

#[test]
fn a_crate_that_stands_apart_does_without_what_others_need() {
    let arrows = arrows::of_manifests(&workspace(), &manifest);
    let mut found = Vec::new();
    for (name, libraries) in APART {
        for used in arrows::reached(&arrows, name) {
            let folder = arrows::folders(&workspace(), &manifest).remove(&used).expect("a folder");
            let table = manifest(&workspace().join(folder).join("Cargo.toml"));
            let has =
                |it: &&&str| table.get("dependencies").is_some_and(|own| own.get(**it).is_some());
            let lines = libraries.iter().filter(has);
            found.extend(lines.map(|it| format!("{name} does without {it}, but {used} needs it")));
        }
    }
    assert_eq!(found, [""; 0]);
}

fn manifest(file: &Path) -> toml::Table {
    fs::read_to_string(file).expect("a manifest").parse().expect("TOML")
}

#[test]
fn lock_files_outside_the_workspace_have_what_its_crates_need() {
    let needs = lock_files::needs(&workspace(), &manifest);
    let root = manifest(&workspace().join("Cargo.toml"));
    let folders = &root["workspace"]["exclude"];
    let folders = folders.as_array().expect("folders").iter().filter_map(toml::Value::as_str);
    let locked: Vec<&str> =
        folders.filter(|it| workspace().join(it).join("Cargo.lock").is_file()).collect();
    assert_eq!(locked.len(), 6, "{locked:?}");
    let lacking = locked.into_iter().flat_map(|folder| {
        let lacking = lock_files::lacking(&workspace(), folder, &manifest, &needs);
        lacking.into_iter().map(|it| it + "; run `cargo metadata` in that folder")
    });
    assert_eq!(lacking.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn the_table_of_architecture_shows_the_arrows_between_crates() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    assert_eq!(arrows::of_table(&text), arrows::of_manifests(&workspace(), &manifest));
}

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found
}

/// `doctest = false` saves a build of each crate without examples; one that gets some must run them.
#[test]
fn a_crate_with_examples_in_its_docs_runs_them() {
    let mut found = Vec::new();
    for folder in arrows::folders(&workspace(), &manifest).into_values() {
        let manifest = manifest(&workspace().join(&folder).join("Cargo.toml"));
        let doctest = manifest.get("lib").and_then(|it| it.get("doctest"));
        if doctest.and_then(toml::Value::as_bool) != Some(false) {
            continue;
        }
        for file in sources(&workspace().join(&folder).join("src")) {
            let text = fs::read_to_string(&file).expect("a source");
            if text.lines().any(|it| it.trim_start().starts_with("/// ```")) {
                found.push(file);
            }
        }
    }
    assert_eq!(found, [""; 0].map(PathBuf::from), "remove `doctest = false` from their crates");
}

#[test]
fn no_modules_of_a_crate_use_each_other() {
    let read = |file: &Path| fs::read_to_string(workspace().join(file)).ok();
    let roots = roots();
    let found: Vec<String> =
        roots.iter().flat_map(|root| described(root, &imports(root, &read))).collect();
    assert!(roots.len() > 20, "{roots:?}");
    assert!(
        found.is_empty(),
        "these modules use each other; what two of them need belongs below both:\n{}",
        found.join("\n")
    );
}

#[test]
fn no_storeys_of_a_study_use_each_other() {
    let read = |file: &Path| fs::read_to_string(workspace().join(file)).ok();
    let root = Path::new("lab/src/study.rs");
    let imports = imports_in(root, &["study"], &read);
    let of_show: Vec<&str> =
        imports.keys().filter(|it| it.0 == "show").map(|it| it.1.as_str()).collect();
    assert_eq!(of_show, ["carry_out", "compute", "error", "plan", "statistics"]);
    assert_eq!(described(root, &imports), [""; 0]);
}

#[test]
fn an_import_is_found_however_it_is_written() {
    let files = [
        (
            "lib.rs",
            "mod used; mod by_path; mod by_super; mod by_door; mod in_macro; mod in_attribute;
             mod in_test;
             pub use used::{Thing, thing as used_thing};",
        ),
        ("used.rs", "pub struct Thing; pub fn thing() {}"),
        ("by_path.rs", "fn f() -> Option<crate::used::Thing> { None }"),
        ("by_super.rs", "mod deep;"),
        ("by_super/deep.rs", "use super::{f, super::{used, by_path}}; mod inner { use super::g; }"),
        ("by_door.rs", "use crate::used_thing;"),
        ("in_macro/mod.rs", "fn f() { assert!(g(crate::used::thing())); }"),
        ("in_attribute.rs", "struct S { #[serde(with = \"crate::used\")] it: u8 }"),
        ("in_test.rs", "fn f() {} #[cfg(test)] mod tests { use crate::used::Thing; }"),
    ];
    let read = |file: &Path| {
        let text = files.iter().find(|(name, _)| Path::new(name) == file)?.1;
        Some(text.to_owned())
    };
    let imports = imports(Path::new("lib.rs"), &read);
    let found: Vec<String> = imports.keys().map(|(from, to)| format!("{from} {to}")).collect();
    let expected = [
        "by_door used",
        "by_path used",
        "by_super by_path",
        "by_super used",
        "in_attribute used",
        "in_macro used",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_import_within_a_module_begins_at_the_module() {
    let files = [
        ("room.rs", "mod below; mod above; pub use below::Thing;"),
        ("room/below.rs", "use crate::above; pub struct Thing;"),
        (
            "room/above.rs",
            "use crate::room::Thing; use crate::below; mod inner { use super::super::below; }",
        ),
    ];
    let read = |file: &Path| {
        let text = files.iter().find(|(name, _)| Path::new(name) == file)?.1;
        Some(text.to_owned())
    };
    let imports = imports_in(Path::new("room.rs"), &["room"], &read);
    assert_eq!(imports.into_keys().collect::<Vec<_>>(), [("above".to_owned(), "below".to_owned())]);
}

#[test]
fn a_circle_is_named_with_its_imports() {
    let edge = |from: &str, to: &str| {
        ((from.to_owned(), to.to_owned()), [PathBuf::from(format!("{from}.rs"))].into())
    };
    let imports = Imports::from([edge("a", "b"), edge("b", "c"), edge("c", "b"), edge("c", "d")]);
    let expected = ["lib.rs: b, c", "    b uses c: b.rs", "    c uses b: c.rs"];
    assert_eq!(described(Path::new("lib.rs"), &imports), expected);
}
