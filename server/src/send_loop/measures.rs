//! What the transport says of its paths. It is asked only when an answer can have changed, because each answer costs it a
//! look at everything it counts.

use crate::Datagrams;
use connection::Path;

/// What was true of the paths when something came or a timer fired.
#[derive(Debug)]
pub(super) struct Measures {
    discovers_mtu: bool,
    /// The path of the handshake. The transport sends probes only there.
    first: Option<Path>,
    /// Bytes that the path in use is known to carry.
    mtu_bytes: usize,
    is_on_first: bool,
    is_lossy: bool,
}

impl Measures {
    pub(super) fn new(datagrams: Datagrams) -> Self {
        Self {
            discovers_mtu: datagrams == Datagrams::Fitted,
            first: None,
            mtu_bytes: quiche::MIN_CLIENT_INITIAL_LEN,
            is_on_first: true,
            is_lossy: false,
        }
    }

    /// A datagram came, or a timer fired.
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

    /// Bytes of a full datagram.
    pub(super) fn datagram_bytes(&self, quic: &connection::Quic) -> usize {
        let most = quic.max_send_udp_payload_size();
        if self.discovers_mtu { self.mtu_bytes.min(most) } else { most }
    }

    /// Bytes of the largest datagram that the transport may make: a probe is longer than a full one.
    pub(super) fn room_bytes(&self, quic: &connection::Quic) -> usize {
        if self.discovers_mtu && self.is_on_first { usize::MAX } else { self.datagram_bytes(quic) }
    }

    /// Whether a datagram of `bytes` is a probe of the path, without data.
    pub(super) fn is_probe(&self, bytes: usize, datagram_bytes: usize) -> bool {
        self.discovers_mtu && bytes > datagram_bytes
    }

    /// Whether packets were ever lost, or seemed to be.
    pub(super) fn is_lossy(&self) -> bool {
        self.is_lossy
    }

    /// Stream bytes that the transport has sent again.
    pub(super) fn retransmitted(&self, quic: &connection::Quic) -> u64 {
        if !self.is_lossy {
            return 0;
        }
        quic.path_stats().map(|it| it.stream_retrans_bytes).sum()
    }
}
