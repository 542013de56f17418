//! All pairs of schemes, and differences between settings, as a referee recomputes them from the loads.

use crate::stdout_of;
use crate::studies::read;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const STUDY: [&str; 6] =
    ["compare", "--paper", "--schemes", "rr,fifo,dfifo,srpt", "--baseline", "fifo"];

fn study_in(folder: &Path, more: &[&str]) -> Value {
    let out = folder.to_str().expect("UTF-8");
    let printed = stdout_of(&[&STUDY[..], more, &["--out", out, "--json"]].concat());
    let study = serde_json::from_str(&printed).expect("JSON");
    crate::schemas::assert_valid("study.json", &study);
    study
}

fn rows<'a>(study: &'a Value, key: &str) -> &'a Vec<Value> {
    study[key].as_array().expect("rows")
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().expect("a text")
}

/// By site: the mean logarithm of `other`'s ByteIndex above the fold divided by that of `scheme`, over the site's pages, with a send
/// buffer.
fn site_logarithms(study: &Value, scheme: &str, other: &str, buffer: u64) -> BTreeMap<String, f64> {
    let runs = rows(study, "runs");
    let mut sites: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for page in study["provenance"]["pages"].as_array().expect("pages") {
        let index = |scheme: &str| {
            let mut runs = runs.iter();
            let run = runs.find(|it| {
                it["page"] == page["name"]
                    && it["scheme"] == scheme
                    && it["send_buffer_bytes"] == buffer
            })?;
            run["byte_index"]["atf"].as_f64()
        };
        if let (Some(own), Some(others)) = (index(scheme), index(other)) {
            sites.entry(text(page, "site").to_owned()).or_default().push((others / own).ln());
        }
    }
    sites.into_iter().map(|(site, it)| (site, it.iter().sum::<f64>() / it.len() as f64)).collect()
}

/// The exact two-sided p of the signed-rank test, zeros by Pratt's rule: the share of all choices of signs whose smaller sum of
/// ranks is at most this one.
fn signed_rank_p(differences: &[f64]) -> f64 {
    let sizes: Vec<f64> = differences.iter().map(|it| (it.abs() * 1e9).round()).collect();
    let twice_rank = |size: f64| {
        let below = sizes.iter().filter(|it| **it < size).count();
        let equal = sizes.iter().filter(|it| it.total_cmp(&size).is_eq()).count();
        2 * below + equal + 1
    };
    // The number of choices of signs, by twice the sum of the positive ranks.
    let mut choices: BTreeMap<usize, f64> = [(0, 1.0)].into();
    let (mut positive, mut all) = (0, 0);
    for (difference, size) in differences.iter().zip(&sizes).filter(|it| *it.1 > 0.0) {
        let rank = twice_rank(*size);
        all += rank;
        positive += if *difference > 0.0 { rank } else { 0 };
        for (sum, count) in choices.clone() {
            *choices.entry(sum + rank).or_default() += count;
        }
    }
    let total: f64 = choices.values().sum();
    let tail: f64 = choices.range(..=positive.min(all - positive)).map(|it| it.1).sum();
    (2.0 * tail / total).min(1.0)
}

/// Holm's adjustment: sorted, each p times the number of tests not yet passed, and at least the one before.
fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    sorted.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut before: f64 = 0.0;
    for (passed, (place, p)) in sorted.into_iter().enumerate() {
        before = before.max(p * (p_values.len() - passed) as f64).min(1.0);
        adjusted[place] = before;
    }
    adjusted
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{value}, not {expected}");
}

