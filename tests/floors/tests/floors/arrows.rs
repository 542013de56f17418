//! The arrows between crates: in the manifests, and in a table of Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What each crate uses, both by the names that manifests of the workspace give them.
pub(crate) type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The folders of the crates that others use, by name.
pub(crate) fn folders(
    workspace: &Path,
    read: &dyn Fn(&Path) -> toml::Table,
) -> BTreeMap<String, String> {
    let manifest = read(&workspace.join("Cargo.toml"));
    let known = manifest["workspace"]["dependencies"].as_table().expect("a table");
    let folders = known.iter().filter_map(|(name, it)| Some((name, it.get("path")?.as_str()?)));
    folders.map(|(name, folder)| (name.clone(), folder.to_owned())).collect()
}

/// The arrows of the manifests. Crates that only tests use have none.
pub(crate) fn of_manifests(workspace: &Path, read: &dyn Fn(&Path) -> toml::Table) -> Arrows {
    let own = folders(workspace, read);
    let programs = [("utmost", "."), ("workshop", "workshop")];
    let crates = own.iter().map(|(name, folder)| (name.as_str(), folder.as_str())).chain(programs);
    let arrows =
        crates.filter(|(_, folder)| !folder.starts_with("tests/")).map(|(name, folder)| {
            let manifest = read(&workspace.join(folder).join("Cargo.toml"));
            let used = manifest.get("dependencies").and_then(toml::Value::as_table);
            let used = used
                .into_iter()
                .flat_map(toml::Table::keys)
                .filter(|it| own.contains_key(it.as_str()));
            (name.to_owned(), used.cloned().collect())
        });
    arrows.collect()
}

/// A crate and those that it uses, directly or through others.
pub(crate) fn reached(arrows: &Arrows, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::from([from.to_owned()]);
    let mut left = vec![from.to_owned()];
    while let Some(name) = left.pop() {
        for used in &arrows[&name] {
            if reached.insert(used.clone()) {
                left.push(used.clone());
            }
        }
    }
    reached
}

/// The arrows of the rows "| `crate` | what it is | `used`, `used` | ... |".
pub(crate) fn of_table(text: &str) -> Arrows {
    let rows = text.lines().filter(|it| it.starts_with("| `"));
    let names =
        |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let arrows = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        (names(cells[1]).concat(), names(cells[3]).into_iter().collect())
    });
    arrows.collect()
}
