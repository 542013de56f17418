//! The server's work for one connection: requests arrive, the site answers, and the send loop sends.

mod ahead;
mod charges;
mod datagrams;
mod deadlines;
#[cfg(feature = "experiments")]
mod moving;
mod relay;
mod requests;
mod signals;
mod visits;

use crate::account::{Account, Ledger, Share, Useless};
use crate::addresses::{Addresses, Verdict};
use crate::alarm::Alarm;
use crate::client::Client;
use crate::limits::{EVENTS, LOAD_NUISANCES};
use crate::order::Joint;
use crate::pushes::Pushes;
use crate::read_ahead::Pages;
use crate::send_loop::{Ending, SendLoop};
use crate::site::Site;
use crate::streams::{CONTROL_STREAM, OWN_STREAMS};
use crate::{Options, PageSignals};
use connection::{Connection, Path};
use deadlines::Deadlines;
use http3::{Code, Event, Extension, Role, Session, Settings, Signal, StreamId};
use schedulers::{Priority, Scheme};
use std::net::IpAddr;
use std::ops::BitOr;
use std::sync::Arc;
use std::time::Instant;
use visits::Visits;

/// The state that all connections of a server share.
pub(crate) struct Shared {
    pub(crate) site: Arc<dyn Site>,
    pub(crate) options: Options,
    pub(crate) alarm: Alarm,
    /// Admits connections of one client to one order, if the operator wants that.
    pub(crate) joint: Option<Arc<dyn Joint>>,
    pub(crate) pages: Pages,
    /// The accounts of clients, including those over TCP.
    pub(crate) ledger: Arc<Ledger>,
}

/// One connection of a client. It has many fields and methods, because everything that can happen on a connection meets here: an
/// event concerns the response, its account and its observers at once. Each file of the folder has the methods of one concern.
pub(crate) struct Responder {
    shared: Arc<Shared>,
    /// The connection, as the router numbers it.
    serial: u64,
    pub(crate) addresses: Addresses,
    pub(crate) sender: SendLoop,
    /// The scheme of pages that have none of their own; its name is announced to clients that accept it.
    scheme: Scheme,
    /// How the client's signals are used.
    signals: PageSignals,
    /// The document with which the scheme last changed: its response names the scheme.
    changed_with: Option<StreamId>,
    visits: Visits,
    pushes: Pushes,
    /// The body of a request was left unread, because there was no room.
    paused_upload: bool,
    /// Datagrams and new streams since the last search for finished streams.
    since_forgotten: usize,
    /// Requests from this stream ID on are no longer answered.
    refused_from: Option<StreamId>,
    /// Why the connection ends once no more requests are accepted.
    farewell: (Code, &'static str),
    account: Account,
    /// Nuisances that are not charged yet.
    nuisances: u64,
    /// Bytes of the client's control and QPACK streams that do not count as nuisances yet.
    control_bytes: u64,
    useless: Useless,
    /// For waiting data of streams with gaps.
    pieces: Option<Share>,
    deadlines: Deadlines,
    /// Gathers what concerns other connections of the client, if anything needs it.
    news: Option<Box<News>>,
}

/// Events on a connection that may concern others of its client.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) has_settings: bool,
    /// The payloads of frames that the session was asked to accept.
    pub(crate) frames: Vec<Vec<u8>>,
    pub(crate) signals: Vec<(StreamId, Priority)>,
}

