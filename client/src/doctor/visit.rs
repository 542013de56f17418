//! One HTTP/3 connection with one request, which records the server's limits.

use super::Quic;
use connection::{ClientConfig, ConnectError, Connection, End, Endpoint, Path, Transmit, Verify};
use http3::{Event, Header, Settings};
use std::net::SocketAddr;
use std::time::Instant;

pub(crate) struct Visit {
    connection: Connection,
    fields: Vec<Header>,
    has_asked: bool,
    seen: Quic,
    until: Instant,
    buffer: Vec<u8>,
}

impl Visit {
    /// Connects to a host without checking its certificate, which is checked over TCP.
    pub(crate) fn connect(
        host: &str,
        authority: &str,
        local: SocketAddr,
        server: SocketAddr,
        until: Instant,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        let connect_within = until.saturating_duration_since(now);
        let config =
            ClientConfig { verify: Verify::Nobody, connect_within, ..ClientConfig::default() };
        Ok(Self {
            connection: Connection::connect(Some(host), local, server, &config, now)?,
            fields: http3::get_request(authority, "/"),
            has_asked: false,
            seen: Quic::default(),
            until,
            buffer: vec![0; 65_536],
        })
    }

    /// Whether everything is known, or nothing more can be.
    pub(crate) fn is_over(&self) -> bool {
        self.connection.is_over() || self.is_complete()
    }

    fn is_complete(&self) -> bool {
        self.seen.settings.is_some() && self.seen.status.is_some()
    }

    /// The observations; `Err`: why there is no connection.
    pub(crate) fn seen(self) -> Result<Quic, String> {
        if self.seen.parameters.is_empty() {
            return Err(self.connection.end().unwrap_or(End::NoAnswer).to_string());
        }
        Ok(self.seen)
    }

    fn go_on(&mut self) {
        self.connection.open();
        if !self.connection.is_connected() {
            return;
        }
        if let Some(it) = self.connection.quic.peer_transport_params() {
            self.seen.parameters = vec![
                ("max_idle_timeout", it.max_idle_timeout),
                ("max_udp_payload_size", it.max_udp_payload_size),
                ("initial_max_data", it.initial_max_data),
                ("initial_max_stream_data_bidi_remote", it.initial_max_stream_data_bidi_remote),
                ("initial_max_streams_bidi", it.initial_max_streams_bidi),
                ("initial_max_streams_uni", it.initial_max_streams_uni),
            ];
        }
        if !self.has_asked {
            let stream = self.connection.next_request();
            self.has_asked =
                matches!(self.connection.request(stream, &self.fields, true), Ok(true));
        }
        self.connection.read_all(&mut self.buffer);
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Settings(settings) => self.seen.settings = Some(named(&settings)),
                Event::Headers { headers, .. } => self.seen.status = http3::status(&headers),
                _ => {}
            }
        }
        if self.is_complete() {
            self.connection.close(http3::Code::NoError, "");
        }
    }
}

fn named(settings: &Settings) -> Vec<(&'static str, u64)> {
    let mut named = vec![
        ("qpack_max_table_capacity", settings.qpack_max_table_capacity),
        ("qpack_blocked_streams", settings.qpack_blocked_streams),
    ];
    named.extend(settings.max_field_section_size.map(|it| ("max_field_section_size", it)));
    named
}

impl Endpoint for Visit {
    fn local_addr(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, _now: Instant) {
        let local = self.local_addr();
        self.connection.receive(datagram, Path { local, ..path });
        self.go_on();
    }

    fn transmit(&mut self, _now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.connection.transmit(out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.connection.on_timeout(now);
        if now >= self.until {
            self.connection.close(http3::Code::NoError, "");
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.connection.next_timeout().into_iter().chain([self.until]).min()
    }
}
