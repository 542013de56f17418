//! One connection: quiche below, HTTP/3 in the middle, the site above, and the send loop beside them.

mod ahead;
mod relay;
mod requests;
mod signals;

use crate::experiments::group::Member;
use crate::limits::{Budget, CONTROL_BYTES};
use crate::order::Order;
use crate::pushes::Pushes;
use crate::qlog_events;
use crate::send_loop::{Datagram, SendLoop};
use crate::site::RuledSite;
use crate::{Options, SignalUse};
use http3::{Event, Extension, Role, Session, Settings, Signal, StreamId};
use relay::Awaited;
use schedulers::{Priority, Scheme};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// One connection of the server.
pub(crate) struct Responder {
    quic: quiche::Connection,
    session: Session,
    opened: bool,
    order_settled: bool,
    /// Bytes for our own unidirectional streams that the transport had no room for.
    control: Vec<(StreamId, Vec<u8>)>,
    sender: SendLoop,
    site: Arc<RuledSite>,
    signals: SignalUse,
    alt_svc_port: Option<u16>,
    /// The scheme of pages that have none of their own; its name is announced to clients that take it.
    scheme: Scheme,
    /// The scheme for clients that negotiate.
    negotiated: Option<Scheme>,
    /// Request streams of which something is kept, here, in the session or in the send loop.
    requests: BTreeSet<StreamId>,
    /// Directives for responses under way.
    directives: BTreeMap<StreamId, Priority>,
    pushes: Pushes,
    /// Responses that come from elsewhere.
    awaited: BTreeMap<StreamId, Awaited>,
    /// The body of a request was left unread, for there was no room.
    paused_upload: bool,
    /// Rings for this connection when something comes from elsewhere.
    bell: Arc<dyn Fn() + Send + Sync>,
    /// Datagrams and requests since those that are over were looked for.
    since_forgotten: usize,
    /// The first stream ID above every request.
    next_request: u64,
    /// Requests from this stream ID on are not answered any more.
    refused_from: Option<u64>,
    budget: Budget,
    nuisances: u64,
    /// Bytes of the client's control and QPACK streams that are not counted as nuisances yet.
    control_bytes: u64,
}

/// HTTP/3's "no error".
const NO_ERROR: u64 = http3::Code::NoError as u64;

impl Responder {
    pub(crate) fn new(
        mut quic: quiche::Connection,
        (site, bell): (Arc<RuledSite>, Arc<dyn Fn() + Send + Sync>),
        options: &Options,
    ) -> Self {
        qlog_events::scheme(&mut quic, &options.scheme.name, false);
        Self {
            quic,
            session: Session::new(Role::Server, settings(options), http3_limits(options)),
            opened: false,
            order_settled: false,
            control: Vec::new(),
            sender: SendLoop::new(options),
            site,
            signals: options.signals,
            alt_svc_port: options.alt_svc_port,
            scheme: options.scheme.clone(),
            negotiated: options.negotiated.clone(),
            requests: BTreeSet::new(),
            directives: BTreeMap::new(),
            pushes: Pushes::default(),
            awaited: BTreeMap::new(),
            paused_upload: false,
            bell,
            since_forgotten: 0,
            next_request: 0,
            refused_from: None,
            budget: Budget::new(&options.limits),
            nuisances: 0,
            control_bytes: 0,
        }
    }

    /// The transport, for the router: connection IDs, timers, the end.
    pub(crate) fn quic(&mut self) -> &mut quiche::Connection {
        &mut self.quic
    }

    /// A datagram came. What is wrong with it costs the sender, not the server.
    pub(crate) fn receive(
        &mut self,
        datagram: &mut [u8],
        info: quiche::RecvInfo,
        now: Instant,
        scratch: &mut [u8],
    ) {
        // quiche closes the connection itself where an error asks for it.
        self.quic.recv(datagram, info).ok();
        if self.quic.is_established() || self.quic.is_in_early_data() {
            self.open_streams();
            self.take_in(now, scratch);
            if self.quic.is_established() {
                self.ask_again(now);
            }
            self.forget_finished();
            self.spend_budget(now);
        }
        self.sender.received(&mut self.quic);
        if self.is_closing() {
            self.rest();
        }
    }

    /// Reads what the client's streams have, as far as there is room for it.
    fn take_in(&mut self, now: Instant, scratch: &mut [u8]) {
        self.paused_upload = false;
        self.read_streams(scratch);
        while let Some(event) = self.session.poll() {
            if !self.is_closing() {
                self.on_event(event, now);
            }
        }
    }

    /// In a group: others go first from now on.
    pub(crate) fn rest(&self) {
        self.sender.rest();
    }

    /// The group of connections that the client wants this one to be in, and what orders them; once, when its
    /// settings have come. [`Self::settle_order`] is to follow.
    pub(crate) fn wanted_group(&self) -> Option<(u64, &Scheme)> {
        let group = self.session.peer_settings()?.connection_group?;
        Some((group, &self.scheme)).filter(|_| !self.order_settled)
    }

