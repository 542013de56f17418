//! The least that a server over our transport can do: the floor below `utmost-serve`'s CPU time.
//!
//! It answers every request with a file that it has in memory, in a head of two fields. It has no limits, logs, clocks beside the
//! transport's, or errors that it survives, so it serves nothing but `benches/peers/run`. The transport orders the responses: one
//! after another, as RFC 9218 has it for what is not incremental, or in turns (`--order=turns`).

use bytes::Bytes;
use connection::Quic;
use mio::{Events, Interest, Poll, Token};
use quiche::h3::{Header, NameValue, qpack};
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::error::Error;
use std::io::{ErrorKind, IoSliceMut};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Bytes of a datagram, and how many of them go in one call of the system.
const DATAGRAM_BYTES: usize = 1452;
const BATCH: usize = 45;
const READS: usize = 16;
const READ_BYTES: usize = 65_536;

struct Client {
    quic: Quic,
    peer: SocketAddr,
    has_settings: bool,
    requests: HashMap<u64, Vec<u8>>,
    /// What is left of each response: its head and its body.
    responses: BTreeMap<u64, [Bytes; 2]>,
    /// How long pacing holds the next datagram back.
    until: Option<Duration>,
    /// A datagram that did not fit into the last batch.
    aside: Vec<u8>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let flags: HashMap<String, String> = std::env::args()
        .skip(1)
        .filter_map(|it| it.strip_prefix("--").map(str::to_owned))
        .filter_map(|it| {
            it.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect();
    let flag = |name: &str| flags.get(name).ok_or(format!("floor: --{name}=... is missing"));
    let files = read_files(flag("root")?)?;
    let mut config = config(flag("cert")?, flag("key")?)?;
    let in_turns = flags.get("order").is_some_and(|it| it == "turns");
    let listen: SocketAddr = flag("listen")?.parse()?;
    let mut socket = mio::net::UdpSocket::bind(listen)?;
    let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
    let mut poll = Poll::new()?;
    poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
    println!("listening on {listen}");
    // Boxed: a node of the map has room for eleven of them.
    let mut clients: BTreeMap<SocketAddr, Box<Client>> = BTreeMap::new();
    let mut arrivals = vec![0; READS * READ_BYTES];
    let (mut events, mut out) = (Events::with_capacity(4), vec![0; BATCH * DATAGRAM_BYTES]);
    loop {
        let timeout = clients.values().filter_map(|it| it.until.or(it.quic.timeout())).min();
        poll.poll(&mut events, Some(timeout.unwrap_or(Duration::from_secs(1))))?;
        receive(&socket, &state, &mut arrivals, |datagram, peer| {
            take_in(&mut clients, &mut config, datagram, listen, peer);
        })?;
        for client in clients.values_mut() {
            client.quic.on_timeout();
            client.read(&files, in_turns);
            client.write();
            client.send(&socket, &state, &mut out);
        }
        clients.retain(|_, client| !client.quic.is_closed());
    }
}

fn read_files(root: &str) -> Result<HashMap<Vec<u8>, Bytes>, Box<dyn Error>> {
    let mut files = HashMap::new();
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        let path = format!("/{}", entry.file_name().display());
        files.insert(path.into_bytes(), std::fs::read(entry.path())?.into());
    }
    Ok(files)
}

fn config(cert: &str, key: &str) -> Result<quiche::Config, quiche::Error> {
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
    config.load_cert_chain_from_pem_file(cert)?;
    config.load_priv_key_from_pem_file(key)?;
    config.set_application_protos(&[b"h3"])?;
    config.set_cc_algorithm(quiche::CongestionControlAlgorithm::Bbr2Gcongestion);
    config.set_max_recv_udp_payload_size(READ_BYTES - 9);
    config.set_max_send_udp_payload_size(DATAGRAM_BYTES);
    config.set_max_idle_timeout(60_000);
    config.set_initial_max_data(1 << 20);
    config.set_initial_max_stream_data_bidi_remote(1 << 16);
    config.set_initial_max_stream_data_uni(1 << 16);
    config.set_initial_max_streams_bidi(256);
    config.set_initial_max_streams_uni(8);
    Ok(config)
}

fn receive(
    socket: &mio::net::UdpSocket,
    state: &UdpSocketState,
    arrivals: &mut [u8],
    mut take: impl FnMut(&mut [u8], SocketAddr),
) -> std::io::Result<()> {
    let mut metas = [RecvMeta::default(); READS];
    loop {
        let mut chunks = arrivals.chunks_mut(READ_BYTES);
        let mut buffers: [_; READS] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        let read = match state.recv(UdpSockRef::from(socket), &mut buffers, &mut metas) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        for (meta, buffer) in metas.iter().zip(&mut buffers).take(read) {
            buffer[..meta.len].chunks_mut(meta.stride).for_each(|it| take(it, meta.addr));
        }
    }
}

/// Hands a datagram to the connection of its address, which it may begin.
fn take_in(
    clients: &mut BTreeMap<SocketAddr, Box<Client>>,
    config: &mut quiche::Config,
    datagram: &mut [u8],
    local: SocketAddr,
    peer: SocketAddr,
) {
    let client = match clients.entry(peer) {
        Entry::Occupied(client) => client.into_mut(),
        Entry::Vacant(place) => {
            let Ok(header) = quiche::Header::from_slice(datagram, 16) else { return };
            if header.ty != quiche::Type::Initial {
                return;
            }
            let id = format!("{:>16}", peer.port());
            let id = quiche::ConnectionId::from_ref(id.as_bytes());
            let Ok(quic) = quiche::accept_with_buf_factory(&id, None, local, peer, config) else {
                return;
            };
            place.insert(Client::new(quic, peer).into())
        }
    };
    client.quic.recv(datagram, quiche::RecvInfo { from: peer, to: local }).ok();
}

impl Client {
    fn new(quic: Quic, peer: SocketAddr) -> Self {
        Self {
            quic,
            peer,
            has_settings: false,
            requests: HashMap::new(),
            responses: BTreeMap::new(),
            until: None,
            aside: Vec::new(),
        }
    }

