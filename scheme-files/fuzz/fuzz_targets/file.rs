//! Any text as a scheme file: it does not panic, and a scheme that it is keeps a rule of all schemes.
//!
//! `cargo +nightly fuzz run --fuzz-dir scheme-files/fuzz file`

#![no_main]

use libfuzzer_sys::fuzz_target;
use schedulers::conformance::CHECKS;
use std::sync::Arc;

fuzz_target!(|text: &str| {
    if let Ok(file) = scheme_files::parse(text, "fuzz.toml", Arc::new(|_| {})) {
        let check = &CHECKS[0];
        assert_eq!(check.run(&file.scheme, 3), Ok(()), "{}", check.rule);
    }
});