impl Responder {
    pub(crate) fn new(
        shared: Arc<Shared>,
        serial: u64,
        quic: connection::Quic,
        path: Path,
    ) -> Self {
        let options = &shared.options;
        #[cfg_attr(
            not(feature = "experiments"),
            expect(unused_mut, reason = "an extension is offered")
        )]
        let mut session = Session::new(Role::Server, settings(options), http3_limits(options));
        #[cfg(feature = "experiments")]
        let news = moving::offer(&mut session, options);
        #[cfg(not(feature = "experiments"))]
        let news = None;
        Self {
            serial,
            addresses: Addresses::new(path, options.limits.addresses),
            sender: SendLoop::new(
                Connection::accepted(quic, session, path.local),
                options,
                shared.pages.of_connection(),
            ),
            scheme: options.scheme.clone(),
            signals: PageSignals::new(options.signals),
            changed_with: None,
            visits: Visits::default(),
            pushes: Pushes::default(),
            paused_upload: false,
            since_forgotten: 0,
            refused_from: None,
            farewell: (Code::NoError, "the server is going away"),
            account: Account::new(&shared.ledger, Client::at(Some(path.peer.ip()))),
            nuisances: 0,
            control_bytes: 0,
            useless: Useless::default(),
            pieces: None,
            deadlines: Deadlines::default(),
            news,
            shared,
        }
    }

    /// A datagram arrived. A fault in it costs the sender, not the server. First, it handles what the last datagrams left: a
    /// response is overdue if the client has not accepted it by now, whatever this datagram acknowledges.
    pub(crate) fn receive(
        &mut self,
        datagram: &mut [u8],
        path: Path,
        now: Instant,
        scratch: &mut [u8],
    ) {
        self.end_overdue(now);
        self.hand_in(datagram, path, now);
        if self.sender.connection.is_open() {
            self.act(now, scratch);
        }
        self.settle(now);
    }

    /// Passes the datagram to the transport. The address that it came from is examined first, so that the client's place is known
    /// before anything is answered.
    fn hand_in(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        self.useless.came(datagram.len());
        let (before, proven) = (self.addresses.current, self.addresses.proven());
        let connection = &mut self.sender.connection;
        if self.addresses.receive(connection, datagram, path, now) == Verdict::Lost {
            connection.close(Code::NoError, "the new address cannot be proven");
        }
        for _ in proven..self.addresses.proven() {
            self.useless.moved();
        }
        if self.addresses.current != before {
            // The network behind the new address may carry less (RFC 9000, 14.3).
            connection.quic.revalidate_pmtu();
        }
        connection.open();
        self.sender.home = self.addresses.home();
    }

    /// Reads the stream bytes and handles them, request by request. Nothing more is read from a client that stopped our own streams.
    /// A request that came too early for a backend is repeated only when everything that came with the end of the handshake is read, so
    /// that a reset in it counts.
    fn act(&mut self, now: Instant, scratch: &mut [u8]) {
        self.check_own_streams();
        self.take_in(now, scratch);
        if self.sender.connection.is_connected() {
            self.ask_again(now);
        }
    }

    /// Applies the accounts, which judge the datagram's consequences: first its nuisances, then how much of it was useless. Before
    /// that, finished streams are forgotten, because that finds responses that the client stopped, which are nuisances. After that,
    /// the send loop learns what the datagram has opened, because streams that the events and the accounts have ended need no room.
    /// Then everything that this datagram ended is known, and is reported.
    fn settle(&mut self, now: Instant) {
        self.forget_finished();
        self.charge_nuisances(now);
        self.charge_useless();
        self.charge_pieces();
        self.sender.received();
        self.tell(now);
    }

    /// Reads what the client's streams have, as far as there is room for it.
    fn take_in(&mut self, now: Instant, scratch: &mut [u8]) {
        self.paused_upload = false;
        let mut has_said = false;
        for stream in self.sender.connection.readable() {
            has_said |= self.sender.streams.get(stream).is_some_and(|it| it.is_tunnel);
            self.read_stream(stream, now, scratch);
            if self.sender.connection.session.events() > EVENTS {
                self.take_events(now);
            }
        }
        self.take_events(now);
        if has_said {
            self.useless.said();
        }
    }

    fn take_events(&mut self, now: Instant) {
        while let Some(event) = self.sender.connection.poll() {
            if !self.sender.connection.is_closing() {
                self.on_event(event, now);
            }
        }
    }

    fn read_stream(&mut self, stream: StreamId, now: Instant, scratch: &mut [u8]) {
        // Every request stream is recorded, also one that is reset before its request arrives.
        let is_new = stream.0.is_multiple_of(4) && self.sender.streams.note(stream);
        self.since_forgotten += usize::from(is_new);
        self.read_all(stream, scratch);
        if is_new && self.sender.connection.session.awaits_head(stream) {
            self.deadlines.heads.entry(stream).or_insert(now);
        }
    }

    fn read_all(&mut self, stream: StreamId, scratch: &mut [u8]) {
        while !self.sender.connection.is_closing() && !self.is_upload_full(stream) {
            match self.sender.connection.read(stream, scratch) {
                Ok(None) => return,
                Ok(Some(turn)) => {
                    self.useless.read(turn.bytes);
                    self.count_control_bytes(stream, turn.bytes);
                    if turn.is_last {
                        return;
                    }
                }
                Err(error) => return self.fail(stream, &error),
            }
        }
    }

    /// Our control and QPACK streams last as long as the connection, so the client may not stop them (RFC 9114, 6.2.1; RFC
    /// 9204, 4.2).
    fn check_own_streams(&mut self) {
        let connection = &mut self.sender.connection;
        let mut capacities = OWN_STREAMS.iter().map(|it| connection.quic.stream_capacity(it.0));
        if capacities.any(|it| matches!(it, Err(quiche::Error::StreamStopped(_)))) {
            let reason = "a control or QPACK stream was stopped";
            connection.close(Code::ClosedCriticalStream, reason);
        }
    }

    /// Ends the stream or the connection for an error of the client's.
    fn fail(&mut self, read_from: StreamId, error: &http3::Error) {
        self.nuisances += if error.kind() == Code::ExcessiveLoad { LOAD_NUISANCES } else { 1 };
        if let Some(stream) = self.sender.connection.fail(error, read_from) {
            self.sender.finish(stream, Ending::Shut);
        }
    }

    pub(crate) fn cut(&mut self) {
        self.sender.connection.close(Code::NoError, "server is going away");
    }

    /// The server ends: WebSockets end at once, everything else may finish.
    pub(crate) fn drain(&mut self) {
        for stream in self.sender.streams.tunnels() {
            self.sender.finish(stream, Ending::GivenUp(Code::RequestCancelled));
        }
        self.go_away();
    }

    /// Announces that no further request will be answered; the connection ends after those that arrived.
    pub(crate) fn go_away(&mut self) {
        let connection = &mut self.sender.connection;
        let first_refused = connection.next_request();
        self.refused_from = Some(first_refused);
        let frame = connection.session.goaway(first_refused.0);
        connection.send(CONTROL_STREAM, frame, false);
        self.sender.flush();
    }

    /// Closes a connection that accepts no more requests and whose responses have all arrived: the transport forgets a stream when
    /// everything on it is acknowledged. Returns `true` if there is something to send.
    fn close_if_done(&mut self) -> bool {
        let connection = &mut self.sender.connection;
        if self.refused_from.is_none() || connection.is_closing() || !self.sender.is_empty() {
            return false;
        }
        let connection = &mut self.sender.connection;
        let is_there = |stream: &StreamId| {
            let capacity = connection.quic.stream_capacity(stream.0);
            !matches!(capacity, Err(quiche::Error::InvalidStreamState(_)))
        };
        let streams = self.sender.streams.iter().map(|(stream, _)| stream);
        let left: Vec<StreamId> = streams.filter(is_there).collect();
        if left.is_empty() {
            let (code, cause) = self.farewell;
            connection.close(code, cause);
            return true;
        }
        left.into_iter().map(|it| self.stop_request(it)).fold(false, BitOr::bitor)
    }

    /// Stops a request whose rest is no longer wanted. Returns `true` if it was not stopped before.
    fn stop_request(&mut self, stream: StreamId) -> bool {
        let connection = &mut self.sender.connection;
        if connection.session.awaits_head(stream) {
            connection.session.give_up(stream);
            connection.shut(stream, Code::RequestRejected);
            return true;
        }
        // RFC 9114, 4.1.1: the response does not need the rest of the request.
        connection.stop(stream, Code::NoError)
    }

    fn on_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Headers { stream, headers, .. } => self.on_request(stream, &headers, now),
            Event::Settings(settings) => self.on_settings(&settings),
            Event::Priority(signal) => {
                self.nuisances += 1;
                self.obey(signal);
            }
            Event::PushPriority { push, urgency, incremental } => {
                self.nuisances += 1;
                if let Some(stream) = self.sender.streams.push_stream(push) {
                    let signal = Signal::Extensible { stream, urgency, incremental };
                    self.obey_about_push(stream, signal);
                }
            }
            Event::PushDepend(said) => {
                self.nuisances += 1;
                if let Some(signal) = said.signal(|push| self.sender.streams.push_stream(push)) {
                    match signal.stream() {
                        Some(stream) => self.obey_about_push(stream, signal),
                        None => self.obey(signal),
                    }
                }
            }
            Event::PushCancelled { push } => {
                self.nuisances += 1;
                if let Some(stream) = self.sender.streams.push_stream(push) {
                    self.sender.finish(stream, Ending::Reset(Code::RequestCancelled));
                }
            }
            Event::Frame { payload, .. } => {
                self.nuisances += 1;
                if let Some(news) = &mut self.news {
                    news.frames.push(payload);
                }
            }
            Event::Data { stream, ref bytes } => self.on_upload(stream, bytes),
            Event::Trailers { stream, ref headers } => self.upload_trailed(stream, headers),
            Event::Finished { stream } => self.upload_ended(stream),
            Event::Reset { stream, .. } => {
                // The client cancelled its request, so the response is useless. The code is ours, because a server may not claim to
                // have rejected a request on which it worked (RFC 9114, 4.1.1).
                self.nuisances += 1;
                self.sender.finish(stream, Ending::Reset(Code::RequestCancelled));
            }
            _ => {}
        }
    }

    /// The client's settings determine who orders the streams.
    fn on_settings(&mut self, settings: &Settings) {
        self.negotiate();
        // A client can want its connections to be ordered as one.
        if let (Some(number), Some(joint)) = (settings.connection_group, &self.shared.joint)
            && let Some(picker) = joint.join(self.serial, self.client(), number, &self.scheme)
        {
            self.sender.reorder(&self.scheme.name, picker);
        }
        if let Some(news) = &mut self.news {
            news.has_settings = true;
        }
        self.sender.order.settle();
        let connection = &mut self.sender.connection;
        if let Some((stream, frame)) = connection.session.announce_scheme(&self.scheme.name) {
            connection.send(stream, frame, false);
        }
        self.sender.flush();
    }

    fn client(&self) -> IpAddr {
        self.addresses.current.peer.ip()
    }

    /// Whether no response is in progress, so that one can move here.
    pub(crate) fn is_idle(&self) -> bool {
        let connection = &self.sender.connection;
        self.sender.is_empty() && connection.is_connected() && !connection.is_closing()
    }

    /// Forgets finished streams, as often as is possible at little cost per datagram.
    fn forget_finished(&mut self) {
        self.since_forgotten += 1;
        if self.since_forgotten <= self.sender.streams.len() {
            return;
        }
        self.since_forgotten = 0;
        let streams: Vec<StreamId> = self.sender.streams.iter().map(|(stream, _)| stream).collect();
        for stream in streams {
            if self.sender.is_over(stream) {
                self.sender.connection.session.forget(stream);
                self.sender.streams.forget(stream);
            }
        }
    }
}

