//! The contents of packets in each direction: frames by kind, and DATAGRAM frames one by one.

use serde::Deserialize;

use super::collect::Collector;
use super::event::body;
use super::quic::{Direction, Packet};
use super::tolerant::Whole;
use crate::packet::Space;

/// `udp_datagrams_sent` and `udp_datagrams_received`; aioquic's have no count and describe one
/// datagram.
#[derive(Deserialize)]
struct Datagrams {
    count: Option<Whole>,
}

impl Collector {
    /// A packet that was read at full detail.
    pub(super) fn fill(&mut self, time_us: u64, packet: &Packet<'_>, direction: Direction) {
        let place = direction as usize;
        let before = self.latest[place].replace((time_us, packet.space()));
        let filled = &mut self.trace.filled[place];
        let is_joined = before.is_some_and(|(at_us, space)| {
            at_us == time_us && space != packet.space() && space != Space::Application
        });
        filled.joined += u64::from(is_joined);
        for frame in packet.frames() {
            let (kind, bytes) = frame.filled();
            filled.add(kind, bytes);
            if frame.is("datagram") {
                self.trace.datagrams[place].push((time_us, bytes));
                self.moments_kept += 1;
            }
        }
    }

    /// UDP datagrams were sent or arrived. An unreadable event counts as one.
    pub(super) fn datagrams(&mut self, data: &[u8], direction: Direction) {
        let count = body(data).ok().and_then(|it: Datagrams| it.count).map_or(1, |it| it.0);
        let datagrams = &mut self.trace.filled[direction as usize].datagrams;
        *datagrams = datagrams.saturating_add(count);
    }
}
