//! Event names of all generations. An event is identified by the part after its last colon, because
//! namespaces changed with every draft (`transport:`, `quic:`; `http:`, `h3:`, `http3:`; ..).

/// The kind of an event, as far as the reader needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    PacketSent,
    PacketReceived,
    PacketLost,
    /// Congestion window, RTT, bytes in flight.
    Recovery,
    /// A timer of loss detection.
    Timer,
    CongestionState,
    /// The connection ended.
    ConnectionClosed,
    /// UDP datagrams were sent or arrived.
    DatagramsSent,
    DatagramsReceived,
    /// Data between transport and application.
    DataMoved,
    /// An HTTP/3 frame was made.
    FrameCreated,
    /// An HTTP/3 frame was read.
    FrameParsed,
    StreamTypeSet,
    PriorityUpdated,
    ParametersSet,
    Scheduler,
    /// Our server has changed its scheme.
    Scheme,
    /// qlog 0.1: a STREAM frame as a separate event.
    LegacyStream,
    /// Our client: bytes of a stream that arrived on another connection.
    Moved,
    /// Our client navigates to another page.
    Navigation,
    /// Our client: when its user sees something.
    Milestone,
    /// Our server: what holds it back from now on.
    Restraint,
    /// An event of a known schema that the reader does not need.
    Unused,
    /// An event that is in no known schema.
    Unknown,
}

impl EventKind {
    /// Whether figures can mark such events; others are too numerous, or are shown in another way.
    pub(super) fn is_moment(self) -> bool {
        use EventKind::{
            DataMoved, DatagramsReceived, DatagramsSent, FrameCreated, FrameParsed, PacketReceived,
            PacketSent, Recovery, Restraint, Scheduler,
        };
        let packets = matches!(self, PacketSent | PacketReceived | Recovery | Restraint);
        let data = matches!(self, DataMoved | FrameCreated | FrameParsed | Scheduler);
        let datagrams = matches!(self, DatagramsSent | DatagramsReceived);
        !packets && !data && !datagrams
    }
}

/// Events that qlog's schemas of any generation define and the reader does not need.
const UNUSED: &str = "\
    ack_new acks_dropped alpn_information alpn_update amount_updated app_idle_update app_limited_update \
    bandwidth_est_update connection_id_update \
    connection_id_updated connection_migration connection_new connection_retry connection_started \
    connection_state_updated crypto_new cwnd_update datagram_created \
    datagram_data_moved datagram_dropped datagram_parsed datagram_received datagram_sent \
    debug dependency_update dynamic_table_updated ecn_state_updated \
    error event frames_created frames_parsed frames_processed generic headers_decoded headers_encoded \
    info instruction_created instruction_parsed instruction_sent instruction_received key_discarded \
    key_retired key_update key_updated loss_alarm loss_detection_armed loss_detection_postponed \
    loss_detection_triggered marker marked_for_retransmit maxdata_new \
    maxstreamdata_new message migration_state_updated mtu_updated pacing_metric_update \
    pacing_observation packet_ack packet_acked packet_buffered packet_drop packet_dropped packet_trailer \
    packets_acked parameters_restored path_assigned push_resolved recovery_parameters_set \
    server_listening simulation_scenario spin_bit_update spin_bit_updated spurious_loss state_updated \
    stream_state_updated transport_state_update transport_summary tuple_assigned \
    udp_datagrams_dropped version_information";

/// The same for newer drafts, with a common prefix.
const UNUSED_PREFIXES: [&str; 4] = ["udp_datagrams_", "qpack_", "loglevel_", "path_"];

/// The kind of an event with this name.
pub(crate) fn kind(name: &str) -> EventKind {
    // Names are short: a plain search is faster than that of `str`.
    let colon = name.bytes().rposition(|byte| byte == b':');
    let event = colon.map_or(name, |colon| &name[colon + 1..]);
    match exact(event) {
        EventKind::Unknown => {}
        found if is_our_own(found) && name != format!("utmost:{event}") => {
            return EventKind::Unknown;
        }
        found => return found,
    }
    // Drafts 00 and 01 allowed upper case.
    let lower = event.to_ascii_lowercase();
    match exact(&lower) {
        found if is_our_own(found) => EventKind::Unknown,
        EventKind::Unknown
            if UNUSED.split(' ').any(|it| it == lower)
                || UNUSED_PREFIXES.iter().any(|it| lower.starts_with(it)) =>
        {
            EventKind::Unused
        }
        found => found,
    }
}

