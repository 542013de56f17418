//! The type of a file by its name, compressed or not.

use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    Qlog,
    Har,
    Json,
    SomethingElse,
}

pub(crate) const QLOG_ENDINGS: [&str; 4] = ["qlog", "sqlog", "qlognd", "qlogseq"];
const COMPRESSED: [&str; 2] = ["gz", "zst"];

pub(crate) fn called(path: &Path) -> Called {
    parts(path).1
}

/// A file's name without known extensions, and its type.
pub(crate) fn parts(path: &Path) -> (String, Called) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = match ending_of(&name) {
        Some((plain, ending)) if COMPRESSED.contains(&&*ending) => plain,
        _ => &name,
    };
    let (stem, ending) = ending_of(plain).unwrap_or_default();
    let called = match &*ending {
        it if QLOG_ENDINGS.contains(&it) => Called::Qlog,
        "har" => Called::Har,
        "json" => Called::Json,
        _ => return (plain.to_owned(), Called::SomethingElse),
    };
    (stem.to_owned(), called)
}

fn ending_of(name: &str) -> Option<(&str, String)> {
    name.rsplit_once('.').map(|(stem, ending)| (stem, ending.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_file_is_whatever_compressed_it() {
        let expected = [
            ("logs/a.qlog", "a", Called::Qlog),
            ("a.SQLOG.gz", "a", Called::Qlog),
            ("a.b.qlognd.zst", "a.b", Called::Qlog),
            ("a.qlogseq.GZ", "a", Called::Qlog),
            ("a.har.gz", "a", Called::Har),
            ("a.json", "a", Called::Json),
            ("a.txt.gz", "a.txt", Called::SomethingElse),
            ("a.gz", "a", Called::SomethingElse),
            ("qlog", "qlog", Called::SomethingElse),
        ];
        for (path, stem, is) in expected {
            assert_eq!(parts(Path::new(path)), (stem.to_owned(), is), "{path}");
        }
    }
}
