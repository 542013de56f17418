//! The paper's jitter on the engine `ideal`: packets go through a link that has no rate of its own.

use qlog_tools::timeline::StreamFrame;
use simulator::link::{Link, Profile, Rate, Way};

/// Packets on their way down a link with jitter.
pub(super) struct Jittered {
    link: Link,
    frames: Vec<StreamFrame>,
}

impl Jittered {
    /// Packets leave when the tick says, not when the link's rate does.
    pub(super) fn new(profile: &Profile, seed: u64) -> Self {
        let profile = Profile { rate: Rate::Constant(f64::INFINITY), ..profile.clone() };
        Self { link: Link::new(&profile, Way::Down, seed), frames: Vec::new() }
    }

    /// A packet leaves.
    pub(super) fn depart(&mut self, departs_us: u64, frame: StreamFrame) {
        let place = self.frames.len() as u64;
        self.frames.push(frame);
        self.link.offer(departs_us * 1000, place.to_le_bytes().to_vec());
    }

    /// When the next packet arrives.
    pub(super) fn next_us(&self) -> Option<u64> {
        self.link.next_ns().map(|it| it.div_ceil(1000))
    }

    /// The next packet that has arrived by `now_us`.
    pub(super) fn arrival(&mut self, now_us: u64) -> Option<StreamFrame> {
        let place = self.link.arrival(now_us * 1000)?;
        let place = u64::from_le_bytes(place.try_into().ok()?);
        let frame = self.frames.get(usize::try_from(place).ok()?)?;
        Some(StreamFrame { time_us: now_us, ..*frame })
    }
}