/// Whether only we write such events.
fn is_our_own(kind: EventKind) -> bool {
    use EventKind::{Milestone, Moved, Navigation, Restraint, Scheduler, Scheme};
    matches!(kind, Scheduler | Scheme | Moved | Milestone | Navigation | Restraint)
}

fn exact(event: &str) -> EventKind {
    match event {
        "packet_sent" => EventKind::PacketSent,
        "packet_received" => EventKind::PacketReceived,
        "packet_lost" | "packets_lost" => EventKind::PacketLost,
        "metrics_updated"
        | "recovery_metrics_updated"
        | "metric_update"
        | "metrics_update"
        | "congestion_metric_update"
        | "bytes_in_flight_update"
        | "cwnd_update"
        | "rtt_update" => EventKind::Recovery,
        "stream_data_moved" | "data_moved" => EventKind::DataMoved,
        "frame_created" => EventKind::FrameCreated,
        "frame_parsed" => EventKind::FrameParsed,
        "stream_type_set" => EventKind::StreamTypeSet,
        "priority_updated" => EventKind::PriorityUpdated,
        "parameters_set" => EventKind::ParametersSet,
        "scheduler" => EventKind::Scheduler,
        "scheme" => EventKind::Scheme,
        "stream_new" => EventKind::LegacyStream,
        "moved" => EventKind::Moved,
        "navigation" => EventKind::Navigation,
        "milestone" => EventKind::Milestone,
        "restraint" => EventKind::Restraint,
        "loss_timer_updated" | "timer_updated" => EventKind::Timer,
        "connection_closed" | "connection_close" => EventKind::ConnectionClosed,
        "congestion_state_updated" => EventKind::CongestionState,
        "datagrams_sent" | "udp_datagrams_sent" => EventKind::DatagramsSent,
        "datagrams_received" | "udp_datagrams_received" => EventKind::DatagramsReceived,
        "recovery_parameters_set" => EventKind::Unused,
        _ => EventKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_and_the_case_do_not_matter() {
        for name in
            ["transport:packet_sent", "quic:packet_sent", "TRANSPORT:PACKET_SENT", "packet_sent"]
        {
            assert_eq!(kind(name), EventKind::PacketSent, "{name}");
        }
        assert_eq!(kind("recovery:metrics_updated"), EventKind::Recovery);
        assert_eq!(kind("quic:recovery_metrics_updated"), EventKind::Recovery);
    }

    #[test]
    fn mvfsts_own_names_of_losses_and_windows_are_known() {
        assert_eq!(kind("LOSS:PACKETS_LOST"), EventKind::PacketLost);
        assert_eq!(kind("loss:packets_lost"), EventKind::PacketLost);
        assert_eq!(kind("METRIC_UPDATE:CONGESTION_METRIC_UPDATE"), EventKind::Recovery);
        assert_eq!(kind("transport:transport_summary"), EventKind::Unused);
    }

    #[test]
    fn known_events_without_use_are_not_unknown() {
        assert_eq!(kind("connectivity:spin_bit_updated"), EventKind::Unused);
        assert_eq!(kind("quic:udp_datagrams_dropped"), EventKind::Unused);
        assert_eq!(kind("quic:udp_datagrams_sent"), EventKind::DatagramsSent);
        assert_eq!(kind("x:y"), EventKind::Unknown);
        assert_eq!(kind("utmost:scheduler"), EventKind::Scheduler);
        assert_eq!(kind("other:scheduler"), EventKind::Unknown);
        assert_eq!(kind("utmost:scheme"), EventKind::Scheme);
        assert_eq!(kind("other:scheme"), EventKind::Unknown);
        assert_eq!(kind("utmost:navigation"), EventKind::Navigation);
        assert_eq!(kind("other:navigation"), EventKind::Unknown);
        assert_eq!(kind("utmost:milestone"), EventKind::Milestone);
        assert_eq!(kind("utmost:MILESTONE"), EventKind::Unknown);
    }
}
