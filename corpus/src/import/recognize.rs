//! Tells a recording's format by what is in it, and reads long lists entry by entry, so that a file of
//! millions of entries is refused before it fills the memory.

use super::devtools::DevtoolsLog;
use super::resource_list::FileSize;
use super::wprofx::WprofxLog;
use super::{ImportError, Imported, Label, har, package_page, resource_list};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Most entries (requests, events about requests, objects) of a recording.
pub const ENTRIES_MAX: usize = 200_000;

/// Imports the recording in `text`; `file_size` knows the files that a resource list names.
pub(super) fn import_text(
    text: &str,
    label: Label,
    file_size: FileSize<'_>,
) -> Result<Imported, ImportError> {
    match text.trim_start().as_bytes().first() {
        None => Err(ImportError::Format("is empty".to_owned())),
        Some(b'[') => import_list(text, label),
        _ => import_object(text, label, file_size),
    }
}

fn import_object(
    text: &str,
    label: Label,
    file_size: FileSize<'_>,
) -> Result<Imported, ImportError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let keys = match reader.deserialize_any(Keys) {
        Ok(keys) => keys,
        Err(error) => return Err(ImportError::Format(format!("is not JSON: {error}"))),
    };
    let has = |key: &str| keys.iter().any(|it| it == key);
    if has("log") {
        har::har(text, label)
    } else if has("res") {
        package_page::package_page(text, label)
    } else if has("method") || has("message") {
        import_lines(text, label)
    } else if has("format") {
        let cause = "has the key `format`: it is a page or a result already, not a recording";
        Err(ImportError::Format(cause.to_owned()))
    } else if has("resources") {
        resource_list::resource_list(text, label, file_size)
    } else if has("traceEvents") {
        let cause = "is a Chrome trace, which has no sizes; record a HAR file or a DevTools log";
        Err(ImportError::Format(cause.to_owned()))
    } else {
        let cause = "is neither HAR (key `log`) nor a DevTools log (a list of {method, params}) nor \
                     WProfX (a list of {id, objs}) nor a resource list (key `resources`) nor a \
                     package page (key `res`)";
        Err(ImportError::Format(cause.to_owned()))
    }
}

fn import_list(text: &str, label: Label) -> Result<Imported, ImportError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let list = reader
        .deserialize_seq(Entries { list: List::Undecided, fill: List::take })
        .and_then(|list| reader.end().map(|()| list));
    match list {
        Ok(list) => list.finish(label),
        Err(error) => Err(ImportError::Format(format!("is not a list of events: {error}"))),
    }
}

/// A `DevTools` log with one JSON object on each line.
fn import_lines(text: &str, label: Label) -> Result<Imported, ImportError> {
    let mut log = DevtoolsLog::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_end_matches(',');
        if line.is_empty() {
            continue;
        }
        let event: Value = serde_json::from_str(line).map_err(|error| {
            ImportError::Format(format!("line {}: is not JSON: {error}", index + 1))
        })?;
        log.take(&event).map_err(ImportError::Format)?;
    }
    log.finish(label)
}

/// What a list is, told by its first entry.
enum List {
    Undecided,
    Devtools(DevtoolsLog),
    Wprofx(WprofxLog),
}

impl List {
    fn take(&mut self, entry: &Value) -> Result<(), String> {
        if matches!(self, Self::Undecided) {
            *self = if entry.get("objs").is_some() {
                Self::Wprofx(WprofxLog::default())
            } else {
                Self::Devtools(DevtoolsLog::default())
            };
        }
        match self {
            Self::Devtools(log) => log.take(entry),
            Self::Wprofx(log) => log.take(entry),
            Self::Undecided => Ok(()),
        }
    }

    fn finish(self, label: Label) -> Result<Imported, ImportError> {
        match self {
            Self::Undecided => Err(ImportError::Format("is an empty list".to_owned())),
            Self::Devtools(log) => log.finish(label),
            Self::Wprofx(log) => log.finish(label),
        }
    }
}

/// Reads a list entry by entry into `list`.
pub(super) struct Entries<T> {
    pub(super) list: T,
    pub(super) fill: fn(&mut T, &Value) -> Result<(), String>,
}

impl<'de, T> Visitor<'de> for Entries<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> Result<T, A::Error> {
        while let Some(entry) = entries.next_element::<Value>()? {
            (self.fill)(&mut self.list, &entry).map_err(serde::de::Error::custom)?;
        }
        Ok(self.list)
    }
}

/// The outermost keys, the rest skipped. Of a file with an object on each line, those of the first.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Vec<String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Vec<String>, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, _)) = object.next_entry::<String, IgnoredAny>()? {
            if keys.len() < 64 {
                keys.push(key);
            }
        }
        Ok(keys)
    }
}

/// The error of a recording with more entries than [`ENTRIES_MAX`].
pub(super) fn within_entries(count: usize) -> Result<(), String> {
    if count > ENTRIES_MAX {
        return Err(format!("holds more than {ENTRIES_MAX} requests; cut the recording"));
    }
    Ok(())
}
