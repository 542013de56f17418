//! quiche below, HTTP/3 above.

use crate::pieces::Pieces;
use crate::{ConnectError, End, Path, Transmit};
use http3::{Code, Event, Header, NameValue, Session, Settings, Signal, StreamId};
use migration::{EXPORTER_LABEL, Secret};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

/// One HTTP/3 connection, at either end. It has many methods, because each needs both the transport and the session.
pub struct Connection {
    /// The transport. A send loop writes bodies to it, in its own order.
    pub quic: crate::Quic,
    /// The HTTP/3 half.
    pub session: Session,
    local: SocketAddr,
    state: ConnectionState,
    /// When to give up the handshake.
    until: Option<Instant>,
    early_data: EarlyData,
    /// At a server, bytes that wait for missing ones.
    pieces: Pieces,
    /// Bytes of our own streams that the transport had no room for.
    unsent: VecDeque<Unsent>,
    /// The first ID above all request streams so far.
    next_request: StreamId,
    /// Why we gave it up.
    cause: Option<End>,
    /// Datagrams to send before the close.
    parting: VecDeque<(Transmit, Vec<u8>)>,
    /// It is closed, but the last datagram did not contain the close.
    cannot_close: bool,
}

/// The state of a connection. Only quiche knows its end ([`Connection::is_closing`], [`Connection::is_over`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// HTTP/3 cannot send anything yet.
    Handshake,
    /// Early data (0-RTT): requests may be sent, and the server may reject them. To the server they may be replays.
    EarlyData,
    /// The handshake is complete.
    Connected,
}

/// Whether a client's requests were sent in its first packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EarlyData {
    /// Not sent: there was no session, or it did not allow early data.
    #[default]
    Unsent,
    /// Sent; the server has not yet accepted or rejected them.
    Sent,
    /// The server accepted them.
    Accepted,
    /// Rejected: they were sent again after the handshake.
    Rejected,
}

struct Unsent {
    stream: StreamId,
    bytes: Vec<u8>,
    fin: bool,
}

/// An arrival on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// The next bytes, and whether they are the last.
    Bytes(&'a [u8], bool),
    /// The peer reset the stream, with this code.
    Reset(u64),
}

impl Arrival<'_> {
    /// Whether the stream has ended.
    pub fn is_last(self) -> bool {
        matches!(self, Self::Bytes(_, true) | Self::Reset(_))
    }
}

/// One turn of reading a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// How much was read.
    pub bytes: usize,
    /// This stream has ended.
    pub is_last: bool,
}

/// `ssl_early_data_accepted` of `BoringSSL`.
const EARLY_DATA_ACCEPTED: u32 = 2;

/// The most probes that quiche owes.
const PROBES: usize = 2;

/// The error code that a peer gets for an application error before the handshake is complete (RFC 9000, 20.1).
const APPLICATION_ERROR: u64 = 0x0c;

impl Connection {
    /// A server's connection that quiche has accepted.
    pub fn accepted(quic: crate::Quic, session: Session, local: SocketAddr) -> Self {
        Self::new(quic, session, local, None)
    }

    pub(crate) fn new(
        quic: crate::Quic,
        session: Session,
        local: SocketAddr,
        until: Option<Instant>,
    ) -> Self {
        Self {
            quic,
            session,
            local,
            state: ConnectionState::Handshake,
            until,
            early_data: EarlyData::Unsent,
            pieces: Pieces::default(),
            unsent: VecDeque::new(),
            next_request: StreamId(0),
            cause: None,
            parting: VecDeque::new(),
            cannot_close: false,
        }
    }

    /// Resumes the session of an earlier connection to this server (as a client), under the server's settings at that time. Call it
    /// before the first datagram.
    pub fn resume(&mut self, transport: &[u8], settings: Settings) -> Result<(), ConnectError> {
        self.quic.set_session(transport).map_err(ConnectError::Session)?;
        self.session.remember(Some(settings));
        Ok(())
    }

    /// Its state.
    pub fn state(&self) -> ConnectionState {
        self.state
    }

    /// Whether the handshake is complete.
    pub fn is_connected(&self) -> bool {
        self.state == ConnectionState::Connected
    }

    /// Whether messages can be sent: after the handshake, or earlier as early data.
    pub fn is_open(&self) -> bool {
        self.state != ConnectionState::Handshake
    }

    /// Whether either end has closed it.
    pub fn is_closing(&self) -> bool {
        self.quic.local_error().is_some() || self.is_over()
    }

