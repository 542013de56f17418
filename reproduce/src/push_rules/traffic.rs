//! The warm tables on connections that an earlier page has warmed: its traffic made the window, no setting.

use super::pair::{Judge, Pair};
use super::pairs;
use super::published::{G2, G3};
use crate::bench::Before;
use crate::sketch::{KB, Sketch};
use corpus::Page;
use std::sync::Arc;
use std::time::Duration;

const BY_TRAFFIC: &str = "Warm by an earlier page on the same connection";
const RESET: &str = "The same, with the window reset after the pause";

const WARM_UP_KB: u64 = 300;
/// The user reads it for longer than any probe timeout here: on 2G, behind a queue of seconds, round trips were long.
const THINK: Duration = Duration::from_secs(60);
/// The initial window that QUIC's servers have.
const INITIAL_PACKETS: usize = 10;

pub(super) fn method() -> String {
    format!(
        "In the tables `{BY_TRAFFIC}` and `{RESET}` no setting makes the window: the connection begins with {INITIAL_PACKETS} \
         packets and loads a document of {WARM_UP_KB} KB, which its user reads for {} s. Times count from the navigation to the \
         next page.",
        THINK.as_secs()
    )
}

fn before(idle_reset: bool) -> Before {
    let mut sketch = Sketch::new("before", WARM_UP_KB * KB);
    sketch.items[0].path = "/before".into();
    let page: Arc<Page> = sketch.page();
    Before { page, think: THINK, idle_reset }
}

pub(super) fn pairs() -> Vec<Pair> {
    let of_3g = Judge { difference: Some((4.0, 4.0)), ..Judge::default() };
    let mut warm = pairs::warm();
    for pair in warm.iter_mut().filter(|it| it.path == G3) {
        (pair.shows_loads, pair.judge) = (false, of_3g);
    }
    let all = warm.into_iter().chain(pairs::tail()).chain(pairs::chain());
    all.map(|it| it.after(&before(false), INITIAL_PACKETS, BY_TRAFFIC, "traffic")).collect()
}

/// The effect of a pause after which the window begins again (RFC 5681, 4.1): the connection is as cold as a new one, except for
/// the handshake.
pub(super) fn reset_pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (network, path) in [("3g", G3), ("2g", G2)] {
        for html_kb in [5, 20, 40] {
            let id = format!("{network}-{html_kb}k");
            let pair = pairs::simple_pair(id, RESET, path, html_kb, 10);
            let pair = pair.after(&before(true), INITIAL_PACKETS, RESET, "reset");
            pairs.push(pair.slow_start(INITIAL_PACKETS));
        }
    }
    pairs
}
