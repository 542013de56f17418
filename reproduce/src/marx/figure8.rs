//! Figure 8: the order in which each scheme sends, on the page of Davies and Meenan, with and without send buffers.

use super::matrix::paper_names;
use super::readings::{READINGS, Reading};
use super::{KNOWN, load};
use crate::row::ratio;
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use corpus::Page;
use figures::axis::Axis;
use figures::{Drawing, RibbonRow, Ribbons};
use lab::figure_resources;
use lab::ideal::Conditions;
use lab::study::statistics::mean;
use qlog_tools::timeline::Timeline;
use schedulers::Kind;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "marx-figure8",
    about: "Figure 8: what eleven schemes and three send buffers put on the wire when",
    source: "Marx et al. 2019, Figure 8, page 138, and its discussion in section 4.1, page 137",
    engine: "ideal",
    conditions: "page davies-meenan-public; engine ideal, network paper (a packet of 1400 bytes each 10 ms), metadata full; the only load under each scheme",
    run,
};

/// "The firefox, p+, s+ and spdyrr schemes are quite similar" (page 137).
const SIMILAR: [&str; 4] = ["firefox", "p+", "s+", "spdyrr"];
/// "Dramatically shortens" (page 137).
const DRAMATIC: f64 = 1.5;

struct Ribbon {
    label: String,
    timeline: Timeline,
}

impl Ribbon {
    fn row(&self) -> RibbonRow<'_> {
        RibbonRow {
            label: self.label.clone(),
            notes: Vec::new(),
            timeline: &self.timeline,
            marks: Vec::new(),
        }
    }
}

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let readings = Reading::all(setting)?;
    let mut orders = Vec::new();
    let mut found = Vec::new();
    for reading in &readings {
        let ribbons = ribbons(&reading.page)?;
        found.extend(reading.named(rows(&reading.page, &ribbons)));
        orders.push(ribbons);
    }
    let figure = Ribbons {
        id: "marx-figure8".to_owned(),
        title: "davies-meenan-public under the paper's schemes, and with send buffers".to_owned(),
        axis: Axis::Time,
        resources: figure_resources(&readings[0].page),
        note_titles: Vec::new(),
        rows: orders[0].iter().map(Ribbon::row).collect(),
    };
    Ok(Findings {
        method: format!(
            "On engine `ideal` and network `paper`. {READINGS} The figure is read as orders: how often the sender switches, what \
             completes when, how alike two orders are (the mean distance of a packet's places, as a share of \
             all packets). {KNOWN}"
        ),
        rows: found,
        schemes: paper_names(),
        pages: Reading::pages(&readings),
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet()),
        caption: figure.caption(),
    })
}

fn ribbons(page: &Arc<Page>) -> Result<Vec<Ribbon>, ReproduceError> {
    let mut ribbons = Vec::new();
    for scheme in paper_names() {
        ribbons.push(ribbon(page, &scheme, 0, scheme.clone())?);
    }
    for (bytes, name) in [(280_000, "280K"), (1_000_000, "1000K")] {
        let label = format!("bucket-html {name}");
        ribbons.push(ribbon(page, "bucket-html", bytes, label)?);
    }
    Ok(ribbons)
}

fn ribbon(
    page: &Arc<Page>,
    scheme: &str,
    send_buffer_bytes: u64,
    label: String,
) -> Result<Ribbon, ReproduceError> {
    let conditions = Conditions { send_buffer_bytes, ..Conditions::default() };
    Ok(Ribbon { label, timeline: load(page, scheme, "paper", conditions)?.timeline })
}

fn rows(page: &Page, ribbons: &[Ribbon]) -> Vec<Row> {
    let mut rows = vec![most_spread_out(&ribbons[..ribbons.len() - 2])];
    let sequential = timeline_of(ribbons, "fifo").map(switches);
    rows.push(
        Row::shown("fifo-switches", "switches between resources under fifo", sequential)
            .at_most((page.resources.len() - 1) as f64)
            .note("\"Fully sequential\" (Table 1): one switch a resource at most."),
    );
    for (kind, name) in [(Kind::Html, "HTML"), (Kind::Font, "font")] {
        let [bucket, bucket_html] = ["bucket", "bucket-html"]
            .map(|label| completion_ms(page, timeline_of(ribbons, label)?, kind));
        let row = Row::shown(
            format!("bucket-html-{name}"),
            format!(
                "time to completion of the {name} under bucket, as a multiple of that under bucket-html"
            ),
            ratio(bucket, bucket_html),
        );
        let note = "\"Dramatically shortens the HTML and font file's Time-To-Completion\".";
        rows.push(row.at_least(DRAMATIC).note(note).because(because_of(kind)));
    }
    rows.push(similar(ribbons));
    for (name, label) in [("280k", "bucket-html 280K"), ("1000k", "bucket-html 1000K")] {
        let row = Row::shown(
            format!("toward-fifo-{name}"),
            format!(
                "distance of the order of {label} from fifo's, as a share of that without a buffer"
            ),
            ratio(distance_of(ribbons, label, "fifo"), distance_of(ribbons, "bucket-html", "fifo")),
        );
        let note =
            "\"More and more becomes that of fifo ... clearly visible in Figure 8\" (page 140).";
        rows.push(row.below(1.0).note(note));
    }
    rows
}

