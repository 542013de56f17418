//! `utmost explain`, on studies whose results were planted.

use crate::schemas::assert_valid;
use crate::{only_line, stdout_of, utmost};
use serde_json::Value;
use std::path::Path;

/// A study of 60 pages of 42 sites, whose loads under `fifo` take `factor` times what those under `rr` take, give or take 3 %.
fn planted(folder: &Path, factor: fn(heroes: u64) -> f64) {
    let out = folder.to_str().expect("UTF-8");
    let flags = ["compare", "@first-60", "--paper", "--schemes", "rr,fifo", "--json", "--out", out];
    let study: Value = serde_json::from_str(&stdout_of(&flags)).expect("JSON");
    let pages = study["pages"].as_array().expect("the facts of pages");
    let heroes = |page: &Value| {
        pages.iter().find(|it| it["page"] == *page).and_then(|it| it["heroes"].as_u64())
    };
    let journal = folder.join("runs.jsonl");
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let mut entries: Vec<Value> =
        text.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    entries.sort_by_key(|it| it["place"].as_u64());
    for (place, pair) in entries.chunks_mut(2).enumerate() {
        let heroes = heroes(&pair[0]["run"]["page"]).expect("a page of the study");
        let others = (place * 7 % 13) as f64 / 200.0 - 0.03;
        for set in ["all", "atf"] {
            let value = pair[0]["run"]["byte_index"][set].as_f64();
            let value = value.map(|it| it * factor(heroes) * (1.0 + others));
            pair[1]["run"]["byte_index"][set] = value.into();
        }
    }
    let lines: Vec<String> = entries.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(journal, lines.concat()).expect("written");
}

fn explained(folder: &Path) -> Value {
    let path = folder.to_str().expect("UTF-8");
    let document = serde_json::from_str(&stdout_of(&["explain", path, "--json"])).expect("JSON");
    assert_valid("explain.json", &document);
    document
}

#[test]
fn a_rule_that_was_planted_is_said_first_and_then_its_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    planted(folder.path(), |heroes| if heroes > 0 { 0.8 } else { 1.1 });
    let document = explained(folder.path());
    let split = &document["winner"]["tree"]["split"];
    assert_eq!((&split["fact"], &split["at"]), (&"heroes".into(), &0.5.into()));
    assert_eq!(
        (&split["below"]["scheme"], &split["above"]["scheme"]),
        (&"rr".into(), &"fifo".into())
    );
    assert!((split["above"]["ratio"].as_f64().expect("a ratio") - 1.25).abs() < 0.02, "{split}");
    let text = stdout_of(&["explain", folder.path().to_str().expect("UTF-8")]);
    assert!(
        text.starts_with("The winner depends on heroes: on sites that the rule has not seen,"),
        "{text}"
    );
    assert!(text.contains("the number of hero images: more than 0"), "{text}");
}

#[test]
fn nothing_is_said_where_nothing_was_planted_and_what_it_would_take() {
    let folder = tempfile::tempdir().expect("a folder");
    planted(folder.path(), |_| 0.95);
    let document = explained(folder.path());
    assert_eq!(
        (&document["winner"]["found"], &document["gain"]["found"]),
        (&false.into(), &false.into())
    );
    let text = stdout_of(&["explain", folder.path().to_str().expect("UTF-8")]);
    assert!(text.starts_with("Nothing predicts the winner: use fifo everywhere, 1.0"), "{text}");
    assert!(text.contains("With 42 sites, a rule is found in 80 of 100 studies"), "{text}");
}

#[test]
fn a_study_with_few_sites_or_without_all_loads_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("UTF-8");
    stdout_of(&["compare", "davies-meenan", "--paper", "--schemes", "fifo", "--out", out]);
    let refused = || only_line(&utmost(&["explain", out]).output().expect("it runs"), 2);
    let message = refused();
    let expected = "pages of 1 site have results, and a rule needs at least 12: 6 on each side; study more pages";
    assert!(message.ends_with(expected), "{message}");
    let journal = folder.path().join("runs.jsonl");
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let first = text.lines().next().expect("a load");
    std::fs::write(&journal, format!("{first}\n")).expect("written");
    let message = refused();
    assert!(
        message.ends_with(
            "1 of 2 loads are missing; run the same `utmost compare` again, which continues it"
        ),
        "{message}"
    );
    let message = only_line(&utmost(&["explain", "examples"]).output().expect("it runs"), 2);
    assert!(message.contains("examples/manifest.json: "), "{message}");
}
