//! Repeatable random bytes for simulations.
//!
//! quiche skips packet numbers at random, and a skipped number makes acknowledgements longer: a queue may then drop another
//! packet. quiche uses `RAND_bytes` of `BoringSSL`. The linker finds the function of that name here first and uses it
//! instead. In a thread with virtual time, its bytes follow from the seed; everywhere else, they come from the operating
//! system.

use std::cell::Cell;
use std::ffi::{c_int, c_uint};

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn set_seed(seed: u64) {
    STATE.set(seed);
}

/// `SplitMix64` (Steele, Lea, Flood, 2014).
fn draw() -> u64 {
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

unsafe extern "C" {
    /// The C library's function: bytes from the operating system.
    fn getrandom(bytes: *mut u8, count: usize, flags: c_uint) -> isize;
}

/// # Safety
///
/// `bytes` must be valid for writes of `count` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn RAND_bytes(bytes: *mut u8, count: usize) -> c_int {
    if count == 0 {
        return 1;
    }
    // SAFETY: the caller of RAND_bytes passes memory for `count` bytes, by its contract.
    let bytes = unsafe { std::slice::from_raw_parts_mut(bytes, count) };
    if crate::now_ns() == 0 {
        fill_from_system(bytes);
    } else {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&draw().to_le_bytes()[..piece.len()]);
        }
    }
    1
}

/// Never returns fewer bytes, because keys are made from them.
fn fill_from_system(bytes: &mut [u8]) {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        // SAFETY: the slice is valid for writes of its length.
        let taken = unsafe { getrandom(rest.as_mut_ptr(), rest.len(), 0) };
        match usize::try_from(taken) {
            Ok(taken) => filled += taken,
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {
            }
            Err(_) => std::process::abort(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VirtualTime;

    fn drawn() -> [u8; 12] {
        let mut bytes = [0; 12];
        // SAFETY: the array is valid for writes of its length.
        assert_eq!(unsafe { RAND_bytes(bytes.as_mut_ptr(), bytes.len()) }, 1);
        bytes
    }

    #[test]
    fn bytes_follow_the_seed_in_virtual_time_and_nothing_outside_of_it() {
        let in_virtual_time = |seed| {
            let _virtual_time = VirtualTime::start(1, seed);
            drawn()
        };
        // The first number of SplitMix64 with seed 0.
        let first = [0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8, 0x20, 0xe2];
        assert_eq!(in_virtual_time(0)[..8], first);
        assert_eq!(in_virtual_time(7), in_virtual_time(7));
        assert_ne!(in_virtual_time(7), in_virtual_time(8));
        assert_ne!(drawn(), drawn());
    }
}
