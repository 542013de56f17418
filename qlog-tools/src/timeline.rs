//! A connection as its client saw it: which resources it requested, and which bytes arrived when. Every metric and figure is
//! computed from this, whether it was read from a log or built in memory.

use std::collections::{BTreeMap, BTreeSet};

use schedulers::Milestone;
use serde::{Deserialize, Serialize};

use crate::assembly::{Assembly, DeliveryStep, StreamFrame};

/// One connection as its client saw it. Times are microseconds on any common clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Its name: a file, or a scheme.
    pub name: String,
    /// The responses, by stream ID.
    pub transfers: Vec<Transfer>,
    /// The STREAM frames that arrived, in order of arrival.
    pub frames: Vec<StreamFrame>,
    /// When the client navigated to another page on this connection. The first navigation is the first request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub navigations_us: Vec<u64>,
    /// The moments that the user of each page saw, in the order of the navigations, as far as the client reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renders: Vec<RenderTimes>,
}

/// The moments that the user of a page load saw, according to the client. `None`: not reported, or not yet happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderTimes {
    /// The first rendering.
    pub first_render_us: Option<u64>,
    /// The rendering of the hero images.
    pub hero_render_us: Option<u64>,
    /// `DOMContentLoaded`.
    pub dom_content_loaded_us: Option<u64>,
    /// The load event.
    pub load_us: Option<u64>,
    /// The regions above the fold that were shown.
    pub regions: Vec<Region>,
    /// The weights of all regions together.
    pub regions_weight: u64,
}

/// A region of the page, shown at `time_us`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// When it reached its final form.
    pub time_us: u64,
    /// Its weight among the regions.
    pub weight: u64,
}

impl RenderTimes {
    /// Records that `milestone` was reached.
    pub fn reached(&mut self, time_us: u64, milestone: Milestone) {
        let place = match milestone {
            Milestone::FirstRender => &mut self.first_render_us,
            Milestone::HeroRender => &mut self.hero_render_us,
            Milestone::DomContentLoaded => &mut self.dom_content_loaded_us,
            Milestone::Load => &mut self.load_us,
            Milestone::Region { weight, of } => {
                self.regions.push(Region { time_us, weight });
                self.regions_weight = of;
                return;
            }
        };
        place.get_or_insert(time_us);
    }

    /// The mean over the regions of the time since `start_us` until they were shown, in milliseconds. `None` until all are.
    pub fn mean_region_ms(&self, start_us: u64) -> Option<f64> {
        let shown: u64 = self.regions.iter().map(|it| it.weight).fold(0, u64::saturating_add);
        let mut sum = 0_u128;
        for region in &self.regions {
            let since_us = region.time_us.saturating_sub(start_us);
            sum = sum.saturating_add(u128::from(region.weight) * u128::from(since_us));
        }
        (shown > 0 && shown == self.regions_weight).then(|| sum as f64 / shown as f64 / 1000.0)
    }
}

/// One request and its response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The stream that carried it.
    pub stream: u64,
    /// The resource's URL or path.
    pub url: String,
    /// When the client handed the request to the transport.
    pub requested_us: u64,
    /// Stream bytes before the body's first byte (HTTP/3 framing and headers).
    pub body_offset: u64,
    /// Bytes of the body, when known.
    pub body_bytes: Option<u64>,
    /// Bytes of the stream, if its end has been seen.
    pub stream_bytes: Option<u64>,
    /// Its cancel, if the client cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancel>,
}

/// A client's request to stop a response (`STOP_SENDING`), and the bytes that still arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    /// When the client sent it; in a server's log, when the server read it.
    pub time_us: u64,
    /// Stream bytes that arrived afterwards, retransmitted ones included; in a server's log, bytes that were sent
    /// afterwards.
    pub tail_bytes: u64,
    /// When the last of them arrived.
    pub last_us: u64,
}

impl Cancel {
    pub(crate) fn at(time_us: u64) -> Self {
        Self { time_us, tail_bytes: 0, last_us: time_us }
    }

    pub(crate) fn came(&mut self, time_us: u64, bytes: u64) {
        self.tail_bytes = self.tail_bytes.saturating_add(bytes);
        self.last_us = self.last_us.max(time_us);
    }
}

/// Consecutive frames of one stream. Times count from the first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// Their stream.
    pub stream: u64,
    /// How many they are.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the first arrived.
    pub first_us: u64,
    /// When the last arrived.
    pub last_us: u64,
}

