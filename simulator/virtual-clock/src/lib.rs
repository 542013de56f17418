//! A clock and random bytes that a simulation controls, separately for each thread.
//!
//! quiche reads the system's monotonic clock itself and accepts no other. But `Instant::now` ends in the C library's
//! `clock_gettime`, and a function of that name in the executable takes its place (Linux, glibc, dynamically
//! linked). In a thread that has called [`set_ns`] it returns the thread's virtual time; everywhere else it forwards
//! to the C library's own, found once with `dlsym`, which uses the vDSO.
//!
//! quiche also generates random numbers itself, and `chance.rs` replaces its source in the same way.
//!
//! This is the only crate of the workspace with unsafe code. A program that links this crate and calls one of its
//! functions has both overrides; other programs are not affected. Only `CLOCK_MONOTONIC` is virtual: certificates
//! are checked against the real date.

mod chance;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
}

/// Sets this thread's virtual time, in nanoseconds. It must not decrease within a simulation. 0 restores real time.
pub fn set_ns(now_ns: u64) {
    NOW_NS.set(now_ns);
}

/// This thread's virtual time in nanoseconds; 0 in real time.
#[must_use]
pub fn now_ns() -> u64 {
    NOW_NS.get()
}

/// Virtual time during the lifetime of this value.
#[derive(Debug)]
pub struct VirtualTime(());

impl VirtualTime {
    /// Stops this thread's clock at `start_ns` (not 0) until [`set_ns`] moves it. Its transports' random numbers
    /// follow from `seed`.
    #[must_use]
    pub fn start(start_ns: u64, seed: u64) -> Self {
        set_ns(start_ns.max(1));
        chance::set_seed(seed);
        Self(())
    }
}

impl Drop for VirtualTime {
    fn drop(&mut self) {
        set_ns(0);
    }
}

/// The C library's `struct timespec` on 64-bit Linux.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: c_long,
}

type ClockGettime = unsafe extern "C" fn(c_int, *mut Timespec) -> c_int;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
}

const CLOCK_MONOTONIC: c_int = 1;
const NAME: &CStr = c"clock_gettime";

/// The next object in the search order after this one: the C library.
const RTLD_NEXT: *mut c_void = usize::MAX as *mut c_void;

static REAL: AtomicUsize = AtomicUsize::new(0);

#[expect(
    clippy::cast_possible_wrap,
    reason = "a remainder below a thousand million, and seconds since a start"
)]
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: c_int, out: *mut Timespec) -> c_int {
    let now_ns = NOW_NS.get();
    if now_ns == 0 || clock != CLOCK_MONOTONIC {
        return real(clock, out);
    }
    let now = Timespec {
        seconds: (now_ns / 1_000_000_000) as i64,
        nanoseconds: (now_ns % 1_000_000_000) as c_long,
    };
    // SAFETY: the caller of clock_gettime passes a valid pointer to a timespec, by its contract.
    unsafe { out.write(now) };
    0
}

fn real(clock: c_int, out: *mut Timespec) -> c_int {
    let mut address = REAL.load(Ordering::Relaxed);
    if address == 0 {
        // SAFETY: dlsym takes RTLD_NEXT and a string that ends in zero.
        address = unsafe { dlsym(RTLD_NEXT, NAME.as_ptr()) } as usize;
        REAL.store(address, Ordering::Relaxed);
    }
    if address == 0 {
        return -1;
    }
    // SAFETY: the C library's clock_gettime has this type, and dlsym found it.
    let function = unsafe { std::mem::transmute::<usize, ClockGettime>(address) };
    // SAFETY: the arguments are the caller's, which keep the function's contract.
    unsafe { function(clock, out) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the clock is what is tested")]
    fn a_thread_in_virtual_time_stands_still_while_others_go_on() {
        let virtual_time = VirtualTime::start(5_000_000_000, 0);
        let before = Instant::now();
        let real = std::thread::spawn(|| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(2) {
                std::hint::spin_loop();
            }
            now_ns()
        });
        assert_eq!(real.join().expect("no panic"), 0);
        assert_eq!(before.elapsed(), Duration::ZERO);
        set_ns(now_ns() + 1_500_000_000);
        assert_eq!(before.elapsed(), Duration::from_millis(1500));
        drop(virtual_time);
        assert!(Instant::now() != before);
    }
}
