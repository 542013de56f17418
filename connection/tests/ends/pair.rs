//! A client and a server, joined without a network.

use boring::asn1::Asn1Time;
use boring::ec::{EcGroup, EcKey};
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::X509;
use connection::{ClientConfig, Connection, Path, Verify};
use http3::{Event, Header, Role, Session, Settings, StreamId};
use std::time::Instant;

/// Two ends of one connection.
pub(crate) struct Pair {
    pub(crate) client: Connection,
    pub(crate) server: Connection,
    /// What each has reported.
    pub(crate) client_events: Vec<Event>,
    pub(crate) server_events: Vec<Event>,
}

const CLIENT: ([u8; 4], u16) = ([127, 0, 0, 1], 5000);
const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 4433);

/// A client that trusts anybody.
pub(crate) fn trusting() -> ClientConfig {
    ClientConfig { verify: Verify::Nobody, ..ClientConfig::default() }
}

#[expect(clippy::disallowed_methods, reason = "quiche reads the clock itself")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

pub(crate) fn client(config: &ClientConfig) -> Connection {
    let connected =
        Connection::connect(Some("localhost"), CLIENT.into(), SERVER.into(), config, now());
    connected.expect("a client")
}

impl Pair {
    /// Before the handshake. The server's limits may be changed.
    pub(crate) fn new(config: &ClientConfig, limit: impl FnOnce(&mut quiche::Config)) -> Self {
        let mut server = server_config();
        limit(&mut server);
        let id = quiche::ConnectionId::from_ref(&[1; 16]);
        let quic =
            quiche::accept_with_buf_factory(&id, None, SERVER.into(), CLIENT.into(), &mut server);
        let session = Session::new(Role::Server, Settings::default(), http3::Limits::default());
        Self {
            client: client(config),
            server: Connection::accepted(quic.expect("a server"), session, SERVER.into()),
            client_events: Vec::new(),
            server_events: Vec::new(),
        }
    }

    /// After the handshake, when both ends have sent everything that they must send.
    pub(crate) fn connected() -> Self {
        let mut pair = Self::new(&trusting(), |_| ());
        pair.exchange();
        pair
    }

    /// Until neither has anything more to send.
    pub(crate) fn exchange(&mut self) {
        loop {
            let to_server = carry(&mut self.client, &mut self.server);
            let to_client = carry(&mut self.server, &mut self.client);
            self.server_events.extend(events(&mut self.server));
            self.client_events.extend(events(&mut self.client));
            if !to_server && !to_client {
                return;
            }
        }
    }
}

/// Whether anything was carried.
pub(crate) fn carry(from: &mut Connection, to: &mut Connection) -> bool {
    let mut buffer = [0; 1500];
    let mut carried = false;
    while let Some(transmit) = from.transmit(&mut buffer) {
        let path = Path { local: to.local_addr(), peer: from.local_addr() };
        to.receive(&mut buffer[..transmit.bytes], path);
        carried = true;
    }
    carried
}

fn events(end: &mut Connection) -> Vec<Event> {
    end.open();
    let mut buffer = vec![0; 65_536];
    for stream in end.readable() {
        loop {
            match end.read(stream, &mut buffer) {
                Ok(Some(turn)) if !turn.is_last => {}
                Ok(_) => break,
                Err(error) => {
                    end.fail(&error, stream);
                    break;
                }
            }
        }
    }
    std::iter::from_fn(|| end.poll()).collect()
}

/// A request's header section, with this path.
pub(crate) fn get(path: &str) -> Vec<Header> {
    [(":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
        .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
        .to_vec()
}

/// The paths of the requests among these events.
pub(crate) fn paths(events: &[Event]) -> Vec<(StreamId, String)> {
    let path = |event: &Event| match event {
        Event::Headers { stream, headers } => {
            let path = http3::values(headers, ":path").next()?;
            Some((*stream, String::from_utf8_lossy(path).into_owned()))
        }
        _ => None,
    };
    events.iter().filter_map(path).collect()
}

fn server_config() -> quiche::Config {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).expect("a curve");
    let key = PKey::from_ec_key(EcKey::generate(&group).expect("a key")).expect("a key");
    let mut certificate = X509::builder().expect("a certificate");
    let (from, until) = (Asn1Time::days_from_now(0), Asn1Time::days_from_now(1));
    certificate.set_not_before(&from.expect("a time")).expect("a time");
    certificate.set_not_after(&until.expect("a time")).expect("a time");
    certificate.set_pubkey(&key).expect("a key");
    certificate.sign(&key, MessageDigest::sha256()).expect("signed");
    let mut tls = SslContextBuilder::new(SslMethod::tls()).expect("a context");
    tls.set_certificate(&certificate.build()).expect("a certificate");
    tls.set_private_key(&key).expect("a key");
    let mut config =
        quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls).expect("QUIC");
    config.set_application_protos(&[b"h3"]).expect("a protocol");
    config.set_initial_max_data(1 << 20);
    config.set_initial_max_stream_data_bidi_remote(1 << 16);
    config.set_initial_max_stream_data_uni(1 << 16);
    config.set_initial_max_streams_bidi(10);
    config.set_initial_max_streams_uni(10);
    config
}
