//! What `results/` keeps is what the program makes.

use crate::utmost;
use serde_json::Value;
use std::path::Path;

/// Everything but where it comes from; as text, so that a digit is a difference.
fn without_provenance(mut reproduction: Value) -> String {
    reproduction["provenance"] = Value::Null;
    serde_json::to_string_pretty(&reproduction).expect("JSON")
}

/// Makes everything again, into `folder`; what it printed.
fn reproduced(folder: &Path) -> Vec<Value> {
    let folder = folder.to_str().expect("UTF-8");
    let output = utmost(&["reproduce", "all", "--json", "--out", folder]).output();
    let output = output.expect("the program runs");
    let made: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array of JSON");
    let all_within = made.iter().all(|it| it["all_within"] == true);
    let code = output.status.code();
    assert_eq!(code, Some(i32::from(!all_within)), "exit code 1 says that something is not within");
    made
}

#[test]
fn the_kept_results_are_what_ideal_gives_and_as_their_schema_says() {
    let kept_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let out = tempfile::tempdir().expect("a folder");
    let made = reproduced(out.path());
    assert_eq!(made.len(), 6);
    for reproduction in made {
        crate::documents::assert_valid("reproduction.json", &reproduction);
        let name = reproduction["name"].as_str().expect("a name").to_owned();
        let kept = std::fs::read_to_string(kept_in.join(format!("{name}.json"))).expect("a result");
        let kept: Value = serde_json::from_str(&kept).expect("JSON");
        assert_eq!(
            without_provenance(reproduction),
            without_provenance(kept),
            "{name} differs from results/: `make results` makes it again"
        );
        for extension in ["md", "svg"] {
            let file = format!("{name}.{extension}");
            let [kept, made] =
                [kept_in.as_path(), out.path()].map(|it| std::fs::read(it.join(&file)).ok());
            assert!(kept.is_some() && kept == made, "{file} differs from results/");
        }
    }
}

#[test]
fn an_unknown_experiment_is_told_the_known_ones() {
    let output = utmost(&["reproduce", "marx-table3"]).output().expect("the program runs");
    let line = crate::only_line(&output, 2);
    assert!(line.contains("no experiment `marx-table3`: use one of marx-table2,"), "{line}");
}
