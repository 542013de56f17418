//! The server's core: connection IDs lead datagrams to connections, and connections take turns to send.

mod admitting;
mod batches;
mod closing;
mod companion;
mod draining;
mod refusal;
mod reload;

use crate::admission::Admission;
use crate::qlog_files::{QlogFile, QlogFolder};
use crate::read_ahead::Pages;
use crate::responder::{Responder, Shared};
use crate::shards::Shard;
use crate::site::Site;
use crate::tls::transport_config;
use crate::together::{ConnectionEvent, Connections, Together};
use crate::unproven::Unproven;
use crate::{Event, Identity, LoadBalancer, Options, TlsError};
use batches::DeferredDatagram;
pub use companion::{Common, Companion};
use connection::{Endpoint, Path, Transmit};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// An HTTP/3 server without socket and clock; see [`Endpoint`] for how to call it.
///
/// It has many fields and methods, because all parts of a server meet here: who is admitted, whose turn it is, how it ends. Each file of
/// the folder has one of these concerns.
pub struct Server {
    shared: Arc<Shared>,
    config: quiche::Config,
    local: SocketAddr,
    /// Boxed: a node of the map has room for eleven of them, and half of that is empty.
    connections: BTreeMap<u64, Box<Entry>>,
    routes: HashMap<Vec<u8>, u64>,
    wakeups: BTreeSet<(Instant, u64)>,
    sendable: VecDeque<u64>,
    /// A datagram that was too long for the batch of its connection.
    aside: Option<DeferredDatagram>,
    serial: u64,
    scratch: Vec<u8>,
    draining: Option<Instant>,
    shard: Shard,
    admission: Admission,
    /// Joins connections of one client, if the operator wants that.
    together: Option<Box<dyn Together>>,
    /// Where connections are logged, if the operator wants it.
    qlogs: Option<QlogFolder>,
    report: Box<dyn Fn(&str) + Send>,
    /// A server of the same site on another transport.
    beside: Option<Box<dyn Companion>>,
}

struct Entry {
    responder: Responder,
    /// The connection IDs that lead here.
    ids: Vec<Vec<u8>>,
    /// Its log, until the client is known to be real.
    qlog: Option<QlogFile>,
    /// When the handshake will be abandoned, while it is incomplete.
    handshake_until: Option<Instant>,
    /// The bytes that may be sent to the client while its address is unproven.
    unproven: Option<Unproven>,
    /// The address under which the client is counted.
    counted: Option<IpAddr>,
    wakeup: Option<Instant>,
    queued: bool,
}

impl Server {
    /// A server that answers at `local`.
    pub fn new(
        local: SocketAddr,
        identity: &Identity,
        site: impl Site + 'static,
        options: Options,
    ) -> Result<Self, TlsError> {
        let qlogs = QlogFolder::of_options(&options);
        Self::of_shard(local, identity, Arc::new(site), options, qlogs, Shard::alone())
    }

    /// Servers at these addresses, one for each of as many threads. The system distributes clients over those that share an address. The
    /// limits on connections and logs apply to all servers together, all others to each. `load_balancer`: what finds the server of a
    /// connection by its ID.
    ///
    /// Responses do not move between connections ([`Options::migration`]) at different shards.
    pub fn shards(
        locals: &[SocketAddr],
        load_balancer: Option<LoadBalancer>,
        identity: &Identity,
        site: impl Site + 'static,
        options: &Options,
    ) -> Result<Vec<Self>, TlsError> {
        let site: Arc<dyn Site> = Arc::new(site);
        let qlogs = QlogFolder::of_options(options);
        let shards = Shard::all(locals, load_balancer).ok_or(TlsError::Randomness)?;
        let server = |(shard, local): (Shard, &SocketAddr)| {
            Self::of_shard(*local, identity, site.clone(), options.clone(), qlogs.clone(), shard)
        };
        shards.into_iter().zip(locals).map(server).collect()
    }