    fn read(&mut self, files: &HashMap<Vec<u8>, Bytes>, in_turns: bool) {
        if self.quic.is_established() && !self.has_settings {
            // The control stream, with SETTINGS that say nothing (RFC 9114, 7.2.4).
            self.has_settings = self.quic.stream_send(3, &[0, 4, 0], false).is_ok();
        }
        let mut bytes = [0; 4096];
        for stream in self.quic.readable().collect::<Vec<_>>() {
            while let Ok((read, fin)) = self.quic.stream_recv(stream, &mut bytes) {
                if !stream.is_multiple_of(4) {
                    continue;
                }
                self.requests.entry(stream).or_default().extend_from_slice(&bytes[..read]);
                if fin && let Some(request) = self.requests.remove(&stream) {
                    self.respond(stream, &request, files, in_turns);
                }
            }
        }
    }

    fn respond(
        &mut self,
        stream: u64,
        request: &[u8],
        files: &HashMap<Vec<u8>, Bytes>,
        in_turns: bool,
    ) {
        let mut octets = octets::Octets::with_slice(request);
        let Ok((1, length)) = octets.get_varint().and_then(|it| Ok((it, octets.get_varint()?)))
        else {
            return;
        };
        let Ok(block) = octets.get_bytes(usize::try_from(length).unwrap_or(usize::MAX)) else {
            return;
        };
        let Ok(fields) = qpack::Decoder::new().decode(block.buf(), 65_536) else { return };
        let path = fields.iter().find(|it| it.name() == b":path").map(NameValue::value);
        let body = path.and_then(|it| files.get(it)).cloned().unwrap_or_default();
        self.quic.stream_priority(stream, 127, in_turns).ok();
        self.responses.insert(stream, [head(body.len()), body]);
    }

    /// Gives the transport what it takes of the responses.
    fn write(&mut self) {
        self.responses.retain(|stream, [head, body]| {
            for is_body in [false, true] {
                let part = if is_body { &mut *body } else { &mut *head };
                let room = self.quic.stream_capacity(*stream).unwrap_or(0).min(part.len());
                if room > 0 {
                    let (now, fin) = (part.split_to(room), is_body && part.is_empty());
                    self.quic.stream_send_zc(*stream, now, fin).ok();
                }
            }
            !body.is_empty()
        });
    }

    /// Sends all that may go, datagrams of one size in one call.
    #[expect(clippy::disallowed_methods, reason = "this is where the program reads the clock")]
    fn send(&mut self, socket: &mio::net::UdpSocket, state: &UdpSocketState, out: &mut [u8]) {
        loop {
            let now = Instant::now();
            let release = self.quic.get_next_release_time().and_then(|it| it.time(now));
            self.until = release.map(|it| it - now).filter(|it| *it > Duration::from_millis(1));
            if self.until.is_some() {
                return;
            }
            let mut used = self.aside.len();
            out[..used].copy_from_slice(&std::mem::take(&mut self.aside));
            let mut segment = used;
            while used + DATAGRAM_BYTES <= out.len() {
                let Ok((bytes, _)) = self.quic.send(&mut out[used..used + DATAGRAM_BYTES]) else {
                    break;
                };
                if segment > 0 && bytes > segment {
                    self.aside = out[used..used + bytes].to_vec();
                    break;
                }
                segment = segment.max(bytes);
                used += bytes;
                if bytes < segment {
                    break;
                }
            }
            if used == 0 {
                return;
            }
            let contents = &out[..used];
            let (destination, segment_size) = (self.peer, Some(segment));
            let transmit =
                Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
            state.try_send(UdpSockRef::from(socket), &transmit).ok();
        }
    }
}

/// A HEADERS frame with the status and the length, and the header of a DATA frame.
fn head(body_bytes: usize) -> Bytes {
    let length = body_bytes.to_string();
    let fields =
        [Header::new(b":status", b"200"), Header::new(b"content-length", length.as_bytes())];
    let mut block = [0; 63];
    let size = qpack::Encoder::new().encode(&fields, &mut block).unwrap_or(0);
    let mut head = vec![1, u8::try_from(size).unwrap_or(0)];
    head.extend_from_slice(&block[..size]);
    // A varint of four bytes (RFC 9000, 16).
    head.push(0);
    head.extend((0x8000_0000 | u32::try_from(body_bytes).unwrap_or(0)).to_be_bytes());
    head.into()
}
