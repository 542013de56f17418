//! The report as a reader and as a browser see it.

use super::*;
use figures::Sheet;
use figures::speedups::Speedups;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::metrics::{self, Completions, byte_index};
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
    let schemes = page.rows.iter().map(|row| SchemeRow {
        scheme: row.scheme.clone(),
        atf: numbers(row.speedup.atf),
        all: numbers(row.speedup.all),
        ..SchemeRow::default()
    });
    Comparison {
        title: "A <b>study</b>".to_owned(),
        conditions: vec!["ideal engine".to_owned()],
        baseline: "rr".to_owned(),
        provenance: serde_json::json!({"argv": ["<script>", "&"]}),
        schemes: schemes.collect(),
        pages: vec![page.drawn(&resources, &runs, byte_index(), &Sheet::default())],
        ..Comparison::default()
    }
}

fn numbers(ratio: Option<f64>) -> SchemeNumbers {
    SchemeNumbers {
        ratio,
        speedups: Speedups::of(ratio.into_iter().collect()),
        ..SchemeNumbers::default()
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
fn ribbons_stay_below_a_megabyte_and_a_half_and_the_pages_that_gain_most_have_them() {
    let mut comparison = comparison();
    let page = comparison.pages.remove(0);
    let with_ribbons = |name: &str, gain: f64, bytes: usize| {
        let mut page = page.clone();
        page.name = name.to_owned();
        page.rows.truncate(2);
        page.rows[1].speedup.atf = Some(gain);
        if let Some(ribbons) = &mut page.ribbons {
            ribbons.svg = format!("<svg><!-- {name} {} --></svg>", "x".repeat(bytes));
        }
        page
    };
    comparison.pages = vec![
        with_ribbons("least", 1.5, 600_000),
        with_ribbons("most", 3.0, 900_000),
        with_ribbons("second", 2.0, 600_000),
    ];
    let html = comparison_report(&comparison);
    let drawn = ["least", "most", "second"].map(|name| html.contains(&format!("<!-- {name} ")));
    assert_eq!(drawn, [false, true, true]);
    assert_eq!(html.matches("<code>utmost view</code> draws them").count(), 1);
    assert!(html.len() < 1_700_000, "{}", html.len());
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
fn the_answer_comes_before_figure_table_conditions_and_definitions() {
    let html = comparison_report(&Comparison {
        answers: vec!["fifo is better.".to_owned()],
        ..comparison()
    });
    let parts = [
        "<li>fifo is better.</li>",
        "<svg",
        "ByteIndex of rr divided by that of each scheme",
        "id=\"statistics\"",
        "id=\"conditions\"",
        "<p>ideal engine</p>",
        "id=\"definitions\"",
        "id=\"provenance\"",
    ];
    let places = parts.map(|it| html.find(it).unwrap_or_else(|| panic!("{it}: {html}")));
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(
        html.matches("what arrived when").count(),
        2,
        "in the ribbons alone, which stand there once"
    );
}

#[test]
fn only_what_a_test_says_is_marked() {
    let mut study = comparison();
    assert!(!comparison_report(&study).contains("class=\"better"));
    study.schemes[1].atf.verdict = "better";
    study.schemes[1].atf.is_better = true;
    let html = comparison_report(&study);
    assert_eq!(html.matches("class=\"better\"").count(), 1);
    assert!(html.contains("class=\"better\">better</td>"), "{html}");
    assert!(html.contains("<tr class=\"baseline\"><th scope=\"row\">rr</th>"));
    assert!(html.contains("did not finish"));
}

#[test]
fn what_came_of_pushes_has_columns_where_something_could_be_pushed() {
    let mut study = comparison();
    let heading = ">pushes taken</th>";
    assert!(!comparison_report(&study).contains(heading));
    study.schemes[0].pushes =
        Some(PushMeans { taken: 2.5, refused: 1.0, late: 0.5, wasted_bytes: 1234.4 });
    study.schemes[1].pushes = Some(PushMeans { wasted_bytes: 7.0, ..PushMeans::default() });
    let html = comparison_report(&study);
    assert_eq!(html.matches(heading).count(), 1);
    for cell in [">2.5<", ">1.0<", ">0.5<", ">1234<", ">7<"] {
        assert!(html.contains(cell), "{cell}: {html}");
    }
}

#[test]
fn the_table_names_the_baseline_the_unit_and_the_verdict_by_setting() {
    let numbers = SchemeNumbers {
        value: Some(1506.0),
        ratio: Some(2.0),
        interval: Some([1.5, 2.5]),
        wins_ties_losses: Some([6, 1, 0]),
        verdict: "better",
        is_better: true,
        hodges_lehmann: Some(1.75),
        rank_biserial: Some(0.9642),
        p: Some(0.031_25),
        adjusted_p: Some(0.000_01),
        speedups: Speedups::of(vec![2.0]),
        mean_interval: None,
    };
    let row = |setting: &str| SchemeRow {
        setting: setting.to_owned(),
        scheme: "p+<script>".to_owned(),
        unit: "sites",
        atf: numbers.clone(),
        ..SchemeRow::default()
    };
    let schemes = vec![row("network 3g"), row("network 3g"), row("network cable")];
    let html = comparison_report(&Comparison { schemes, ..comparison() });
    let caption = "ByteIndex of rr divided by that of each scheme, above the fold: above 1, the scheme is better. \
                   The ByteIndex itself is the arithmetic mean over loads.";
    assert!(html.contains(&format!("<caption>{caption}</caption>")), "{html}");
    assert!(html.contains(">sites</th>"));
    for cell in [
        "2.00",
        "1.50 to 2.50",
        "1.75",
        "6 &#x2f; 1 &#x2f; 0",
        "+0.96",
        "0.0312",
        "1506",
        "7",
        "better",
    ] {
        assert!(html.contains(&format!(">{cell}</td>")), "{cell}");
    }
    assert!(html.contains(">&lt; 0.0001</td>") && html.contains(">p+&lt;script&gt;</th>"));
    assert_eq!(html.matches(">network 3g</th></tr>").count(), 2, "once in each of two tables");
}
