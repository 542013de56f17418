//! Any `Priority` field is read or refused, and what was read is the same when written and read again.
#![no_main]

use http3::{parse_priority, priority_field};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|field: &[u8]| {
    let Ok(priority) = parse_priority(field) else { return };
    let (urgency, incremental) = (priority.urgency_or_default(), priority.incremental_or_default());
    assert!(urgency <= 7);
    let written = priority_field(urgency, incremental);
    let again = parse_priority(written.as_bytes()).expect("our own field is well-formed");
    assert_eq!(
        (again.urgency_or_default(), again.incremental_or_default()),
        (urgency, incremental)
    );
});
