//! `utmost link`: the lab's links as a UDP relay.

use crate::output;
use ::serve::Failure;
use ::serve::values::{self, Addresses};
use lab::network::Network;
use lab::relay::{Notice, Relay};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Put a network between a client and a server: a UDP relay that delays, queues and loses datagrams
///
/// Prints one line `listening on ADDR:PORT` when it is ready. It works with any UDP client and server, and gives each
/// client links of its own.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  utmost serve --page davies-meenan --listen 127.0.0.1:4433 &\n  \
utmost link --network cable-lossy --listen 127.0.0.1:4434 --to 127.0.0.1:4433 &\n  \
utmost play davies-meenan --server 127.0.0.1:4434 --insecure"
)]
pub(crate) struct Arguments {
    /// The network: paper, 2g, 3g, lte, cable, satellite, ..., or a TOML file
    #[arg(long, visible_alias = "networks", value_name = "NAME|FILE")]
    network: String,
    /// The address that clients send to; port 0 takes a free one. localhost:PORT is both loopback addresses, of IPv4 and IPv6
    #[arg(long, value_name = "ADDR:PORT", default_value = "localhost:4434", value_parser = values::addresses)]
    listen: Addresses,
    /// The server's address
    #[arg(long, value_name = "ADDR:PORT")]
    to: SocketAddr,
    /// The seed of all random events: the same seed gives the same link
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// Write the fate of each datagram into this file, one line of JSON each
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let network = Network::find(&arguments.network).map_err(Failure::bad_input)?;
    let Arguments { to, seed, .. } = *arguments;
    let listen = arguments.listen.all[0];
    if arguments.listen.all.contains(&to) {
        return Err(Failure::BadInput(format!(
            "--listen and --to are both {to}: a relay needs an address of its own"
        )));
    }
    let mut relay = Relay::bind(listen, to, network.clone(), seed).map_err(|error| {
        Failure::Elsewhere(format!("{listen}: {error}; choose another --listen"))
    })?;
    if let Some(path) = &arguments.log {
        let file = File::create(path).map_err(|error| Failure::of_file(path, error))?;
        relay = relay.logged(Box::new(BufWriter::new(file)));
    }
    let address = relay.local_addr().map_err(Failure::elsewhere)?;
    output::line(&format!("listening on {address}"))?;
    for mut further in arguments.listen.all[1..].iter().copied() {
        further.set_port(address.port());
        // Without IPv6, the first address is enough. The log is of that one.
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
