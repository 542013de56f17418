//! The server's core: connection IDs lead datagrams to connections, and connections take turns to send.

use crate::alarm::Alarm;
use crate::experiments::group::Groups;
use crate::limits::REPLIES;
use crate::migrations::{Connections, Migrations};
use crate::responder::{Responder, Shared};
use crate::retry::Retry;
use crate::site::RuledSite;
use crate::tls::transport_config;
use crate::{Identity, Options, TlsError};
use connection::{Endpoint, Path, Transmit};
use quiche::ConnectionId;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write;
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// An HTTP/3 server without socket and clock; see [`Endpoint`] for how to call it.
pub struct Server {
    shared: Arc<Shared>,
    config: quiche::Config,
    local: SocketAddr,
    connections: BTreeMap<u64, Entry>,
    routes: HashMap<Vec<u8>, u64>,
    wakeups: BTreeSet<(Instant, u64)>,
    sendable: VecDeque<u64>,
    replies: VecDeque<(Path, Vec<u8>)>,
    serial: u64,
    random: SystemRandom,
    scratch: Vec<u8>,
    draining: Option<Instant>,
    /// Connections whose handshake is not complete.
    handshakes: usize,
    /// Tokens of Retry packets, once there was need of one.
    retry: Option<Retry>,
    /// Responses that move between connections, if the operator allows it.
    migrations: Option<Migrations>,
}

struct Entry {
    responder: Responder,
    /// The connection IDs that lead here.
    ids: Vec<Vec<u8>>,
    is_handshaking: bool,
    wakeup: Option<Instant>,
    queued: bool,
}

const ID_BYTES: usize = 16;

/// The ID that a client makes up for the server has at least this many bytes.
const MIN_FIRST_ID_BYTES: usize = 8;

/// Datagrams in one [`Transmit`]: few enough that the last choice of the batch is not stale.
const BATCH: usize = 16;

impl Server {
    /// A server that answers at `local`.
    pub fn new(
        local: SocketAddr,
        identity: &Identity,
        site: impl Into<RuledSite>,
        options: Options,
    ) -> Result<Self, TlsError> {
        Ok(Self {
            config: transport_config(identity, &options)?,
            migrations: options.migration.map(Migrations::new),
            shared: Arc::new(Shared {
                groups: Groups::new(options.experiments.group_connections),
                site: site.into(),
                options,
                alarm: Alarm::default(),
            }),
            local,
            connections: BTreeMap::new(),
            routes: HashMap::new(),
            wakeups: BTreeSet::new(),
            sendable: VecDeque::new(),
            replies: VecDeque::new(),
            serial: 0,
            random: SystemRandom::new(),
            scratch: vec![0; 65_536],
            draining: None,
            handshakes: 0,
            retry: None,
        })
    }

