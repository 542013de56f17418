//! How fast the engine `stack` is, how far its loads lie apart, and how it agrees with the other engines.
//!
//! ```sh
//! cargo run -p utmost-lab --example measure_stack -- speed
//! cargo run -p utmost-lab --example measure_stack -- spread cable
//! cargo run -p utmost-lab --example measure_stack -- agreement paper bbr2 PAGE...
//! cargo run -p utmost-lab --example measure_stack -- fidelity cable cubic 9 1 PAGE...
//! ```

use corpus::Page;
use lab::Contender;
use lab::network::Network;
use lab::stack::{Setup, load};
use lab::study::statistics::spearman;
use lab::study::{Engine, PageRow, Plan, RunRecord, Settings, Study, engines, run};
use schedulers::{find_scheme, paper_schemes};
use server::{CongestionControl, Identity, Options};
use std::collections::BTreeMap;
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
        Some("fidelity") if rest.len() > 4 => fidelity(rest),
        _ => Err("speed, spread NETWORK, agreement NETWORK CC PAGE..., or fidelity NETWORK CC LOADS JOBS PAGE...".into()),
    }
}

/// One thread, every page of `first-60` on `cable` and on `paper`.
fn speed() -> Result<(), Box<dyn Error>> {
    let identity = Identity::self_signed()?;
    for name in ["cable", "paper"] {
        let network = Network::find(name)?;
        let (mut simulated_s, mut datagrams, mut loads) = (0.0, 0, 0);
        let (start, start_cpu_s) = (now(), cpu_s()?);
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
            datagrams += loaded.datagrams;
            loads += 1;
        }
        let (wall_s, cpu_s) = (start.elapsed().as_secs_f64(), cpu_s()? - start_cpu_s);
        let datagrams = f64::from(u32::try_from(datagrams)?);
        println!(
            "{name}: {loads} loads, {simulated_s:.1} s simulated in {wall_s:.2} s, {cpu_s:.2} s of a core: {:.0} times \
             real time, {:.0} delivered datagrams a second of a core",
            simulated_s / cpu_s,
            datagrams / cpu_s
        );
    }
    Ok(())
}

/// Seconds that this thread has had a core: other work on the machine does not count.
fn cpu_s() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns = text.split_whitespace().next().ok_or("/proc/thread-self/schedstat: empty")?;
    Ok(ns.parse::<f64>()? / 1e9)
}