    /// Whether nothing more can be sent or received.
    pub fn is_over(&self) -> bool {
        self.quic.is_closed() || self.quic.is_draining()
    }

    /// Why it ended. Call it once it is over.
    pub fn end(&self) -> Option<End> {
        self.is_over().then(|| self.cause.clone().unwrap_or_else(|| End::of(&self.quic)))
    }

    /// The fate of a client's early data.
    pub fn early_data(&self) -> EarlyData {
        self.early_data
    }

    /// The next unused request stream.
    pub fn next_request(&self) -> StreamId {
        self.next_request
    }

    /// The address of our end.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Processes a datagram that arrived. If the datagram is invalid, quiche closes the connection where required.
    pub fn receive(&mut self, datagram: &mut [u8], path: Path) {
        let quic = &mut self.quic;
        quic.recv(datagram, path.into()).ok();
        // Bytes that the transport has not taken are unchanged.
        if quic.is_server() && self.pieces.has_taken(quic.stats().recv) {
            let id_bytes = quic.source_id().len();
            self.pieces.came(datagram, id_bytes, |it| quic.stream_finished(it));
        }
    }

    /// The memory that a server's connection uses for pieces of streams that cannot be read yet, because earlier bytes are missing:
    /// their bytes, and [`crate::PIECE_BYTES`] for each.
    pub fn waiting_bytes(&self) -> usize {
        self.pieces.bytes()
    }

    /// Follows the handshake, and opens our control and QPACK streams as soon as possible. Returns `true` if it just did.
    pub fn open(&mut self) -> bool {
        let was_open = self.is_open();
        match self.state {
            ConnectionState::Connected => {}
            _ if self.quic.is_established() => {
                self.state = ConnectionState::Connected;
                self.until = None;
                if !self.quic.is_server() {
                    self.settle_early_data();
                }
            }
            ConnectionState::Handshake if self.quic.is_in_early_data() => {
                self.state = ConnectionState::EarlyData;
                self.early_data = EarlyData::Sent;
            }
            _ => {}
        }
        if was_open || !self.is_open() {
            return false;
        }
        for (stream, bytes) in self.session.opening().into_iter().rev() {
            self.unsent.push_front(Unsent { stream, bytes, fin: false });
        }
        self.flush();
        true
    }

    /// The key that only the two ends of this connection share, once the handshake is complete.
    pub fn secret(&mut self) -> Option<Secret> {
        let mut exported = [0; 32];
        let tls: &mut boring::ssl::SslRef = self.quic.as_mut();
        tls.export_keying_material(&mut exported, EXPORTER_LABEL, None).ok()?;
        Some(Secret::new(&exported))
    }

    /// The server has accepted or rejected early data. quiche retransmits rejected data once it counts as lost, for which a later
    /// packet must be acknowledged, so this sends one. quiche retransmits the last loss first, so the server could see a request
    /// before the settings that allow pushes. So our own streams get priority.
    fn settle_early_data(&mut self) {
        let accepted = self.quic.early_data_reason() == EARLY_DATA_ACCEPTED;
        if self.early_data == EarlyData::Sent {
            self.early_data = if accepted { EarlyData::Accepted } else { EarlyData::Rejected };
            if !accepted {
                for (stream, _) in self.session.opening() {
                    self.quic.stream_priority(stream.0, 0, false).ok();
                }
                self.quic.send_ack_eliciting().ok();
            }
        }
        if !accepted {
            self.session.remember(None);
        }
    }

    /// Queues bytes for one of our own streams, behind the queue. Call [`Self::flush`] to send them.
    pub fn send(&mut self, stream: StreamId, bytes: Vec<u8>, fin: bool) {
        self.unsent.push_back(Unsent { stream, bytes, fin });
    }

    /// Gives the transport as many queued bytes as it has room for. Returns `true` if it took some.
    pub fn flush(&mut self) -> bool {
        let mut wrote = false;
        let is_open = self.is_open();
        while let Some(Unsent { stream, bytes, fin }) = self.unsent.front_mut().filter(|_| is_open)
        {
            // Without credit, each attempt would make the transport send another DATA_BLOCKED frame.
            if self.quic.stream_capacity(stream.0) == Ok(0) {
                return wrote;
            }
            match self.quic.stream_send(stream.0, bytes, *fin) {
                Ok(taken) => {
                    wrote = true;
                    bytes.drain(..taken);
                    if !bytes.is_empty() {
                        return wrote;
                    }
                }
                Err(quiche::Error::StreamLimit) => return wrote,
                Err(quiche::Error::Done) if self.quic.stream_capacity(stream.0).is_ok() => {
                    return wrote;
                }
                // The peer stopped this stream: the others must not wait for it.
                Err(_) => {}
            }
            self.unsent.pop_front();
        }
        if self.unsent.is_empty() {
            // The queue is empty most of the time.
            self.unsent = VecDeque::new();
        }
        wrote
    }

