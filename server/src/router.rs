//! The server's core: connection IDs lead datagrams to connections, and connections take turns to send.

mod batches;
mod closing;
mod draining;
mod reload;

use crate::admission::{Admission, Decision, ID_BYTES};
use crate::alarm::Alarm;
use crate::experiments::group::Groups;
use crate::migrations::{Connections, Migrations};
use crate::qlog_files::{QlogFile, QlogFolder};
use crate::read_ahead::Pages;
use crate::responder::{Responder, Shared};
use crate::site::RuledSite;
use crate::tls::transport_config;
use crate::unproven::Unproven;
use crate::{Event, Identity, Options, Refusal, TlsError};
use batches::Aside;
use connection::{Endpoint, Path, Transmit};
use quiche::ConnectionId;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// An HTTP/3 server without socket and clock; see [`Endpoint`] for how to call it.
pub struct Server {
    shared: Arc<Shared>,
    config: quiche::Config,
    local: SocketAddr,
    /// Boxed: a node of the map has room for eleven of them, half of which is empty.
    connections: BTreeMap<u64, Box<Entry>>,
    routes: HashMap<Vec<u8>, u64>,
    wakeups: BTreeSet<(Instant, u64)>,
    sendable: VecDeque<u64>,
    /// A datagram that was too long for the batch of its connection.
    aside: Option<Aside>,
    serial: u64,
    scratch: Vec<u8>,
    draining: Option<Instant>,
    admission: Admission,
    /// Responses that move between connections, if the operator allows it.
    migrations: Option<Migrations>,
    /// Where connections are logged, if the operator wants it.
    qlogs: Option<QlogFolder>,
    report: Box<dyn Fn(&str) + Send>,
}

struct Entry {
    responder: Responder,
    /// The connection IDs that lead here.
    ids: Vec<Vec<u8>>,
    /// Its log, until the client is known to be real.
    qlog: Option<QlogFile>,
    /// When the handshake is given up, while it is not complete.
    handshake_until: Option<Instant>,
    /// What may go to the client, while its address is unproven.
    unproven: Option<Unproven>,
    /// The address under which the client is counted.
    counted: Option<IpAddr>,
    wakeup: Option<Instant>,
    queued: bool,
}

