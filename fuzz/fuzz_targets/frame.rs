#![no_main]

use fuzz_targets::frame;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| frame::play(data));
