//! The calls that our server made to its scheduler, in their logged form
//! ([`Call::EVENT`](schedulers::Call::EVENT)).

use std::fmt;

use schedulers::{CallReader, Value};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::event::Text;
use super::tolerant::Whole;
use crate::trace::SchedulerCall;

impl SchedulerCall {
    pub(super) fn read(time_us: u64, data: &[u8]) -> serde_json::Result<Self> {
        let mut reader = CallReader::default();
        serde_json::Deserializer::from_slice(data).deserialize_map(Fields(&mut reader))?;
        let call = reader.finish().ok_or_else(|| Error::custom("not a scheduler call"))?;
        Ok(Self { time_us, call })
    }
}

/// Passes each field of an object, and of nested objects, to the reader.
struct Fields<'r>(&'r mut CallReader);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some((name, value)) = fields.next_entry::<&str, &RawValue>()? {
            field(name, value.get(), self.0).map_err(Error::custom)?;
        }
        Ok(())
    }
}

/// Fields never have lists or negative numbers.
fn field(name: &str, json: &str, reader: &mut CallReader) -> serde_json::Result<()> {
    match json.as_bytes().first() {
        Some(b'{') => serde_json::Deserializer::from_str(json).deserialize_map(Fields(reader))?,
        Some(b'"') => reader.field(name, Value::Text(serde_json::from_str::<Text<'_>>(json)?.0)),
        Some(b't' | b'f') => reader.field(name, Value::Flag(serde_json::from_str(json)?)),
        Some(b'0'..=b'9') => {
            reader.field(name, Value::Number(serde_json::from_str::<Whole>(json)?.0));
        }
        _ => {}
    }
    Ok(())
}
