//! The page that lists the logs of a directory, to open one or several of them.

use minijinja::{Value, context};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::templates::render;
use figures::number_texts::bytes_text;

const SCRIPT: &str = include_str!("../../templates/view/listing.js");
const STYLE: &str = include_str!("../../templates/view/report.css");

/// All characters except those that RFC 3986, section 2.3, calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedFile {
    /// Its name below the directory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// The page as HTML; without a directory, for dropped files. It sends names to `report?file=NAME`, and dropped files to
/// `upload?name=NAME`. If it `follows`, it requests `sizes`, and reloads files that have grown.
pub fn listing(directory: Option<&str>, files: &[ListedFile], follows: bool) -> String {
    let files = files.iter().map(|ListedFile { name, bytes }| {
        let query = utf8_percent_encode(name, RESERVED).to_string();
        context! { name, query, bytes, size => bytes_text(*bytes) }
    });
    let view = context! {
        directory => directory,
        follows => follows,
        files => files.collect::<Vec<Value>>(),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
    };
    render("listing.html", include_str!("../../templates/view/listing.html"), view)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_no_markup() {
        let name = "\"><script>alert(1)</script>.qlog".to_owned();
        let files = vec![ListedFile { name, bytes: 1_500_000 }];
        let html = listing(Some("/tmp/<b>"), &files, true);
        assert!(!html.contains("<script>alert") && !html.contains("<b>"), "{html}");
        assert!(html.contains("1.50 MB"));
    }
}
