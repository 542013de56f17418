//! `when = { kind = "css", in_head = true }`: conditions on a resource.

use crate::error::{Fault, near};
use crate::limits::PLACES_MAX;
use schedulers::{Condition, FACTS, Kind};
use toml::{Table, Value};

/// One condition, or a list of which any must hold. `at`: where it stands.
pub(crate) fn conditions(value: &Value, at: usize) -> Result<Vec<Condition>, Fault> {
    match value {
        Value::Table(table) => Ok(vec![condition(table, at)?]),
        Value::Array(list) if list.is_empty() => Fault::at(
            at,
            "`when` is an empty list: remove it for a place that takes every resource",
        ),
        Value::Array(list) if list.len() > PLACES_MAX => {
            Fault::at(at, format!("`when` has more than {PLACES_MAX} conditions"))
        }
        Value::Array(list) => list.iter().map(|it| conditions_in_list(it, at)).collect(),
        _ => wrong_form(at),
    }
}

fn conditions_in_list(value: &Value, at: usize) -> Result<Condition, Fault> {
    value.as_table().map_or_else(|| wrong_form(at), |table| condition(table, at))
}

fn wrong_form<T>(at: usize) -> Result<T, Fault> {
    Fault::at(
        at,
        "`when` must be a table of facts, as { kind = \"css\", in_head = true }, or a list of such",
    )
}

fn condition(table: &Table, at: usize) -> Result<Condition, Fault> {
    if table.is_empty() {
        return Fault::at(
            at,
            "`when` names no fact: remove it for a place that takes every resource",
        );
    }
    let mut condition = Condition::default();
    for (key, value) in table {
        match key.as_str() {
            "kind" => condition.kinds = kinds(value, at)?,
            "bytes_from" => condition.bytes_from = Some(bytes(key, value, at)?),
            "bytes_below" => condition.bytes_below = Some(bytes(key, value, at)?),
            name => {
                let Some(fact) = FACTS.iter().find(|it| it.name == name) else {
                    return unknown(name, at);
                };
                let Some(holds) = value.as_bool() else {
                    return Fault::at(at, format!("`{name}` must be true or false"));
                };
                condition.facts.push((fact, holds));
            }
        }
    }
    Ok(condition)
}

fn unknown<T>(name: &str, at: usize) -> Result<T, Fault> {
    let names =
        || ["kind", "bytes_from", "bytes_below"].into_iter().chain(FACTS.iter().map(|it| it.name));
    let near = near(name, names());
    let all = names().collect::<Vec<_>>().join(", ");
    Fault::at(at, format!("`{}` is not a fact{near}; use one of {all}", name.escape_default()))
}

/// A kind, or a list of kinds.
fn kinds(value: &Value, at: usize) -> Result<Vec<Kind>, Fault> {
    let wrong = || Fault::at(at, "`kind` must be a kind in quotes, or a list of kinds");
    match value {
        Value::String(name) => Ok(vec![kind(name, at)?]),
        Value::Array(list) if list.is_empty() => wrong(),
        Value::Array(list) => list
            .iter()
            .map(|it| it.as_str().map_or_else(wrong_kind(at), |name| kind(name, at)))
            .collect(),
        _ => wrong(),
    }
}

fn wrong_kind(at: usize) -> impl FnOnce() -> Result<Kind, Fault> {
    move || Fault::at(at, "`kind` must be a kind in quotes, or a list of kinds")
}

fn kind(name: &str, at: usize) -> Result<Kind, Fault> {
    Kind::of_name(name).map_or_else(
        || {
            let near = near(name, Kind::NAMES.into_iter());
            let all = Kind::NAMES.join(", ");
            Fault::at(
                at,
                format!("`{}` is not a kind{near}; use one of {all}", name.escape_default()),
            )
        },
        Ok,
    )
}

fn bytes(key: &str, value: &Value, at: usize) -> Result<u64, Fault> {
    let number = value.as_integer().and_then(|it| u64::try_from(it).ok());
    number.map_or_else(|| Fault::at(at, format!("`{key}` must be a number of bytes")), Ok)
}
