//! Whether the gain that `utmost find` promises arrives: Chromium loads a site from `utmost serve --root` or `--upstream`, and from
//! `utmost serve --config` with the policy of `find`, in pairs.
//!
//! ```sh
//! cargo build --workspace --example measure_deployment && cargo build
//! target/debug/utmost corpus bodies agency-home --out site
//! target/debug/examples/measure_deployment agency-home site cable,lte,3g 12
//!
//! python3 -m http.server --directory site --bind 127.0.0.1 8000 &
//! target/debug/examples/measure_deployment agency-home http://127.0.0.1:8000 cable,lte,3g 12
//! ```
//!
//! It needs Chromium. The words are the page, the folder with its files or the URL of a server that has them, the networks, and the
//! pairs of loads on each. Each load is a new profile. Which server comes first changes from pair to pair.

use lab::network::Network;
use lab::relay::Relay;
use lab::study::statistics::{hodges_lehmann, median};
use recorder::browser::Chromium;
use recorder::visit::render_times;
use serde_json::Value;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The name of the host in `utmost serve`'s own certificate is `localhost`; the browser takes it by its key.
const HOST: &str = recorder::site::HOST;

/// The browser that the promise is for.
const PROFILE: &str = "chromium-156";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [page, site, networks, pairs] = &arguments[..] else {
        return Err("PAGE SITE NETWORKS PAIRS".into());
    };
    let pairs: usize = pairs.parse()?;
    let folder = tempfile::tempdir()?;
    let policy = folder.path().join("policy.toml");
    let is_upstream = site.starts_with("http://");
    let promised = promised(page, site, networks, &policy)?;
    let page = corpus::bundled(page).ok_or(format!("{page}: not a bundled page"))?;
    let root = Serving::start(&[if is_upstream { "--upstream" } else { "--root" }, site])?;
    let config = Serving::start(&["--config", policy.to_str().ok_or("not UTF-8")?])?;
    println!(
        "ByteIndex in ms without and with the policy (medians), and how many times better it is"
    );
    println!(
        "| page | network | promised | ratio | 95 % interval | in Chromium | ratio | 95 % interval | pairs |"
    );
    println!("|---|---|---|---:|---|---|---:|---|---:|");
    for (name, promise) in networks.split(',').zip(&promised) {
        let network = Network::find(name)?;
        let ends = [root.visited_on(&network)?, config.visited_on(&network)?];
        let mut loads: Vec<[f64; 2]> = Vec::new();
        for pair in 0..pairs {
            let mut indices = [None; 2];
            for end in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
                // Silence ends a load; nobody counts requests that reach another process.
                indices[end] = render_times(&ends[end], page, None, &|| 0)?.byte_index_ms;
            }
            loads.extend(indices[0].zip(indices[1]).map(<[f64; 2]>::from));
        }
        let ratios: Vec<f64> = loads.iter().map(|[present, policy]| present / policy).collect();
        let of = |end: usize| median(&loads.iter().map(|it| it[end]).collect::<Vec<_>>());
        let [present, policy] = [of(0), of(1)].map(Option::unwrap_or_default);
        let (ratio, interval) = hodges_lehmann(&ratios).ok_or("no load finished")?;
        println!(
            "| {} | {name} | {promise} | {present:.0} to {policy:.0} | {ratio:.3} | {} | {} |",
            page.name,
            shown(interval),
            ratios.len()
        );
    }
    Ok(())
}

fn shown(interval: Option<[f64; 2]>) -> String {
    interval.map_or("-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"))
}

/// What `utmost find` promises for each network, as three cells of a table. It writes the policy.
fn promised(page: &str, site: &str, networks: &str, policy: &Path) -> Outcome<Vec<String>> {
    let folder = Path::new(site).canonicalize();
    let site = folder.map_or_else(|_| site.to_owned(), |it| it.display().to_string());
    let output = Command::new(utmost()?)
        .args(["find", page, "--networks", networks, "--profile", PROFILE])
        .args(["--metric", "byte_index", "--json", "--policy"])
        .arg(policy)
        .arg("--site")
        .arg(site)
        .stderr(Stdio::inherit())
        .output()?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let gains = answer["by_resource"][0]["networks"].as_array().ok_or("no priorities")?;
    let cells = |gain: &Value| {
        let number = |it: &Value| it.as_f64();
        let low = number(&gain["interval"][0]);
        let interval = shown(low.zip(number(&gain["interval"][1])).map(|(one, two)| [one, two]));
        let [present, found] = ["present_ms", "found_ms"].map(|it| number(&gain[it]));
        let ratio = number(&gain["ratio"])?;
        Some(format!("{:.0} to {:.0} | {ratio:.3} | {interval}", present?, found?))
    };
    gains.iter().map(|it| cells(it).ok_or_else(|| "no ratio".into())).collect()
}

/// The program beside this one.
fn utmost() -> Outcome<PathBuf> {
    let examples = std::env::current_exe()?;
    let folder = examples.parent().and_then(Path::parent).ok_or("no folder")?;
    Ok(folder.join("utmost"))
}

/// `utmost serve` in another process.
struct Serving {
    process: Child,
    address: SocketAddr,
    pin: String,
}

impl Serving {
    fn start(what: &[&str]) -> Outcome<Self> {
        let mut process = Command::new(utmost()?)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(what)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let first = |it: &mut dyn BufRead, after: &str| -> Outcome<String> {
            let mut line = String::new();
            while !line.contains(after) {
                line.clear();
                if it.read_line(&mut line)? == 0 {
                    return Err(format!("utmost serve does not say `{after}`").into());
                }
            }
            Ok(line.split(after).nth(1).unwrap_or_default().trim().to_owned())
        };
        let stderr = process.stderr.take().ok_or("no stderr")?;
        let pin = first(&mut BufReader::new(stderr), "--ignore-certificate-errors-spki-list=")?;
        let stdout = process.stdout.take().ok_or("no stdout")?;
        let address = first(&mut BufReader::new(stdout), "listening on ")?.parse()?;
        Ok(Self { process, address, pin })
    }

    /// A browser that reaches the server over `network`.
    fn visited_on(&self, network: &Network) -> Outcome<Chromium> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut relay = Relay::bind(listen, self.address, network.clone(), 0)?;
        let port = relay.local_addr()?.port();
        // It relays until the program ends.
        std::thread::spawn(move || relay.run(&mut |_| ()));
        Ok(Chromium::start(HOST, port, &self.pin)?)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
