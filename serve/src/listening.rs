//! Where a server listens: the UDP port of HTTP/3, and the TCP port of the same number for HTTP/2 and HTTP/1.1.

use crate::Failure;
use crate::values::{self, Addresses};
use gateway::{Listeners, Sending};
use server::Identity;
use server::event_loop::EventLoop;
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Attempts to find a free UDP port whose TCP port is free, too.
const ATTEMPTS: usize = 20;

/// Where to listen.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Listening {
    /// The address, over UDP and TCP. Port 0 picks a free one; localhost:PORT means both loopback addresses, IPv4 and IPv6. The flag
    /// can be repeated: all addresses serve the same site
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:4433", value_parser = values::addresses)]
    listen: Vec<Addresses>,
    /// The port that clients see, if it differs. For example, the published port of a container
    #[arg(long, hide_short_help = true, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    public_port: Option<u16>,
    /// Serve over HTTP/3 only, and leave the TCP port to another server. Without this flag, the server also offers HTTP/2 and
    /// HTTP/1.1 at the same port number, with the header field that leads browsers to HTTP/3 (Alt-Svc)
    #[arg(long)]
    no_tcp: bool,
    /// Bytes of a TCP connection that the system may hold unsent (`TCP_NOTSENT_LOWAT`). They leave before more urgent responses
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value = "16Ki", value_parser = lowat, conflicts_with = "no_tcp")]
    tcp_lowat: u32,
    /// Congestion control of TCP: bbr, cubic, reno, or another that the system has [default: the system's]
    #[arg(long, hide_short_help = true, value_name = "NAME", conflicts_with = "no_tcp")]
    tcp_cc: Option<String>,
    /// Redirect plain HTTP at this address to https. For example, 0.0.0.0:80. The flag can be repeated
    #[arg(long, value_name = "ADDR:PORT", value_parser = values::addresses, conflicts_with = "no_tcp")]
    http_redirect: Vec<Addresses>,
}

/// The bytes of `--tcp-lowat`. Rejects 0, which would mean the system's default: unlimited.
fn lowat(text: &str) -> Result<u32, String> {
    let bytes = corpus::size::parse(text)?;
    let bytes = u32::try_from(bytes).ok().filter(|it| (1..=1 << 30).contains(it));
    bytes.ok_or_else(|| "a size from 1 to 1024Mi is needed, for example 16Ki".to_owned())
}

pub(crate) struct Bound {
    pub(crate) loops: Vec<EventLoop>,
    pub(crate) listeners: Option<Listeners>,
    /// The addresses, each once.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Listening {
    /// Binds the sockets, with `shards` UDP sockets at each address.
    pub(crate) fn bind(&self, shards: u8) -> Result<Bound, Failure> {
        self.check(shards)?;
        let plain = self.bind_plain()?;
        let (mut loops, mut secure, mut addresses) =
            (Vec::new(), Vec::new(), Vec::<SocketAddr>::new());
        for (mut listen, is_needed) in each(&self.listen) {
            if let Some(first) = addresses.first().filter(|_| listen.port() == 0) {
                listen.set_port(first.port());
            }
            let bound = match self.bind_one(listen, shards) {
                Err(Unbound { error, .. }) if !is_needed && is_absent(&error) => continue,
                bound => bound.map_err(|it| it.failure)?,
            };
            addresses.push(bound.0[0].local_addr().map_err(Failure::elsewhere)?);
            loops.extend(bound.0);
            secure.extend(bound.1);
        }
        let congestion_control = self.tcp_cc.clone();
        let sending = Sending { unsent_bytes: self.tcp_lowat, congestion_control };
        let listeners = (!self.no_tcp).then_some(Listeners { secure, plain, sending });
        Ok(Bound { loops, listeners, addresses })
    }

    /// Rejects addresses that cannot be bound.
    pub(crate) fn check(&self, shards: u8) -> Result<(), Failure> {
        let all: Vec<SocketAddr> = each(&self.listen).map(|(it, _)| it).collect();
        if all.len() * usize::from(shards) > usize::from(u8::MAX) {
            let count = all.len();
            return Err(Failure::BadInput(format!(
                "--shards: {shards} at each of {count} addresses are more than 255; use fewer"
            )));
        }
        for (place, address) in all.iter().enumerate() {
            if address.port() != 0 && all[..place].contains(address) {
                return Err(Failure::BadInput(format!(
                    "--listen {address} occurs twice; name it once"
                )));
            }
        }
        for (plain, _) in each(&self.http_redirect) {
            if all.iter().any(|secure| meet(plain, *secure)) {
                return Err(Failure::BadInput(format!(
                    "--http-redirect {plain}: --listen has this port for https; plain HTTP needs one of its own, such as 80"
                )));
            }
        }
        Ok(())
    }

    /// Sockets for redirects.
    fn bind_plain(&self) -> Result<Vec<TcpListener>, Failure> {
        let mut plain = Vec::new();
        for (address, is_needed) in each(&self.http_redirect) {
            match TcpListener::bind(address) {
                Ok(listener) => plain.push(listener),
                Err(error) if !is_needed && is_absent(&error) => {}
                Err(error) => {
                    return Err(failure(address, &error, "choose another --http-redirect"));
                }
            }
        }
        Ok(plain)
    }

