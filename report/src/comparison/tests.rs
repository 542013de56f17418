//! The report as a reader and as a browser get it.

use super::*;
use figures::Sheet;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::metrics::{Completions, byte_index};
use qlog_tools::page_resources::PageResource;
use qlog_tools::timeline::{Timeline, Transfer};
use schedulers::Kind;

/// Two resources, complete at the given times (ms).
fn run(name: &str, times_ms: [u64; 2]) -> Timeline {
    let transfer = |stream, url: &str| Transfer {
        stream,
        url: url.to_owned(),
        body_bytes: Some(100),
        stream_bytes: Some(100),
        ..Transfer::default()
    };
    let frame = |stream, time_ms: u64| StreamFrame {
        time_us: time_ms * 1000,
        stream,
        offset: 0,
        bytes: 100,
    };
    let mut frames = vec![frame(0, times_ms[0]), frame(4, times_ms[1])];
    frames.retain(|frame| frame.time_us > 0);
    frames.sort_by_key(|frame| frame.time_us);
    Timeline {
        name: name.to_owned(),
        transfers: vec![transfer(0, "/"), transfer(4, "/x?<script>alert(1)</script>")],
        frames,
        ..Timeline::default()
    }
}

fn comparison() -> Comparison {
    let resource = |url: &str, above_fold| PageResource {
        url: url.to_owned(),
        kind: Kind::Html,
        above_fold,
        body_bytes: Some(100),
        streams: Vec::new(),
    };
    let resources = [resource("/", true), resource("/x?<script>alert(1)</script>", false)];
    let (rr, fifo, broken) = (run("rr", [400, 400]), run("fifo", [200, 400]), run("p+", [100, 0]));
    let runs = [
        Run { scheme: "rr", timeline: &rr },
        Run { scheme: "fifo", timeline: &fifo },
        Run { scheme: "p+<script>", timeline: &broken },
    ];
    let rows: Vec<Row> = runs.iter().map(|run| row(run, &resources)).collect();
    let page = PageComparison::new("shop </style>", &resources, rows, byte_index(), "rr");
    let summary = page.rows.iter().map(|row| SummaryRow {
        scheme: row.scheme.clone(),
        all: Speedups::of(row.speedup.all.into_iter().collect()),
        atf: Speedups::of(row.speedup.atf.into_iter().collect()),
        ..SummaryRow::default()
    });
    Comparison {
        title: "A <b>study</b>".to_owned(),
        what: "ideal engine".to_owned(),
        baseline: "rr".to_owned(),
        provenance: serde_json::json!({"argv": ["<script>", "&"]}),
        summary: summary.collect(),
        pages: vec![page.drawn(&resources, &runs, byte_index(), &Sheet::default())],
        ..Comparison::default()
    }
}

fn row(run: &Run<'_>, resources: &[PageResource]) -> Row {
    let is_atf = |it: &Transfer| resources.iter().any(|of| of.above_fold && of.url == it.url);
    let all = Completions::new(run.timeline, |_| true);
    let atf = Completions::new(run.timeline, is_atf).ok();
    Row {
        scheme: run.scheme.to_owned(),
        metrics: Measured::of(run.timeline, all.as_ref().ok(), atf.as_ref()),
        note: all.err().map(|reason| reason.to_string()),
        ..Row::default()
    }
}

#[test]
fn a_speedup_is_over_the_baselines_row() {
    let rows = comparison().pages.remove(0).rows;
    let row = |scheme: &str| rows.iter().find(|row| row.scheme == scheme).unwrap().clone();
    let index = |scheme: &str| row(scheme).metrics.byte_index();
    assert_eq!(index("rr"), BySet { all: Some(400.0), atf: Some(400.0) });
    assert_eq!(index("fifo"), BySet { all: Some(300.0), atf: Some(200.0) });
    assert_eq!(row("fifo").speedup, BySet { all: Some(4.0 / 3.0), atf: Some(2.0) });
    assert_eq!(index("p+<script>"), BySet { all: None, atf: Some(100.0) });
    assert_eq!(row("p+<script>").speedup, BySet { all: None, atf: Some(4.0) });
}

