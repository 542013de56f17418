//! How fast the engine `stack` is, how far its loads lie apart, and how it agrees with the other engines.
//!
//! ```sh
//! cargo run --example measure_stack -- speed
//! cargo run --example measure_stack -- spread cable
//! cargo run --example measure_stack -- agreement paper bbr2 PAGE...
//! ```

use corpus::Page;
use lab::network::Network;
use lab::stack::{Setup, load};
use lab::study::{Engine, Plan, RunRecord, Study, run};
use schedulers::{find_scheme, paper_schemes};
use server::{CongestionControl, Identity, Options};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    match arguments.first().map(String::as_str) {
        Some("speed") => speed(),
        Some("spread") => spread(rest.first().map_or("cable", |it| it)),
        Some("agreement") if rest.len() > 2 => agreement(&rest[0], &rest[1], &rest[2..]),
        _ => Err("speed, spread NETWORK, or agreement NETWORK CC PAGE...".into()),
    }
}

/// One thread, every bundled page on `cable` and on `paper`.
fn speed() -> Result<(), Box<dyn Error>> {
    let identity = Identity::self_signed()?;
    for name in ["cable", "paper"] {
        let network = Network::find(name)?;
        let (mut simulated_s, mut datagrams, mut loads) = (0.0, 0, 0);
        let start = now();
        for page in pages(&[])? {
            let options = Options::new(find_scheme("dfifo")?);
            let options = match network.pace() {
                Some(pace) => options.paced(pace),
                None => options,
            };
            let setup = Setup::new(options, &network, &identity);
            let loaded = load(&page, setup)?;
            RunRecord::of_load(&page, &loaded.load);
            simulated_s += loaded.simulated.as_secs_f64();
            datagrams += loaded.delivered_down + loaded.delivered_up;
            loads += 1;
        }
        let wall_s = start.elapsed().as_secs_f64();
        println!(
            "{name}: {loads} loads, {simulated_s:.1} s simulated in {wall_s:.2} s: {:.0} times real time, \
             {:.0} delivered datagrams a second",
            simulated_s / wall_s,
            f64::from(u32::try_from(datagrams)?) / wall_s
        );
    }
    Ok(())
}

/// Twenty loads with one seed: how far apart what TLS and quiche draw puts them.
fn spread(network: &str) -> Result<(), Box<dyn Error>> {
    let network = Network::find(network)?;
    let identity = Identity::self_signed()?;
    for page in pages(&[])? {
        let mut indices = Vec::new();
        for _ in 0..20 {
            let options = Options::new(find_scheme("dfifo")?);
            let setup = Setup::new(options, &network, &identity);
            let loaded = load(&page, setup)?;
            indices.extend(RunRecord::of_load(&page, &loaded.load).byte_index.all);
        }
        indices.sort_by(f64::total_cmp);
        let (least, most) = (indices[0], indices[indices.len() - 1]);
        let median = indices[indices.len() / 2];
        println!(
            "{}: ByteIndex {median:.1} ms, from {least:.1} to {most:.1} ({:.2} %) in {} loads",
            page.name,
            (most / least - 1.0) * 100.0,
            indices.len()
        );
    }
    Ok(())
}

/// The eleven schemes on each engine: ratios of the `ByteIndex`.
fn agreement(network: &str, cc: &str, names: &[String]) -> Result<(), Box<dyn Error>> {
    let network = Network::find(network)?;
    let all = [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno];
    let congestion_control =
        all.into_iter().find(|it| it.name() == cc).ok_or("CC: bbr2, cubic or reno")?;
    let mut studies = Vec::new();
    for engine in [Engine::Stack, Engine::Ideal, Engine::Wire] {
        let schemes = paper_schemes().iter().cloned().map(Into::into).collect();
        let plan = Plan {
            congestion_control,
            jobs: match engine {
                Engine::Wire if network.server_pace => 8,
                Engine::Wire => 1,
                _ => 2,
            },
            ..Plan::new(pages(names)?, schemes, engine, network.clone())
        };
        match run(&plan, serde_json::json!({}), &|| ()) {
            Ok(study) => studies.push((engine, study)),
            Err(error) => println!("{}: {error}", engine.name()),
        }
    }
    let (_, stack) = &studies[0];
    for (engine, other) in &studies[1..] {
        compare(engine.name(), stack, other);
    }
    Ok(())
}

fn compare(name: &str, stack: &Study, other: &Study) {
    let mut deviations: Vec<(f64, String)> = stack
        .runs
        .iter()
        .zip(&other.runs)
        .filter_map(|(a, b)| {
            let ratio =
                a.byte_index.atf.or(a.byte_index.all)? / b.byte_index.atf.or(b.byte_index.all)?;
            Some((ratio - 1.0, format!("{} {}", a.page, a.scheme)))
        })
        .collect();
    let mean = deviations.iter().map(|it| it.0).sum::<f64>() / deviations.len() as f64;
    deviations.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let at = |share: f64| {
        let last = deviations.len() - 1;
        let place = (0..=last).find(|it| *it as f64 >= share * last as f64).unwrap_or(last);
        deviations[place].0.abs() * 100.0
    };
    let (worst, place) = &deviations[deviations.len() - 1];
    println!(
        "stack and {name}, {} loads, ATF ByteIndex: mean {:+.2} %, median deviation {:.2} %, p95 {:.2} %, worst {:+.2} % ({place})",
        deviations.len(),
        mean * 100.0,
        at(0.5),
        at(0.95),
        worst * 100.0
    );
}

/// Pages by name; none: every bundled one.
fn pages(names: &[String]) -> Result<Vec<Arc<Page>>, Box<dyn Error>> {
    let all = corpus::bundled_names().into_iter().map(str::to_owned).collect();
    let names = if names.is_empty() { all } else { names.to_vec() };
    let mut pages = Vec::new();
    for name in names {
        pages.push(Arc::new(corpus::page(&name)?));
    }
    Ok(pages)
}

#[expect(clippy::disallowed_methods, reason = "it measures real time")]
fn now() -> Instant {
    Instant::now()
}
