#![no_main]

use fuzz_targets::gateway;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gateway::play(data));
