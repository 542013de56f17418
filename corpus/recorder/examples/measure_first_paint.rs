//! When Chromium first shows a page from `utmost serve` with several initial windows, from Caddy and from gtlsserver.
//!
//! ```sh
//! cargo build --workspace --example measure_first_paint && cargo build
//! target/debug/utmost corpus bodies agency-home --out site
//! target/debug/examples/measure_first_paint agency-home site cable,lte,3g 9 10,16,24,32
//! ```
//!
//! It needs Chromium, `openssl`, and Caddy and gtlsserver for their rows. The words are the page, the folder with its files, the
//! networks, the loads of each server on each, and our initial windows in packets. The servers take turns. All have the same
//! certificate and speak HTTP/3 alone, so each load begins with a handshake.

use lab::network::Network;
use lab::relay::Relay;
use lab::study::statistics::median;
use recorder::browser::{Chromium, Quiet};
use recorder::site::HOST;
use serde_json::Value;
use server::Identity;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The end of a load: so long after its last event. Nobody counts requests that reach another process.
const SILENCE: Duration = Duration::from_millis(1500);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [page, root, networks, loads, windows] = &arguments[..] else {
        return Err("PAGE FOLDER NETWORKS LOADS WINDOWS".into());
    };
    let page = corpus::bundled(page).ok_or(format!("{page}: not a bundled page"))?;
    let url = format!("https://{HOST}{}", page.resources[0].url);
    let folder = tempfile::tempdir()?;
    let pin = certificate(folder.path())?;
    let here = Here { root, folder: folder.path() };
    let mut servers = Vec::new();
    for packets in windows.split(',') {
        servers.push(here.ours(packets)?);
    }
    servers.extend([here.caddy()?, here.gtlsserver()?].into_iter().flatten());
    println!("| page | network | server | first paint, ms | largest, ms | loads |");
    println!("|---|---|---|---:|---:|---:|");
    for name in networks.split(',') {
        let network = Network::find(name)?;
        let visited = servers.iter().map(|it| it.visited_on(&network, &pin));
        let browsers = visited.collect::<Outcome<Vec<_>>>()?;
        let mut times = vec![[Vec::new(), Vec::new()]; servers.len()];
        for _ in 0..loads.parse()? {
            for (browser, times) in browsers.iter().zip(&mut times) {
                let quiet = Quiet { requests: &|| 0, waiting: &|| false, after: SILENCE };
                let report: Value = serde_json::from_str(&browser.report(&url, &quiet)?)?;
                for (times, key) in times.iter_mut().zip(["firstRender", "largestRender"]) {
                    times.extend(report[key].as_f64().filter(|it| *it > 0.0));
                }
            }
        }
        for (server, [first, largest]) in servers.iter().zip(&times) {
            let shown = [first, largest].map(|it| median(it).unwrap_or(f64::NAN));
            println!(
                "| {} | {name} | {} | {:.0} | {:.0} | {} |",
                page.name,
                server.name,
                shown[0],
                shown[1],
                first.len()
            );
        }
    }
    Ok(())
}

/// A certificate for the host in `cert.pem` and `key.pem`; what a browser takes it by.
fn certificate(folder: &Path) -> Outcome<String> {
    let names = format!("subjectAltName=DNS:{HOST}");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-days", "30", "-subj", "/CN=page", "-addext", &names])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(folder)
        .stderr(Stdio::null())
        .status()?;
    if !made.success() {
        return Err("openssl makes no certificate".into());
    }
    let identity = Identity::load(&folder.join("cert.pem"), &folder.join("key.pem"))?;
    Ok(identity.public_key_pin()?)
}

/// The files of a site, and the folder of its certificate.
struct Here<'a> {
    root: &'a str,
    folder: &'a Path,
}

impl Here<'_> {
    fn ours(&self, packets: &str) -> Outcome<Serving> {
        let port = free_port()?;
        let examples = std::env::current_exe()?;
        let built = examples.parent().and_then(Path::parent).ok_or("no folder")?;
        let mut command = Command::new(built.join("utmost"));
        command
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--root", self.root])
            .args(["--initial-window", packets, "--cert"])
            .arg(self.folder.join("cert.pem"))
            .arg("--key")
            .arg(self.folder.join("key.pem"));
        Serving::start(format!("utmost, {packets}"), command, port)
    }

    /// `None`: it is not installed.
    fn caddy(&self) -> Outcome<Option<Serving>> {
        let Some(program) = fixtures::program("caddy") else { return Ok(None) };
        let (port, here) = (free_port()?, self.folder.display());
        let configuration = format!(
            "{{\n admin off\n auto_https off\n}}\nhttps://{HOST}:{port} {{\n bind 127.0.0.1\n tls {here}/cert.pem {here}/key.pem\n \
             root * {}\n encode zstd gzip\n file_server\n}}\n",
            Path::new(self.root).canonicalize()?.display()
        );
        let file = self.folder.join("Caddyfile");
        std::fs::write(&file, configuration)?;
        let mut command = Command::new(program);
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
        command.env("HOME", self.folder);
        Serving::start("Caddy".to_owned(), command, port).map(Some)
    }

    /// The same.
    fn gtlsserver(&self) -> Outcome<Option<Serving>> {
        let Some(program) = fixtures::program("gtlsserver") else { return Ok(None) };
        let port = free_port()?;
        let mut command = Command::new(program);
        command.args(["-q", "--no-quic-dump", "--no-http-dump", "-d", self.root, "127.0.0.1"]);
        command.arg(port.to_string());
        command.arg(self.folder.join("key.pem")).arg(self.folder.join("cert.pem"));
        Serving::start("gtlsserver".to_owned(), command, port).map(Some)
    }
}

fn free_port() -> Outcome<u16> {
    Ok(UdpSocket::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A server in another process.
struct Serving {
    name: String,
    process: Child,
    port: u16,
}

impl Serving {
    fn start(name: String, mut command: Command, port: u16) -> Outcome<Self> {
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        // It listens when nobody else can.
        let mut started = Self { name, process, port };
        while UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            if let Some(status) = started.process.try_wait()? {
                return Err(format!("{} has ended: {status}", started.name).into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(started)
    }

    /// A browser that reaches the server over `network`.
    fn visited_on(&self, network: &Network, pin: &str) -> Outcome<Chromium> {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut relay = Relay::bind(at(0), at(self.port), network.clone(), 0)?;
        let port = relay.local_addr()?.port();
        // It relays until the program ends.
        std::thread::spawn(move || relay.run(&mut |_| ()));
        Ok(Chromium::start(HOST, port, pin)?)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
