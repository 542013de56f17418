//! Lock files outside the workspace, such as those of fuzzing: builds of the workspace neither read nor update them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use toml::{Table, Value};

/// What a crate of ours needs and the lock file of a folder does not give it: `corpus/fuzz: utmost-corpus needs url`.
pub(crate) fn lacking(
    workspace: &Path,
    folder: &str,
    read: &dyn Fn(&Path) -> Table,
    needs: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let lock = read(&workspace.join(folder).join("Cargo.lock"));
    let packages = lock["package"].as_array().expect("packages");
    let ours = packages.iter().filter(|it| it.get("source").is_none());
    let mut lacking = Vec::new();
    for package in ours {
        let name = package["name"].as_str().expect("a name");
        let locked = package.get("dependencies").and_then(Value::as_array);
        let locked = locked.into_iter().flatten().filter_map(Value::as_str);
        let locked: BTreeSet<&str> = locked.filter_map(|it| it.split(' ').next()).collect();
        let needed = needs.get(name).into_iter().flatten();
        let needed = needed.filter(|it| !locked.contains(it.as_str()));
        lacking.extend(needed.map(|it| format!("{folder}: {name} needs {it}")));
    }
    lacking
}

/// The packages that each package of the workspace cannot do without, both by their names in lock files.
pub(crate) fn needs(
    workspace: &Path,
    read: &dyn Fn(&Path) -> Table,
) -> BTreeMap<String, BTreeSet<String>> {
    let root = read(&workspace.join("Cargo.toml"));
    let known = root["workspace"]["dependencies"].as_table().expect("a table");
    let members = root["workspace"]["members"].as_array().expect("members");
    let folders = members.iter().filter_map(Value::as_str).chain(["."]);
    let manifests = folders.map(|it| read(&workspace.join(it).join("Cargo.toml")));
    let needs = manifests.map(|manifest| {
        let tables = ["dependencies", "build-dependencies"].map(|it| manifest.get(it));
        let named = tables.into_iter().flatten().filter_map(Value::as_table).flatten();
        let needed =
            named.filter(|(_, it)| it.get("optional").and_then(Value::as_bool) != Some(true));
        let packages = needed.map(|(name, it)| {
            let it = if it.get("workspace").is_some() { &known[name] } else { it };
            it.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
        });
        (manifest["package"]["name"].as_str().expect("a name").to_owned(), packages.collect())
    });
    needs.collect()
}
