//! How well `utmost qlog limits` computes what held a server back, from events that any stack logs: against what our server's
//! send loop logs itself (`utmost:restraint`), on five networks under three congestion controls.
//!
//! ```sh
//! cargo run --release -p utmost-lab --example measure_restraints -- PAGE...
//! cargo run --release -p utmost-lab --example measure_restraints -- --window 60000 PAGE...    # the client's receive window in bytes
//! cargo run --release -p utmost-lab --example measure_restraints -- --stream-window 30000 PAGE...
//! ```

use client::ClientConfig;
use corpus::Page;
use lab::network::Network;
use lab::push_and_hints::PushAndHints;
use lab::stack::{Ends, Setup, load_between};
use qlog_tools::reader::{ReadOptions, read_file_traces};
use qlog_tools::restraints::{Evidence, Restraints};
use qlog_tools::trace::{Detail, Trace, Vantage};
use schedulers::{Restraint, find_scheme};
use server::{CongestionControl, Identity, Options};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

const NETWORKS: [&str; 5] = ["cable", "lte", "3g", "3g-lossy", "satellite"];
const CONTROLS: [CongestionControl; 3] =
    [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno];

/// What is measured over all pages of a network and a congestion control, in microseconds.
#[derive(Default)]
struct Sums {
    /// The time in which both said the same, by evidence, and all of it.
    same: [u64; 2],
    all: [u64; 2],
    /// The time of each restraint, as the server logged it.
    logged: BTreeMap<Restraint, u64>,
    /// Where they differ: by what was logged, and what was computed from events of any stack.
    differ: BTreeMap<(Restraint, Restraint), u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (transport, names) = arguments()?;
    let pages = names.iter().map(|name| Ok(Arc::new(corpus::page(name)?)));
    let pages: Vec<Arc<Page>> = pages.collect::<Result<_, Box<dyn Error>>>()?;
    let folder = std::env::temp_dir().join(format!("measure-restraints-{}", std::process::id()));
    let identity = Identity::self_signed()?;
    println!(
        "{:<10} {:<6} {:>8} {:>8}  logged, and where it differs",
        "network", "cc", "plain", "calls"
    );
    for name in NETWORKS {
        let network = Network::find(name)?;
        for control in CONTROLS {
            let mut sums = Sums::default();
            for (place, page) in pages.iter().enumerate() {
                let folder = folder.join(format!("{name}-{}-{place}", control.name()));
                std::fs::create_dir_all(&folder)?;
                sums.add(&load(page, &network, control, &identity, &transport, &folder)?)?;
            }
            println!("{name:<10} {:<6} {sums}", control.name());
        }
    }
    Ok(std::fs::remove_dir_all(folder)?)
}

/// The client's transport, and the names of pages.
fn arguments() -> Result<(ClientConfig, Vec<String>), Box<dyn Error>> {
    let mut transport = ClientConfig::default();
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut bytes = || -> Result<u64, Box<dyn Error>> {
            Ok(arguments.next().ok_or("a flag takes bytes")?.parse()?)
        };
        match &*argument {
            "--window" => transport.receive_bytes = bytes()?,
            "--stream-window" => transport.stream_receive_bytes = bytes()?,
            _ => {
                names.push(argument);
                continue;
            }
        }
        transport.windows_grow = false;
    }
    if names.is_empty() {
        names.push("davies-meenan".to_owned());
    }
    Ok((transport, names))
}

/// The server's log of one load.
fn load(
    page: &Arc<Page>,
    network: &Network,
    control: CongestionControl,
    identity: &Identity,
    transport: &ClientConfig,
    folder: &Path,
) -> Result<Trace, Box<dyn Error>> {
    let scheme = find_scheme("rfc9218")?;
    let options = Options { congestion_control: control, ..Options::new(scheme.clone()) };
    let setup = Setup { log_dir: Some(folder), ..Setup::new(options, network, identity) };
    let client = client::Options {
        scheme: Some(scheme),
        transport: transport.clone(),
        ..client::Options::default()
    };
    let site = PushAndHints::default().site(page, setup.metadata);
    let loaded = load_between(page, &Ends { site, client }, setup)?;
    if !loaded.load.completed {
        return Err(format!("{}: the load did not finish", page.name).into());
    }
    let options = ReadOptions { detail: Detail::Full, vantage: None };
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "sqlog") {
            let traces = read_file_traces(&path, options)?;
            if let Some(trace) = traces.into_iter().find(|it| it.vantage == Vantage::Server) {
                return Ok(trace);
            }
        }
    }
    Err("no server's log".into())
}

/// Each number of microseconds in which one has one restraint and the other another.
fn both(one: &Restraints, other: &Restraints) -> Vec<(u64, Restraint, Restraint)> {
    let mut times = Vec::new();
    for span in &one.spans {
        let first = other.spans.partition_point(|it| it.to_us <= span.from_us);
        for it in other.spans[first..].iter().take_while(|it| it.from_us < span.to_us) {
            let us = it.to_us.min(span.to_us) - it.from_us.max(span.from_us);
            times.push((us, span.by, it.by));
        }
    }
    times
}

impl Sums {
    fn add(&mut self, trace: &Trace) -> Result<(), Box<dyn Error>> {
        let logged = Restraints::of(trace, Evidence::All)?;
        for (place, evidence) in [Evidence::Plain, Evidence::Calls].into_iter().enumerate() {
            let computed = Restraints::of(trace, evidence)?;
            for (us, logged, computed) in both(&logged, &computed) {
                self.all[place] += us;
                self.same[place] += if logged == computed { us } else { 0 };
                if evidence == Evidence::Plain {
                    *self.logged.entry(logged).or_default() += us;
                    if logged != computed {
                        *self.differ.entry((logged, computed)).or_default() += us;
                    }
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Sums {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        for place in 0..2 {
            let same = percent(self.same[place], self.all[place]);
            write!(formatter, "{same:>7.2}% ")?;
        }
        for (restraint, us) in &self.logged {
            write!(formatter, " {} {:.1}", restraint.name(), percent(*us, self.all[0]))?;
        }
        for ((logged, computed), us) in &self.differ {
            let share = percent(*us, self.all[0]);
            if share >= 0.1 {
                write!(formatter, " | {} as {} {share:.1}", logged.name(), computed.name())?;
            }
        }
        Ok(())
    }
}