    /// Encodes and logs a HEADERS frame for `stream`. Fails if the peer does not accept these fields.
    pub fn encode_headers(
        &mut self,
        stream: StreamId,
        fields: &[impl NameValue],
    ) -> Result<Vec<u8>, http3::Error> {
        let frame = self.session.encode_headers(fields)?;
        http3::log::headers_created(self.quic.qlog_streamer(), (stream, None), fields, frame.len());
        Ok(frame)
    }

    /// Encodes and logs the header of a DATA frame for `stream`.
    pub fn data_frame_header(&mut self, stream: StreamId, payload_bytes: u64) -> Vec<u8> {
        http3::log::data_created(self.quic.qlog_streamer(), stream, payload_bytes);
        http3::data_frame_header(payload_bytes)
    }

    /// Sends the header section of a request; `fin`: it has no content. Returns `false` if nothing was sent, because the server
    /// allows no further stream or the transport has no room.
    pub fn request(
        &mut self,
        stream: StreamId,
        fields: &[Header],
        fin: bool,
    ) -> Result<bool, http3::Error> {
        let mut frame = self.session.encode_headers(fields)?;
        let Ok(taken) = self.quic.stream_send(stream.0, &frame, fin) else { return Ok(false) };
        http3::log::headers_created(self.quic.qlog_streamer(), (stream, None), fields, frame.len());
        if taken < frame.len() {
            // A partly sent request cannot be taken back.
            self.send(stream, frame.split_off(taken), fin);
        }
        self.note_request(stream);
        Ok(true)
    }

    /// Queues a client's signal on its control stream. Returns `false` if this connection has no frame for it.
    pub fn signal(&mut self, signal: &Signal) -> bool {
        let Some((control, bytes)) = self.session.signal(signal) else { return false };
        http3::log::signal_created(self.quic.qlog_streamer(), control, signal, bytes.len());
        self.send(control, bytes, false);
        true
    }

    /// The streams that can be read.
    pub fn readable(&self) -> impl Iterator<Item = StreamId> + use<> {
        self.quic.readable().map(StreamId)
    }

    /// Reads once from `stream` into the session. `None`: there was nothing to read.
    pub fn read(
        &mut self,
        stream: StreamId,
        buffer: &mut [u8],
    ) -> Result<Option<Turn>, http3::Error> {
        let Some(arrival) = self.arrival(stream, buffer) else { return Ok(None) };
        self.deliver(stream, arrival)?;
        let bytes = if let Arrival::Bytes(bytes, _) = arrival { bytes.len() } else { 0 };
        Ok(Some(Turn { bytes, is_last: arrival.is_last() }))
    }

    /// Reads everything, from each stream up to an error.
    pub fn read_all(&mut self, buffer: &mut [u8]) {
        for stream in self.readable() {
            while matches!(self.read(stream, buffer), Ok(Some(turn)) if !turn.is_last) {}
        }
    }

