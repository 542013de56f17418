//! Rule 2: the order of pushes.

use super::pair::{ALIKE, Pair};
use super::published::{G2, ORDER};
use crate::Row;
use crate::sketch::{Found, KB, Sketch};

const TABLE: &str = "Push order";

/// A row beyond the table: a likely reading of the disputed one.
const READING: &[&str] = &["/1.js", "/3.js"];

/// Three scripts in the head. The first writes a fourth at its end.
fn sketch() -> Sketch {
    Sketch::new("order", 10 * KB)
        .script("/1.js", 5 * KB, Found::Head)
        .script("/3.js", 10 * KB, Found::Head)
        .script("/4.js", 10 * KB, Found::Head)
        .script("/2.js", 10 * KB, Found::End(1))
}

/// Each row of the table, compared with no push.
pub(super) fn pairs() -> Vec<Pair> {
    let none = ORDER[0].1;
    let mut pairs: Vec<Pair> = ORDER[1..]
        .iter()
        .map(|(pushed, push, saved)| pair(pushed).published((none, *push, *saved)))
        .collect();
    for pair in &mut pairs {
        let disputed = pair.id == id(&["/3.js"]);
        pair.note = if disputed { DISPUTED } else { TIMES };
    }
    pairs.push(pair(READING));
    pairs
}

fn pair(pushed: &'static [&'static str]) -> Pair {
    let what = format!("{} pushed", pushed.join(", ").replace('/', ""));
    Pair::warm(id(pushed), sketch(), G2, [&[], pushed]).shown(TABLE, what).judged(ALIKE)
}

/// `order-3-1`.
fn id(pushed: &[&str]) -> String {
    let scripts = pushed.iter().map(|it| it.trim_matches(|it: char| !it.is_ascii_digit()));
    format!("order-{}", scripts.collect::<Vec<_>>().join("-"))
}

const TIMES: &str = "45 KB take 3.3 s at 113 kbit/s, and the first byte a round trip more: every time that the source prints \
     in this table is below that. Signs and ranks are compared.";
const DISPUTED: &str = "The source's own timelines contradict this row: 3.js does not bring 1.js sooner, which is why it \
     says that 3.js before 1.js gains nothing. As \"1.js, 3.js\" the value would fit: see the last row.";

/// The conditions on the table as a whole.
pub(super) fn verdicts(rows: &[Row]) -> Vec<Row> {
    let saved = |pushed: &[&str]| {
        let id = format!("{}-saved", id(pushed));
        rows.iter().find(|it| it.id == id).and_then(|it| it.ours)
    };
    let (first, both) = (saved(&["/1.js"]), saved(&["/1.js", "/2.js"]));
    let (late, never) = (saved(&["/3.js", "/1.js"]), saved(&["/3.js", "/4.js"]));
    let lead = |id: &str, what: &str, ahead: Option<f64>, behind: Option<f64>| {
        let points = ahead.zip(behind).map(|(ahead, behind)| ahead - behind);
        Row::shown(id, what, points).in_table(TABLE).above(0.0)
    };
    vec![
        Row::shown("order-1-gains", "saved by 1.js, in percent", first).in_table(TABLE).above(0.0),
        Row::shown("order-3-1-nothing", "saved by 3.js before 1.js, in percent", late)
            .in_table(TABLE)
            .between(-3.0, 3.0),
        Row::shown("order-3-4-harms", "saved by 3.js and 4.js, in percent", never)
            .in_table(TABLE)
            .published(-16.0)
            .at_most(-8.0),
        lead(
            "order-1-2-before-1",
            "what 1.js and 2.js save more than 1.js, in points",
            both,
            first,
        ),
        lead(
            "order-1-before-3-1",
            "what 1.js saves more than 3.js and 1.js, in points",
            first,
            late,
        ),
        lead(
            "order-3-1-before-3-4",
            "what 3.js and 1.js save more than 3.js and 4.js, in points",
            late,
            never,
        ),
    ]
}
