//! How a server runs.

use crate::{Exploration, Limits, Observers, Pace, Proxies, ResetKey, SignalUse, TicketKey};
use connection::experiments::SendOrder;
use schedulers::{Scheme, Signal, StreamId, URGENCY_MAX};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The settings of a server, one field each.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "settings, independent of each other")]
pub struct Options {
    /// The order in which it sends.
    pub scheme: Scheme,
    /// The order for clients that negotiate one instead, if any: those that offered in their SETTINGS to accept the
    /// announcement of a scheme, and, where signals are used, to say the bucket byte of January
    /// 2019. For all others nothing changes.
    pub negotiated: Option<Scheme>,
    /// How the server uses its clients' signals.
    pub signals: SignalUse,
    /// Bytes moved from the scheduler into a first-in-first-out buffer before the transport; 0 still stages the packet that is
    /// being built.
    pub send_buffer_bytes: u64,
    /// The transport's congestion control.
    pub congestion_control: CongestionControl,
    /// Whether cubic and reno spread their packets over a round trip; bbr2 always does. Linux paces TCP only with the queueing
    /// discipline `fq`, so studies of its defaults disable this.
    pub pacing: bool,
    /// Whether cubic and reno restart from the initial window after a pause (RFC 5681, 4.1). It has no effect on bbr2, which
    /// paces by the rate it has measured.
    pub idle_reset: bool,
    /// The transport's initial congestion window, in packets.
    pub initial_window_packets: usize,
    /// Which responses go behind all others, as downloads. `None`: none do.
    pub downloads: Option<Downloads>,
    /// Sends a fixed number of stream bytes at a fixed interval, as the paper does.
    pub pace: Option<Pace>,
    /// Largest UDP payload sent, in bytes.
    pub udp_payload_bytes: usize,
    /// How datagrams are sized and batched.
    pub datagrams: Datagrams,
    /// Whether requests of returning clients are accepted before the handshake is complete, when they may be replays (RFC
    /// 8470).
    pub early_data: bool,
    /// Whether clients may open WebSockets to backends that accept them (RFC 8441, RFC 9220).
    pub websockets: bool,
    /// The key that seals session tickets. `None`: keys for this server only, drawn when it starts and every two days.
    pub ticket_key: Option<TicketKey>,
    /// The key of stateless resets. `None`: the server sends none.
    pub reset_key: Option<ResetKey>,
    /// Where to write one qlog per connection.
    pub qlog_dir: Option<PathBuf>,
    /// Which responses move to other connections of their client, if it supports that extension ([`migration`]). `None`: the
    /// extension is disabled.
    #[cfg(feature = "experiments")]
    pub migration: Option<migration::Policy>,
    /// The port to announce by `alt-svc`, without which Chromium sends few requests at a time.
    pub alt_svc_port: Option<u16>,
    /// How long a browser requests nothing over HTTP/2, after all responses, before it learns of that port. In the middle of a page, it
    /// would request the rest over a second connection, and no order holds between the two.
    pub alt_svc_silence: Duration,
    /// The clock of the `date` field (RFC 9110, 6.6.1). `None`: the server adds no such field, as in studies, whose bytes must
    /// not depend on the day.
    pub wall_clock: Option<fn() -> SystemTime>,
    /// Observers of the server's events.
    pub observers: Observers,
    /// Orders that visitors try. `None`: all get the order of the other options.
    pub exploration: Option<Arc<Exploration>>,
    /// Limits on what clients can make the server hold.
    pub limits: Limits,
    /// Proxies before the server whose statements about clients are trusted.
    pub proxies: Proxies,
    /// Experiments, all off by default.
    pub experiments: Experiments,
}

/// Experiments of a server.
#[derive(Debug, Clone, Default)]
pub struct Experiments {
    /// The maximum number of connections of one client that are ordered as one; 0: none are. Browsers open six.
    #[cfg(feature = "experiments")]
    pub group_connections: usize,
    /// Where to record the order in which the transport takes the bytes of responses, for one connection.
    pub send_order: Option<SendOrder>,
}