#[test]
fn the_report_explains_every_metric() {
    let html = comparison_report(&comparison());
    for metric in &metrics::METRICS {
        assert!(html.contains(&format!("<strong>{}</strong> (ms, lower", metric.heading)));
    }
}

#[test]
fn a_distribution_of_speedups_is_over_pages() {
    let speedups = Speedups::of(vec![3.0, 1.0, 2.0, 0.5]);
    let expected = Speedups {
        pages: 4,
        mean: Some(1.625),
        median: Some(1.5),
        best: Some(3.0),
        worst: Some(0.5),
    };
    assert_eq!(speedups, expected);
}

#[test]
fn nothing_from_outside_becomes_markup() {
    let html = comparison_report(&comparison());
    assert!(!html.contains("<script"), "{html}");
    assert!(!html.contains("<b>"));
    assert_eq!(html.matches("</style>").count(), 1);
    assert!(html.contains("/x?&lt;script&gt;alert(1)&lt;"));
    assert!(html.contains("&lt;script&gt;&quot;") || html.contains("\"&lt;script&gt;\""));
}

#[test]
fn the_report_asks_the_network_for_nothing() {
    let html = comparison_report(&comparison());
    assert!(html.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    let without_names = html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "");
    for forbidden in ["http:", "https:", "src=", "@import", "<link", "<iframe", "href=\"http"] {
        assert!(!without_names.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn the_best_and_the_baseline_are_marked_in_words() {
    let html = comparison_report(&comparison());
    assert!(html.contains(">4.00<span class=\"visually-hidden\"> (best number)</span>"), "{html}");
    assert!(html.contains("<tr class=\"baseline\"><th scope=\"row\">rr</th>"));
    assert!(html.contains("did not finish"));
    assert!(html.contains("all resources: only 0 of 1 pages"));
}

#[test]
fn what_came_of_pushes_has_columns_where_something_could_be_pushed() {
    let mut study = comparison();
    let group = "pushes, mean of a load";
    assert!(!comparison_report(&study).contains(group));
    study.summary[0].pushes =
        Some(PushMeans { taken: 2.5, refused: 1.0, late: 0.5, wasted_bytes: 1234.4 });
    study.summary[1].pushes = Some(PushMeans { wasted_bytes: 7.0, ..PushMeans::default() });
    let html = comparison_report(&study);
    assert_eq!(html.matches(group).count(), 1);
    for cell in
        [">2.5<", ">1.0<", ">0.5<", ">1234<", ">7<span class=\"visually-hidden\"> (best number)"]
    {
        assert!(html.contains(cell), "{cell}: {html}");
    }
}

#[test]
fn a_table_of_pairs_names_the_baseline_the_unit_and_the_winner() {
    let numbers = PairedNumbers {
        wins_ties_losses: [6, 1, 0],
        geometric_mean: 2.0,
        interval: Some([1.5, 2.5]),
        hodges_lehmann: 1.75,
        rank_biserial: Some(0.9642),
        p: Some(0.031_25),
        adjusted_p: Some(0.000_01),
        winner: Some("p+<script>".to_owned()),
    };
    let row = PairedRow {
        setting: "network 3g".to_owned(),
        scheme: "p+<script>".to_owned(),
        pairs_of: "sites",
        all: None,
        atf: Some(numbers),
    };
    let html = comparison_report(&Comparison { comparisons: vec![row.clone()], ..comparison() });
    assert!(html.contains("<h3>Each scheme against rr</h3>"));
    let caption =
        "ByteIndex of rr divided by that of each scheme, above the fold, over 7 sites, network 3g";
    assert!(html.contains(&format!("<caption>{caption}</caption>")));
    for cell in ["2.000", "1.500 to 2.500", "1.750", "6 &#x2f; 1 &#x2f; 0", "+0.96", "0.0312"] {
        assert!(html.contains(&format!(">{cell}</td>")), "{cell}");
    }
    assert!(html.contains(">&lt; 0.0001</td>") && html.contains(">p+&lt;script&gt;</td>"));

    // One pair is a speedup, which another table has.
    let mut alone = row;
    alone.atf.as_mut().expect("numbers").wins_ties_losses = [1, 0, 0];
    let html = comparison_report(&Comparison { comparisons: vec![alone], ..comparison() });
    assert!(!html.contains("Each scheme against"));
}
