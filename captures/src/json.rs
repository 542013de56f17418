//! Lists that are read entry by entry, so that a file with millions of entries is rejected before it
//! fills the memory; and values that browsers write in several ways.

use crate::limits::{NUMBER_MAX, REQUESTS_MAX};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// Passes each entry of a JSON list to `each`; an error from `each` stops reading.
pub fn each_entry(
    json: &[u8],
    each: impl FnMut(&Value) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = each_element(&mut reader, each).and_then(|()| reader.end());
    read.map_err(|error| error.to_string())
}

/// The same for a list inside a document; `null` counts as an empty list.
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

        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
            while let Some(entry) = entries.next_element::<Value>()? {
                (self.0)(&entry).map_err(Error::custom)?;
            }
            Ok(())
        }
    }

    list.deserialize_any(Entries(each))
}

/// Fails if a capture holds more than [`REQUESTS_MAX`] requests.
pub fn within_limit(requests: usize) -> Result<(), String> {
    if requests > REQUESTS_MAX {
        return Err(format!("holds more than {REQUESTS_MAX} requests; cut the recording"));
    }
    Ok(())
}

/// A string, or a number as a string; empty for other values.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A number, also one written as a string.
pub(crate) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|it| it.is_finite())
}

/// A size; may be written as a float or a string, or be negative if unknown.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub fn whole(value: &Value) -> u64 {
    number(value).unwrap_or(0.0).clamp(0.0, NUMBER_MAX) as u64
}

/// The same; `None` if it is 0 or unknown.
pub(crate) fn size(value: &Value) -> Option<u64> {
    Some(whole(value)).filter(|&it| it > 0)
}

/// The fields of a head: a list of `{name, value}` in HAR files, an object in `DevTools` logs.
pub(crate) fn fields(headers: &Value) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    let listed = headers.as_array().into_iter().flatten();
    let listed = listed.filter_map(|it| Some((it["name"].as_str()?, &it["value"])));
    let keyed =
        headers.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    listed.chain(keyed).map(|(name, value)| {
        (name, value.as_str().map_or_else(|| text(value).into(), Cow::Borrowed))
    })
}

/// The value of a field; empty if there is none.
pub(crate) fn field(headers: &Value, name: &str) -> String {
    let mut named = fields(headers).filter(|it| it.0.eq_ignore_ascii_case(name));
    named.next().map_or_else(String::new, |it| it.1.into_owned())
}
/// An error of `serde_json` without the names of the program's types.
pub fn json_cause(cause: &str) -> String {
    let Some((before, after)) = cause.split_once("expected struct ") else {
        return cause.to_owned();
    };
    let found = match before.strip_prefix("invalid type: ") {
        Some(found) => format!("{}, where ", found.trim_end_matches(", ")),
        None => "a list, where ".to_owned(),
    };
    let place = after.find(" at line ").map_or("", |it| &after[it..]);
    format!("{found}an object with keys is expected{place}")
}
