//! A client without a browser: a study or a test determines its requests.

use connection::{ClientConfig, ConnectError, Connection, Destinations, Endpoint, Path, Transmit};
use http3::{Code, Event, Header, StreamId};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

/// One connection, and further ones to which responses move, if [`ClientConfig::migration`] is set. Its owner makes
/// the requests.
pub struct BareClient {
    /// The connection.
    pub connection: Connection,
    /// The connections to which responses move.
    pub destinations: Destinations,
    /// A stream that it does not read.
    pub unread: Option<StreamId>,
    /// Whether it delays its own streams, and with them its SETTINGS.
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
            destinations: Destinations::new(Some("localhost"), server, config),
            unread: None,
            is_silent: false,
            events: VecDeque::new(),
            buffer: vec![0; 65_536],
        })
    }

    /// Requests `path` with these additional fields. Returns `false` if the server does not allow the stream now.
    pub fn get(
        &mut self,
        stream: StreamId,
        authority: &str,
        path: &str,
        more: &[(&str, &str)],
    ) -> bool {
        let mut fields = http3::get_request(authority, path);
        let more = more.iter().map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
        fields.extend(more);
        let sent = self.connection.request(stream, &fields, true) == Ok(true);
        if sent {
            self.destinations.requested(stream);
        }
        sent
    }

    /// Cancels a response.
    pub fn cancel(&mut self, stream: StreamId) {
        self.connection.shut(stream, Code::RequestCancelled);
        self.destinations.cancelled(stream);
    }

    /// The events since the last call.
    pub fn events(&mut self) -> impl Iterator<Item = Event> {
        self.events.drain(..)
    }

    fn open(&mut self) {
        if !self.is_silent {
            self.destinations.opening(&mut self.connection);
            self.connection.open();
        }
    }

    fn read(&mut self, now: Instant) {
        loop {
            let mut has_read = false;
            for stream in self.connection.readable().filter(|stream| Some(*stream) != self.unread) {
                let (source, buffer) = (&mut self.connection, &mut self.buffer);
                while let Some(arrival) = self.destinations.arrival(source, stream, buffer, now) {
                    has_read = true;
                    if let Err(error) = source.deliver(stream, arrival) {
                        source.fail(&error, stream);
                        break;
                    }
                    if arrival.is_last() {
                        break;
                    }
                }
            }
            let source = &mut self.connection;
            while let Some((stream, arrival)) =
                self.destinations.moved(source, &mut self.buffer, now)
            {
                has_read = true;
                if let Err(error) = source.deliver(stream, arrival) {
                    source.fail(&error, stream);
                }
            }
            self.take_events(now);
            if !has_read {
                return;
            }
        }
    }

    fn take_events(&mut self, now: Instant) {
        while let Some(event) = self.connection.poll() {
            let source = &mut self.connection;
            match &event {
                Event::Settings(settings) => self.destinations.on_settings(source, settings),
                Event::PushStream { stream, push } => self.destinations.push_stream(*stream, *push),
                Event::Frame { frame_type, payload } => {
                    self.destinations.on_frame(source, *frame_type, payload, now);
                }
                _ => {}
            }
            self.events.push_back(event);
        }
    }
}

impl Endpoint for BareClient {
    fn local_addr(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        if !self.destinations.receive(datagram, path) {
            self.connection.receive(datagram, path);
        }
        self.open();
        self.read(now);
        self.destinations.progress(&mut self.connection, now);
    }

    fn transmit(&mut self, _: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.open();
        self.connection.transmit(out).or_else(|| self.destinations.transmit(out))
    }

    fn on_timeout(&mut self, now: Instant) {
        self.connection.on_timeout(now);
        self.destinations.on_timeout(now);
        self.destinations.progress(&mut self.connection, now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        let others = self.destinations.next_timeout();
        self.connection.next_timeout().into_iter().chain(others).min()
    }
}
