//! The figures of a study: for whom they are drawn, and their statements about how they were made.

use crate::studies::read;
use crate::{only_line, stdout_of, utmost};
use std::fs;
use std::path::Path;

/// Pages of seven sites, and three send buffers: each kind of figure has its data.
const STUDY: [&str; 14] = [
    "compare",
    "--paper",
    "agency-index",
    "davies-meenan",
    "gentelella-index",
    "uikit-slider",
    "kicad-start",
    "landing-home",
    "python-datetime",
    "--schemes",
    "fifo,kway:4,dfifo",
    "--send-buffer",
    "0,14k,28k",
    "--metadata=full",
];

/// The figures of the study in the style that `more` names.
fn drawn(out: &Path, more: &[&str]) {
    let out = ["--out", out.to_str().expect("UTF-8")];
    stdout_of(&[&STUDY[..], &out, more].concat());
}

/// The names of the files in `figures` that end with `end`, without it.
fn names(out: &Path, end: &str) -> Vec<String> {
    let entries = fs::read_dir(out.join("figures")).expect("a folder");
    let names = entries.map(|it| it.expect("a file").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter_map(|it| Some(it.strip_suffix(end)?.into())).collect();
    names.sort();
    names
}

/// The values of an attribute.
fn values<'a>(svg: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    svg.split(&start).skip(1).filter_map(|it| it.split('"').next()).collect()
}

fn bytes(out: &Path, name: &str) -> Vec<u8> {
    fs::read(out.join("figures").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_figure_says_its_conditions_on_a_screen_and_for_a_paper() {
    let folder = tempfile::tempdir().expect("a folder");
    drawn(folder.path(), &[]);
    let on_screen = names(folder.path(), ".svg");
    for kind in
        ["intervals", "speedups-paper", "distribution-paper", "sweep-send-buffer-bytes-paper"]
    {
        assert!(on_screen.contains(&format!("{kind}-overall")), "{kind}: {on_screen:?}");
    }
    for kind in [
        "schemes-by-networks-overall",
        "interleaving-overall",
        "agency-index-send-buffer-0-bytes-curve",
    ] {
        assert!(on_screen.iter().any(|it| it == kind), "{kind}: {on_screen:?}");
    }
    for name in &on_screen {
        let svg = read(folder.path(), &format!("figures/{name}.svg"));
        let said = "metadata full (the server was told what is above the fold";
        let description = svg.split("<desc>").nth(1).and_then(|it| it.split("</desc>").next());
        let description = description.unwrap_or_else(|| panic!("{name}: {svg}"));
        assert!(
            description.contains("engine ideal, network paper (") && description.contains(said)
        );
        assert!(
            svg.matches(">page ").count() + svg.matches(">engine ideal, network").count() >= 1,
            "{name}: the foot"
        );
    }
    assert_eq!(names(folder.path(), ".png"), on_screen);

    drawn(folder.path(), &["--figure-style", "paper"]);
    assert_eq!(names(folder.path(), ".svg"), on_screen);
    assert_eq!(names(folder.path(), ".png"), [""; 0], "those of the screen are gone");
    for name in names(folder.path(), ".svg") {
        let caption = read(folder.path(), &format!("figures/{name}.tex"));
        assert!(caption.starts_with("\\caption{") && caption.ends_with("}\n"), "{caption}");
        assert!(caption.contains("Conditions: ") && caption.contains("engine ideal"), "{caption}");
        assert!(read(folder.path(), &format!("figures/{name}.svg")).contains("<desc>"));
    }
}

#[test]
fn a_figure_for_a_paper_has_its_printed_size_and_no_text_below_7_points_and_no_title() {
    let folder = tempfile::tempdir().expect("a folder");
    for (width, points) in [("column", "240"), ("page", "504")] {
        drawn(folder.path(), &["--figure-style", "paper", "--figure-width", width]);
        for name in names(folder.path(), ".svg") {
            let svg = read(folder.path(), &format!("figures/{name}.svg"));
            assert_eq!(values(&svg, "width")[0], format!("{points}pt"), "{name}");
            // A unit is two thirds of a point.
            for size in values(&svg, "font-size") {
                let points = size.parse::<f64>().expect("a number") * 2.0 / 3.0;
                assert!((6.99..8.01).contains(&points), "{name}: {points} pt");
            }
            let pdf = bytes(folder.path(), &format!("{name}.pdf"));
            assert!(pdf.starts_with(b"%PDF-"), "{name}");
            let page = format!("/MediaBox [0 0 {points} ");
            assert!(pdf.windows(page.len()).any(|it| it == page.as_bytes()), "{name}: {page}");
        }
        let intervals = read(folder.path(), "figures/intervals-overall.svg");
        let title = ">ByteIndex speedup over rr<";
        assert_eq!(intervals.matches(title).count(), 1, "in the title element only");
    }
}

#[test]
fn another_style_draws_a_study_again_and_loads_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = || read(folder.path(), "runs.jsonl");
    drawn(folder.path(), &[]);
    let before = runs();
    drawn(folder.path(), &["--figure-style=paper"]);
    assert_eq!(runs(), before);
}

#[test]
fn a_style_needs_a_folder_and_a_width_needs_a_style() {
    for arguments in [&["--figure-style", "paper"][..], &["--out", "x", "--figure-width", "page"]] {
        let output =
            utmost(&[&["compare", "--paper", "davies-meenan"], arguments].concat()).output();
        let output = output.expect("runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    let line = only_line(
        &utmost(&["compare", "--paper", "x", "--figure-style=poster"]).output().expect("runs"),
        2,
    );
    assert!(line.contains("poster"), "{line}");
}
