//! How a connection begins: who is admitted, and which IDs lead to it.

use super::refusal::refusal;
use super::{Entry, Server};
use crate::admission::Decision;
use crate::qlog_files::QlogFile;
use crate::responder::Responder;
use crate::unproven::Unproven;
use crate::{Datagrams, Event, Refusal};
use connection::Path;
use quiche::ConnectionId;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// RFC 9000, 20.1.
const CONNECTION_REFUSED: u16 = 0x2;

impl Server {
    /// The connection that a datagram with an unknown ID begins, if it is a client's first datagram and there is room.
    pub(super) fn accept(
        &mut self,
        header: &quiche::Header<'_>,
        datagram: &mut [u8],
        path: Path,
        now: Instant,
    ) -> Option<u64> {
        match self.admission.decide(header, datagram, path, self.draining.is_some(), now) {
            Decision::Done => None,
            Decision::ProofAsked => {
                self.notice(&Event::ProofAsked);
                None
            }
            Decision::Refuse { refusal, is_told } => {
                self.notice(&Event::Refused(refusal));
                if is_told {
                    self.refuse(header, path, CONNECTION_REFUSED);
                }
                None
            }
            Decision::Connect(original) => self.connect(header, original, path, now),
        }
    }

    /// A new connection. `original` is the ID that a client invented for the server before a Retry packet.
    fn connect(
        &mut self,
        header: &quiche::Header<'_>,
        original: Option<Vec<u8>>,
        path: Path,
        now: Instant,
    ) -> Option<u64> {
        let unproven = original.is_none().then(Unproven::default);
        let Some((id, mut quic)) = self.accept_quic(header, original, path) else {
            self.admission.shaken();
            self.admission.ended(None);
            return None;
        };
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
        self.connections.insert(self.serial, Box::new(entry));
        Some(self.serial)
    }

    /// The transport's side of a new connection, and its ID.
    fn accept_quic(
        &mut self,
        header: &quiche::Header<'_>,
        original: Option<Vec<u8>>,
        path: Path,
    ) -> Option<(Vec<u8>, connection::Quic)> {
        // After a Retry packet, the client uses the ID from that packet. Otherwise it keeps the one that it invented until
        // it has ours.
        let (new, _) = self.admission.new_id()?;
        let (id, odcid) = match original {
            Some(original) => (header.dcid.to_vec(), Some(ConnectionId::from_vec(original))),
            None => (new, None),
        };
        self.config.set_initial_max_stream_data_bidi_local(self.needless_window(odcid.is_some()));
        self.config.set_stateless_reset_token(self.admission.reset_token(&id));
        let scid = ConnectionId::from_ref(&id);
        let (local, peer) = (path.local, path.peer);
        let (odcid, config) = (odcid.as_ref(), &mut self.config);
        let quic = quiche::accept_with_buf_factory(&scid, odcid, local, peer, config).ok()?;
        Some((id, quic))
    }

    /// The window of bidirectional streams that a server opens. HTTP/3 has none (RFC 9114, 6.1), and the transport has 128
    /// bytes for its parameters: after a Retry packet, they would not all fit for a client with 20-byte IDs, such as quinn.
    /// A client with early data must find what it remembers (RFC 9000, 7.4.1), so servers on real paths never announce the
    /// window. Others do, because `results/` was made this way.
    fn needless_window(&self, is_after_retry: bool) -> u64 {
        let options = &self.shared.options;
        if is_after_retry || options.datagrams == Datagrams::Fitted {
            0
        } else {
            options.limits.stream_receive_bytes
        }
    }

    /// Drops a connection whose first datagram was useless. No timer runs for it, so it would stay. The transport sends
    /// nothing to its client, for example one that uses a protocol other than HTTP/3 (RFC 9001, 8.1).
    pub(super) fn turn_away(
        &mut self,
        serial: u64,
        header: &quiche::Header<'_>,
        path: Path,
        now: Instant,
    ) {
        let entry = self.connections.get(&serial);
        let error = entry.and_then(|it| it.responder.sender.connection.quic.local_error());
        let code = error.filter(|it| !it.is_app).and_then(|it| u16::try_from(it.error_code).ok());
        if let Some(code) = code {
            self.refuse(header, path, code);
        }
        self.remove(serial, now);
    }

    /// Tells a client at once why it is not admitted.
    fn refuse(&mut self, header: &quiche::Header<'_>, path: Path, code: u16) {
        if let Ok(packet) = refusal(&header.scid, &header.dcid, code) {
            self.admission.reply(path, |out| {
                let out = out.get_mut(..packet.len()).ok_or(quiche::Error::BufferTooShort)?;
                out.copy_from_slice(&packet);
                Ok(packet.len())
            });
        }
    }

    /// Records that a connection's handshake has ended, successfully or not.
    pub(super) fn handshake_over(&mut self, serial: u64) {
        if let Some(entry) = self.connections.get_mut(&serial)
            && entry.handshake_until.take().is_some()
        {
            self.admission.shaken();
        }
    }

    /// A client has completed its handshake.
    pub(super) fn entered(&mut self, serial: u64, client: IpAddr) {
        self.handshake_over(serial);
        if let Some(entry) = self.connections.get_mut(&serial)
            && entry.counted.is_none()
            && !entry.responder.sender.connection.is_closing()
        {
            entry.unproven = None;
            if !self.admission.enter(client) {
                let quic = &mut entry.responder.sender.connection.quic;
                quic.close(false, CONNECTION_REFUSED.into(), b"").ok();
                self.notice(&Event::Refused(Refusal::Network));
                return;
            }
            entry.counted = Some(client);
            self.shared.options.observers.notice(&Event::Accepted);
            let qlog = entry.qlog.take().map_or(Ok(()), QlogFile::confirm);
            if let Err(refusal) = qlog {
                self.notice(&Event::NotLogged);
                if let Some(line) = refusal {
                    self.report(&line);
                }
            }
        }
    }

    /// Gives the client as many IDs as it accepts, and forgets those that it retired.
    pub(super) fn update_routes(&mut self, serial: u64) {
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
            self.routes.insert(id.clone(), serial);
            entry.ids.push(id);
        }
    }
}
