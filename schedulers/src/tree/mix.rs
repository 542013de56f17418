//! Hashes for the names of nodes, which are looked up for each packet. The transport limits which names a client can use, so it
//! gains nothing from names with colliding hashes.

use std::hash::Hasher;

/// Multiplies each number of a name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        // A product's upper bits depend on all bits of its number; a map uses the lower ones first.
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number.unsigned_abs() as u64);
    }
}