    /// The first half of [`Self::read`]: gets an arrival from the transport.
    pub fn arrival<'a>(&mut self, stream: StreamId, buffer: &'a mut [u8]) -> Option<Arrival<'a>> {
        self.note_request(stream);
        let arrival = match self.quic.stream_recv(stream.0, buffer) {
            Ok((bytes, fin)) => Arrival::Bytes(&buffer[..bytes], fin),
            Err(quiche::Error::StreamReset(code)) => Arrival::Reset(code),
            Err(_) => return None,
        };
        match arrival {
            _ if !self.quic.is_server() => {}
            Arrival::Bytes(bytes, false) => self.pieces.read(stream.0, bytes.len()),
            Arrival::Bytes(_, true) | Arrival::Reset(_) => self.pieces.ended(stream.0),
        }
        Some(arrival)
    }

    /// The second half of [`Self::read`]: the session turns it into events.
    pub fn deliver(&mut self, stream: StreamId, arrival: Arrival<'_>) -> Result<(), http3::Error> {
        match arrival {
            Arrival::Bytes(bytes, fin) => self.session.receive(stream, bytes, fin),
            Arrival::Reset(code) => self.session.stream_reset(stream, code),
        }
    }

    fn note_request(&mut self, stream: StreamId) {
        if stream.0.is_multiple_of(4) {
            self.next_request = self.next_request.max(StreamId(stream.0 + 4));
        }
    }

    /// The next event, which is logged.
    pub fn poll(&mut self) -> Option<Event> {
        let event = self.session.poll()?;
        if let Some(log) = self.quic.qlog_streamer() {
            http3::log::event(log, &self.session, &event);
        }
        Some(event)
    }

    /// Ends what a peer's error ends (RFC 9114, 8): the stream that is returned, or the connection.
    pub fn fail(&mut self, error: &http3::Error, read_from: StreamId) -> Option<StreamId> {
        let Some(stream) = error.stream() else {
            self.fail_whole(error, read_from);
            return None;
        };
        self.shut(stream, error.kind());
        Some(stream)
    }

    /// Ends the connection for a peer's error, even if the error concerns one stream.
    pub fn fail_whole(&mut self, error: &http3::Error, read_from: StreamId) {
        let reason = format!("{error} on stream {}", read_from.0);
        self.close(error.kind(), &reason);
        self.cause.get_or_insert(End::Broken(reason));
    }

    /// Abandons both directions of a stream.
    pub fn shut(&mut self, stream: StreamId, code: Code) {
        self.stop(stream, code);
        self.quic.stream_shutdown(stream.0, quiche::Shutdown::Write, code.value()).ok();
    }

    /// Stops reading a stream. Returns `true` if it was readable before.
    pub fn stop(&mut self, stream: StreamId, code: Code) -> bool {
        self.pieces.left(stream.0, |it| self.quic.stream_finished(it));
        self.quic.stream_shutdown(stream.0, quiche::Shutdown::Read, code.value()).is_ok()
    }

    /// Stops reading the streams with waiting pieces, so that the transport drops them.
    pub fn stop_waiting(&mut self, code: Code) {
        for stream in self.pieces.streams() {
            self.stop(StreamId(stream), code);
        }
    }

    /// Closes the connection. Before the end of the handshake, the peer does not see the code (RFC 9000, 10.2.3).
    ///
    /// A client whose handshake is complete but not confirmed may owe handshake probes. If it closes then, quiche endlessly makes
    /// packets that contain neither a probe nor the close. So this sends the probes first.
    pub fn close(&mut self, code: Code, reason: &str) {
        if !self.quic.is_established() {
            self.quic.close(false, APPLICATION_ERROR, b"").ok();
            return;
        }
        if !self.quic.is_server() && !self.is_closing() {
            self.parting = (0..PROBES).map_while(|_| self.parting_datagram()).collect();
        }
        self.quic.close(true, code.value(), reason.as_bytes()).ok();
    }

    fn parting_datagram(&mut self) -> Option<(Transmit, Vec<u8>)> {
        let mut bytes = vec![0; self.quic.max_send_udp_payload_size()];
        let (length, info) = self.quic.send(&mut bytes).ok()?;
        bytes.truncate(length);
        Some((Transmit::single(info.into(), length), bytes))
    }

    /// Writes the next datagram to `out`.
    pub fn transmit(&mut self, out: &mut [u8]) -> Option<Transmit> {
        if let Some((transmit, bytes)) = self.parting.pop_front() {
            out[..bytes.len()].copy_from_slice(&bytes);
            return Some(transmit);
        }
        if self.cannot_close {
            return None;
        }
        self.flush();
        match self.quic.send(out) {
            Ok((bytes, info)) => {
                // A timer has fired since `close`: there are new probes, and the close would never be sent.
                self.cannot_close = self.quic.local_error().is_some() && !self.quic.is_draining();
                Some(Transmit::single(info.into(), bytes))
            }
            Err(quiche::Error::Done) => None,
            Err(error) => {
                self.cause.get_or_insert(End::Transport(error));
                None
            }
        }
    }

    /// Acts on the transport's timers, and abandons a handshake that takes too long.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.quic.timeout_instant().is_some_and(|due| due <= now) {
            self.quic.on_timeout();
        }
        if self.until.is_some_and(|until| until <= now) && self.cause.is_none() {
            self.cause = Some(End::NoAnswer);
            self.quic.close(false, 0, b"").ok();
        }
    }

    /// When to call [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        let handshake = self.until.filter(|_| self.cause.is_none());
        [self.quic.timeout_instant(), handshake].into_iter().flatten().min()
    }
}
