//! What `results/` keeps is what the program makes.

use crate::utmost;
use serde_json::Value;
use std::path::Path;

/// Everything but where it comes from; as text, so that a digit is a difference.
fn without_provenance(mut reproduction: Value) -> String {
    reproduction["provenance"] = Value::Null;
    serde_json::to_string_pretty(&reproduction).expect("JSON")
}

fn reproduced() -> Vec<Value> {
    let output = utmost(&["reproduce", "all", "--json"]).output().expect("the program runs");
    let code = output.status.code();
    let made: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array of JSON");
    let all_within = made.iter().all(|it| it["all_within"] == true);
    assert_eq!(code, Some(i32::from(!all_within)), "exit code 1 says that something is not within");
    made
}

#[test]
fn the_kept_results_are_what_ideal_gives_and_as_their_schema_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = reproduced();
    assert_eq!(made.len(), 6);
    for reproduction in made {
        crate::documents::assert_valid("reproduction.json", &reproduction);
        let name = reproduction["name"].as_str().expect("a name").to_owned();
        let file = root.join("results").join(format!("{name}.json"));
        let kept = std::fs::read_to_string(&file).expect("a kept result");
        let kept: Value = serde_json::from_str(&kept).expect("JSON");
        assert_eq!(
            without_provenance(reproduction),
            without_provenance(kept),
            "{name} differs from results/: `make results` makes it again"
        );
    }
}

#[test]
fn the_kept_tables_and_figures_are_what_the_program_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = tempfile::tempdir().expect("a folder");
    let folder = out.path().to_str().expect("UTF-8");
    utmost(&["reproduce", "all", "--out", folder]).output().expect("the program runs");
    let mut compared = 0;
    for entry in std::fs::read_dir(out.path()).expect("results") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|it| it == "json") {
            continue;
        }
        let name = path.file_name().expect("a name");
        let kept = std::fs::read(root.join("results").join(name)).expect("a kept result");
        assert!(kept == std::fs::read(&path).expect("a result"), "{name:?} differs from results/");
        compared += 1;
    }
    assert_eq!(compared, 12, "a table and a figure of each of six");
}

#[test]
fn an_unknown_experiment_is_told_the_known_ones() {
    let output = utmost(&["reproduce", "marx-table3"]).output().expect("the program runs");
    let line = crate::only_line(&output, 2);
    assert!(line.contains("no experiment `marx-table3`: use one of marx-table2,"), "{line}");
}
