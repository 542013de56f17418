//! Answers the requests of a connection of tokio-quiche, and sends the bodies in the order of a scheme.
//!
//! [`Answers`] takes the place of tokio-quiche's `ServerH3Driver`, which cannot keep an order: it gives quiche the frames of all streams,
//! as much as the congestion window takes, and quiche lets the streams take turns. `interop/README.md` has the figures.

use crate::{Ordered, PIECE_BYTES};
use bytes::Bytes;
use schedulers::{Resource, Scheme, StreamId};
use std::collections::VecDeque;
use std::future::pending;
use tokio_quiche::quic::{HandshakeInfo, QuicheConnection};
use tokio_quiche::quiche::h3::{self, Error::TransportError, Event, Header, NameValue};
use tokio_quiche::{ApplicationOverQuic, QuicResult};

/// The head of a DATA frame around a piece: its type, and a length of two bytes.
const FRAME_HEAD_BYTES: usize = 3;
const _: () = assert!(PIECE_BYTES < 1 << 14, "the length takes four bytes");

/// The application of one connection, for `InitialQuicConnection::start`.
///
/// quiche gets a piece only when the piece before has left, so an urgent response waits for one piece at most. This costs a system call
/// for each packet, because tokio-quiche sends several at once only if quiche has them.
///
/// Requests must not have a body or trailers.
pub struct Answers<Site> {
    site: Site,
    begin_with: usize,
    http: Option<h3::Connection>,
    unanswered: VecDeque<(u64, String)>,
    answered: usize,
    ordered: Ordered,
    handed: Option<Handed>,
}

/// The last piece that quiche got.
struct Handed {
    stream: StreamId,
    /// The piece has left when the connection has sent this many bytes.
    leaves_at_bytes: u64,
}

impl Handed {
    /// Returns true also if the client has stopped the stream, because quiche then drops what has not left.
    fn has_left(&self, quic: &mut QuicheConnection) -> bool {
        quic.stats().sent_bytes >= self.leaves_at_bytes
            || quic.stream_capacity(self.stream.0).is_err()
    }
}

impl<Site: Fn(&str) -> (Resource, Bytes)> Answers<Site> {
    /// `site` has the facts and the body of each path. The first piece waits until `begin_with` requests have come, as in
    /// [`crate::over_h3::serve`].
    pub fn new(scheme: &Scheme, begin_with: usize, site: Site) -> Self {
        Self {
            site,
            begin_with,
            http: None,
            unanswered: VecDeque::new(),
            answered: 0,
            ordered: Ordered::new(scheme),
            handed: None,
        }
    }

    fn answer(&mut self, quic: &mut QuicheConnection) -> QuicResult<()> {
        let Some(http) = &mut self.http else { return Ok(()) };
        while let Some((stream, path)) = self.unanswered.front() {
            let (resource, body) = (self.site)(path);
            let head = [Header::new(b":status", b"200")];
            match http.send_response(quic, *stream, &head, body.is_empty()) {
                Ok(()) if body.is_empty() => {}
                Ok(()) => self.ordered.open(StreamId(*stream), &resource, body),
                Err(h3::Error::StreamBlocked) => return Ok(()),
                // Its client does not want it any more.
                Err(TransportError(_)) => {}
                Err(error) => return Err(error.into()),
            }
            self.answered += 1;
            self.unanswered.pop_front();
        }
        Ok(())
    }

    /// Gives quiche the next piece, if there is one.
    fn send(&mut self, quic: &mut QuicheConnection) -> QuicResult<()> {
        let Some(http) = &mut self.http else { return Ok(()) };
        // A stream that the client has stopped is an error of `send_body`, too.
        let room = |stream: StreamId| match quic.stream_capacity(stream.0) {
            Ok(bytes) => bytes.saturating_sub(FRAME_HEAD_BYTES),
            Err(_) => usize::MAX,
        };
        let Some(piece) = self.ordered.next(room) else {
            self.handed = None;
            return Ok(());
        };
        match http.send_body(quic, piece.stream.0, &piece.bytes, piece.is_last) {
            Ok(_) => {}
            Err(TransportError(_)) => self.ordered.close(piece.stream),
            Err(error) => return Err(error.into()),
        }
        let leaves_at_bytes = quic.stats().sent_bytes + piece.bytes.len() as u64;
        self.handed = Some(Handed { stream: piece.stream, leaves_at_bytes });
        Ok(())
    }
}

impl<Site: Fn(&str) -> (Resource, Bytes) + Send + 'static> ApplicationOverQuic for Answers<Site> {
    fn on_conn_established(
        &mut self,
        quic: &mut QuicheConnection,
        _: &HandshakeInfo,
    ) -> QuicResult<()> {
        self.http = Some(h3::Connection::with_transport(quic, &h3::Config::new()?)?);
        // Requests that came in the last datagrams of the handshake are not announced again.
        self.process_reads(quic)
    }

    fn should_act(&self) -> bool {
        self.http.is_some()
    }

    /// Returns when there may be another piece. Otherwise packets and timers wake the connection.
    async fn wait_for_data(&mut self, quic: &mut QuicheConnection) -> QuicResult<()> {
        let may_send = self.handed.as_ref().is_some_and(|handed| handed.has_left(quic));
        if may_send { Ok(()) } else { pending().await }
    }

    fn process_reads(&mut self, quic: &mut QuicheConnection) -> QuicResult<()> {
        let Some(http) = &mut self.http else { return Ok(()) };
        self.ordered.retry();
        loop {
            match http.poll(quic) {
                Ok((stream, Event::Headers { list, .. })) => {
                    let path = list.iter().find(|field| field.name() == b":path");
                    let path = path.map(|field| String::from_utf8_lossy(field.value()).into());
                    self.unanswered.push_back((stream, path.unwrap_or_default()));
                }
                Ok((stream, Event::Reset(_))) => self.ordered.close(StreamId(stream)),
                Ok(_) => {}
                Err(h3::Error::Done) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn process_writes(&mut self, quic: &mut QuicheConnection) -> QuicResult<()> {
        self.answer(quic)?;
        let may_send = self.handed.as_ref().is_none_or(|handed| handed.has_left(quic));
        if may_send && self.answered >= self.begin_with { self.send(quic) } else { Ok(()) }
    }
}
