//! A client without a browser: a study or a test decides what it requests.

use connection::{ClientConfig, ConnectError, Connection, Endpoint, Transmit};
use http3::{Event, Header, StreamId};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

/// One connection. Its owner makes the requests.
pub struct BareClient {
    /// The connection.
    pub connection: Connection,
    /// A stream that it does not read.
    pub unread: Option<StreamId>,
    /// Whether it delays its own streams and with them its SETTINGS.
    pub is_silent: bool,
    events: VecDeque<Event>,
    buffer: Vec<u8>,
}

impl BareClient {
    /// A client at `local` that connects to `server`.
    pub fn connect(
        local: SocketAddr,
        server: SocketAddr,
        config: &ClientConfig,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        Ok(Self {
            connection: Connection::connect(Some("localhost"), local, server, config, now)?,
            unread: None,
            is_silent: false,
            events: VecDeque::new(),
            buffer: vec![0; 65_536],
        })
    }

    /// Requests `path` with these additional fields. Returns `false` where the server does not allow the stream now.
    pub fn get(
        &mut self,
        stream: StreamId,
        authority: &str,
        path: &str,
        more: &[(&str, &str)],
    ) -> bool {
        let fields =
            [(":method", "GET"), (":scheme", "https"), (":authority", authority), (":path", path)];
        let fields: Vec<Header> = fields
            .iter()
            .chain(more)
            .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
            .collect();
        self.connection.request(stream, &fields, true) == Ok(true)
    }

    /// The events since the last call.
    pub fn events(&mut self) -> impl Iterator<Item = Event> {
        self.events.drain(..)
    }

    fn open(&mut self) {
        if !self.is_silent {
            self.connection.open();
        }
    }

    fn read(&mut self) {
        for stream in self.connection.readable().filter(|it| Some(*it) != self.unread) {
            loop {
                match self.connection.read(stream, &mut self.buffer) {
                    Ok(Some(turn)) if !turn.is_last => {}
                    Ok(_) => break,
                    Err(error) => {
                        self.connection.fail(&error, stream);
                        break;
                    }
                }
            }
        }
        while let Some(event) = self.connection.poll() {
            self.events.push_back(event);
        }
    }
}

impl Endpoint for BareClient {
    fn local_addr(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], from: SocketAddr, _: Instant) {
        self.connection.receive(datagram, from);
        self.open();
        self.read();
    }

    fn transmit(&mut self, _: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.open();
        self.connection.transmit(out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.connection.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.connection.next_timeout()
    }
}
