//! Limits of the lab.

/// Slots after which a load on the engine `ideal` is aborted: a page of 14 GB.
pub(crate) const SLOTS_MAX: u64 = 10_000_000;
/// Clients of a relay. Beyond this number, the client that was silent longest is dropped.
pub(crate) const RELAY_CLIENTS_MAX: usize = 256;
/// Datagrams that a relay reads from one socket before the others get their turn.
pub(crate) const RELAY_READ_BURST: usize = 256;
/// Requests of a scenario.
pub(crate) const SCENARIO_REQUESTS_MAX: usize = 100_000;
/// Slots that a scenario may last, arrivals and packets together: some seconds of computing.
pub(crate) const SCENARIO_SLOTS_MAX: u64 = 10_000_000;
/// Moments of a trace.
pub(crate) const MOMENTS_MAX: usize = 4000;
/// Nodes of all trees of a trace together: about 40 MB.
pub(crate) const TRACE_NODES_MAX: usize = 400_000;
/// Packets of a traced scenario, because the tree is compared after each.
pub(crate) const TRACE_PACKETS_MAX: usize = 100_000;
/// Requests of a scenario over QUIC: the most concurrent requests on one connection of the server.
pub(crate) const QUIC_REQUESTS_MAX: usize = 100;
/// Slots of a scenario over QUIC: a log has about 100 bytes for each packet.
pub(crate) const QUIC_SLOTS_MAX: u64 = 20_000;
/// Stream bytes of a packet of a scenario over QUIC: it must fit in a datagram with all headers.
pub(crate) const QUIC_PACKET_BYTES_MAX: u64 = 16_000;
/// The most links of a page that a probe tries.
pub(crate) const PROBE_LINKS_MAX: usize = 16;
/// The most resources of a page for which the bounds compute the bytes that a discovery needs, in a table of all
/// pairs.
pub(crate) const PAIRS_MAX: usize = 300;
/// Passes of the bounds over all resources. Only a page that lists each resource before its ancestors needs more.
pub(crate) const PASSES_MAX: usize = 100;
/// Concurrent cross-traffic downloads on the links of one page load.
pub(crate) const CROSS_FLOWS_MAX: usize = 256;
/// The largest document that is searched for references, in bytes.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 16 << 20;