    /// The UDP sockets of `shards` shards at one address, and the TCP socket.
    fn bind_one(
        &self,
        listen: SocketAddr,
        shards: u8,
    ) -> Result<(Vec<EventLoop>, Option<TcpListener>), Unbound> {
        let mut attempts = if listen.port() == 0 { ATTEMPTS } else { 1 };
        loop {
            attempts -= 1;
            let bound = EventLoop::bind_shards(listen, shards)
                .and_then(|loops| Ok((loops[0].local_addr()?, loops)));
            let (address, loops) = bound.map_err(|error| {
                let failure = failure(listen, &error, "choose another --listen");
                Unbound { failure, error }
            })?;
            if self.no_tcp {
                return Ok((loops, None));
            }
            match TcpListener::bind(address) {
                Ok(secure) => return Ok((loops, Some(secure))),
                Err(error) if attempts == 0 => {
                    return Err(Unbound { failure: tcp_failure(address, &error), error });
                }
                Err(_) => {}
            }
        }
    }

    /// The port at which clients reach a server that is bound to this one.
    pub(crate) fn port(&self, bound: SocketAddr) -> u16 {
        self.public_port.unwrap_or(bound.port())
    }

    /// Advice for the site's owner about the names in the certificate.
    pub(crate) fn advice(&self, identity: &Identity, port: u16) -> Vec<String> {
        let names = identity.names().unwrap_or_default();
        // The DNS has neither patterns nor `localhost`.
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

/// A socket that is not bound.
struct Unbound {
    failure: Failure,
    error: io::Error,
}

/// All addresses, each with whether the server needs it.
fn each(several: &[Addresses]) -> impl Iterator<Item = (SocketAddr, bool)> + '_ {
    several.iter().flat_map(|it| it.all.iter().enumerate().map(|(place, it)| (*it, place == 0)))
}

/// Whether two sockets of one protocol conflict at these addresses. A port that the system chooses never conflicts.
fn meet(one: SocketAddr, other: SocketAddr) -> bool {
    let is_any = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() != 0 && one.port() == other.port() && (is_any || one.ip() == other.ip())
}

/// Whether the system lacks an address, such as `[::1]` without IPv6.
fn is_absent(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied)
}

fn failure(address: SocketAddr, error: &io::Error, remedy: &str) -> Failure {
    Failure::Elsewhere(format!("{address}: {error}; {remedy}"))
}

fn tcp_failure(address: SocketAddr, error: &io::Error) -> Failure {
    let port = address.port();
    let remedy = "if another server has it and should keep it, serve HTTP/3 alone with --no-tcp; otherwise choose another --listen";
    failure(address, error, &format!("UDP port {port} is free, TCP port {port} is not: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(addresses: &[SocketAddr], no_tcp: bool) -> Listening {
        let listen = addresses.iter().map(|it| Addresses { all: vec![*it] }).collect();
        Listening {
            listen,
            public_port: None,
            no_tcp,
            tcp_lowat: 16 << 10,
            tcp_cc: None,
            http_redirect: Vec::new(),
        }
    }

    fn listening(no_tcp: bool) -> Listening {
        at(&[([127, 0, 0, 1], 0).into()], no_tcp)
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
        assert_eq!(secure[0].local_addr().expect("bound"), bound.addresses[0]);
        assert!(listening(true).bind(1).expect("a port").listeners.is_none());
    }

    #[test]
    fn a_taken_tcp_port_is_named_with_the_option_that_leaves_it() {
        let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let listen = taken.local_addr().expect("bound");
        let error = at(&[listen], false).bind(1).map(|_| ());
        let error = error.expect_err("it is taken").to_string();
        assert!(error.contains(&format!("TCP port {} is not", listen.port())), "{error}");
        assert!(error.contains("--no-tcp"), "{error}");
        assert!(at(&[listen], true).bind(1).is_ok());
    }

    #[test]
    fn several_addresses_have_one_port_where_the_first_is_free() {
        let both = [([127, 0, 0, 1], 0).into(), ([127, 0, 0, 2], 0).into()];
        let bound = at(&both, false).bind(2).expect("ports");
        assert_eq!((bound.loops.len(), bound.addresses.len()), (4, 2));
        assert_eq!(bound.addresses[0].port(), bound.addresses[1].port());
        assert_eq!(bound.listeners.expect("listeners").secure.len(), 2);
    }

    #[test]
    fn addresses_that_cannot_be_bound_together_are_named_before() {
        let address = |text: &str| text.parse().expect("an address");
        let said = |listen: &[SocketAddr], plain: &str, shards| {
            let http_redirect = vec![Addresses { all: vec![address(plain)] }];
            let listening = Listening { http_redirect, ..at(listen, false) };
            listening.check(shards).expect_err(plain).to_string()
        };
        let one = address("127.0.0.1:4433");
        let same = "--http-redirect 0.0.0.0:4433: --listen has this port for https; plain HTTP needs one of its own, such as 80";
        assert_eq!(said(&[one], "0.0.0.0:4433", 1), same);
        let twice = "--listen 127.0.0.1:4433 occurs twice; name it once";
        assert_eq!(said(&[one, one], "127.0.0.1:80", 1), twice);
        let many = "--shards: 128 at each of 2 addresses are more than 255; use fewer";
        assert_eq!(said(&[one, address("127.0.0.2:1")], "127.0.0.1:80", 128), many);
    }
}
