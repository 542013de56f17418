//! The transport's measurements of its paths. It is asked only when an answer can have changed, because each answer makes it
//! examine everything that it counts.

use crate::Datagrams;
use connection::Path;

/// The state of the paths when something arrived or a timer fired.
#[derive(Debug)]
pub(super) struct Measures {
    discovers_mtu: bool,
    /// The path of the handshake. The transport sends probes only there.
    first: Option<Path>,
    /// Bytes that the path in use is known to carry.
    mtu_bytes: usize,
    is_on_first: bool,
    /// Whether packets were ever lost, or seemed to be.
    pub(super) is_lossy: bool,
    /// Bytes of a full datagram, when the last one was requested.
    pub(super) datagram_bytes: usize,
}

impl Measures {
    pub(super) fn new(datagrams: Datagrams) -> Self {
        Self {
            discovers_mtu: datagrams == Datagrams::Fitted,
            first: None,
            mtu_bytes: quiche::MIN_CLIENT_INITIAL_LEN,
            is_on_first: true,
            is_lossy: false,
            datagram_bytes: 0,
        }
    }

    /// A datagram arrived, or a timer fired.
    pub(super) fn renew(&mut self, quic: &connection::Quic) {
        self.is_lossy = false;
        for path in quic.path_stats() {
            self.is_lossy |= path.lost > 0 || path.total_pto_count > 0;
            if path.active {
                let here = Path { local: path.local_addr, peer: path.peer_addr };
                self.is_on_first = *self.first.get_or_insert(here) == here;
                self.mtu_bytes =
                    if self.is_on_first { path.pmtu } else { quiche::MIN_CLIENT_INITIAL_LEN };
            }
        }
    }

    /// A datagram of at most `most_bytes` is requested. Returns the bytes that the transport may fill: a probe of the path is
    /// longer than a full datagram.
    pub(super) fn room_bytes(&mut self, quic: &connection::Quic, most_bytes: usize) -> usize {
        let full = quic.max_send_udp_payload_size();
        let full = if self.discovers_mtu { self.mtu_bytes.min(full) } else { full };
        self.datagram_bytes = full.min(most_bytes);
        if self.discovers_mtu && self.is_on_first { most_bytes } else { self.datagram_bytes }
    }

    /// Whether a datagram of `bytes` is a path probe, without data.
    pub(super) fn is_probe(&self, bytes: usize) -> bool {
        self.discovers_mtu && bytes > self.datagram_bytes
    }

    /// Whether datagrams have the size that the path carries.
    pub(super) fn is_fitted(&self) -> bool {
        self.discovers_mtu
    }

    /// Stream bytes that the transport has sent again.
    pub(super) fn retransmitted(&self, quic: &connection::Quic) -> u64 {
        if !self.is_lossy {
            return 0;
        }
        quic.path_stats().map(|it| it.stream_retrans_bytes).sum()
    }
}
