#![no_main]

use fuzz_targets::migration;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| migration::play(data));
