//! `utmost link`: the lab's links as a UDP relay, or between network namespaces.

mod tun;

use crate::output;
use ::serve::Failure;
use ::serve::values::{self, Addresses};
use lab::network::Network;
use lab::relay::{Notice, Relay};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Put a network between a client and a server: a UDP relay that delays, queues and loses datagrams
///
/// Prints one line `listening on ADDR:PORT` when it is ready. Works with any UDP client and server. Each client has its own
/// links.
///
/// With --tun, the links carry all TCP, UDP and ICMP between two network namespaces: COMMAND runs at 10.0.0.2 and the --server
/// at 10.0.0.1, and they reach nothing else. The links count whole IP packets. Without COMMAND, a shell opens. When COMMAND
/// ends, utmost stops the server, removes both namespaces, and exits with COMMAND's code. This mode needs the program `ip`, and
/// either root or a system that allows user namespaces and the use of /dev/net/tun.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  utmost serve --page davies-meenan --listen 127.0.0.1:4433 &\n  \
utmost link --network cable-lossy --listen 127.0.0.1:4434 --to 127.0.0.1:4433 &\n  \
utmost play davies-meenan --server 127.0.0.1:4434 --insecure\n  \
utmost link --network 3g --tun --server 'utmost serve --page davies-meenan --listen 10.0.0.1:443' -- curl -ko page.html https://10.0.0.1/"
)]
pub(crate) struct Arguments {
    /// The network: paper, 2g, 3g, lte, cable, satellite, ..., or a TOML file
    #[arg(long, visible_alias = "networks", value_name = "NAME|FILE")]
    network: String,
    /// The address that clients send to; port 0 picks a free one. localhost:PORT means both loopback addresses, IPv4 and IPv6
    #[arg(long, value_name = "ADDR:PORT", default_value = "localhost:4434", value_parser = values::addresses)]
    listen: Addresses,
    /// The server's address
    #[arg(long, value_name = "ADDR:PORT", required_unless_present = "tun")]
    to: Option<SocketAddr>,
    /// Carry all IP traffic between two network namespaces, instead of UDP between two ports
    #[arg(long, conflicts_with_all = ["listen", "to"], help_heading = "Link")]
    tun: bool,
    /// Run this shell command on the server's end, and start COMMAND once it listens
    #[arg(long, value_name = "SHELL COMMAND", requires = "tun", help_heading = "Link")]
    server: Option<String>,
    /// The program on the client's end
    #[arg(last = true, value_name = "COMMAND", requires = "tun")]
    command: Vec<OsString>,
    /// The seed of all random events; the same seed gives the same link
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// Write the fate of each datagram into this file, as lines of JSON
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let network = Network::find(&arguments.network).map_err(Failure::bad_input)?;
    let log = arguments.log.as_deref().map(create).transpose()?;
    match arguments.to {
        Some(to) => relay(arguments, to, &network, log),
        None => tun::run(arguments, network, log),
    }
}

fn create(path: &Path) -> Result<Box<dyn Write + Send>, Failure> {
    values::writable(path, "--log")?;
    let file = File::create(path).map_err(|error| Failure::of_file(path, error))?;
    Ok(Box::new(BufWriter::new(file)))
}

fn relay(
    arguments: &Arguments,
    to: SocketAddr,
    network: &Network,
    log: Option<Box<dyn Write + Send>>,
) -> Result<(), Failure> {
    let (listen, seed) = (arguments.listen.all[0], arguments.seed);
    if arguments.listen.all.contains(&to) {
        return Err(Failure::BadInput(format!(
            "--listen and --to are both {to}: a relay needs an address of its own"
        )));
    }
    let mut relay = Relay::bind(listen, to, network.clone(), seed).map_err(|error| {
        Failure::Elsewhere(format!("{listen}: {error}; choose another --listen"))
    })?;
    if let Some(log) = log {
        relay = relay.logged(log);
    }
    let address = relay.local_addr().map_err(Failure::elsewhere)?;
    output::line(&format!("listening on {address}"))?;
    for mut further in arguments.listen.all[1..].iter().copied() {
        further.set_port(address.port());
        // Without IPv6, the first address is enough. Only the first one is logged.
        if let Ok(mut relay) = Relay::bind(further, to, network.clone(), seed) {
            output::line(&format!("listening on {further}"))?;
            std::thread::spawn(move || relay.run(&mut |notice| say(notice)));
        }
    }
    relay.run(&mut |notice| say(notice)).map_err(Failure::elsewhere)
}

fn say(notice: Notice) {
    match notice {
        Notice::Client(client) => eprintln!("client {client}"),
        Notice::Refused(server) => {
            eprintln!("{server}: connection refused; is a server listening there?");
        }
    }
}
