//! Where a server listens: the UDP port of HTTP/3, and the TCP port of the same number for the other versions.

use crate::{Failure, values};
use server::event_loop::EventLoop;
use server::{Identity, Listeners};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// How often a free UDP port is chosen whose TCP port may be taken.
const ATTEMPTS: usize = 20;

/// Where to listen.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Listening {
    /// The address to listen on, by UDP and TCP; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:4433", value_parser = values::address)]
    listen: SocketAddr,
    /// The port at which clients reach the server, if it is another one, as before a container
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    public_port: Option<u16>,
    /// Serve over HTTP/3 alone, and leave the TCP port to another server. Without it, HTTP/2 and HTTP/1.1 are served at the
    /// same port number, with the header field that brings browsers to HTTP/3 (Alt-Svc)
    #[arg(long)]
    no_tcp: bool,
    /// Also answer plain HTTP at this address, with redirects to https, for example 0.0.0.0:80
    #[arg(long, value_name = "ADDR:PORT", value_parser = values::address, conflicts_with = "no_tcp")]
    http_redirect: Option<SocketAddr>,
}

/// Bound sockets.
pub(crate) struct Bound {
    pub(crate) loops: Vec<EventLoop>,
    pub(crate) listeners: Option<Listeners>,
    pub(crate) address: SocketAddr,
}

impl Listening {
    /// Binds the sockets, those of UDP for so many shards.
    pub(crate) fn bind(&self, shards: u8) -> Result<Bound, Failure> {
        let plain = self.http_redirect.map(|it| {
            let taken = |error| failure(it, &error, "choose another --http-redirect");
            TcpListener::bind(it).map_err(taken)
        });
        let plain = plain.transpose()?;
        let mut attempts = if self.listen.port() == 0 { ATTEMPTS } else { 1 };
        loop {
            attempts -= 1;
            let udp = |error| failure(self.listen, &error, "choose another --listen");
            let loops = EventLoop::bind_shards(self.listen, shards).map_err(udp)?;
            let address = loops[0].local_addr().map_err(Failure::elsewhere)?;
            if self.no_tcp {
                return Ok(Bound { loops, listeners: None, address });
            }
            match TcpListener::bind(address) {
                Ok(secure) => {
                    let listeners = Some(Listeners { secure, plain });
                    return Ok(Bound { loops, listeners, address });
                }
                Err(error) if attempts == 0 => return Err(tcp_failure(address, &error)),
                Err(_) => {}
            }
        }
    }

    /// The port at which clients reach a server that is bound to this one.
    pub(crate) fn port(&self, bound: SocketAddr) -> u16 {
        self.public_port.unwrap_or(bound.port())
    }

    /// What to say to the owner of a site about the names of its certificate.
    pub(crate) fn advice(&self, identity: &Identity, port: u16) -> Vec<String> {
        let names = identity.names().unwrap_or_default();
        // Neither a pattern nor `localhost` is in the DNS.
        let hosts = names.iter().filter(|it| !it.starts_with('*') && it.contains('.'));
        hosts
            .map(|it| format!("DNS record for HTTP/3 at once: {}", self.record(it, port)))
            .collect()
    }

    /// The HTTPS record of a host (RFC 9460).
    fn record(&self, host: &str, port: u16) -> String {
        let host = host.trim_end_matches('.');
        let protocols = if self.no_tcp { "alpn=\"h3\" no-default-alpn" } else { "alpn=\"h3,h2\"" };
        if port == 443 {
            format!("{host}. 3600 IN HTTPS 1 . {protocols}")
        } else {
            format!("_{port}._https.{host}. 3600 IN HTTPS 1 {host}. {protocols}")
        }
    }
}

fn failure(address: SocketAddr, error: &io::Error, remedy: &str) -> Failure {
    Failure::Elsewhere(format!("{address}: {error}; {remedy}"))
}

fn tcp_failure(address: SocketAddr, error: &io::Error) -> Failure {
    let port = address.port();
    let remedy = "if another server has it and should keep it, serve HTTP/3 alone with --no-tcp; else choose another --listen";
    failure(address, error, &format!("UDP port {port} is free, TCP port {port} is not: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening(no_tcp: bool) -> Listening {
        let listen = ([127, 0, 0, 1], 0).into();
        Listening { listen, public_port: None, no_tcp, http_redirect: None }
    }

    #[test]
    fn a_record_names_the_protocols_and_another_port_than_443() {
        let record = |no_tcp, port| listening(no_tcp).record("a.test", port);
        assert_eq!(record(false, 443), "a.test. 3600 IN HTTPS 1 . alpn=\"h3,h2\"");
        assert_eq!(record(true, 443), "a.test. 3600 IN HTTPS 1 . alpn=\"h3\" no-default-alpn");
        let other = "_8443._https.a.test. 3600 IN HTTPS 1 a.test. alpn=\"h3,h2\"";
        assert_eq!(record(false, 8443), other);
    }

    #[test]
    fn udp_and_tcp_have_the_same_free_port() {
        let bound = listening(false).bind(1).expect("ports");
        let secure = bound.listeners.expect("a listener").secure;
        assert_eq!(secure.local_addr().expect("bound"), bound.address);
        assert!(listening(true).bind(1).expect("a port").listeners.is_none());
    }

    #[test]
    fn a_taken_tcp_port_is_named_with_the_option_that_leaves_it() {
        let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let listen = taken.local_addr().expect("bound");
        let error = Listening { listen, ..listening(false) }.bind(1).map(|_| ());
        let error = error.expect_err("it is taken").to_string();
        assert!(error.contains(&format!("TCP port {} is not", listen.port())), "{error}");
        assert!(error.contains("--no-tcp"), "{error}");
        assert!(Listening { listen, ..listening(true) }.bind(1).is_ok());
    }
}
