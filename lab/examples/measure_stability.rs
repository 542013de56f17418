//! Whether `find` says the same of other recordings of a page: the figures of `docs/find.md`.
//!
//! ```sh
//! cargo build --workspace --example measure_stability
//! target/debug/examples/measure_stability 3g PAGE...
//! ```
//!
//! Each page is asked about as it was recorded, and as recorded on two other days: every delay and every execution is another one,
//! drawn with a seed, independently of what the finder itself draws.

use corpus::Page;
use corpus::page::Event;
use lab::finder::{Question, Verdict, by_resource, find};
use lab::network::Network;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

/// Days on which a page is recorded.
const DAYS: u64 = 3;

/// A delay of another day is as long times a factor between the inverse of this and this, and as much later.
const FACTOR_MAX: f64 = 1.4;
const LATER_MAX_MS: f64 = 10.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, pages @ ..] = &arguments[..] else { return Err("NETWORKS PAGE...".into()) };
    let networks: Vec<Network> =
        networks.split(',').map(Network::find).collect::<Result<_, _>>()?;
    let (mut different, mut unsure, mut orders) = (0, 0, 0);
    println!("| page | day | lines | gain | order | unsure |\n|---|---|---|---|---|---|");
    for name in pages {
        let page = corpus::page(name)?;
        let said: Vec<Said> =
            (0..DAYS).map(|day| asked(&page, day, &networks)).collect::<Result<_, _>>()?;
        for (day, it) in said.iter().enumerate() {
            let lines = it.lines.iter().cloned().collect::<Vec<_>>().join(" ");
            println!(
                "| {name} | {day} | {lines} | {} | {} | {} |",
                it.gain,
                it.order,
                it.doubts.join(" ")
            );
        }
        let is_unsure = said.iter().any(|it| !it.doubts.is_empty());
        unsure += usize::from(is_unsure);
        different += usize::from(!is_unsure && said.iter().any(|it| it.lines != said[0].lines));
        orders += usize::from(!is_unsure && said.iter().any(|it| it.order != said[0].order));
    }
    println!(
        "\n{} pages, {DAYS} recordings each: {unsure} are unsure in one; of the others, {different} differ in a line and {orders} in \
         whether an order is better",
        pages.len()
    );
    Ok(())
}

/// What `find` says of a recording.
struct Said {
    lines: BTreeSet<String>,
    gain: String,
    /// Whether another order is better, on each network.
    order: String,
    doubts: Vec<String>,
}

fn asked(page: &Page, day: u64, networks: &[Network]) -> Result<Said, Box<dyn Error>> {
    let page = Arc::new(if day == 0 { page.clone() } else { of_day(page, day) });
    let question = Question::new(vec![page], networks.to_vec());
    let (mut lines, mut doubts, mut gains) = (BTreeSet::new(), Vec::new(), Vec::new());
    for found in by_resource(&question, &|_| ())? {
        let path = |url: &str| url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        doubts.extend(found.unsure.iter().map(|it| path(it)));
        doubts.extend(found.late.iter().map(|it| format!("late:{}", path(it))));
        for gain in &found.networks {
            gains.extend(gain.judgement.ratio.map(|it| format!("{it:.3}")));
            doubts.extend((gain.verdict == Verdict::Unsure).then(|| gain.network.clone()));
        }
        let line =
            |it: &lab::finder::ResourcePriority| format!("/{} u={}", path(&it.url), it.urgency);
        lines.extend(found.resources.iter().filter(|_| found.is_better).map(line));
    }
    let answer = find(&question, &|_| ())?;
    let is_unsure = answer.pages.iter().filter(|it| it.verdict == Verdict::Unsure);
    doubts.extend(is_unsure.map(|it| format!("order:{}", it.network)));
    let order = |it: &lab::finder::PageAnswer| format!("{:?}", it.verdict == Verdict::Better);
    let order = answer.pages.iter().map(order).collect::<Vec<_>>().join(" ");
    Ok(Said { lines, gain: gains.join(" "), order, doubts })
}

/// The page as it would be recorded on another day.
fn of_day(page: &Page, day: u64) -> Page {
    let mut random = ChaCha8Rng::seed_from_u64(1000 + day);
    let mut page = page.clone();
    for it in &mut page.resources {
        let mut factor = || FACTOR_MAX.powf(random.random_range(-1.0..=1.0));
        it.exec_ms *= factor();
        if it.trigger.on != Event::Nav {
            it.trigger.delay_ms =
                it.trigger.delay_ms * factor() + random.random_range(0.0..=LATER_MAX_MS);
        }
    }
    page
}
