//! The calls that our server made to its scheduler, as it logs them ([`Call::EVENT`]).

use std::fmt;

use schedulers::{CallReader, Value};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::tolerant::{Whole, WholeVisitor};
use crate::trace::SchedulerCall;

impl SchedulerCall {
    pub(super) fn read(time_us: u64, data: &[u8]) -> serde_json::Result<Self> {
        let mut reader = CallReader::default();
        serde_json::Deserializer::from_slice(data).deserialize_map(Fields(&mut reader))?;
        let call = reader.finish().ok_or_else(|| Error::custom("not a scheduler call"))?;
        Ok(Self { time_us, call })
    }
}

/// Gives each field of an object to the reader, also those of objects in it.
struct Fields<'r>(&'r mut CallReader);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key()? {
            fields.next_value_seed(Field { name, reader: self.0 })?;
        }
        Ok(())
    }
}

struct Field<'r, 'de> {
    name: &'de str,
    reader: &'r mut CallReader,
}

impl<'de> DeserializeSeed<'de> for Field<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Field<'_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.reader.field(self.name, Value::Flag(flag));
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.reader.field(self.name, Value::Number(number));
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        let Whole(number) = WholeVisitor.visit_f64(number)?;
        self.visit_u64(number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.reader.field(self.name, Value::Text(text.into()));
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<(), A::Error> {
        Fields(self.reader).visit_map(fields)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