impl Options {
    /// Defaults, with a scheme.
    pub fn new(scheme: Scheme) -> Self {
        Self {
            scheme,
            negotiated: None,
            signals: SignalUse::Ignore,
            send_buffer_bytes: 0,
            congestion_control: CongestionControl::Bbr2,
            pacing: true,
            idle_reset: false,
            initial_window_packets: 10,
            downloads: None,
            pace: None,
            udp_payload_bytes: 1350,
            datagrams: Datagrams::default(),
            early_data: false,
            websockets: false,
            ticket_key: None,
            reset_key: None,
            qlog_dir: None,
            #[cfg(feature = "experiments")]
            migration: None,
            alt_svc_port: None,
            alt_svc_silence: Duration::from_secs(1),
            wall_clock: None,
            observers: Observers::default(),
            exploration: None,
            limits: Limits::default(),
            proxies: Proxies::default(),
            experiments: Experiments::default(),
        }
    }

    /// The same, for real paths. They carry at most 1452 bytes over Ethernet and IPv6, and often less.
    #[must_use]
    pub fn over_networks(self) -> Self {
        Self { udp_payload_bytes: 1452, datagrams: Datagrams::Fitted, ..self }
    }

    /// Whether the send loop has to pace, because neither the transport nor a fixed pace does.
    pub(crate) fn needs_bucket(&self) -> bool {
        self.pacing && self.pace.is_none() && self.congestion_control != CongestionControl::Bbr2
    }

    /// Whether the send loop limits the window after a pause.
    pub(crate) fn restarts(&self) -> bool {
        self.idle_reset && self.pace.is_none() && self.congestion_control != CongestionControl::Bbr2
    }

    /// The same, paced. The window is opened wide and the UDP payload raised to fit, so that only the pace determines when a
    /// packet is sent.
    #[must_use]
    pub fn paced(self, pace: Pace) -> Self {
        let udp_payload_bytes = self.udp_payload_bytes.max(pace.packet_bytes + Pace::ROOM_BYTES);
        Self {
            pace: Some(pace),
            udp_payload_bytes,
            datagrams: Datagrams::Fixed,
            initial_window_packets: 10_000,
            ..self
        }
    }
}

/// When a response counts as a download that a page must not wait for: browsers request it as urgently as a page, and it can
/// take hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downloads {
    /// Bytes of it that have been sent.
    pub bytes: u64,
    /// How long ago its first byte was sent.
    pub age: Duration,
}

impl Downloads {
    /// Whether a response counts as one if `bytes` of it have been sent in `age`.
    pub fn has(&self, bytes: u64, age: Duration) -> bool {
        bytes >= self.bytes && age >= self.age
    }

    /// The place of a download: behind all other responses.
    pub fn place(stream: StreamId) -> Signal {
        Signal::Extensible { stream, urgency: URGENCY_MAX, incremental: true }
    }
}

impl Default for Downloads {
    /// Twice the largest file of the bundled pages, so that no order among the files of a page changes.
    fn default() -> Self {
        Self { bytes: 4 << 20, age: Duration::from_secs(2) }
    }
}

/// How datagrams are sized and batched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Datagrams {
    /// They have the configured size. Each is shorter by the bytes that its end needs for a longer offset, or by the bytes of
    /// an acknowledgement that it could have carried. `results/` was made this way.
    #[default]
    Fixed,
    /// They fit the path: the server probes its size, and sends 1200 bytes until then (RFC 9000, 14.3). Packets of a response
    /// have equal length, so that the system can split a batch into them.
    Fitted,
}

impl Datagrams {
    /// Datagrams of one connection that are sent before it is another connection's turn. The stream of each is picked right
    /// before it is made, but the first one made waits for the last.
    pub(crate) fn batch(self) -> usize {
        match self {
            Self::Fixed => 16,
            Self::Fitted => 46,
        }
    }
}

schedulers::named! {
    /// A congestion control of the transport.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum CongestionControl {
        /// BBR, version 2.
        Bbr2 = "bbr2",
        /// CUBIC (RFC 9438).
        Cubic = "cubic",
        /// New Reno (RFC 9002).
        Reno = "reno",
    }
}
