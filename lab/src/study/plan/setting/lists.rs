//! The lists of values that a study combines.

use super::Setting;
use crate::study::Dimension;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::fmt::Display;

/// Adds a parsed value; false if it is already listed.
pub(super) fn add<T: PartialEq>(
    list: &mut Vec<T>,
    value: Result<T, impl Display>,
) -> Result<bool, String> {
    let value = value.map_err(|it| it.to_string())?;
    let is_new = !list.contains(&value);
    list.extend(is_new.then_some(value));
    Ok(is_new)
}

/// A value as files name it.
pub(super) fn by_name<T: DeserializeOwned>(name: &str) -> serde_json::Result<T> {
    serde_json::from_value(json!(name))
}

/// Combines each of `settings` to which the dimension applies with each of `values`; leaves others, and without values all,
/// unchanged.
pub(super) fn spread<T: Copy>(
    dimension: &Dimension,
    settings: Vec<Setting>,
    values: &[T],
    set: fn(&mut Setting, T),
) -> Vec<Setting> {
    let mut spread = Vec::new();
    for setting in settings {
        if values.is_empty() || !(dimension.applies)(&setting) {
            spread.push(setting);
            continue;
        }
        for value in values {
            let mut with = setting.clone();
            set(&mut with, *value);
            spread.push(with);
        }
    }
    spread
}
