//! Any recording, in any of the formats, is a page that passes its checks, or is refused in one line.
#![no_main]

use corpus::import::{Addresses, Label, import_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let label = Label {
        name: "fuzzed".to_owned(),
        from: "a recording".to_owned(),
        licence: "none".to_owned(),
        sha256: None,
        addresses: Addresses::default(),
        load: None,
        site: None,
    };
    match import_text(text, label) {
        Ok(imported) => {
            assert_eq!(corpus::check(&imported.page), []);
            let again = corpus::Page::parse(&imported.page.to_text(), "again");
            assert_eq!(again.as_ref().map_err(ToString::to_string), Ok(&imported.page));
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
});