    fn of_shard(
        local: SocketAddr,
        identity: &Identity,
        site: Arc<dyn Site>,
        options: Options,
        qlogs: Option<QlogFolder>,
        shard: Shard,
    ) -> Result<Self, TlsError> {
        let reset_key = options.reset_key.clone();
        #[cfg(feature = "experiments")]
        let (joint, together) = crate::experiments::wanted(&options).unzip();
        #[cfg(not(feature = "experiments"))]
        let (joint, together) = (None, None);
        Ok(Self {
            config: transport_config(identity, &options)?,
            together,
            qlogs,
            report: Box::new(|_| {}),
            admission: Admission::new(&options.limits, reset_key, shard.clone()),
            shared: Arc::new(Shared {
                joint,
                site,
                options,
                alarm: shard.alarm(),
                pages: Pages::default(),
                ledger: shard.ledger(),
            }),
            shard,
            local,
            connections: BTreeMap::new(),
            routes: HashMap::new(),
            wakeups: BTreeSet::new(),
            sendable: VecDeque::new(),
            aside: None,
            serial: 0,
            scratch: vec![0; 65_536],
            draining: None,
            beside: None,
        })
    }

    /// Registers `wake`, which is called, on any thread, whenever [`Server::on_arrivals`] must be called because something has arrived from
    /// elsewhere than the socket.
    pub fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        self.shared.alarm.wake_with(wake);
    }

    /// Registers `report`, which is given what the operator should know, line by line.
    pub fn report_with(&mut self, report: Box<dyn Fn(&str) + Send>) {
        self.report = report;
    }

    pub(crate) fn report(&self, line: &str) {
        (self.report)(line);
    }

    /// Accepts what other shards have handed over, and calls every connection for which something has arrived from elsewhere.
    pub fn on_arrivals(&mut self, now: Instant) {
        for (path, mut datagram) in self.shard.take() {
            if let Some((header, known)) = self.look_up(&mut datagram) {
                self.take_in(&header, known, &mut datagram, path, now);
            }
        }
        for serial in self.shared.alarm.take() {
            let Some(entry) = self.connections.get_mut(&serial) else { continue };
            entry.responder.relay(now, &mut self.scratch);
            self.take_turns(serial, ConnectionEvent::Brought, now);
        }
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

    fn notice(&self, event: &Event) {
        self.shared.options.observers.notice(event);
    }

    /// Something happened on a connection, so that it, and others that act with it, may have something to send.
    fn take_turns(&mut self, serial: u64, event: ConnectionEvent, now: Instant) {
        self.join(serial, event, now);
        self.enqueue(serial);
        self.pass_turn(serial);
    }

    /// Lets connections of one client act together, if this event requires it.
    fn join(&mut self, serial: u64, event: ConnectionEvent, now: Instant) {
        if let Some(together) = &mut self.together {
            for touched in together.update(serial, event, &mut self.connections, now) {
                self.enqueue(touched);
            }
        }
    }

    /// Passes the turn between connections that share an order: a datagram on one may have changed whose turn it is.
    fn pass_turn(&mut self, serial: u64) {
        let turn = self.together.as_ref().and_then(|it| it.turn(serial));
        if let Some(next) = turn.filter(|next| *next != serial) {
            self.enqueue(next);
        }
    }

    /// A datagram's header, and the connection that it is for.
    fn look_up(&self, datagram: &mut [u8]) -> Option<(quiche::Header<'static>, Option<u64>)> {
        let header = quiche::Header::from_slice(datagram, self.shard.id_bytes()).ok()?;
        let known = self.routes.get(header.dcid.as_ref()).copied();
        Some((header, known))
    }

    /// A datagram for this shard. It belongs to the connection `known`, or begins one.
    fn take_in(
        &mut self,
        header: &quiche::Header<'_>,
        known: Option<u64>,
        datagram: &mut [u8],
        path: Path,
        now: Instant,
    ) {
        let Some(serial) = known.or_else(|| self.accept(header, datagram, path, now)) else {
            return;
        };
        let is_new = known.is_none();
        let Some(entry) = self.connections.get_mut(&serial) else { return };
        entry.receive(header.ty, datagram, path, now, &mut self.scratch);
        let is_connected = entry.responder.sender.connection.is_connected();
        if is_new && entry.packets() == 0 {
            return self.turn_away(serial, header, path, now);
        }
        if is_connected {
            self.entered(serial, path.peer.ip());
        }
        self.update_routes(serial);
        self.take_turns(serial, ConnectionEvent::Came, now);
    }

    fn enqueue(&mut self, serial: u64) {
        if let Some(entry) = self.connections.get_mut(&serial)
            && !std::mem::replace(&mut entry.queued, true)
        {
            self.sendable.push_back(serial);
        }
    }

    /// A connection has nothing to send now: records when to call it again, or drops it.
    fn settle(&mut self, serial: u64, now: Instant) {
        let Some(entry) = self.connections.get_mut(&serial) else { return };
        if let Some(old) = entry.wakeup.take() {
            self.wakeups.remove(&(old, serial));
        }
        if entry.responder.sender.connection.quic.is_closed() {
            self.remove(serial, now);
            return;
        }
        let wakeup = entry.responder.next_wakeup(now);
        if let Some(at) = [wakeup, entry.handshake_until].into_iter().flatten().min() {
            entry.wakeup = Some(at);
            self.wakeups.insert((at, serial));
        }
    }

    fn remove(&mut self, serial: u64, now: Instant) {
        self.handshake_over(serial);
        self.join(serial, ConnectionEvent::Over, now);
        let Some(mut entry) = self.connections.remove(&serial) else { return };
        for id in &entry.ids {
            self.routes.remove(id);
        }
        self.admission.ended(entry.counted);
        entry.responder.gone(now);
        // Anyone can send first packets that lead to nothing.
        let ended = match entry.counted {
            Some(_) => closing::event(&entry.responder.sender.connection.quic),
            None => Event::NotEntered,
        };
        self.notice(&ended);
        if let Some(at) = entry.wakeup {
            self.wakeups.remove(&(at, serial));
        }
    }
}

