//! A trace's packets: their numbers, frames and losses.

use std::borrow::Cow;

use super::Collector;
use crate::packet::{Packet as PacketRecord, PacketEvent, Space};
use crate::reader::event::{Event, body};
use crate::reader::paths::Paths;
use crate::reader::quic::{Direction, Frame, Packet};
use crate::trace::Detail;

/// The place of lost packets, behind both directions.
const LOST: usize = 2;

impl Collector {
    /// Returns whether it is new, not a duplicate of the preceding packet event.
    pub(in crate::reader) fn packet(
        &mut self,
        time_us: u64,
        event: &Event<'_>,
        direction: Direction,
    ) -> serde_json::Result<bool> {
        let packet: Packet<'_> = body(event.data)?;
        if let ([frame], true) = (packet.frames(), packet.is_only_a_frame()) {
            if self.detail >= Detail::Events {
                self.about = packet.about(direction.event());
            }
            self.stream_frame(time_us, frame.stream(), packet.number(), direction);
            return Ok(true);
        }
        let packet = self.of_first_path(packet, event, |paths, path, number| {
            paths.numbers_its_own(path, direction, number)
        });
        if !self.is_new(time_us, &packet, direction as usize) {
            return Ok(false);
        }
        self.first_packets(&packet, direction);
        match direction {
            Direction::Received => self.trace.counts.packets_received += 1,
            Direction::Sent => self.trace.counts.packets_sent += 1,
        }
        self.packet_record(time_us, &packet, direction.event());
        if direction == Direction::Sent && packet.is_probe() {
            self.timeout(time_us);
        }
        if direction == Direction::Received
            && self.detail >= Detail::Arrivals
            && packet.space() == Space::Application
            && let Some(number) = packet.number()
        {
            self.trace.packets.get_or_insert_default().received.add(number, number);
        }
        if let (Direction::Sent, true, Some(number)) =
            (direction, self.keeps_acknowledgements(), packet.number())
        {
            self.acknowledged.sent(packet.space(), number);
        }
        if direction == Direction::Received && packet.is("stateless_reset") {
            self.stateless_reset(time_us);
        }
        self.handshake(time_us, &packet, direction);
        if self.detail >= Detail::Full {
            self.fill(time_us, &packet, direction);
            self.validation(time_us, &packet, direction);
        }
        // Now, because acknowledgements in the same packet become separate records.
        let place = self.last_record();
        self.trace.counts.packet_frames += packet.frames().len() as u64;
        self.frames(time_us, &packet, place, direction);
        Ok(true)
    }

    /// The frames of a packet, whose last record is at `place`.
    fn frames(&mut self, time_us: u64, packet: &Packet<'_>, place: u32, direction: Direction) {
        for frame in packet.frames() {
            if self.detail >= Detail::Full {
                self.ends(time_us, frame, direction);
            }
            if let Some(stream) = frame.stream() {
                self.trace.counts.frames_without_length += u64::from(frame.lacks_length());
                self.frame(time_us, stream, packet.number(), place, direction);
            } else if frame.is("stream") {
                self.impossible_frames += 1;
            } else if let Some(stream) = frame.stopped_stream() {
                if !self.is_of_requests(direction.other()) {
                    self.flow(direction.other()).stop(time_us, stream);
                }
            } else if direction == Direction::Received {
                if self.keeps_acknowledgements() && frame.is("ack") {
                    let ranges = frame.acknowledged();
                    let fresh = self.acknowledge(time_us, packet.space(), &ranges);
                    if self.detail >= Detail::Full && packet.space() == Space::Application {
                        self.ack(time_us, frame, &ranges, fresh);
                    }
                }
                if self.detail >= Detail::Full {
                    self.credit(time_us, frame);
                }
            }
        }
    }

    /// The packet of an event, without its number if its path numbers its own packets, as `numbers_its_own` finds.
    fn of_first_path<'a>(
        &mut self,
        packet: Packet<'a>,
        event: &Event<'_>,
        numbers_its_own: impl Fn(&mut Paths, Option<&Cow<'_, str>>, u64) -> bool,
    ) -> Packet<'a> {
        let path = packet.path();
        let path = path.as_ref().or(event.path.as_ref());
        let number = packet.number().filter(|_| packet.space() == Space::Application);
        let is_own = number.is_some_and(|it| numbers_its_own(&mut self.paths, path, it));
        if !is_own {
            return packet;
        }
        self.packets_of_others += 1;
        packet.without_number()
    }

    /// Whether this is not the last packet of its kind again. A capture can have any packet again, from another place or interface; only
    /// Initial packets begin anew with their numbers, after a version negotiation.
    fn is_new(&mut self, time_us: u64, packet: &Packet<'_>, kind: usize) -> bool {
        let key = packet.number().map(|number| (time_us, packet.space(), number));
        let is_new = key.is_none() || self.last_packets[kind] != key;
        self.last_packets[kind] = key;
        if let Some((_, space, number)) = key.filter(|it| it.1 != Space::Initial)
            && self.trace.is_capture()
        {
            let seen = self.captured.entry((kind, space)).or_default();
            let is_known = seen.has(number);
            seen.add(number, number);
            return !is_known;
        }
        is_new
    }

    /// Returns the same.
    pub(in crate::reader) fn packet_lost(
        &mut self,
        time_us: u64,
        event: &Event<'_>,
    ) -> serde_json::Result<bool> {
        let packet: Packet<'_> = body(event.data)?;
        let packet =
            self.of_first_path(packet, event, |paths, path, _| paths.has_own_numbers(path));
        if !self.is_new(time_us, &packet, LOST) {
            return Ok(false);
        }
        let lost = &mut self.trace.counts.packets_lost;
        *lost = lost.saturating_add(packet.lost_packets.map_or(1, |it| it.0));
        self.packet_record(time_us, &packet, PacketEvent::Lost);
        Ok(true)
    }

    fn packet_record(&mut self, time_us: u64, packet: &Packet<'_>, event: PacketEvent) {
        if self.detail >= Detail::Events {
            self.about = packet.about(event);
        }
        if self.detail >= Detail::Full {
            let (space, number, bytes) = (packet.space(), packet.number(), packet.bytes());
            let is_ack_eliciting =
                event == PacketEvent::Sent && packet.frames().iter().any(Frame::is_ack_eliciting);
            let is_mtu_probe = packet.is_mtu_probe()
                || event == PacketEvent::Sent && self.is_mtu_probe(space, packet);
            let record = PacketRecord {
                time_us,
                event,
                space,
                number,
                bytes,
                is_ack_eliciting,
                is_mtu_probe,
            };
            self.trace.packets.get_or_insert_default().all.push(record);
        }
    }

    /// Whether a packet of ours can only be a probe of the path's MTU. Others tell how large packets are without one.
    fn is_mtu_probe(&mut self, space: Space, packet: &Packet<'_>) -> bool {
        let (frames, bytes) = (packet.frames(), packet.bytes());
        if frames.iter().any(|it| !it.is("ping") && !it.is("padding")) {
            self.largest_sent_bytes = bytes.max(self.largest_sent_bytes);
            return false;
        }
        space == Space::Application && !frames.is_empty() && bytes > self.largest_sent_bytes
    }

    pub(super) fn last_record(&self) -> u32 {
        u32::try_from(self.trace.packets().len().saturating_sub(1)).unwrap_or(u32::MAX)
    }
}
