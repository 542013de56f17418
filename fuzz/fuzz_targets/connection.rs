#![no_main]

use fuzz_targets::connection;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| connection::play(data));
