//! Writes a report on made-up pages, to look at its figures: `sample_report OUT_DIR`.

use std::fs;
use std::path::PathBuf;

use figures::Sheet;
use figures::png::Rasterizer;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::metrics::{Completions, Measured, byte_index};
use qlog_tools::page_resources::PageResource;
use qlog_tools::timeline::{Timeline, Transfer};
use report::comparison::{Comparison, PageComparison, Row, Run, comparison_report};
use schedulers::Kind;

const PACKET_BYTES: u64 = 1400;
const SLOT_US: u64 = 10_000;
const ORDERS: [&str; 12] = [
    "rr",
    "fifo",
    "lifo",
    "atf-first",
    "atf-shared",
    "smallest",
    "largest",
    "pairs",
    "fours",
    "eights",
    "kinds",
    "odd-even",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: sample_report OUT_DIR")?);
    fs::create_dir_all(&folder)?;
    let pages: Vec<PageComparison> = [9, 24, 60].iter().map(|&count| page(count)).collect();
    let rasterizer = Rasterizer::new()?;
    for page in &pages {
        for (name, figure) in [("ribbons", &page.ribbons), ("curve", &page.curve)] {
            let Some(figure) = figure else { continue };
            let file = folder.join(format!("{}-{name}", page.name));
            fs::write(file.with_extension("svg"), &figure.svg)?;
            fs::write(file.with_extension("png"), rasterizer.png(&figure.svg, 2.0)?)?;
        }
    }
    let comparison = Comparison {
        conditions: vec!["Made-up pages under simple orders, one packet of 1400 bytes each 10 ms: not a measurement.".to_owned()],
        provenance: serde_json::json!({ "engine": "none", "orders": ORDERS }),
        title: "Sample report".to_owned(),
        baseline: "rr".to_owned(),
        pages,
        ..Comparison::default()
    };
    fs::write(folder.join("report.html"), comparison_report(&comparison))?;
    Ok(())
}

fn page(count: u64) -> PageComparison {
    let resources: Vec<PageResource> = (0..count).map(resource).collect();
    let timelines: Vec<Timeline> = ORDERS.iter().map(|order| play(order, &resources)).collect();
    let runs: Vec<Run<'_>> =
        ORDERS.iter().zip(&timelines).map(|(scheme, timeline)| Run { scheme, timeline }).collect();
    let rows = runs.iter().map(|run| row(run, &resources)).collect();
    PageComparison::new(&format!("sample-{count}"), &resources, rows, byte_index(), "rr").drawn(
        &resources,
        &runs,
        byte_index(),
        &Sheet::default(),
    )
}

fn row(run: &Run<'_>, resources: &[PageResource]) -> Row {
    let is_atf = |it: &Transfer| resources.iter().any(|of| of.above_fold && of.url == it.url);
    let all = Completions::new(run.timeline, |_| true).ok();
    let atf = Completions::new(run.timeline, is_atf).ok();
    let metrics = Measured::of(run.timeline, all.as_ref(), atf.as_ref());
    Row { scheme: run.scheme.to_owned(), metrics, ..Row::default() }
}

fn resource(place: u64) -> PageResource {
    const KINDS: [(Kind, &str, u64); 6] = [
        (Kind::Css, "style/main.css", 9),
        (Kind::Js, "script/application.js", 22),
        (Kind::Font, "fonts/text-regular.woff2", 14),
        (Kind::Image, "images/photograph-large.jpg", 30),
        (Kind::Image, "images/logo.png", 5),
        (Kind::Xhr, "api/items.json", 4),
    ];
    if place == 0 {
        let url = "https://shop.example/".to_owned();
        return PageResource {
            url,
            kind: Kind::Html,
            above_fold: true,
            body_bytes: Some(16 * PACKET_BYTES),
            streams: Vec::new(),
        };
    }
    let (kind, path, packets) =
        KINDS[usize::try_from(place * place % 6 + place % 3).unwrap_or(0) % 6];
    let body_bytes = Some((packets + place * 7 % 5) * PACKET_BYTES);
    let above_fold = matches!(kind, Kind::Css | Kind::Font) || place % 11 == 3;
    PageResource {
        url: format!("https://shop.example/{place}/{path}"),
        kind,
        above_fold,
        body_bytes,
        streams: Vec::new(),
    }
}

/// One packet a slot; a resource is asked for when a packet for each earlier one could have gone.
fn play(order: &str, resources: &[PageResource]) -> Timeline {
    let mut timeline = Timeline { name: order.to_owned(), ..Timeline::default() };
    let mut left: Vec<u64> = Vec::new();
    for (stream, resource) in (0..).step_by(4).zip(resources) {
        let bytes = resource.body_bytes.unwrap_or_default();
        left.push(bytes);
        timeline.transfers.push(Transfer {
            stream,
            url: resource.url.clone(),
            requested_us: stream / 4 * SLOT_US,
            body_offset: 0,
            body_bytes: Some(bytes),
            stream_bytes: Some(bytes),
            ..Transfer::default()
        });
    }
    for slot in 0.. {
        let now_us = slot * SLOT_US;
        let ready: Vec<usize> = (0..left.len())
            .filter(|&place| left[place] > 0 && timeline.transfers[place].requested_us <= now_us)
            .collect();
        if left.iter().all(|&bytes| bytes == 0) {
            return timeline;
        }
        let Some(place) = pick(order, &ready, &left, resources) else { continue };
        let transfer = &timeline.transfers[place];
        let bytes = left[place].min(PACKET_BYTES);
        let offset = transfer.body_bytes.unwrap_or_default() - left[place];
        left[place] -= bytes;
        timeline.frames.push(StreamFrame {
            time_us: now_us + SLOT_US,
            stream: transfer.stream,
            offset,
            bytes,
        });
    }
    timeline
}

fn pick(order: &str, ready: &[usize], left: &[u64], resources: &[PageResource]) -> Option<usize> {
    let sent = |place: usize| resources[place].body_bytes.unwrap_or_default() - left[place];
    let late = |place: usize| !resources[place].above_fold;
    ready.iter().copied().min_by_key(|&place| match order {
        "rr" => (0, sent(place), place),
        "lifo" => (0, 0, resources.len() - place),
        "atf-first" => (u64::from(late(place)), 0, place),
        "atf-shared" => (u64::from(late(place)), sent(place), place),
        "smallest" => (0, left[place], place),
        "largest" => (0, u64::MAX - left[place], place),
        "pairs" => (place as u64 / 2, sent(place), place),
        "fours" => (place as u64 / 4, sent(place), place),
        "eights" => (place as u64 / 8, sent(place), place),
        "kinds" => (resources[place].kind as u64, sent(place), place),
        "odd-even" => (place as u64 % 2, sent(place), place),
        _ => (0, 0, place),
    })
}