    /// The client's settings have come, and with them all that decides who orders the streams: the member of a
    /// group, or who did it so far.
    pub(crate) fn settle_order(&mut self, member: Option<Member>) {
        if self.session.peer_settings().is_none()
            || std::mem::replace(&mut self.order_settled, true)
        {
            return;
        }
        if let Some(member) = member {
            self.sender.reorder(&mut self.quic, &self.scheme, Order::Shared(member));
        }
        self.sender.settle_order();
    }

    /// In a group: the connection whose turn it is, as the router numbers it.
    pub(crate) fn turn(&self) -> Option<u64> {
        self.sender.turn()
    }

    /// A timer of the transport has fired.
    pub(crate) fn timer_fired(&mut self) {
        self.quic.on_timeout();
        self.sender.timer_fired(&mut self.quic);
    }

    /// The next datagram, if one may go now.
    pub(crate) fn datagram(&mut self, now: Instant, out: &mut [u8]) -> Option<Datagram> {
        self.write_control();
        if !self.awaited.is_empty() {
            self.refill(now);
        }
        let datagram = self.next_datagram(now, out);
        if datagram.is_none() && self.close_if_done() {
            return self.next_datagram(now, out);
        }
        datagram
    }

    fn next_datagram(&mut self, now: Instant, out: &mut [u8]) -> Option<Datagram> {
        match self.sender.datagram(&mut self.quic, now, out) {
            Ok(datagram) => datagram,
            Err(error) => {
                close(&mut self.quic, http3::Code::Internal as u64, &error.to_string());
                None
            }
        }
    }

    /// When the connection wants to be called again.
    pub(crate) fn next_wakeup(&self, now: Instant) -> Option<Instant> {
        [self.quic.timeout_instant(), self.sender.next_wakeup(now)].into_iter().flatten().min()
    }

    /// Ends the connection with responses under way.
    pub(crate) fn cut(&mut self) {
        self.quic.close(true, NO_ERROR, b"server is going away").ok();
    }

    /// Announces that no further request will be answered; the connection ends after those that came.
    pub(crate) fn go_away(&mut self) {
        self.refused_from = Some(self.next_request);
        if self.opened {
            self.announce_refusal();
            self.write_control();
        }
    }

    /// Whether nothing more comes from this connection but what the transport has to say at its end.
    pub(crate) fn is_over(&self) -> bool {
        self.quic.is_closed() || self.quic.is_draining()
    }

    fn is_closing(&self) -> bool {
        self.quic.local_error().is_some() || self.is_over()
    }

    fn announce_refusal(&mut self) {
        if let Some(id) = self.refused_from {
            let frame = self.session.goaway(id);
            self.control.push((StreamId(3), frame));
        }
    }

    /// Closes a connection that takes no more requests and whose responses have all arrived: the
    /// transport forgets a stream when everything of it is acknowledged.
    fn close_if_done(&mut self) -> bool {
        let done = self.refused_from.is_some() && !self.is_closing() && self.sender.is_empty();
        let quic = &mut self.quic;
        let gone = |it: &StreamId| {
            matches!(quic.stream_capacity(it.0), Err(quiche::Error::InvalidStreamState(_)))
        };
        if !done || !self.requests.iter().all(gone) {
            return false;
        }
        close(&mut self.quic, NO_ERROR, "the server is going away");
        true
    }

    fn open_streams(&mut self) {
        if !std::mem::replace(&mut self.opened, true) {
            self.control = self.session.opening();
            self.announce_refusal();
            self.write_control();
        }
    }

    fn write_control(&mut self) {
        while let Some((stream, bytes)) = self.control.first_mut() {
            let Ok(taken) = self.quic.stream_send(stream.0, bytes, false) else { return };
            bytes.drain(..taken);
            self.sender.control_written();
            if !bytes.is_empty() {
                return;
            }
            self.control.remove(0);
        }
    }

    fn read_streams(&mut self, scratch: &mut [u8]) {
        for stream in self.quic.readable().map(StreamId) {
            self.note_request(stream);
            while !self.is_closing() && !self.is_upload_full(stream) {
                let read = match self.quic.stream_recv(stream.0, scratch) {
                    Ok((bytes, fin)) => {
                        self.count_control_bytes(stream, bytes);
                        self.session.receive(stream, &scratch[..bytes], fin).map(|()| fin)
                    }
                    Err(quiche::Error::StreamReset(code)) => {
                        self.session.stream_reset(stream, code).map(|()| true)
                    }
                    Err(_) => break,
                };
                match read {
                    Ok(false) => {}
                    Ok(true) => break,
                    Err(error) => {
                        self.fail(stream, &error);
                        break;
                    }
                }
            }
        }
    }

    /// Every request stream is noted, also one that is reset before its request is there.
    fn note_request(&mut self, stream: StreamId) {
        if stream.0.is_multiple_of(4) {
            self.next_request = self.next_request.max(stream.0 + 4);
            self.since_forgotten += usize::from(self.requests.insert(stream));
        }
    }