impl Timeline {
    /// The origin of the metrics' time: the first request, or the navigation before it. `None` without transfers.
    pub fn start_us(&self) -> Option<u64> {
        let first_us = self.transfers.iter().map(|transfer| transfer.requested_us).min()?;
        self.navigations_us.iter().copied().chain([first_us]).min()
    }

    /// The timeline of each page: everything requested or promised from one navigation to the next, whenever it arrived.
    pub fn by_navigation(&self) -> Vec<Self> {
        // Everything before the first navigation forms a separate part.
        let before = Self { name: self.name.clone(), ..Self::default() };
        let mut parts = vec![before.clone()];
        for began_us in &self.navigations_us {
            parts.push(Self { navigations_us: vec![*began_us], ..before.clone() });
        }
        let mut by_stream = BTreeMap::new();
        for transfer in &self.transfers {
            let part = self.navigations_until(transfer.requested_us);
            by_stream.insert(transfer.stream, part);
            parts[part].transfers.push(transfer.clone());
        }
        for frame in &self.frames {
            let part = match by_stream.get(&frame.stream) {
                Some(part) => *part,
                None => self.navigations_until(frame.time_us),
            };
            parts[part].frames.push(*frame);
        }
        for (part, render) in parts.iter_mut().zip(&self.renders) {
            part.renders.push(render.clone());
        }
        parts
    }

    /// When the bytes of each transfer became readable, in the order of `transfers`.
    /// One pass over the frames; O(log holes) a frame.
    pub fn deliveries(&self) -> Vec<Delivery> {
        let mut streams: BTreeMap<u64, (Assembly, Vec<DeliveryStep>)> = BTreeMap::new();
        for transfer in &self.transfers {
            streams.entry(transfer.stream).or_default();
        }
        for frame in &self.frames {
            if let Some((assembly, steps)) = streams.get_mut(&frame.stream) {
                steps.extend(assembly.receive(frame));
            }
        }
        let deliveries = self.transfers.iter().map(|transfer| {
            let (assembly, steps) = &streams[&transfer.stream];
            let mut delivery =
                Delivery { stream: transfer.stream, steps: steps.clone(), complete_us: None };
            delivery.complete_us = transfer.stream_bytes.and_then(|bytes| match bytes {
                0 => Some(assembly.first_frame_us.unwrap_or(transfer.requested_us)),
                bytes => delivery.readable_at_us(bytes - 1),
            });
            delivery
        });
        deliveries.collect()
    }

    fn navigations_until(&self, time_us: u64) -> usize {
        self.navigations_us.partition_point(|it| *it <= time_us)
    }

    /// The frames of responses, with consecutive frames of one stream merged.
    pub fn bursts(&self) -> Vec<Burst> {
        let start_us = self.start_us().unwrap_or_default();
        let transfers: BTreeSet<u64> = self.transfers.iter().map(|it| it.stream).collect();
        let mut bursts: Vec<Burst> = Vec::new();
        for &StreamFrame { time_us, stream, bytes, .. } in &self.frames {
            if bytes == 0 || !transfers.contains(&stream) {
                continue;
            }
            let time_us = time_us.saturating_sub(start_us);
            match bursts.last_mut() {
                Some(burst) if burst.stream == stream => {
                    burst.frames += 1;
                    burst.bytes += bytes;
                    burst.last_us = burst.last_us.max(time_us);
                }
                _ => {
                    let (first_us, last_us) = (time_us, time_us);
                    bursts.push(Burst { stream, frames: 1, bytes, first_us, last_us });
                }
            }
        }
        bursts
    }
}

impl Transfer {
    /// The body's bytes or, if unknown, the stream's bytes after `body_offset`.
    pub fn body_bytes_or_stream(&self) -> Option<u64> {
        self.body_bytes
            .or_else(|| self.stream_bytes.map(|bytes| bytes.saturating_sub(self.body_offset)))
    }

    /// Whether the log has no URL for it: then its stream's number is its name.
    pub fn is_nameless(&self) -> bool {
        self.url.strip_prefix("stream ").is_some_and(|id| id.parse() == Ok(self.stream))
    }
}