/// Twenty loads with one seed: how far apart what TLS and quiche draw puts them.
fn spread(network: &str) -> Result<(), Box<dyn Error>> {
    let network = Network::find(network)?;
    let identity = Identity::self_signed()?;
    for page in pages(&[])? {
        let mut indices = Vec::new();
        for seed in 0..20 {
            let options = Options::new(find_scheme("dfifo")?);
            let setup = Setup { seed, ..Setup::new(options, &network, &identity) };
            let loaded = load(&page, setup)?;
            indices.extend(RunRecord::of_load(&page, &loaded.load).byte_index().all);
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
    let congestion_control = control(cc)?;
    let mut studies = Vec::new();
    for engine in [engines::STACK, engines::IDEAL, engines::WIRE] {
        let schemes = paper_schemes().iter().cloned().map(Into::into).collect();
        let plan = Plan {
            settings: settings(&network, engine, congestion_control),
            jobs: match (engine.repeats(), network.server_pace) {
                (true, _) => 2,
                (false, true) => 8,
                (false, false) => 1,
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

fn settings(
    network: &Network,
    engine: &'static dyn Engine,
    control: CongestionControl,
) -> Settings {
    let mut settings = Settings::on(network.clone(), engine);
    settings.congestion_controls.iter_mut().for_each(|it| *it = control);
    settings
}

fn control(name: &str) -> Result<CongestionControl, Box<dyn Error>> {
    let all = [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno];
    Ok(all.into_iter().find(|it| it.name() == name).ok_or("CC: bbr2, cubic or reno")?)
}

/// The eleven schemes of the paper and `rfc9218`: medians of `LOADS` on `wire`, and of five times as many, which cost
/// little, on `stack`.
fn fidelity(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [network, cc, loads, jobs, names @ ..] = arguments else { return Err("arguments".into()) };
    let loads: u64 = loads.parse()?;
    let mut schemes: Vec<Contender> = paper_schemes().iter().cloned().map(Into::into).collect();
    schemes.push(find_scheme("rfc9218")?.into());
    let study = |engine, loads, jobs| -> Result<Study, Box<dyn Error>> {
        let plan = Plan {
            seeds: (0..loads).collect(),
            settings: settings(&Network::find(network)?, engine, control(cc)?),
            jobs,
            ..Plan::new(pages(names)?, schemes.clone(), engine, Network::find(network)?)
        };
        Ok(run(&plan, serde_json::json!({}), &|| ())?)
    };
    let stack = study(engines::STACK, 5 * loads, 2)?;
    let wire = study(engines::WIRE, loads, jobs.parse()?)?;
    let atf = |row: &PageRow| row.median.byte_index().atf.or(row.median.byte_index().all);
    let rows: Vec<(&PageRow, f64, f64)> = stack
        .page_summary
        .iter()
        .zip(&wire.page_summary)
        .filter_map(|(a, b)| Some((a, atf(a)?, atf(b)?)))
        .collect();
    for (row, stack, wire) in &rows {
        let deviation = (stack / wire - 1.0) * 100.0;
        println!(
            "{} {}: stack {stack:.1} ms, wire {wire:.1} ms, {deviation:+.2} %",
            row.page, row.scheme
        );
    }
    for page in pages(names)? {
        let of_page = rows.iter().filter(|it| it.0.page == page.name);
        let pairs: Vec<(f64, f64)> = of_page.map(|it| (it.1, it.2)).collect();
        println!("{}: rank correlation {:.3}", page.name, spearman(&pairs).unwrap_or(f64::NAN));
    }
    println!(
        "means over the pages: rank correlation of the schemes {:.3}",
        spearman(&means(&rows)).unwrap_or(f64::NAN)
    );
    let mut deviations: Vec<f64> =
        rows.iter().map(|it| (it.1 / it.2 - 1.0).abs() * 100.0).collect();
    deviations.sort_by(f64::total_cmp);
    let at =
        |percent: usize| deviations[(deviations.len() * percent / 100).min(deviations.len() - 1)];
    println!(
        "{network}, {cc}, {} medians of {loads}: deviation of the ATF ByteIndex: median {:.2} %, p95 {:.2} %, worst {:.2} %",
        deviations.len(),
        at(50),
        at(95),
        at(100)
    );
    let unfinished = |it: &Study| it.runs.iter().filter(|it| !it.completed).count();
    println!("unfinished: {} on stack, {} on wire", unfinished(&stack), unfinished(&wire));
    Ok(())
}

/// Each scheme's means over pages on `stack` and on `wire`.
fn means(rows: &[(&PageRow, f64, f64)]) -> Vec<(f64, f64)> {
    let mut of_scheme: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (row, stack, wire) in rows {
        of_scheme.entry(&row.scheme).or_default().push((*stack, *wire));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let both = |pairs: &Vec<(f64, f64)>| {
        let (stack, wire): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        (mean(&stack), mean(&wire))
    };
    of_scheme.values().map(both).collect()
}

fn compare(name: &str, stack: &Study, other: &Study) {
    let mut deviations: Vec<(f64, String)> = stack
        .runs
        .iter()
        .zip(&other.runs)
        .filter_map(|(a, b)| {
            let ratio = a.byte_index().atf.or(a.byte_index().all)?
                / b.byte_index().atf.or(b.byte_index().all)?;
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

/// Pages by name; none: the set `first-60`.
fn pages(names: &[String]) -> Result<Vec<Arc<Page>>, Box<dyn Error>> {
    let all = corpus::kept_pages().into_iter().map(|it| it.name.clone()).collect();
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
