//! Lists that are read entry by entry, so that a file of millions of entries is rejected before it fills
//! the memory, and values that browsers write in several ways.

use crate::limits::{NUMBER_MAX, REQUESTS_MAX};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Gives each entry of a JSON list to `each`; an error of `each` ends the reading.
pub fn each_entry(
    json: &[u8],
    each: impl FnMut(&Value) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = each_element(&mut reader, each).and_then(|()| reader.end());
    read.map_err(|error| error.to_string())
}

/// The same for a list within a document.
pub(crate) fn each_element<'de, D: Deserializer<'de>>(
    list: D,
    each: impl FnMut(&Value) -> Result<(), String>,
) -> Result<(), D::Error> {
    struct Entries<F>(F);

    impl<'de, F: FnMut(&Value) -> Result<(), String>> Visitor<'de> for Entries<F> {
        type Value = ();

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a list of entries")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
            while let Some(entry) = entries.next_element::<Value>()? {
                (self.0)(&entry).map_err(Error::custom)?;
            }
            Ok(())
        }
    }

    list.deserialize_seq(Entries(each))
}

/// An error if a capture holds more than [`REQUESTS_MAX`] requests.
pub fn within_limit(requests: usize) -> Result<(), String> {
    if requests > REQUESTS_MAX {
        return Err(format!("holds more than {REQUESTS_MAX} requests; cut the recording"));
    }
    Ok(())
}

/// A text; empty if the value is not one.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A size, which may be written as a float, or be negative if it is not known.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub fn whole(value: &Value) -> u64 {
    value.as_f64().unwrap_or(0.0).clamp(0.0, NUMBER_MAX) as u64
}
