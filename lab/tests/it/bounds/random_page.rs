//! Random small pages, with everything that the page format can express about discovery.

use corpus::Page;
use lab::network::Network;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use simulator::link::Profile;
use std::sync::Arc;

/// Most packets of a page: brute force looks at every order of them.
const PACKETS_MAX: u64 = 11;

/// A page and a network, the same for the same seed.
pub(super) fn page(seed: u64) -> (Arc<Page>, Network) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    loop {
        let text = draw(&mut random).to_string();
        // What waits for itself, or for something of the wrong kind, is drawn again.
        let Ok(page) = Page::parse(&text, "PAGE") else { continue };
        let packets: u64 =
            page.resources.iter().map(|it| it.bytes.div_ceil(1400) + it.chunks.len() as u64).sum();
        if (6..=PACKETS_MAX).contains(&packets)
            && page.resources.iter().any(|it| it.above_fold && it.bytes > 0)
        {
            let rate = *pick(&mut random, &[1_120_000.0, 1_120_000.0, 3_333_333.0]);
            let delay_ms = *pick(&mut random, &[0.0, 0.0, 7.5, 20.0]);
            return (
                Arc::new(page),
                Network {
                    name: "random".to_owned(),
                    server_pace: false,
                    down: Profile::plain(rate, delay_ms),
                    up: Profile::plain(rate, delay_ms),
                },
            );
        }
    }
}

fn pick<'a, T>(random: &mut impl Rng, from: &'a [T]) -> &'a T {
    &from[random.random_range(0..from.len())]
}

fn draw(random: &mut ChaCha8Rng) -> Value {
    let count = random.random_range(4..=6_usize);
    let kinds: Vec<&str> =
        (0..count)
            .map(|id| {
                if id == 0 { "html" } else { *pick(random, &["css", "js", "js", "image", "image"]) }
            })
            .collect();
    let resources: Vec<Value> = (0..count).map(|id| resource(random, id, &kinds)).collect();
    json!({
        "format": "utmost-page/1", "name": "random", "viewport": [1366, 768],
        "source": {"kind": "generated", "from": "this test", "licence": "MIT OR Apache-2.0"},
        "origins": [{"host": "random.test", "party": "first"}],
        "resources": resources,
    })
}

fn resource(random: &mut ChaCha8Rng, id: usize, kinds: &[&str]) -> Value {
    let kind = kinds[id];
    let mime = match kind {
        "html" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        _ => "image/png",
    };
    let bytes = *pick(random, &[1, 700, 1400, 1401, 2100, 2800, 2800, 3500]);
    let mut it = json!({
        "id": id, "url": format!("/{id}"), "kind": kind, "mime": mime, "bytes": bytes,
        "main": id == 0, "above_fold": random.random_bool(0.6),
        "trigger": trigger(random, id, kinds),
    });
    if kind == "css" || kind == "js" {
        it["critical"] = json!(random.random_bool(0.5));
        it["exec_ms"] = json!(*pick(random, &[0.0, 0.0, 4.0, 15.0, 33.3]));
        if random.random_bool(0.5) {
            it["eval_order"] = json!(random.random_range(0..4));
        }
        if kind == "js" {
            it["script"] = json!(*pick(random, &["sync", "async", "defer"]));
        }
    }
    if random.random_bool(0.15) {
        it["wait_ms"] = json!(*pick(random, &[3.0, 20.0, 35.0]));
    }
    if random.random_bool(0.1) && bytes > 1000 {
        it["chunks"] = json!([{"at_ms": 5.0, "bytes": 700}, {"at_ms": 31.0, "bytes": bytes - 700}]);
    }
    if id > 0 && random.random_bool(0.05) {
        it["status"] = json!(404);
    }
    it
}

fn trigger(random: &mut ChaCha8Rng, id: usize, kinds: &[&str]) -> Value {
    if id == 0 {
        return json!({"on": "nav"});
    }
    let of = if random.random_bool(0.75) { 0 } else { random.random_range(0..kinds.len()) };
    let on = match kinds[of] {
        "css" => *pick(random, &["css_applied", "css_import", "complete"]),
        "js" => *pick(random, &["exec", "timer", "complete"]),
        "html" => *pick(
            random,
            &[
                "bytes",
                "bytes",
                "bytes",
                "bytes",
                "bytes",
                "complete",
                "style_applied",
                "dcl",
                "load",
            ],
        ),
        _ => "complete",
    };
    let about_all = matches!(on, "style_applied" | "dcl" | "load");
    let mut it = json!({"on": on, "of": if about_all { 0 } else { of }});
    if on == "bytes" {
        it["byte"] = json!(*pick(random, &[1, 700, 1400, 2000, 3000]));
    }
    if random.random_bool(0.15) {
        it["needs"] = json!([random.random_range(0..kinds.len())]);
    }
    it["delay_ms"] = json!(*pick(random, &[0.0, 0.0, 0.0, 2.0, 11.0, 25.0]));
    it
}
