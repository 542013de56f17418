//! What logs say of packets.

/// One packet event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) time_us: u64,
    pub(crate) event: PacketEvent,
    pub(crate) space: Space,
    /// When logged.
    pub(crate) number: Option<u64>,
    /// 0 when they are not logged.
    pub(crate) bytes: u32,
}

/// What happened to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketEvent {
    /// One of ours went out.
    Sent,
    /// One of theirs came in.
    Received,
    /// One of ours was declared lost.
    Lost,
    /// One of ours was acknowledged, for the first time.
    Acknowledged,
}

/// Packet number spaces (RFC 9000, section 12.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Packets of this type.
    Initial,
    /// Packets of this type.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    #[default]
    Application,
}