impl Entry {
    fn receive(
        &mut self,
        packet: quiche::Type,
        datagram: &mut [u8],
        path: Path,
        now: Instant,
        scratch: &mut [u8],
    ) {
        let Some(unproven) = &mut self.unproven else {
            return self.responder.receive(datagram, path, now, scratch);
        };
        // Bytes from elsewhere earn no credit for the first address.
        if path == self.responder.addresses.home {
            unproven.received(datagram.len());
        }
        let before = self.packets();
        self.responder.receive(datagram, path, now, scratch);
        // Only a client that has received our packets can encrypt such a packet (RFC 9000, 8.1).
        if packet == quiche::Type::Handshake && self.packets() > before {
            self.unproven = None;
        }
    }

    /// How many of the client's packets the transport has accepted.
    fn packets(&self) -> usize {
        self.responder.sender.connection.quic.path_stats().map(|it| it.recv).sum()
    }
}

impl Connections for BTreeMap<u64, Box<Entry>> {
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
        let Some((header, known)) = self.look_up(datagram) else { return };
        if known.is_none() && self.shard.hand_over(&header.dcid, datagram, path) {
            return;
        }
        self.take_in(&header, known, datagram, path, now);
    }

    fn on_timeout(&mut self, now: Instant) {
        if let Some(together) = &mut self.together {
            for touched in together.on_timeout(&mut self.connections, now) {
                self.enqueue(touched);
            }
        }
        while let Some((at, serial)) = self.wakeups.first().copied().filter(|(at, _)| *at <= now) {
            self.wakeups.remove(&(at, serial));
            let Some(entry) = self.connections.get_mut(&serial) else { continue };
            entry.wakeup = None;
            if entry.handshake_until.is_some_and(|until| until <= now) {
                self.notice(&Event::HandshakeGivenUp);
                self.remove(serial, now);
                continue;
            }
            if entry.responder.on_timeout(now) {
                self.join(serial, ConnectionEvent::TimerFired, now);
            }
            self.enqueue(serial);
            self.pass_turn(serial);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        let next = self.sendable.front().copied();
        if self.aside.as_ref().is_some_and(|it| Some(it.serial) != next) {
            return self.take_aside(out);
        }
        if self.aside.is_none()
            && let Some((path, bytes)) = self.admission.replies.pop_front()
        {
            out[..bytes.len()].copy_from_slice(&bytes);
            return Some(Transmit::single(path, bytes.len()));
        }
        while let Some(serial) = self.sendable.pop_front() {
            let transmit = self.transmit_from(serial, now, out);
            self.join(serial, ConnectionEvent::Sent, now);
            self.pass_turn(serial);
            if transmit.is_some() {
                return transmit;
            }
        }
        None
    }

    fn next_timeout(&self) -> Option<Instant> {
        let wakeup = self.wakeups.first().map(|(at, _)| *at);
        let together = self.together.as_ref().and_then(|it| it.next_timeout());
        [wakeup, self.draining, together].into_iter().flatten().min()
    }
}
