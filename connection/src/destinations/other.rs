//! One connection beside the source. It makes no requests.

use super::{Continuation, named};
use crate::{Connection, Path};
use http3::{Code, StreamId};
use migration::{CONTINUATION, Name, Secret, Subject};
use octets::Octets;
use std::collections::BTreeMap;

pub(super) struct Other {
    pub(super) connection: Connection,
    /// Its name, once its handshake is complete.
    pub(super) name: Option<Name>,
    /// The secret of the source.
    first: Secret,
    incoming: BTreeMap<StreamId, Incoming>,
}

/// A unidirectional stream of the server's.
enum Incoming {
    /// Its first bytes, which do not yet identify it.
    Begun(Vec<u8>),
    Continuation(Continuation),
    /// A stream for the session.
    Own,
}

impl Other {
    pub(super) fn new(connection: Connection, first: Secret) -> Self {
        Self { connection, name: None, first, incoming: BTreeMap::new() }
    }

    /// Its name, while responses can move here.
    pub(super) fn usable_name(&self) -> Option<Name> {
        self.name.filter(|_| !self.connection.is_closing())
    }

    pub(super) fn is_opening(&self) -> bool {
        self.name.is_none() && !self.connection.is_closing()
    }

    pub(super) fn is_over(&self) -> bool {
        self.connection.is_over()
    }

    pub(super) fn has_id(&self, id: &quiche::ConnectionId<'_>) -> bool {
        self.connection.quic.source_ids().any(|it| it == id)
    }

    pub(super) fn receive(&mut self, datagram: &mut [u8], path: Path) {
        self.connection.receive(datagram, path);
        if self.name.is_none() {
            self.name = named(&mut self.connection, Some(&self.first)).map(|(name, _)| name);
        }
        self.connection.open();
    }

    /// Reads its own streams, and the headers of continuations.
    pub(super) fn read_own(&mut self, buffer: &mut [u8]) {
        for stream in self.connection.readable() {
            if let Err(error) = self.read_stream(stream, buffer) {
                self.connection.fail_whole(&error, stream);
                return;
            }
        }
        while self.connection.poll().is_some() {}
    }

    fn read_stream(&mut self, stream: StreamId, buffer: &mut [u8]) -> Result<(), http3::Error> {
        loop {
            let turn = match self.incoming.entry(stream).or_insert(Incoming::Begun(Vec::new())) {
                Incoming::Continuation(_) => return Ok(()),
                Incoming::Begun(_) => return self.read_header(stream),
                Incoming::Own => self.connection.read(stream, buffer)?,
            };
            match turn {
                Some(turn) if !turn.is_last => {}
                _ => return Ok(()),
            }
        }
    }

    /// Reads byte by byte, so that it takes no bytes of the response.
    fn read_header(&mut self, stream: StreamId) -> Result<(), http3::Error> {
        let Some(Incoming::Begun(start)) = self.incoming.get_mut(&stream) else { return Ok(()) };
        let mut byte = [0];
        while let Ok((1, fin)) = self.connection.quic.stream_recv(stream.0, &mut byte) {
            start.push(byte[0]);
            let mut octets = Octets::with_slice(start);
            let is_own = octets.get_varint().is_ok_and(|it| it != CONTINUATION);
            if is_own || fin {
                let start = std::mem::take(start);
                self.incoming.insert(stream, Incoming::Own);
                return self.connection.session.receive(stream, &start, fin);
            }
            let type_bytes = octets.off();
            if type_bytes == 0 {
                continue;
            }
            match Continuation::parse(&start[type_bytes..]) {
                Ok(None) => {}
                Ok(Some((header, _))) => {
                    self.incoming.insert(stream, Incoming::Continuation(header));
                    return Ok(());
                }
                Err(error) => {
                    self.connection.close(error.code(), &error.to_string());
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The streams whose headers arrived.
    pub(super) fn continuations(&self) -> Vec<StreamId> {
        let incoming = self.incoming.iter();
        let continuations = incoming.filter(|(_, it)| matches!(it, Incoming::Continuation(_)));
        continuations.map(|(stream, _)| *stream).collect()
    }

    pub(super) fn header(&self, stream: StreamId) -> Option<Continuation> {
        match self.incoming.get(&stream) {
            Some(Incoming::Continuation(header)) => Some(*header),
            _ => None,
        }
    }

    /// Reads no more of a response.
    pub(super) fn stop(&mut self, subject: Subject, code: Code) {
        for stream in self.continuations() {
            if self.header(stream).is_some_and(|header| header.subject == subject) {
                let read = quiche::Shutdown::Read;
                self.connection.quic.stream_shutdown(stream.0, read, code.value()).ok();
                self.forget(stream);
            }
        }
    }

    pub(super) fn forget(&mut self, stream: StreamId) {
        self.incoming.remove(&stream);
    }
}