#[test]
fn each_two_schemes_are_tested_once_over_sites_and_p_is_adjusted_for_all_pairs() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = study_in(folder.path(), &[]);
    let pairs = rows(&study, "pairs");
    let names: Vec<[&str; 2]> =
        pairs.iter().map(|it| ["baseline", "scheme"].map(|key| text(it, key))).collect();
    assert_eq!(
        names,
        [
            ["fifo", "rr"],
            ["fifo", "dfifo"],
            ["fifo", "srpt"],
            ["rr", "dfifo"],
            ["rr", "srpt"],
            ["dfifo", "srpt"]
        ]
    );
    let logarithms: Vec<Vec<f64>> = names
        .iter()
        .map(|it| site_logarithms(&study, it[1], it[0], 0).into_values().collect())
        .collect();
    let p_values: Vec<f64> = logarithms.iter().map(|it| signed_rank_p(it)).collect();
    for ((pair, sites), (p, adjusted)) in
        pairs.iter().zip(&logarithms).zip(p_values.iter().zip(holm(&p_values)))
    {
        assert_eq!(pair["pairs"]["atf"], sites.len());
        near(&pair["wilcoxon_p"]["atf"], *p);
        near(&pair["holm_p"]["atf"], adjusted);
        let ends = &pair["geometric_mean_ratio_interval"]["atf"];
        let contains_1 = ends[0].as_f64() <= Some(1.0) && ends[1].as_f64() >= Some(1.0);
        assert_eq!(pair["winner"]["atf"].is_string(), adjusted < 0.05 && !contains_1, "{pair}");
    }
    // With the baseline of the study, only the family is another one: six pairs, not three schemes.
    for (pair, compared) in pairs.iter().zip(rows(&study, "comparisons")) {
        for key in ["scheme", "geometric_mean_ratio", "geometric_mean_ratio_interval", "wilcoxon_p"]
        {
            assert_eq!(pair[key], compared[key], "{key}");
        }
    }
    let csv = read(folder.path(), "pairs.csv");
    assert_eq!(csv.lines().filter(|it| !it.starts_with('#')).count(), 1 + 6);
}

#[test]
fn the_matrix_marks_what_the_test_shows_and_its_two_halves_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = study_in(folder.path(), &[]);
    let winners = rows(&study, "pairs").iter().filter(|it| it["winner"]["atf"].is_string()).count();
    assert!((1..6).contains(&winners), "{winners} of 6");
    let report = read(folder.path(), "report.html");
    let section = report.split("id=\"pairs\"").nth(1).expect("a section");
    let section = section.split("</section>").next().expect("its end");
    assert_eq!(section.matches("class=\"better\"").count(), winners, "each once");

    let alone = stdout_of(&STUDY);
    assert!(!alone.contains("All pairs"), "{alone}");
    let shown = stdout_of(&[&STUDY[..], &["--all-pairs"]].concat());
    let sentence = format!("All pairs, the test shows a difference in {winners} of 6 pairs.\n");
    let matrix = shown.split(&sentence).nth(1).unwrap_or_else(|| panic!("{shown}"));
    let cells: Vec<Vec<&str>> =
        matrix.lines().skip(1).take(4).map(|it| it.split_whitespace().collect()).collect();
    let marks = |mark: &str| cells.iter().flatten().filter(|it| **it == mark).count();
    assert_eq!(marks("+"), winners, "{matrix}");
    let schemes: BTreeSet<&str> = cells.iter().map(|it| it[1]).collect();
    assert_eq!(schemes, ["dfifo", "fifo", "rr", "srpt"].into());
    // The first row is the scheme with the highest ratio; where it is better, the first column says worse.
    assert_eq!(cells[0][..3], ["1", cells[0][1], "-"]);
}

#[test]
fn two_schemes_and_one_page_have_no_matrix_and_that_is_said() {
    let two = ["compare", "--paper", "--schemes", "fifo", "--all-pairs"];
    let shown = stdout_of(&two);
    assert!(shown.contains("\nAll pairs: there are fewer than three schemes, or "), "{shown}");
    let page = ["compare", "--paper", "davies-meenan", "--schemes", "fifo,dfifo", "--all-pairs"];
    let shown = stdout_of(&page);
    assert!(shown.contains("\nAll pairs: there are fewer than three schemes, or "), "{shown}");
}

