//! Any text is a query, which any page answers, or is refused in one line that names a place in it.
#![no_main]

use corpus::Query;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Query::parse(text) {
        Ok(query) => {
            let page = corpus::bundled("davies-meenan").expect("bundled");
            let _ = query.matches(page);
        }
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.column), "{error}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
});