/// When one transfer's bytes became readable. QUIC delivers a stream in order, so a byte counts from the moment when it and all
/// bytes before it have arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Its stream.
    pub stream: u64,
    /// How the readable prefix of the stream grew; both fields increase from step to step.
    pub steps: Vec<DeliveryStep>,
    /// When all bytes `[0, stream_bytes)` were readable; `None` if they never were, or the end of the stream is unknown. An
    /// empty stream completes with its first frame, or without any with its request.
    pub complete_us: Option<u64>,
}

impl Delivery {
    /// The bytes that were readable at the end.
    pub fn readable_bytes(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.readable_bytes)
    }

    /// When the byte at `offset` of the stream was readable.
    pub fn readable_at_us(&self, offset: u64) -> Option<u64> {
        let step = self.steps.partition_point(|step| step.readable_bytes <= offset);
        self.steps.get(step).map(|step| step.time_us)
    }
}

/// A fiftieth of the duration of these frames, in microseconds, and the most bytes in one such window: the sustained rate of
/// the link. `frame` returns the time and bytes of each. `None` without frames.
pub fn busiest_fiftieth(count: usize, frame: impl Fn(usize) -> (u64, u64)) -> Option<(u64, u128)> {
    let last = count.checked_sub(1)?;
    let (first_us, last_us) = (frame(0).0, frame(last).0);
    let window_us = (last_us.saturating_sub(first_us) / 50).max(1);
    let (mut oldest, mut bytes, mut most_bytes) = (0, 0_u128, 0_u128);
    for (time_us, added) in (0..count).map(&frame) {
        bytes += u128::from(added);
        while frame(oldest).0.saturating_add(window_us) <= time_us {
            bytes -= u128::from(frame(oldest).1);
            oldest += 1;
        }
        most_bytes = most_bytes.max(bytes);
    }
    Some((window_us, most_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Timeline {
        fn assemblies(&self) -> BTreeMap<u64, Assembly> {
            let mut assemblies: BTreeMap<u64, Assembly> = BTreeMap::new();
            for frame in &self.frames {
                assemblies.entry(frame.stream).or_default().receive(frame);
            }
            assemblies
        }

        /// Distinct stream bytes over all streams, control streams included.
        pub(crate) fn unique_stream_bytes(&self) -> u64 {
            self.assemblies().values().map(|it| it.unique_bytes).sum()
        }

        fn duplicate_bytes(&self) -> u64 {
            self.assemblies().values().map(|it| it.duplicate_bytes).sum()
        }
    }

    fn transfer(stream_bytes: u64) -> Transfer {
        Transfer {
            stream: 0,
            body_offset: 10,
            stream_bytes: Some(stream_bytes),
            ..Transfer::default()
        }
    }

    fn timeline(stream_bytes: u64, frames: &[(u64, u64, u64)]) -> Timeline {
        Timeline {
            transfers: vec![transfer(stream_bytes)],
            frames: frames
                .iter()
                .map(|&(time_us, offset, bytes)| StreamFrame { time_us, stream: 0, offset, bytes })
                .collect(),
            ..Timeline::default()
        }
    }

    fn only(timeline: &Timeline) -> Delivery {
        timeline.deliveries().remove(0)
    }

    fn steps(delivery: &Delivery) -> Vec<(u64, u64)> {
        delivery.steps.iter().map(|step| (step.time_us, step.readable_bytes)).collect()
    }

    #[test]
    fn each_navigation_has_its_own_requests_and_its_own_time_zero() {
        let transfer = |stream, requested_us| Transfer {
            stream,
            requested_us,
            stream_bytes: Some(10),
            ..Transfer::default()
        };
        let frame = |stream, time_us| StreamFrame { time_us, stream, offset: 0, bytes: 10 };
        let whole = Timeline {
            transfers: vec![transfer(0, 5), transfer(15, 19), transfer(4, 20), transfer(8, 45)],
            // The push of stream 15 was promised to the first page and arrives during the second one; stream 3 is not a
            // transfer.
            frames: vec![frame(0, 9), frame(3, 10), frame(4, 30), frame(15, 31), frame(8, 50)],
            navigations_us: vec![20, 40],
            ..Timeline::default()
        };
        let parts = whole.by_navigation();
        let streams = |it: &Timeline| it.frames.iter().map(|it| it.stream).collect::<Vec<_>>();
        assert_eq!(
            parts.iter().map(streams).collect::<Vec<_>>(),
            [vec![0, 3, 15], vec![4], vec![8]]
        );
        let starts_us: Vec<_> = parts.iter().map(Timeline::start_us).collect();
        assert_eq!(starts_us, [Some(5), Some(20), Some(40)], "the third page began with its cache");
        assert_eq!(whole.start_us(), Some(5));
    }

    #[test]
    fn a_byte_behind_a_hole_waits_for_the_hole() {
        let delivery = only(&timeline(300, &[(1, 0, 100), (2, 200, 100), (3, 100, 100)]));
        assert_eq!(steps(&delivery), [(1, 100), (3, 300)]);
        assert_eq!(delivery.readable_at_us(99), Some(1));
        assert_eq!(delivery.readable_at_us(100), Some(3));
        assert_eq!(delivery.readable_at_us(250), Some(3));
        assert_eq!(delivery.readable_at_us(300), None);
        assert_eq!((delivery.readable_at_us(10), delivery.complete_us), (Some(1), Some(3)));
    }

    #[test]
    fn the_first_body_byte_comes_after_the_headers() {
        let timeline = timeline(20, &[(1, 0, 10), (2, 10, 1), (3, 11, 9)]);
        let body_offset = timeline.transfers[0].body_offset;
        assert_eq!(only(&timeline).readable_at_us(body_offset), Some(2));
    }

    #[test]
    fn retransmissions_count_as_duplicates_and_change_no_time() {
        let timeline = timeline(200, &[(1, 0, 100), (2, 0, 100), (3, 50, 100), (4, 150, 50)]);
        assert_eq!(steps(&only(&timeline)), [(1, 100), (3, 150), (4, 200)]);
        assert_eq!(timeline.duplicate_bytes(), 150);
    }

    #[test]
    fn a_frame_over_two_islands_joins_them() {
        let timeline = timeline(100, &[(1, 10, 10), (2, 30, 10), (3, 0, 100)]);
        assert_eq!(steps(&only(&timeline)), [(3, 100)]);
        assert_eq!(timeline.duplicate_bytes(), 20);
    }

    #[test]
    fn an_unfinished_stream_has_no_completion() {
        assert_eq!(only(&timeline(200, &[(1, 0, 100)])).complete_us, None);
        let mut open = timeline(200, &[(1, 0, 200)]);
        open.transfers[0].stream_bytes = None;
        assert_eq!(only(&open).complete_us, None);
    }

    #[test]
    fn an_empty_stream_completes_with_its_first_frame() {
        assert_eq!(only(&timeline(0, &[(7, 0, 0)])).complete_us, Some(7));
        assert_eq!(only(&timeline(0, &[])).complete_us, Some(0));
    }

    #[test]
    fn frames_of_unknown_streams_are_not_transfers() {
        let mut timeline = timeline(10, &[(1, 0, 10)]);
        timeline.frames.push(StreamFrame { time_us: 2, stream: 3, offset: 0, bytes: 5 });
        assert_eq!(timeline.deliveries().len(), 1);
        assert_eq!(timeline.unique_stream_bytes(), 15);
    }

    proptest! {
        /// The plain rule: a byte is readable at the latest first arrival of the bytes up to it.
        #[test]
        fn deliveries_follow_the_plain_rule(ranges in prop::collection::vec((0u64..60, 0u64..20), 0..40)) {
            let frames: Vec<(u64, u64, u64)> =
                ranges.iter().zip(1..).map(|(&(offset, bytes), time)| (time, offset, bytes)).collect();
            let mut arrival = [None; 80];
            for &(time, offset, bytes) in &frames {
                for byte in offset..offset + bytes {
                    arrival[usize::try_from(byte).unwrap()].get_or_insert(time);
                }
            }
            let timeline = timeline(80, &frames);
            let delivery = only(&timeline);
            let mut expected = Some(0);
            for (byte, &arrived) in arrival.iter().enumerate() {
                expected = expected.zip(arrived).map(|(earlier, now): (u64, u64)| earlier.max(now));
                prop_assert_eq!(delivery.readable_at_us(byte as u64), expected);
            }
            let unique = arrival.iter().flatten().count() as u64;
            prop_assert_eq!(timeline.unique_stream_bytes(), unique);
            let sent: u64 = frames.iter().map(|frame| frame.2).sum();
            prop_assert_eq!(timeline.duplicate_bytes(), sent - unique);
        }
    }
}
