//! What a client is told when it starts.

use crate::CookieJar;
use crate::HttpCache;
use crate::SavedSession;
use crate::profile::HoldBack;
use http3::SendOrder;
use schedulers::Scheme;
use std::path::PathBuf;
use std::time::Duration;

/// How a client runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The scheme whose client half decides what is signalled; none: the one that the server prefers, if it
    /// says so.
    pub scheme: Option<Scheme>,
    /// Which requests wait although their resources are discovered.
    pub hold_back: Option<HoldBack>,
    /// Whether each request says what its resource is for (`utmost-metadata`).
    pub metadata: bool,
    /// How many pushes the server may have promised beyond those that came; 0: none at all.
    pub pushes: u64,
    /// What earlier visits left in the HTTP cache.
    pub cache: HttpCache,
    /// Whether the request for the document says what the cache has (`Cache-Digest`).
    pub cache_digest: bool,
    /// What earlier visits left.
    pub cookies: CookieJar,
    /// A session of an earlier connection: where the server allows it, requests go along with the first packet. All are
    /// `GET`, which may be replayed (RFC 8470).
    pub session: Option<SavedSession>,
    /// Data is handed up in this order; none: in each stream's own, as it arrives.
    pub delivery_order: Option<SendOrder>,
    /// Whom to trust.
    pub verify: Verify,
    /// Where to write the connection's qlog.
    pub qlog_file: Option<PathBuf>,
    /// Whether to keep the bodies.
    pub keep_bodies: bool,
    /// Bytes that the server may send on the connection before they are read.
    pub receive_bytes: u64,
    /// Bytes that the server may send on a stream before they are read.
    pub stream_receive_bytes: u64,
    /// Largest UDP payload taken, in bytes.
    pub udp_payload_bytes: usize,
    /// How long the handshake may take.
    pub connect_within: Duration,
    /// The connection ends after this long without a packet.
    pub idle: Duration,
}

/// Whom a client trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verify {
    /// Any certificate: for self-signed ones on loopback.
    Nobody,
    /// The certificate authorities in this PEM file.
    Authorities(PathBuf),
    /// The system's certificate authorities.
    System,
}

impl Default for Options {
    /// The receive windows are Chromium's.
    fn default() -> Self {
        Self {
            scheme: None,
            hold_back: None,
            metadata: false,
            pushes: 0,
            cache: HttpCache::default(),
            cache_digest: false,
            cookies: CookieJar::default(),
            session: None,
            delivery_order: None,
            verify: Verify::System,
            qlog_file: None,
            keep_bodies: false,
            receive_bytes: 15_728_640,
            stream_receive_bytes: 6_291_456,
            udp_payload_bytes: 65_527,
            connect_within: Duration::from_secs(10),
            idle: Duration::from_secs(30),
        }
    }
}
