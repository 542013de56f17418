#![no_main]

use fuzz_targets::session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| session::play(data));
