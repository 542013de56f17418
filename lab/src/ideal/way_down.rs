//! Packets in flight to the client.

use qlog_tools::assembly::StreamFrame;
use simulator::link::{Link, Profile, Rate, Way};
use std::collections::VecDeque;

/// The downlink. Packets leave at their slots, not at a link's rate.
#[derive(Clone)]
pub(super) enum WayDown {
    /// Packets arrive in order.
    InOrder(VecDeque<StreamFrame>),
    /// The paper's jitter: some packets overtake others.
    Jittered(Box<Link<Packet>>),
}

/// A packet without a size, so that the link's rate and queue do not affect it.
#[derive(Debug, Clone)]
pub(super) struct Packet(StreamFrame);

impl AsMut<[u8]> for Packet {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut []
    }
}

impl Default for WayDown {
    fn default() -> Self {
        Self::InOrder(VecDeque::new())
    }
}

impl WayDown {
    /// With the jitter of `profile`, if it has any.
    pub(super) fn new(profile: &Profile, seed: u64) -> Self {
        if profile.jitter.is_none() {
            return Self::default();
        }
        let profile = Profile { rate: Rate::Constant(f64::INFINITY), ..profile.clone() };
        Self::Jittered(Box::new(Link::new(&profile, Way::Down, seed)))
    }

    /// A packet leaves. In order, it arrives at its own time.
    pub(super) fn send(&mut self, departs_us: u64, frame: StreamFrame) {
        match self {
            Self::InOrder(frames) => frames.push_back(frame),
            Self::Jittered(link) => link.offer(departs_us * 1000, Packet(frame)),
        }
    }

    pub(super) fn next_us(&self) -> Option<u64> {
        match self {
            Self::InOrder(frames) => frames.front().map(|it| it.time_us),
            Self::Jittered(link) => link.next_ns().map(|it| it.div_ceil(1000)),
        }
    }

    /// The next packet that has arrived by `now_us`.
    pub(super) fn arrival(&mut self, now_us: u64) -> Option<StreamFrame> {
        match self {
            Self::InOrder(frames) => {
                frames.front().filter(|it| it.time_us <= now_us)?;
                frames.pop_front()
            }
            Self::Jittered(link) => {
                let Packet(frame) = link.arrival(now_us * 1000)?;
                Some(StreamFrame { time_us: now_us, ..frame })
            }
        }
    }

    /// The packets in flight, if they arrive in order.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &StreamFrame> {
        match self {
            Self::InOrder(frames) => Some(frames),
            Self::Jittered(_) => None,
        }
        .into_iter()
        .flatten()
    }
}