    /// Has `wake` called, on any thread, whenever [`Server::on_arrivals`] must be called because something other than a
    /// datagram has come.
    pub fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        self.shared.alarm.wake_with(wake);
    }

    /// Calls every connection for which something has come from elsewhere.
    pub fn on_arrivals(&mut self, now: Instant) {
        for serial in self.shared.alarm.take() {
            let Some(entry) = self.connections.get_mut(&serial) else { continue };
            entry.responder.relay(now, &mut self.scratch);
            self.migrate(serial, now);
            self.enqueue(serial);
            self.pass_turn(serial);
        }
    }

    /// Stops accepting and lets responses under way finish, within the limit of [`crate::Limits::drain`].
    pub fn drain(&mut self, now: Instant) {
        if self.draining.is_none() {
            self.draining = Some(now + self.shared.options.limits.drain);
            self.connections.values_mut().for_each(|it| it.responder.go_away());
            let serials: Vec<u64> = self.connections.keys().copied().collect();
            for serial in serials {
                self.enqueue(serial);
            }
        }
    }

    /// Whether a draining server has nothing left to do.
    pub fn is_drained(&self, now: Instant) -> bool {
        let ended = || {
            self.sendable.is_empty()
                && self.connections.values().all(|it| it.responder.sender.connection.is_over())
        };
        self.draining.is_some_and(|deadline| now >= deadline || ended())
    }

    /// Closes the connections that are left, tells the clients, and returns how many there were.
    pub fn cut(&mut self) -> usize {
        let is_left = |it: &&mut Entry| !it.responder.sender.connection.is_over();
        let mut left = Vec::new();
        for (serial, entry) in self.connections.iter_mut().filter(|(_, it)| is_left(it)) {
            entry.responder.cut();
            left.push(*serial);
        }
        for serial in &left {
            self.enqueue(*serial);
        }
        left.len()
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Responses that are under way.
    pub fn responses(&self) -> usize {
        self.connections.values().map(|it| it.responder.sender.streams.responses()).sum()
    }

    /// Connection IDs that lead to them.
    pub fn routes(&self) -> usize {
        self.routes.len()
    }

    /// The connection that a datagram to an unknown ID begins, if it is a client's first one and there is room.
    fn accept(
        &mut self,
        header: &quiche::Header<'_>,
        datagram_bytes: usize,
        path: Path,
        now: Instant,
    ) -> Option<u64> {
        // RFC 9000, 14.1 and 6.1: smaller ones are not a client's first, and an answer would amplify.
        if datagram_bytes < quiche::MIN_CLIENT_INITIAL_LEN {
            return None;
        }
        if !quiche::version_is_supported(header.version) {
            self.negotiate(header, path);
            return None;
        }
        let full = self.connections.len() >= self.shared.options.limits.connections;
        let short_id = header.dcid.len() < MIN_FIRST_ID_BYTES;
        let initial = header.ty == quiche::Type::Initial;
        if !initial || short_id || full || self.draining.is_some() {
            return None;
        }
        let original = self.opened_token(header, path.peer, now);
        if original.is_none() && self.handshakes >= self.shared.options.limits.handshakes {
            self.ask_for_proof(header, path, now);
            return None;
        }
        self.connect(header, original, path)
    }

    /// A new connection. `original` is the ID that a client made up for the server before a Retry packet.
    fn connect(
        &mut self,
        header: &quiche::Header<'_>,
        original: Option<Vec<u8>>,
        path: Path,
    ) -> Option<u64> {
        // After a Retry packet the client uses the ID that it named. Otherwise it goes on with the one that it made up
        // until it has ours.
        let (id, odcid) = match original {
            Some(original) => (header.dcid.to_vec(), Some(ConnectionId::from_vec(original))),
            None => (self.new_id()?.to_vec(), None),
        };
        let scid = ConnectionId::from_ref(&id);
        let odcid = odcid.as_ref();
        let mut quic =
            quiche::accept(&scid, odcid, path.local, path.peer, &mut self.config).ok()?;
        self.start_qlog(&mut quic, &id);
        self.serial += 1;
        let responder = Responder::new(Arc::clone(&self.shared), self.serial, quic, path);
        let mut ids = vec![id, header.dcid.to_vec()];
        ids.dedup();
        self.routes.extend(ids.iter().map(|it| (it.clone(), self.serial)));
        let entry = Entry { responder, ids, is_handshaking: true, wakeup: None, queued: false };
        self.handshakes += 1;
        self.connections.insert(self.serial, entry);
        Some(self.serial)
    }

    fn reply(&mut self, path: Path, write: impl FnOnce(&mut [u8]) -> quiche::Result<usize>) {
        let mut reply = vec![0; quiche::MIN_CLIENT_INITIAL_LEN];
        if self.replies.len() < REPLIES
            && let Ok(bytes) = write(&mut reply)
        {
            reply.truncate(bytes);
            self.replies.push_back((path, reply));
        }
    }

    fn negotiate(&mut self, header: &quiche::Header<'_>, path: Path) {
        use quiche::Type::{Handshake, Initial, ZeroRTT};
        if matches!(header.ty, Initial | ZeroRTT | Handshake) {
            self.reply(path, |it| quiche::negotiate_version(&header.scid, &header.dcid, it));
        }
    }

    /// Sends a Retry packet: the client proves that it receives at its address by coming back with the token.
    fn ask_for_proof(&mut self, header: &quiche::Header<'_>, path: Path, now: Instant) {
        let Some(id) = self.new_id() else { return };
        if self.retry.is_none() {
            self.retry = Retry::new(&self.random, now);
        }
        let retry = self.retry.as_mut();
        let Some(token) = retry.and_then(|it| it.seal(path.peer, &header.dcid, &id, now)) else {
            return;
        };
        let id = ConnectionId::from_ref(&id);
        let (scid, dcid, version) = (&header.scid, &header.dcid, header.version);
        self.reply(path, |it| quiche::retry(scid, dcid, &id, &token, version, it));
    }

    /// The ID that a client made up at first, if it comes back with a good token.
    fn opened_token(
        &self,
        header: &quiche::Header<'_>,
        from: SocketAddr,
        now: Instant,
    ) -> Option<Vec<u8>> {
        self.retry.as_ref()?.open(header.token.as_ref()?, from, &header.dcid, now)
    }

    fn handshake_over(&mut self, serial: u64) {
        if let Some(entry) = self.connections.get_mut(&serial)
            && std::mem::take(&mut entry.is_handshaking)
        {
            self.handshakes -= 1;
        }
    }

    fn new_id(&self) -> Option<[u8; ID_BYTES]> {
        let mut id = [0; ID_BYTES];
        self.random.fill(&mut id).ok()?;
        Some(id)
    }

    fn start_qlog(&self, quic: &mut quiche::Connection, id: &[u8]) {
        let Some(folder) = &self.shared.options.qlog_dir else { return };
        let mut name = String::new();
        for byte in id {
            // Writing to a String does not fail.
            write!(name, "{byte:02x}").ok();
        }
        // A log that cannot be written must not stop the connection.
        if let Ok(file) = File::create(folder.join(format!("{name}_server.sqlog"))) {
            let title = format!("utmost server, scheme {}", self.shared.options.scheme.name);
            quic.set_qlog(Box::new(BufWriter::new(file)), title, name);
        }
    }

    /// Gives the client as many IDs as it takes, and forgets those that it retired.
    fn update_routes(&mut self, serial: u64) {
        let Some(entry) = self.connections.get_mut(&serial) else { return };
        let quic = &mut entry.responder.sender.connection.quic;
        while let Some(retired) = quic.retired_scid_next() {
            self.routes.remove(retired.as_ref());
            entry.ids.retain(|it| it != retired.as_ref());
        }
        while quic.is_established() && quic.scids_left() > 0 {
            let (mut id, mut token) = ([0; ID_BYTES], [0; 16]);
            if self.random.fill(&mut id).is_err() || self.random.fill(&mut token).is_err() {
                return;
            }
            if quic
                .new_scid(&ConnectionId::from_ref(&id), u128::from_be_bytes(token), false)
                .is_err()
            {
                return;
            }
            self.routes.insert(id.to_vec(), serial);
            entry.ids.push(id.to_vec());
        }
    }

    /// Passes the turn between connections that share an order: a datagram of one may have changed whose turn it is.
    fn pass_turn(&mut self, serial: u64) {
        let turn = self.connections.get_mut(&serial).and_then(|it| it.responder.picker().turn());
        if let Some(next) = turn.filter(|next| *next != serial) {
            self.enqueue(next);
        }
    }

    /// Lets responses move, as far as this connection gives reason for it.
    fn migrate(&mut self, serial: u64, now: Instant) {
        if let Some(migrations) = &mut self.migrations {
            migrations.update(serial, &mut self.connections, now);
            self.enqueue_touched();
        }
    }

    fn enqueue_touched(&mut self) {
        let touched = self.migrations.as_mut().map(|it| std::mem::take(&mut it.touched));
        for serial in touched.into_iter().flatten() {
            self.enqueue(serial);
        }
    }

    fn enqueue(&mut self, serial: u64) {
        if let Some(entry) = self.connections.get_mut(&serial)
            && !std::mem::replace(&mut entry.queued, true)
        {
            self.sendable.push_back(serial);
        }
    }

    /// A batch of one connection: datagrams of equal size, the last perhaps shorter.
    fn transmit_from(&mut self, serial: u64, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        let entry = self.connections.get_mut(&serial)?;
        entry.queued = false;
        let mut batch: Option<Transmit> = None;
        let largest = self.shared.options.udp_payload_bytes.max(quiche::MIN_CLIENT_INITIAL_LEN);
        for _ in 0..BATCH {
            let start = batch.map_or(0, |it| it.bytes);
            let Some(space) = out.get_mut(start..start + largest) else { break };
            let Some((bytes, path)) = entry.responder.datagram(now, space) else {
                self.settle(serial, now);
                return batch;
            };
            let Some(sofar) = &mut batch else {
                batch = Some(Transmit { path, bytes, segment_bytes: bytes });
                continue;
            };
            if path != sofar.path || bytes > sofar.segment_bytes {
                self.replies.push_front((path, space[..bytes].to_vec()));
                break;
            }
            sofar.bytes += bytes;
            if bytes < sofar.segment_bytes {
                break;
            }
        }
        self.enqueue(serial);
        batch
    }

    /// A connection has nothing to send now: notes when to call it again, or drops it.
    fn settle(&mut self, serial: u64, now: Instant) {
        let Some(entry) = self.connections.get_mut(&serial) else { return };
        if let Some(old) = entry.wakeup.take() {
            self.wakeups.remove(&(old, serial));
        }
        if entry.responder.sender.connection.quic.is_closed() {
            self.remove(serial, now);
            return;
        }
        if let Some(at) = entry.responder.next_wakeup(now) {
            entry.wakeup = Some(at);
            self.wakeups.insert((at, serial));
        }
    }

    fn remove(&mut self, serial: u64, now: Instant) {
        self.handshake_over(serial);
        if let Some(migrations) = &mut self.migrations {
            migrations.leave(serial, &mut self.connections, now);
            self.enqueue_touched();
        }
        let Some(mut entry) = self.connections.remove(&serial) else { return };
        for id in &entry.ids {
            self.routes.remove(id);
        }
        entry.responder.picker().silent();
        if let Some(next) = entry.responder.picker().turn() {
            self.enqueue(next);
        }
        if let Some(at) = entry.wakeup {
            self.wakeups.remove(&(at, serial));
        }
    }
}

