//! Packets in logs.

/// The size of packets that every path carries (RFC 9000, section 14).
pub(crate) const EVERY_PATH_BYTES: u32 = 1200;

/// One packet event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When, on the log's clock.
    pub time_us: u64,
    /// The event that happened to it.
    pub event: PacketEvent,
    /// The space of its number.
    pub space: Space,
    /// Its number, when logged.
    pub number: Option<u64>,
    /// Its bytes; 0 if not logged.
    pub bytes: u32,
    /// Whether one of ours elicits an acknowledgement (RFC 9002, section 2); `false` if its frames are not logged.
    pub is_ack_eliciting: bool,
    /// Whether it probes the path's MTU: the log says so, or it holds only PING and PADDING and is larger than all before it. Its loss does
    /// not show congestion (RFC 9000, section 14.4).
    pub is_mtu_probe: bool,
}

schedulers::named! {
    /// The event that happened to a packet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PacketEvent {
        /// One of ours was sent.
        Sent = "sent",
        /// One of theirs arrived.
        Received = "received",
        /// One of ours was declared lost.
        Lost = "lost",
        /// One of ours was acknowledged, for the first time.
        Acknowledged = "acknowledged",
    }
}

schedulers::named! {
    /// Packet number spaces (RFC 9000, section 12.3).
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Space {
        /// Packets of this type.
        Initial = "initial",
        /// Packets of this type.
        Handshake = "handshake",
        /// 0-RTT and 1-RTT packets.
        #[default]
        Application = "application",
    }
}
