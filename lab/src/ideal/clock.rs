//! The slots of the engine.

use crate::network::{Network, PACKET_BYTES, rounded};

/// Packet `n` leaves in slot `n` and arrives one delay after the slot's end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) tick_us: f64,
    pub(crate) packet_bytes: u64,
    pub(crate) up_us: u64,
    pub(crate) down_us: u64,
}

impl Clock {
    /// Slots of `packet_bytes` on `network`; the engine uses [`PACKET_BYTES`].
    pub(crate) fn new(network: &Network, packet_bytes: u64) -> Self {
        Self {
            tick_us: network.tick_us() * packet_bytes as f64 / PACKET_BYTES as f64,
            packet_bytes,
            up_us: micros(network.up.delay_ms),
            down_us: micros(network.down.delay_ms),
        }
    }

    pub(crate) fn time_us(self, slot: u64) -> u64 {
        rounded(slot as f64 * self.tick_us)
    }

    pub(crate) fn arrival_us(self, slot: u64) -> u64 {
        self.time_us(slot + 1) + self.down_us
    }

    /// The first slot that begins at `time_us` or later.
    pub(crate) fn first_slot(self, time_us: u64) -> u64 {
        let mut slot = rounded(time_us as f64 / self.tick_us);
        while slot > 0 && self.time_us(slot - 1) >= time_us {
            slot -= 1;
        }
        while self.time_us(slot) < time_us {
            slot += 1;
        }
        slot
    }
}

pub(crate) fn micros(ms: f64) -> u64 {
    rounded(ms * 1000.0)
}
