//! `results/` holds what the program makes.

use crate::utmost;
use serde_json::Value;
use std::path::Path;

/// Everything except the provenance; as text, so that every digit counts.
fn without_provenance(mut reproduction: Value) -> String {
    reproduction["provenance"] = Value::Null;
    serde_json::to_string_pretty(&reproduction).expect("JSON")
}

/// The experiments that take fewer loads per row here than in the kept results. On engine `stack` loads with different
/// seeds differ a little.
const FEWER_LOADS: [&str; 5] =
    ["nginx-push", "notsent-lowat", "push-rules", "push-orders", "push-caches"];

/// Everything but measured values, to be compared as text, and these by row.
fn measured_apart(mut reproduction: Value) -> (String, Vec<(String, f64)>) {
    reproduction["method"] = Value::Null;
    let rows = reproduction["rows"].as_array_mut().expect("rows");
    let values = rows.iter_mut().map(|row| {
        row["note"] = Value::Null;
        let ours = row["ours"].take().as_f64().unwrap_or(f64::NAN);
        (row["id"].as_str().expect("an id").to_owned(), ours)
    });
    let values = values.collect();
    (without_provenance(reproduction), values)
}

/// How far fewer loads may lead from what is kept: so many percent, or so much where that is more: milliseconds and
/// points, or round trips. The loads of one row are of two kinds, with and without a lost packet, that lie 4.6 %
/// apart, and the median of few falls on either. Medians of `notsent-lowat` differ by 0.06 % at most.
fn fewer_loads_tolerance(name: &str, row: &str, kept: f64) -> f64 {
    let percent = match (name, row) {
        ("notsent-lowat", _) => 0.5,
        (_, "gate-strict-3000-all") => 6.0,
        _ => 3.0,
    };
    let least = match name {
        "nginx-push" | "push-orders" => 0.1,
        "notsent-lowat" => 0.01,
        _ => 1.0,
    };
    (kept.abs() * percent / 100.0).max(least)
}

fn assert_alike(name: &str, made: Value, kept: Value) {
    let ((made, ours), (kept, before)) = (measured_apart(made), measured_apart(kept));
    assert_eq!(made, kept, "{name} differs from results/: `make results` makes it again");
    for ((row, ours), (_, before)) in ours.iter().zip(&before) {
        let tolerated = fewer_loads_tolerance(name, row, *before);
        assert!((ours - before).abs() <= tolerated, "{name}, {row}: {ours}, kept {before}");
    }
}

/// The experiments of which a test of their own makes a part again, because the whole takes minutes.
const IN_PART: [&str; 1] = ["loss"];

/// Makes the others again, into `folder`, with few loads where results differ in any case. Returns the output.
fn reproduced(folder: &Path) -> Vec<Value> {
    let folder = folder.to_str().expect("UTF-8");
    let names = ::reproduce::EXPERIMENTS.iter().map(|it| it.name);
    let whole: Vec<&str> = names.filter(|it| !IN_PART.contains(it)).collect();
    let options = ["--json", "--runs", "3", "--out", folder];
    let output = utmost(&[&["reproduce"], &whole[..], &options].concat()).output();
    let output = output.expect("the program runs");
    let made: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array of JSON");
    let all_hold = made.iter().all(|it| it["all_hold"] == true);
    let code = output.status.code();
    assert_eq!(code, Some(i32::from(!all_hold)), "exit code 1 says that a condition does not hold");
    made
}

#[test]
fn the_kept_results_are_what_the_engines_give_and_as_their_schema_says() {
    let kept_in = Path::new(crate::REPOSITORY).join("results");
    let out = tempfile::tempdir().expect("a folder");
    let made = reproduced(out.path());
    assert_eq!(made.len() + IN_PART.len(), 13);
    for reproduction in made {
        crate::schemas::assert_valid("reproduction.json", &reproduction);
        let name = reproduction["name"].as_str().expect("a name").to_owned();
        let kept = std::fs::read_to_string(kept_in.join(format!("{name}.json"))).expect("a result");
        let kept: Value = serde_json::from_str(&kept).expect("JSON");
        if FEWER_LOADS.contains(&name.as_str()) {
            assert_alike(&name, reproduction, kept);
            continue;
        }
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
fn a_result_that_is_made_again_in_part_is_as_its_schema_says() {
    for name in IN_PART {
        let file = Path::new(crate::REPOSITORY).join(format!("results/{name}.json"));
        let kept = std::fs::read_to_string(file).expect("a result");
        let kept: Value = serde_json::from_str(&kept).expect("JSON");
        crate::schemas::assert_valid("reproduction.json", &kept);
    }
}

#[test]
fn an_unknown_experiment_is_told_the_known_ones() {
    let output = utmost(&["reproduce", "marx-table3"]).output().expect("the program runs");
    let line = crate::only_line(&output, 2);
    assert!(line.contains("no experiment `marx-table3`: use one of marx-table2,"), "{line}");
}

#[test]
fn a_flag_that_does_nothing_or_asks_for_nothing_is_refused() {
    let refused = |arguments: &[&str], expected: &str| {
        let line = crate::only_line(&utmost(arguments).output().expect("the program runs"), 2);
        assert!(line.starts_with(&format!("utmost-workshop: {expected}")), "{line}");
    };
    refused(
        &["reproduce", "marx-table2", "--runs", "3"],
        "--runs 3: marx-table2 runs on engine ideal, where a load is the same each time; leave out --runs",
    );
    let needed = "a whole number from 1 on is needed; leave out the flag for its default";
    for flag in ["--runs", "--jobs"] {
        let expected = format!("invalid value '0' for '{flag} <N>': {needed}");
        refused(&["reproduce", "marx-table2", flag, "0"], &expected);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_told_before_anything_is_loaded() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let out = file.path().to_str().expect("UTF-8");
    let output = utmost(&["reproduce", "all", "--out", out]).output().expect("the program runs");
    let line = crate::only_line(&output, 2);
    let expected =
        format!("utmost-workshop: {out}: a file is in its place; --out takes a directory");
    assert!(line.starts_with(&expected), "{line}");
}
