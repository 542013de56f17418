//! Round trips until the document, the style sheet and the last image are complete.

use super::setup::{self, WINDOW_PACKETS};
use crate::bench::{Bench, Case, PACKET_BYTES};
use crate::row::ratio;
use crate::{ReproduceError, Row};
use figures::paired_dots::{Pair, PairedDotsGroup};

const TABLE: &str = "Round trips";

const TOLERANCE: f64 = 0.15;

schedulers::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Way {
        Sequential = "sequential",
        Preload = "preload",
        Push = "push",
    }
}

impl Way {
    fn apply(self, case: Case) -> Case {
        match self {
            Self::Sequential => case,
            Self::Preload => setup::linked(case),
            Self::Push => setup::pushing(case),
        }
    }
}

/// The model: round trips until the document, the style sheet and the last image.
fn model(returning: bool, way: Way, images: [u64; 2]) -> [f64; 3] {
    let document = if returning { 1 } else { 2 };
    let (style, asked) = match way {
        Way::Sequential => (document + 1, document + 1),
        Way::Preload => (document + 1, document),
        Way::Push => (document, document - 1),
    };
    [document, style, asked + windows(images.iter().sum())].map(f64::from)
}

/// The number of windows that `bytes` need, each twice as large as the one before.
fn windows(bytes: u64) -> u32 {
    let (mut window, mut count) = (WINDOW_PACKETS as u64 * PACKET_BYTES, 1);
    let mut left = bytes.saturating_sub(window);
    while left > 0 {
        window *= 2;
        left = left.saturating_sub(window);
        count += 1;
    }
    count
}

/// Why a returning client's pushes wait: a server may send little before it has validated the address.
const AMPLIFICATION: &str = "In the first flight a server may send three times what came, until the client has shown \
    that it is at its address (RFC 9000, 8.1): 4 KB, not 10 packets. The model leaves that out.";

pub(super) fn rows(bench: &Bench) -> Result<(Vec<Row>, Vec<PairedDotsGroup>), ReproduceError> {
    let conditions: Vec<(bool, Way)> =
        [false, true].map(|returning| Way::ALL.map(|way| (returning, way))).concat();
    let tiny = of_images(bench, &conditions, "tiny", setup::TINY_BYTES)?;
    let large = of_images(bench, &conditions, "40K+173K", setup::IMAGES_BYTES)?;
    let mut rows = Vec::new();
    let mut groups = Vec::new();
    for (place, (returning, way)) in conditions.iter().enumerate() {
        let label = format!("{} {}", handshake(*returning), way.name());
        let [document, style, images] = &tiny[place];
        let [_, _, published] = &large[place];
        if *way != Way::Sequential {
            let before = conditions.iter().position(|it| *it == (*returning, Way::Sequential));
            let before = [&tiny, &large].map(|it| &it[before.unwrap_or(place)][2]);
            let pairs = vec![speedup(before[0], images), speedup(before[1], published)];
            groups.push(PairedDotsGroup { label, pairs });
        }
        rows.extend([document, style, images, published].map(Row::clone));
    }
    rows.extend(savings(&tiny));
    Ok((rows, groups))
}

/// Ours and the model's: round trips of requests one after the other, divided by another way's.
fn speedup(before: &Row, row: &Row) -> Pair {
    Pair {
        ours: ratio(before.ours, row.ours),
        theirs: ratio(before.model, row.model),
        ..Pair::default()
    }
}

fn handshake(returning: bool) -> &'static str {
    if returning { "0-RTT" } else { "1-RTT" }
}

fn of_images(
    bench: &Bench,
    conditions: &[(bool, Way)],
    name: &str,
    images: [u64; 2],
) -> Result<Vec<[Row; 3]>, ReproduceError> {
    let page = setup::demo(&format!("demo-{name}"), images);
    let cases = conditions.iter().map(|(returning, way)| {
        let case = setup::case(page.clone(), f64::INFINITY, WINDOW_PACKETS);
        Case { returning: *returning, ..way.apply(case) }
    });
    let cases: Vec<Case> = cases.collect();
    let loaded = bench.once(&cases)?;
    let rows = conditions.iter().zip(&loaded).map(|((returning, way), loaded)| {
        let expected = model(*returning, *way, images);
        let id = format!("{} {}", handshake(*returning), way.name());
        let (images, last_ms) = (format!("{id} images {name}"), loaded.last_ms());
        let last = row(images, "the last image", last_ms, expected[2]);
        let [document_ms, style_ms] = [loaded.complete_ms[0], loaded.complete_ms[1]];
        [
            row(format!("{id} document"), "the document", document_ms, expected[0]),
            row(format!("{id} style"), "the style sheet", style_ms, expected[1]),
            if *returning && *way == Way::Push { last.because(AMPLIFICATION) } else { last },
        ]
    });
    Ok(rows.collect())
}

fn row(id: String, what: &str, ours_ms: f64, model: f64) -> Row {
    let ours = setup::round_trips(ours_ms);
    Row::shown(id, format!("round trips until {what} is there"), Some(ours))
        .in_table(TABLE)
        .model(model)
        .within_of_model(TOLERANCE, "")
}

/// The article's claim in words: each way saves one more round trip.
fn savings(tiny: &[[Row; 3]]) -> [Row; 2] {
    let preload = "\"The downloads can start 1 RTT faster when preload hints are used.\"";
    let push = "\"Server push improved on the preload-hints time by a further 1 RTT.\"";
    [("preload saves", [0, 1], preload), ("push saves more", [1, 2], push)].map(
        |(id, ways, note)| {
            let [before, after] = ways.map(|way| tiny[way][2].ours);
            let saved = before.zip(after).map(|(before, after)| before - after);
            Row::shown(id, "round trips that it saves on the images", saved)
                .in_table(TABLE)
                .published(1.0)
                .within(TOLERANCE)
                .note(note)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_counts_handshake_requests_and_windows() {
        let counts = |returning, images| {
            Way::ALL.map(|way| model(returning, way, images).map(|it| it.to_string()).join(" "))
        };
        assert_eq!(counts(false, setup::TINY_BYTES), ["2 3 4", "2 3 3", "2 2 2"]);
        assert_eq!(counts(true, setup::TINY_BYTES), ["1 2 3", "1 2 2", "1 1 1"]);
        assert_eq!(counts(false, setup::IMAGES_BYTES), ["2 3 8", "2 3 7", "2 2 6"]);
        assert_eq!(counts(true, setup::IMAGES_BYTES), ["1 2 7", "1 2 6", "1 1 5"]);
    }
}
