//! The formats of recordings, one row each, recognized by their outermost keys.

use super::{
    ImportError, Imported, Recording, capture, package_page, refuse, resource_list,
    resource_timing, wprofx,
};
use crate::limits::KEYS_MAX;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A format and its reader.
pub struct Importer {
    /// The format's name.
    pub name: &'static str,
    /// How to recognize its files, and which programs write them.
    pub form: &'static str,
    recognizes: fn(&Outline) -> bool,
    read: fn(Recording<'_>) -> Result<Imported, ImportError>,
}

/// All formats. The first one that recognizes a file reads it.
pub static IMPORTERS: [Importer; 6] = [
    Importer {
        name: "HAR",
        form: "an object with the key `log`, of browsers, sitespeed.io, WebPageTest",
        recognizes: |it| !it.is_list && it.has("log"),
        read: capture::har,
    },
    Importer {
        name: "package page",
        form: "an object with the key `res`",
        recognizes: |it| !it.is_list && it.has("res"),
        read: package_page::package_page,
    },
    Importer {
        name: "WProfX",
        form: "a list of {id, objs}",
        recognizes: |it| it.is_list && it.has("objs"),
        read: wprofx::wprofx,
    },
    Importer {
        name: "Resource Timing",
        form: "a list of {entryType, name}: the JSON of performance.getEntries()",
        recognizes: |it| it.is_list && it.has("entryType"),
        read: resource_timing::resource_timing,
    },
    Importer {
        name: "DevTools log",
        form: "a list of {method, params}, or one on each line",
        recognizes: |it| it.is_list || it.has("method") || it.has("message"),
        read: capture::devtools,
    },
    Importer {
        name: "resource list",
        form: "{\"resources\": {PATH: METADATA}}, of the paper's implementation; the \
               files beside it have the sizes",
        recognizes: |it| it.has("resources") && !it.has("format"),
        read: resource_list::resource_list,
    },
];

pub(super) fn import_any(recording: Recording<'_>) -> Result<Imported, ImportError> {
    // The records of a qlog in JSON-SEQ (RFC 7464) begin with this mark.
    let text = recording.text.trim_start_matches(['\u{1e}', ' ', '\t', '\r', '\n']);
    if text.is_empty() {
        return refuse("is empty");
    }
    let mut outline = Outline::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    // Only the first entry of a list is read here.
    if let Err(error) = reader.deserialize_any(&mut outline)
        && !outline.is_list
    {
        return refuse(format!("is not JSON: {error}"));
    }
    if outline.is_list && outline.has("log") {
        return refuse(
            "is a list with a HAR file in it, as `jq -s` writes; take it out with `jq '.[0]'`",
        );
    }
    if let Some(importer) = IMPORTERS.iter().find(|importer| (importer.recognizes)(&outline)) {
        return (importer.read)(recording);
    }
    if LOG_KEYS.iter().any(|key| outline.has(key)) {
        let cause = "is a log of a connection, not a recording of a page; `utmost what-if` and `utmost find` read it";
        return refuse(cause.to_owned());
    }
    if outline.has("format") {
        return refuse("has the key `format`: it is a page or a result already, not a recording");
    }
    if outline.has("traceEvents") {
        return refuse(
            "is a Chrome trace, which has no sizes; record a HAR file or a DevTools log",
        );
    }
    let forms = IMPORTERS.iter().map(|it| format!("{} ({})", it.name, it.form));
    refuse(format!("is in an unknown format; known are {}", forms.collect::<Vec<_>>().join("; ")))
}

/// Keys of qlogs, and of Chromium's netlogs.
const LOG_KEYS: [&str; 4] = ["qlog_version", "qlog_format", "file_schema", "constants"];

/// The outermost keys: of an object, or of a list's first entry. For a file with an object on each
/// line, of the first object.
#[derive(Default)]
struct Outline {
    is_list: bool,
    keys: Vec<String>,
}

impl Outline {
    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|it| it == key)
    }
}

impl<'de> Visitor<'de> for &mut Outline {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some((key, _)) = object.next_entry::<String, IgnoredAny>()? {
            if self.keys.len() < KEYS_MAX {
                self.keys.push(key);
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.is_list = true;
        let first = list.next_element::<serde_json::Map<String, serde_json::Value>>()?;
        self.keys.extend(first.into_iter().flatten().map(|(key, _)| key));
        Ok(())
    }
}
