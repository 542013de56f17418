#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| qlog_fuzz::browser(data));
