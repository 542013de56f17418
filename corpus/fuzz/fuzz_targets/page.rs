//! Any text is a page or is refused in one line; what was read is the same when written and read again.
#![no_main]

use corpus::Page;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Page::parse(text, "fuzzed.json") {
        Ok(page) => {
            let again = Page::parse(&page.to_text(), "again.json");
            assert_eq!(again.as_ref().map_err(ToString::to_string), Ok(&page));
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
});