const BUFFERS: [&str; 2] = ["--send-buffer", "0,1000k"];

#[test]
fn a_ratio_is_compared_between_two_settings_site_by_site() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = study_in(folder.path(), &BUFFERS);
    let found = rows(&study, "interactions");
    let schemes: Vec<&str> = found.iter().map(|it| text(it, "scheme")).collect();
    assert_eq!(schemes, ["rr", "dfifo", "srpt"]);
    let differences: Vec<Vec<f64>> = schemes
        .iter()
        .map(|scheme| {
            let [small, large] =
                [0, 1_000_000].map(|it| site_logarithms(&study, scheme, "fifo", it));
            small.iter().map(|(site, logarithm)| logarithm - large[site]).collect()
        })
        .collect();
    let p_values: Vec<f64> = differences.iter().map(|it| signed_rank_p(it)).collect();
    let adjusted = holm(&p_values);
    for (place, row) in found.iter().enumerate() {
        assert_eq!(row["dimension"], "send_buffer_bytes");
        let buffers = ["setting", "other_setting"].map(|it| row[it]["send_buffer_bytes"].as_u64());
        assert_eq!(buffers, [Some(0), Some(1_000_000)]);
        assert_eq!(row["sites"]["atf"], differences[place].len());
        near(&row["wilcoxon_p"]["atf"], p_values[place]);
        near(&row["holm_p"]["atf"], adjusted[place]);
        let ends = &row["ratio_of_ratios_interval"]["atf"];
        let contains_1 = ends[0].as_f64() <= Some(1.0) && ends[1].as_f64() >= Some(1.0);
        assert_eq!(row["differs"]["atf"], adjusted[place] < 0.05 && !contains_1, "{row}");
    }
    // The ratio over pages in one setting divided by that in the other one.
    for row in found {
        let ratio = |buffer: u64| {
            let mut compared = rows(&study, "comparisons").iter();
            let of = compared
                .find(|it| it["scheme"] == row["scheme"] && it["send_buffer_bytes"] == buffer);
            of.expect("a row")["geometric_mean_ratio"]["atf"].as_f64().expect("a ratio")
        };
        near(&row["ratio_of_ratios"]["atf"], ratio(0) / ratio(1_000_000));
    }
    let csv = read(folder.path(), "interactions.csv");
    assert_eq!(csv.lines().filter(|it| !it.starts_with('#')).count(), 1 + 3);
}

#[test]
fn the_answer_names_ratios_that_differ_and_the_report_says_it_if_none_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = study_in(folder.path(), &BUFFERS);
    let differing = rows(&study, "interactions").iter().filter(|it| it["differs"]["atf"] == true);
    let differing: Vec<&str> = differing.map(|it| text(it, "scheme")).collect();
    assert!(!differing.is_empty());
    let shown = stdout_of(&[&STUDY[..], &BUFFERS].concat());
    let mut sentences = shown.lines().filter(|it| it.starts_with("The ratio"));
    let said = sentences.next().unwrap_or_else(|| panic!("{shown}"));
    assert!(differing.iter().any(|it| said.contains(it)), "{said}");
    assert!(said.contains(" higher with ") && said.contains(" than with "), "{said}");
    let nothing = "no ratio is shown to differ between settings";
    assert!(!read(folder.path(), "report.html").contains(nothing));

    // A send buffer of one byte changes nothing.
    let folder = tempfile::tempdir().expect("a folder");
    let study = study_in(folder.path(), &["--send-buffer", "0,1"]);
    assert!(rows(&study, "interactions").iter().all(|it| it["differs"]["atf"] == false));
    assert!(read(folder.path(), "report.html").contains(&format!("{nothing} (3 tests, ")));
    let shown = stdout_of(&[&STUDY[..], &["--send-buffer", "0,1"]].concat());
    assert!(!shown.contains("The ratio") && !shown.contains(nothing), "{shown}");
}