/// RFC 9000, 20.1.
const CONNECTION_REFUSED: u64 = 0x2;

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
            qlogs: options.qlog_dir.as_deref().map(|it| QlogFolder::new(it, &options)),
            report: Box::new(|_| {}),
            admission: Admission::new(&options.limits, options.reset_key.clone()),
            shared: Arc::new(Shared {
                groups: Arc::new(Groups::new(options.experiments.group_connections)),
                site: site.into(),
                options,
                alarm: Alarm::default(),
                pages: Pages::default(),
            }),
            local,
            connections: BTreeMap::new(),
            routes: HashMap::new(),
            wakeups: BTreeSet::new(),
            sendable: VecDeque::new(),
            aside: None,
            serial: 0,
            scratch: vec![0; 65_536],
            draining: None,
        })
    }

    /// Has `wake` called, on any thread, whenever [`Server::on_arrivals`] must be called because something other than a
    /// datagram has come.
    pub fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        self.shared.alarm.wake_with(wake);
    }

    /// Has `report` told what the operator should know, a line each.
    pub fn report_with(&mut self, report: Box<dyn Fn(&str) + Send>) {
        self.report = report;
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
        datagram: &mut [u8],
        path: Path,
        now: Instant,
    ) -> Option<u64> {
        let most = self.shared.options.limits.connections;
        let is_full = self.connections.len() >= most || self.draining.is_some();
        match self.admission.decide(header, datagram, path, is_full, now) {
            Decision::Done => None,
            Decision::ProofAsked => {
                self.notice(&Event::ProofAsked);
                None
            }
            Decision::Refuse { is_told, of_network } => {
                self.notice(&Event::Refused(match of_network {
                    true => Refusal::Network,
                    false if self.draining.is_some() => Refusal::Draining,
                    false => Refusal::Full,
                }));
                if is_told {
                    self.refuse(header, datagram, path);
                }
                None
            }
            Decision::Connect(original) => self.connect(header, original, path, now),
        }
    }

    /// A new connection. `original` is the ID that a client made up for the server before a Retry packet.
    fn connect(
        &mut self,
        header: &quiche::Header<'_>,
        original: Option<Vec<u8>>,
        path: Path,
        now: Instant,
    ) -> Option<u64> {
        let unproven = original.is_none().then(Unproven::default);
        let (id, mut quic) = self.accept_quic(header, original, path)?;
        let qlog = self.qlogs.as_ref().map(|it| it.begin(&mut quic, &id));
        self.serial += 1;
        let responder = Responder::new(Arc::clone(&self.shared), self.serial, quic, path);
        let mut ids = vec![id, header.dcid.to_vec()];
        ids.dedup();
        self.routes.extend(ids.iter().map(|it| (it.clone(), self.serial)));
        let handshake_until = Some(now + self.shared.options.limits.handshake);
        let entry = Entry {
            responder,
            ids,
            qlog,
            handshake_until,
            unproven,
            counted: None,
            wakeup: None,
            queued: false,
        };
        self.admission.begun();
        self.notice(&Event::Accepted);
        self.connections.insert(self.serial, Box::new(entry));
        Some(self.serial)
    }

    /// The transport's side of a new connection, and its ID.
    fn accept_quic(
        &mut self,
        header: &quiche::Header<'_>,
        original: Option<Vec<u8>>,
        path: Path,
    ) -> Option<(Vec<u8>, quiche::Connection)> {
        // After a Retry packet the client uses the ID that it named. Otherwise it goes on with the one that it made up
        // until it has ours.
        let (new, _) = self.admission.new_id()?;
        let (id, odcid) = match original {
            Some(original) => (header.dcid.to_vec(), Some(ConnectionId::from_vec(original))),
            None => (new.to_vec(), None),
        };
        self.config.set_stateless_reset_token(self.admission.reset_token(&id));
        let scid = ConnectionId::from_ref(&id);
        let (local, peer) = (path.local, path.peer);
        let quic = quiche::accept(&scid, odcid.as_ref(), local, peer, &mut self.config).ok()?;
        Some((id, quic))
    }

    /// Tells a client at once that there is no room for it.
    fn refuse(&mut self, header: &quiche::Header<'_>, datagram: &mut [u8], path: Path) {
        let Some((_, mut quic)) = self.accept_quic(header, None, path) else { return };
        // It has the keys for the answer.
        quic.recv(datagram, path.into()).ok();
        quic.close(false, CONNECTION_REFUSED, b"").ok();
        self.admission.reply(path, |out| quic.send(out).map(|(bytes, _)| bytes));
    }

    fn notice(&self, event: &Event) {
        self.shared.options.observers.notice(event);
    }

    /// Notes that a connection's handshake has ended, well or not.
    fn handshake_over(&mut self, serial: u64) {
        if let Some(entry) = self.connections.get_mut(&serial)
            && entry.handshake_until.take().is_some()
        {
            self.admission.ended();
        }
    }

    /// A client has completed its handshake.
    fn entered(&mut self, serial: u64, client: IpAddr) {
        self.handshake_over(serial);
        if let Some(entry) = self.connections.get_mut(&serial)
            && entry.counted.is_none()
        {
            entry.counted = Some(client);
            entry.unproven = None;
            let qlog = entry.qlog.take().map_or(Ok(()), QlogFile::confirm);
            self.admission.entered(client);
            if let Err(refusal) = qlog {
                self.notice(&Event::NotLogged);
                if let Some(line) = refusal {
                    (self.report)(&line);
                }
            }
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
            let Some((id, token)) = self.admission.new_id() else { return };
            if quic.new_scid(&ConnectionId::from_ref(&id), token, false).is_err() {
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
        let wakeup = entry.responder.next_wakeup(now);
        if let Some(at) = [wakeup, entry.handshake_until].into_iter().flatten().min() {
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
        if let Some(client) = entry.counted {
            self.admission.left(client);
        }
        entry.responder.gone(now);
        self.notice(&closing::event(&entry.responder.sender.connection.quic));
        entry.responder.picker().silent();
        if let Some(next) = entry.responder.picker().turn() {
            self.enqueue(next);
        }
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
        unproven.received(datagram.len());
        let before = self.packets();
        self.responder.receive(datagram, path, now, scratch);
        // Only a client that has heard from us can encrypt such a packet (RFC 9000, 8.1).
        if packet == quiche::Type::Handshake && self.packets() > before {
            self.unproven = None;
        }
    }

    /// How many of the client's packets the transport has taken.
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
        let Ok(header) = quiche::Header::from_slice(datagram, ID_BYTES) else { return };
        let known = self.routes.get(header.dcid.as_ref()).copied();
        let Some(serial) = known.or_else(|| self.accept(&header, datagram, path, now)) else {
            return;
        };
        let is_new = known.is_none();
        let Some(entry) = self.connections.get_mut(&serial) else { return };
        entry.receive(header.ty, datagram, path, now, &mut self.scratch);
        let is_connected = entry.responder.sender.connection.is_connected();
        if is_new && entry.packets() == 0 {
            // It only looked like a first datagram. No timer runs for it, so it would stay.
            self.remove(serial, now);
            return;
        }
        if is_connected {
            self.entered(serial, path.peer.ip());
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
            if entry.handshake_until.is_some_and(|until| until <= now) {
                self.notice(&Event::HandshakeGivenUp);
                self.remove(serial, now);
                continue;
            }
            if entry.responder.sender.connection.quic.timeout_instant().is_some_and(|it| it <= now)
            {
                entry.responder.timer_fired();
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
            && let Some((path, bytes)) = self.admission.take_reply()
        {
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
