//! A kind of resource as JSON: its name.

use schedulers::Kind;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// Writes the name.
pub fn serialize<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

/// Reads a name.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    let name = String::deserialize(deserializer)?;
    Kind::named(&name).ok_or_else(|| D::Error::unknown_variant(&name, &Kind::NAMES))
}
