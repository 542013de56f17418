//! The page that lists the logs of a directory, to open one or several of them.

use minijinja::{Value, context};

use crate::figures::bytes_text;
use crate::templates::render;

const SCRIPT: &str = include_str!("../../templates/view/listing.js");
const STYLE: &str = include_str!("../../templates/view/report.css");

/// What the page lists.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The directory.
    pub directory: String,
    /// Its logs.
    pub files: Vec<ListedFile>,
}

/// One log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedFile {
    /// Its name below the directory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// The page as HTML. It sends names to `report?file=NAME`, and dropped files to `upload?name=NAME`.
pub fn listing(listing: &Listing) -> String {
    let files: Vec<Value> = listing
        .files
        .iter()
        .map(|file| context! { name => &file.name, query => encoded(&file.name), size => bytes_text(file.bytes) })
        .collect();
    let view = context! {
        directory => &listing.directory,
        files => files,
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
    };
    render("listing.html", include_str!("../../templates/view/listing.html"), view)
}

/// Percent-encoded (RFC 3986, section 2.1).
fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_no_markup() {
        let name = "\"><script>alert(1)</script>.qlog".to_owned();
        let files = vec![ListedFile { name, bytes: 1_500_000 }];
        let html = listing(&Listing { directory: "/tmp/<b>".to_owned(), files });
        assert!(!html.contains("<script>alert") && !html.contains("<b>"), "{html}");
        assert!(html.contains("1.50 MB"));
    }
}
