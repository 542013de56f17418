//! Numbers as stacks write them: as numbers or as strings.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::saturating_cast::to_u64;

/// A whole number, written `4`, `4.0` or `"4"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole(pub(crate) u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor)
    }
}

pub(super) struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number, or one in a string")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
        if !(0.0..=9e15).contains(&number) || number.fract() != 0.0 {
            return Err(E::custom("not a whole number"));
        }
        Ok(Whole(to_u64(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Whole, E> {
        text.parse().map(Whole).map_err(E::custom)
    }
}

/// A number, written `4.5` or `"4.5"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number(pub(crate) f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, or one in a string")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
        Ok(Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        text.parse().map(Number).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_are_the_same() {
        let read = |json| serde_json::from_str::<Whole>(json).ok().map(|whole| whole.0);
        assert_eq!(read("4"), Some(4));
        assert_eq!(read("4.0"), Some(4));
        assert_eq!(read("\"4\""), Some(4));
        for wrong in ["-4", "4.5", "\"x\"", "null", "[]", "1e300"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
