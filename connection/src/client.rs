//! How a client connects.

use crate::{ConnectError, Connection};
use http3::{Role, Session, Settings};
use ring::rand::{SecureRandom, SystemRandom};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The certificate authorities that a client trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verify {
    /// Accepts any certificate, such as self-signed ones on loopback.
    Nobody,
    /// The certificate authorities in this PEM file.
    Authorities(PathBuf),
    /// The system's certificate authorities.
    System,
}

/// The parameters of a client's connection.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// The trusted certificate authorities.
    pub verify: Verify,
    /// Whether the transport reveals the secrets of the handshake to a caller that asks (`set_keylog`).
    pub tells_secrets: bool,
    /// The deadline of the handshake.
    pub connect_within: Duration,
    /// The connection ends after this long without a packet.
    pub idle: Duration,
    /// Bytes that the server may send on the connection ahead of reading.
    pub receive_bytes: u64,
    /// Bytes that the server may send on a stream ahead of reading.
    pub stream_receive_bytes: u64,
    /// Whether quiche may enlarge both windows.
    pub windows_grow: bool,
    /// Largest UDP payload accepted, in bytes.
    pub udp_payload_bytes: usize,
    /// Unidirectional streams that the server may open, pushes included.
    pub unidirectional_streams: u64,
    /// Bytes of our connection ID, at most 20.
    pub id_bytes: usize,
    /// Whether to offer the extension of [`migration`], for [`crate::Destinations`].
    pub migration: bool,
    /// The settings that HTTP/3 offers.
    pub settings: Settings,
    /// Limits on the server's data that HTTP/3 keeps.
    pub limits: http3::Limits,
}

impl Default for ClientConfig {
    /// The receive windows are Chromium's.
    fn default() -> Self {
        Self {
            verify: Verify::System,
            tells_secrets: false,
            connect_within: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            receive_bytes: 15_728_640,
            stream_receive_bytes: 6_291_456,
            windows_grow: true,
            udp_payload_bytes: 65_527,
            unidirectional_streams: 16,
            id_bytes: 16,
            migration: false,
            settings: Settings::default(),
            limits: http3::Limits::default(),
        }
    }
}

impl Connection {
    /// A client's connection from `local` to `server`, whose certificate must cover `name`, if given.
    pub fn connect(
        name: Option<&str>,
        local: SocketAddr,
        server: SocketAddr,
        config: &ClientConfig,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        let mut id = vec![0; config.id_bytes];
        SystemRandom::new().fill(&mut id).map_err(|_| ConnectError::Random)?;
        let scid = quiche::ConnectionId::from_ref(&id);
        let mut transport = config.transport()?;
        let quic = quiche::connect_with_buffer_factory(name, &scid, local, server, &mut transport)?;
        let session = Session::new(Role::Client, config.settings.clone(), config.limits);
        Ok(Self::new(quic, session, local, Some(now + config.connect_within)))
    }
}

impl ClientConfig {
    fn transport(&self) -> Result<quiche::Config, ConnectError> {
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
        config.set_application_protos(&[b"h3"])?;
        config.enable_early_data();
        config.verify_peer(self.verify != Verify::Nobody);
        if self.tells_secrets {
            config.log_keys();
        }
        if let Verify::Authorities(path) = &self.verify {
            let text = path.to_str();
            text.and_then(|it| config.load_verify_locations_from_file(it).ok())
                .ok_or_else(|| ConnectError::Authorities(path.clone()))?;
        }
        config.set_max_idle_timeout(u64::try_from(self.idle.as_millis()).unwrap_or(u64::MAX));
        config.set_max_recv_udp_payload_size(self.udp_payload_bytes);
        config.set_initial_max_data(self.receive_bytes);
        config.set_initial_max_stream_data_bidi_local(self.stream_receive_bytes);
        config.set_initial_max_stream_data_uni(self.stream_receive_bytes);
        if !self.windows_grow {
            config.set_max_connection_window(self.receive_bytes);
            config.set_max_stream_window(self.stream_receive_bytes);
        }
        config.set_initial_max_streams_bidi(0);
        config.set_initial_max_streams_uni(self.unidirectional_streams);
        Ok(config)
    }
}