impl Connections for BTreeMap<u64, Entry> {
    fn responder(&mut self, serial: u64) -> Option<&mut Responder> {
        self.get_mut(&serial).map(|it| &mut it.responder)
    }

    fn is_idle(&self, serial: u64) -> bool {
        self.get(&serial).is_some_and(|it| it.responder.is_idle())
    }
}

impl Endpoint for Server {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        // Nobody can be answered at port 0 (RFC 768: it means that there is none).
        if path.peer.port() == 0 {
            return;
        }
        let Ok(header) = quiche::Header::from_slice(datagram, ID_BYTES) else { return };
        let known = self.routes.get(header.dcid.as_ref()).copied();
        let Some(serial) = known.or_else(|| self.accept(&header, datagram.len(), path, now)) else {
            return;
        };
        let is_new = known.is_none();
        let Some(entry) = self.connections.get_mut(&serial) else { return };
        entry.responder.receive(datagram, path, now, &mut self.scratch);
        let is_connected = entry.responder.sender.connection.is_connected();
        if is_new && entry.responder.sender.connection.quic.path_stats().all(|it| it.recv == 0) {
            // It only looked like a first datagram. No timer runs for it, so it would stay.
            self.remove(serial, now);
            return;
        }
        if is_connected {
            self.handshake_over(serial);
        }
        self.update_routes(serial);
        self.migrate(serial, now);
        self.enqueue(serial);
        self.pass_turn(serial);
    }

    fn on_timeout(&mut self, now: Instant) {
        if let Some(migrations) = &mut self.migrations {
            migrations.on_timeout(&mut self.connections, now);
            self.enqueue_touched();
        }
        while let Some((at, serial)) = self.wakeups.first().copied().filter(|(at, _)| *at <= now) {
            self.wakeups.remove(&(at, serial));
            let Some(entry) = self.connections.get_mut(&serial) else { continue };
            entry.wakeup = None;
            if entry.responder.sender.connection.quic.timeout_instant().is_some_and(|it| it <= now)
            {
                entry.responder.timer_fired();
            }
            self.enqueue(serial);
            self.pass_turn(serial);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        if let Some((path, bytes)) = self.replies.pop_front() {
            out[..bytes.len()].copy_from_slice(&bytes);
            return Some(Transmit::single(path, bytes.len()));
        }
        while let Some(serial) = self.sendable.pop_front() {
            let transmit = self.transmit_from(serial, now, out);
            let entry = self.connections.get_mut(&serial);
            if entry.is_some_and(|it| it.responder.sender.take_paused()) {
                self.migrate(serial, now);
            }
            self.pass_turn(serial);
            if transmit.is_some() {
                return transmit;
            }
        }
        None
    }

    fn next_timeout(&self) -> Option<Instant> {
        let wakeup = self.wakeups.first().map(|(at, _)| *at);
        let migration = self.migrations.as_ref().and_then(Migrations::next_timeout);
        [wakeup, self.draining, migration].into_iter().flatten().min()
    }
}
