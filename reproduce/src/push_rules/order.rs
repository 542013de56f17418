//! Rule 2: the order of pushes.

use super::pair::{ALIKE, Pair};
use super::published::{G2, ORDER};
use crate::Row;
use crate::sketch::{Found, KB, Sketch};

const TABLE: &str = "Push order";

/// A row beyond the table: a likely reading of the disputed one.
const READING: &[&str] = &["/1.js", "/3.js"];

/// Three scripts in the head. The first writes a fourth at its end.
pub(super) fn sketch() -> Sketch {
    Sketch::new("order", 10 * KB)
        .script("/1.js", 5 * KB, Found::Head)
        .script("/3.js", 10 * KB, Found::Head)
        .script("/4.js", 10 * KB, Found::Head)
        .script("/2.js", 10 * KB, Found::End(1))
}

/// Each row of the table, compared with no push.
pub(super) fn pairs() -> Vec<Pair> {
    let none = ORDER[0].1;
    let printed = ORDER[1..].iter().map(|(pushed, push, saved)| {
        let note = if *pushed == ["/3.js"] { DISPUTED } else { TIMES };
        pair(pushed).published((none, *push, *saved)).note(note)
    });
    printed.chain([pair(READING)]).collect()
}

fn pair(pushed: &'static [&'static str]) -> Pair {
    let what = format!("{} pushed", pushed.join(", ").replace('/', ""));
    Pair::warm(id(pushed), sketch(), G2, [&[], pushed]).shown(TABLE, what).judged(ALIKE)
}

/// `order-3-1`.
pub(super) fn id(pushed: &[&str]) -> String {
    let scripts = pushed.iter().map(|it| it.trim_matches(|it: char| !it.is_ascii_digit()));
    format!("order-{}", scripts.collect::<Vec<_>>().join("-"))
}

const TIMES: &str = "45 KB take 3.3 s at 113 kbit/s, and the first byte a round trip more: every time that the source prints \
     in this table is below that. Signs and ranks are compared.";
const DISPUTED: &str = "The source's own timelines contradict this row: 3.js does not bring 1.js sooner, which is why it \
     says that 3.js before 1.js gains nothing. As \"1.js, 3.js\" the value would fit: see the last row.";

pub(super) fn verdicts(rows: &[Row]) -> Vec<Row> {
    let pushed: [&[&str]; 4] =
        [&["/1.js"], &["/1.js", "/2.js"], &["/3.js", "/1.js"], &["/3.js", "/4.js"]];
    let [first, both, late, never] = pushed.map(|pushed| {
        let id = format!("{}-saved", id(pushed));
        rows.iter().find(|it| it.id == id).and_then(|it| it.ours)
    });
    let [gains, nothing, harms] = [
        ("order-1-gains", "1.js", first),
        ("order-3-1-nothing", "3.js before 1.js", late),
        ("order-3-4-harms", "3.js and 4.js", never),
    ]
    .map(|(id, what, ours)| Row::shown(id, format!("saved by {what}, in percent"), ours));
    let leads = [
        ("order-1-2-before-1", "1.js and 2.js save", both, "1.js", first),
        ("order-1-before-3-1", "1.js saves", first, "3.js and 1.js", late),
        ("order-3-1-before-3-4", "3.js and 1.js save", late, "3.js and 4.js", never),
    ];
    let mut verdicts =
        vec![gains.above(0.0), nothing.between(-3.0, 3.0), harms.published(-16.0).within(8.0)];
    for (id, one, ahead, other, behind) in leads {
        let points = ahead.zip(behind).map(|(ahead, behind)| ahead - behind);
        let what = format!("what {one} more than {other}, in points");
        verdicts.push(Row::shown(id, what, points).above(0.0));
    }
    verdicts.into_iter().map(|it| it.in_table(TABLE)).collect()
}