fn timeline_of<'a>(ribbons: &'a [Ribbon], label: &str) -> Option<&'a Timeline> {
    ribbons.iter().find(|it| it.label == label).map(|it| &it.timeline)
}

fn distance_of(ribbons: &[Ribbon], one: &str, other: &str) -> Option<f64> {
    Some(distance(timeline_of(ribbons, one)?, timeline_of(ribbons, other)?))
}

fn because_of(kind: Kind) -> &'static str {
    if kind == Kind::Font {
        "In the paper the font depends directly on the HTML; here it is known before the HTML is complete, and bucket-html \
         then sends the rest of the HTML first."
    } else {
        "Little else that is normal in bucket competes with the HTML here."
    }
}

fn most_spread_out(ribbons: &[Ribbon]) -> Row {
    let rr = ribbons.iter().find(|it| it.label == "rr").map(|it| switches(&it.timeline));
    let most = ribbons.iter().map(|it| switches(&it.timeline)).fold(0.0, f64::max);
    Row::shown(
        "rr-spread-out",
        "switches between resources under rr, as a share of the most under any scheme",
        rr.map(|it| it / most),
    )
    .at_least(0.95)
    .note("\"A very spread out way of scheduling data for the various streams\".")
}

fn similar(ribbons: &[Ribbon]) -> Row {
    let mut among = Vec::new();
    for (place, one) in SIMILAR.iter().enumerate() {
        for other in &SIMILAR[place + 1..] {
            among.extend(distance_of(ribbons, one, other));
        }
    }
    let mut from_others = Vec::new();
    for other in ["fifo", "bucket"] {
        from_others.extend(SIMILAR.iter().filter_map(|one| distance_of(ribbons, one, other)));
    }
    Row::shown(
        "similar",
        "mean distance among firefox, p+, s+ and spdyrr, as a share of theirs from fifo and bucket",
        ratio(mean(&among), mean(&from_others)),
    )
    .below(1.0)
    .note("\"Quite similar, but include subtle differences\".")
    .because(
        "Their images share the link alike, but s+ lets scripts wait behind CSS and sends the HTML with the \
         images, so that all that the HTML names is asked for late.",
    )
}

fn switches(timeline: &Timeline) -> f64 {
    timeline.frames.windows(2).filter(|pair| pair[0].stream != pair[1].stream).count() as f64
}

fn completion_ms(page: &Page, timeline: &Timeline, kind: Kind) -> Option<f64> {
    let resource = page.resources.iter().find(|it| Kind::of_mime(&it.mime) == kind)?;
    let url = page.url(resource.id);
    let deliveries = timeline.deliveries();
    let mut pairs = timeline.transfers.iter().zip(&deliveries);
    let complete_us = pairs.find(|(transfer, _)| transfer.url == url)?.1.complete_us?;
    Some(complete_us as f64 / 1000.0)
}

/// Mean distance between the places of a packet in two orders, as a share of all packets. Streams are distinguished by
/// their resource, because their IDs depend on the order of requests.
fn distance(one: &Timeline, other: &Timeline) -> f64 {
    let (one, other) = (places(one), places(other));
    let apart = one
        .iter()
        .filter_map(|(packet, place)| Some((*place as f64 - *other.get(packet)? as f64).abs()));
    mean(&apart.collect::<Vec<_>>()).unwrap_or(0.0) / one.len().max(1) as f64
}

fn places(timeline: &Timeline) -> BTreeMap<(&str, u64), usize> {
    let urls: BTreeMap<u64, &str> =
        timeline.transfers.iter().map(|it| (it.stream, it.url.as_str())).collect();
    let frames = timeline.frames.iter().enumerate();
    frames.filter_map(|(place, it)| Some(((*urls.get(&it.stream)?, it.offset), place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use qlog_tools::assembly::StreamFrame;
    use qlog_tools::timeline::Transfer;

    fn order(streams: [u64; 4]) -> Timeline {
        let transfer = |stream| Transfer { stream, url: stream.to_string(), ..Transfer::default() };
        let mut offsets: BTreeMap<u64, u64> = BTreeMap::new();
        let frames = streams.iter().zip(1..).map(|(&stream, time_us)| {
            let end = offsets.entry(stream).or_default();
            *end += 10;
            StreamFrame { time_us, stream, offset: *end - 10, bytes: 10 }
        });
        let frames = frames.collect();
        Timeline { frames, transfers: vec![transfer(0), transfer(4)], ..Timeline::default() }
    }

    #[test]
    fn orders_differ_by_how_far_packets_move() {
        let (sequential, shared) = (order([0, 0, 4, 4]), order([0, 4, 0, 4]));
        let text = |value: f64| value.to_string();
        assert_eq!([switches(&sequential), switches(&shared)].map(text), ["1", "3"]);
        // Two of four packets move by one place of four.
        let others = [&sequential, &shared, &order([4, 4, 0, 0])];
        assert_eq!(others.map(|it| text(distance(&sequential, it))), ["0", "0.125", "0.5"]);
    }
}
