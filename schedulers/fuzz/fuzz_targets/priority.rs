//! Any `priority` field is read or rejected, and what was read is the same when written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedulers::Priority;

fuzz_target!(|field: &[u8]| {
    let Ok(priority) = Priority::parse(field) else { return };
    assert!(priority.urgency_or_default() <= 7);
    let written = priority.to_string();
    assert_eq!(Priority::parse(written.as_bytes()), Ok(priority));
});