/// A server that uses signals accepts them in every form; of the two revisions of the bucket byte, the one that its scheme uses. The
/// announcement of its scheme needs no signals.
pub(crate) fn settings(options: &Options) -> Settings {
    let other = match options.scheme.name.as_str() {
        "bucket7" => Extension::BucketJanuary2019,
        _ => Extension::BucketJune2019,
    };
    let uses_signals = options.signals.uses_signals();
    let takes = |extension: &Extension| {
        *extension == Extension::SchemeAnnouncement || (uses_signals && *extension != other)
    };
    let extensions = Extension::ALL.into_iter().filter(takes).collect();
    Settings {
        extensions,
        placeholders: schedulers::PLACEHOLDERS_MAX as u64,
        enable_connect_protocol: options.websockets,
        ..Settings::default()
    }
}

/// The stream limit is the transport's (RFC 9218, 7.2, checks signals against it).
fn http3_limits(options: &Options) -> http3::Limits {
    http3::Limits { concurrent_requests: options.limits.streams, ..options.limits.http3 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::{Element, PLACEHOLDERS_MAX, Scheduler, find_scheme};

    #[test]
    fn a_client_may_use_as_many_placeholders_as_a_tree_takes() {
        let scheme = find_scheme("tree").expect("a scheme");
        let allowed = settings(&Options::new(scheme.clone())).placeholders;
        assert_eq!(allowed, PLACEHOLDERS_MAX as u64);
        let mut scheduler = Scheduler::new(&scheme);
        for id in 0..100 {
            let (element, parent) = (Element::Placeholder(id), Element::Root);
            scheduler.signal(Signal::Depend { element, parent, weight: 16, exclusive: false });
        }
        let nodes = scheduler.tree().nodes;
        let taken = nodes.iter().filter(|it| matches!(it.element, Element::Placeholder(0..100)));
        assert_eq!(taken.count() as u64, allowed);
    }
}
