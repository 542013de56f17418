//! Tables of the guides that are made from the code; `UTMOST_BLESS=1` writes them anew.

use std::fs;
use std::path::Path;

const END: &str = "<!-- end -->";

pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(Path::new(crate::REPOSITORY).join(file)).expect(file)
}

/// Panics unless a guide has this text between its mark for what is made of `source`, and the end of it.
pub(crate) fn assert_made(guide: &str, source: &str, made: &str) {
    let mark =
        format!("<!-- Made from {source}: UTMOST_BLESS=1 cargo test --test cli made_tables -->\n");
    let intact = read(guide);
    let (before, rest) = intact.split_once(&mark).expect(source);
    let (is, after) = rest.split_once(END).expect("an end");
    if std::env::var_os("UTMOST_BLESS").is_some() {
        let current = format!("{before}{mark}{made}{END}{after}");
        fs::write(Path::new(crate::REPOSITORY).join(guide), current).expect("written");
    } else {
        assert!(is == made, "{guide} is out of date: UTMOST_BLESS=1");
    }
}

/// A row for each field of a struct: its name, and its doc comment.
fn rows_of(source: &str, name: &str) -> String {
    let (_, rest) = source.split_once(&format!("struct {name} {{\n")).expect(name);
    let (fields, _) = rest.split_once("\n}\n").expect("its end");
    let mut about = Vec::new();
    let mut rows = String::new();
    for line in fields.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            about.push(text);
        } else if let Some((field, _)) = line.split_once(": ") {
            assert!(!about.is_empty(), "{name}.{field} has no doc comment");
            let about = std::mem::take(&mut about).join(" ");
            rows.extend(["| `", field, "` | ", about.trim_end_matches('.'), " |\n"]);
        }
    }
    rows
}

#[test]
fn made_tables_have_every_metric() {
    let rows = qlog_tools::metrics::METRICS.iter().map(|it| {
        let better = format!("{:?}", it.better).to_lowercase();
        let texts = [it.heading, it.unit, &better, it.meaning].join(" | ");
        format!("| `{}` | {texts} |\n", it.name)
    });
    let head = "| name | in tables | unit | better | meaning |\n|---|---|---|---|---|\n";
    assert_made("docs/metrics.md", "the metrics", &format!("{head}{}", rows.collect::<String>()));
}

#[test]
fn made_tables_have_every_number_of_a_page() {
    let rows = corpus::facts::NUMBERS.iter();
    let rows = rows.map(|it| format!("| `{}` | {} |\n", it.name, it.about));
    let head = "| fact | meaning |\n|---|---|\n";
    assert_made("docs/corpus.md", "the facts", &format!("{head}{}", rows.collect::<String>()));
}

#[test]
fn made_tables_have_every_key_of_a_scheme_file() {
    let source = read("scheme-files/src/file.rs");
    for (table, name) in
        [("[scheme]", "FileScheme"), ("[[place]]", "FilePlace"), ("[[group]]", "FileGroup")]
    {
        let rows = rows_of(&source, name);
        let made = format!("| key of `{table}` | value |\n|---|---|\n{rows}");
        assert_made("docs/own-schemes-format.md", &format!("`{table}`"), &made);
    }
}

/// The paper's figures of trees: the heading, and the scenarios in `examples/trees`.
const TREES: [(&str, &[&str]); 7] = [
    ("Figure 2: exclusive and not", &["figure-2-exclusive", "figure-2-non-exclusive"]),
    ("Figure 3: the parent is gone", &["figure-3-still-there", "figure-3-removed"]),
    ("Figure 4: what arrives last wins", &["figure-4-b-first", "figure-4-c-first"]),
    ("Figure 5: before draft 22", &["figure-5"]),
    ("Figure 6: draft 22", &["figure-6"]),
    ("Figure 9: Firefox", &["figure-9"]),
    ("Figure 10: zero weights", &["figure-10"]),
];

#[test]
fn made_tables_have_every_figure_of_a_tree() {
    let figures = TREES.map(|(heading, scenarios)| {
        let figures = scenarios.iter().map(|name| {
            let scenario: serde_json::Value =
                serde_json::from_str(&read(&format!("examples/trees/{name}.json"))).expect("JSON");
            let description = scenario["description"].as_str().expect("a description");
            format!("\n{description}\n\n![](trees/{name}.png)\n")
        });
        format!("\n### {heading}\n{}", figures.collect::<String>())
    });
    assert_made("docs/trees.md", "examples/trees", &(figures.concat() + "\n"));
}
