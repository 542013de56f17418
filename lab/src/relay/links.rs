//! The two links of a network, on a relay's clock.

use super::now;
use simulator::link::{Link, Profile, Way};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Both directions, starting at a given moment.
pub(super) struct Links {
    start: Instant,
    down: Link,
    up: Link,
}

impl Links {
    /// Starts the links, down and up; the same seed gives the same links.
    pub(super) fn start(profiles: [&Profile; 2], seed: u64, is_logged: bool) -> Self {
        let [down, up] =
            [(profiles[0], Way::Down), (profiles[1], Way::Up)].map(|(profile, way)| {
                let link = Link::new(profile, way, seed);
                if is_logged { link.logged() } else { link }
            });
        Self { start: now(), down, up }
    }

    pub(super) fn offer(&mut self, way: Way, datagram: Vec<u8>) {
        let now_ns = self.now_ns();
        self.link(way).offer(now_ns, datagram);
    }

    pub(super) fn arrival(&mut self, way: Way) -> Option<Vec<u8>> {
        let now_ns = self.now_ns();
        self.link(way).arrival(now_ns)
    }

    pub(super) fn next(&self) -> Option<Instant> {
        let next_ns = [self.down.next_ns(), self.up.next_ns()].into_iter().flatten().min()?;
        Some(self.start + Duration::from_nanos(next_ns))
    }

    /// Writes the decisions since the last call.
    pub(super) fn write_log(&mut self, log: &mut dyn Write) -> io::Result<()> {
        for entry in self.down.take_log().into_iter().chain(self.up.take_log()) {
            log.write_all(entry.json_line().as_bytes())?;
        }
        Ok(())
    }

    fn link(&mut self, way: Way) -> &mut Link {
        match way {
            Way::Down => &mut self.down,
            Way::Up => &mut self.up,
        }
    }

    fn now_ns(&self) -> u64 {
        let since = now().saturating_duration_since(self.start);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}