    fn count_control_bytes(&mut self, stream: StreamId, bytes: usize) {
        if !stream.0.is_multiple_of(4) {
            self.control_bytes += bytes as u64;
            self.nuisances += self.control_bytes / CONTROL_BYTES;
            self.control_bytes %= CONTROL_BYTES;
        }
    }

    fn spend_budget(&mut self, now: Instant) {
        let nuisances = std::mem::take(&mut self.nuisances) + self.sender.take_unwanted();
        if !self.budget.spend(nuisances, now) && !self.is_closing() {
            let reason = "too many resets, errors or control frames";
            close(&mut self.quic, http3::Code::ExcessiveLoad as u64, reason);
        }
    }

    /// An error of the peer's: ends the stream or the connection, as RFC 9114 section 8 says.
    fn fail(&mut self, read_from: StreamId, error: &http3::Error) {
        self.nuisances += 1;
        let Some(stream) = error.stream() else {
            let reason = format!("{error} on stream {}", read_from.0);
            close(&mut self.quic, error.code(), &reason);
            return;
        };
        self.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, error.code()).ok();
        self.quic.stream_shutdown(stream.0, quiche::Shutdown::Write, error.code()).ok();
        self.drop_response(stream);
    }

    /// Nobody wants the rest of a response, also if it is still on its way to us.
    fn drop_response(&mut self, stream: StreamId) {
        self.awaited.remove(&stream);
        self.sender.drop_response(&mut self.quic, stream);
    }

    fn on_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Headers { stream, headers, .. } => self.on_request(stream, &headers, now),
            Event::Settings(_) => {
                self.negotiate();
                self.control.extend(self.session.announce_scheme(&self.scheme.name));
                self.write_control();
            }
            Event::PriorityUpdate { control, prioritized, field } => {
                let log = self.quic.qlog_streamer();
                http3::log::priority_update_parsed(log, control, prioritized, &field);
            }
            Event::Priority(signal) => {
                self.nuisances += 1;
                self.obey(signal);
            }
            Event::PushPriority { push, urgency, incremental } => {
                self.nuisances += 1;
                if let Some(stream) = self.pushes.stream(push) {
                    self.obey(Signal::Extensible { stream, urgency, incremental });
                }
            }
            Event::PushCancelled { push } => {
                self.nuisances += 1;
                if let Some(stream) = self.pushes.stream(push) {
                    let code = http3::Code::RequestCancelled as u64;
                    self.quic.stream_shutdown(stream.0, quiche::Shutdown::Write, code).ok();
                    self.drop_response(stream);
                }
            }
            Event::Data { stream, ref bytes } if self.upload(stream, bytes) => {}
            Event::Finished { stream } => self.upload_ended(stream),
            // The rest of an upload is of no use when its response has gone (RFC 9114, 4.1).
            Event::Data { stream, .. } if !self.sender.contains(stream) => {
                self.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, NO_ERROR).ok();
            }
            Event::Reset { stream, code } => {
                // The client took its request back: the response is of no use.
                self.nuisances += 1;
                self.quic.stream_shutdown(stream.0, quiche::Shutdown::Write, code).ok();
                self.drop_response(stream);
            }
            _ => {}
        }
    }

    /// Forgets requests that are over, and responses that the client does not want any more and that the
    /// scheduler has not come to since: quiche gives their streams back to the client only when asked
    /// about them. As often as the search through all of them costs little for each datagram.
    fn forget_finished(&mut self) {
        self.since_forgotten += 1;
        if self.since_forgotten <= self.requests.len() {
            return;
        }
        self.since_forgotten = 0;
        let Self { quic, session, sender, requests, directives, pushes, awaited, .. } = self;
        requests.retain(|stream| {
            let unwanted = quic.stream_capacity(stream.0).is_err();
            if unwanted && sender.contains(*stream) {
                sender.drop_response(quic, *stream);
            }
            let over = !sender.contains(*stream) && quic.stream_closed(stream.0);
            if over {
                pushes.forget(*stream);
                session.forget(*stream);
                sender.forget(*stream);
                directives.remove(stream);
                awaited.remove(stream);
            }
            !over
        });
    }
}

/// A server that uses signals takes them in every form; of the two revisions of the bucket byte, in the one
/// that its scheme speaks. The announcement of its scheme needs no signals.
pub(crate) fn settings(options: &Options) -> Settings {
    let other = match options.scheme.name.as_str() {
        "bucket7" => Extension::BucketJanuary2019,
        _ => Extension::BucketJune2019,
    };
    let takes = |it: &Extension| {
        *it == Extension::SchemeAnnouncement || (options.signals.uses_signals() && *it != other)
    };
    let extensions = Extension::ALL.into_iter().filter(takes).collect();
    Settings { extensions, placeholders: options.limits.placeholders, ..Settings::default() }
}

/// The stream limit is the transport's (RFC 9218, 7.2, checks signals against it).
fn http3_limits(options: &Options) -> http3::Limits {
    http3::Limits { concurrent_requests: options.limits.streams, ..options.limits.http3 }
}

fn close(quic: &mut quiche::Connection, code: u64, reason: &str) {
    quic.close(true, code, reason.as_bytes()).ok();
}
