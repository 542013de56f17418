//! `when = { kind = "css", in_head = true }`: conditions on a resource.

use crate::error::{Fault, not_one};
use crate::limits::PLACES_MAX;
use schedulers::{Condition, FACTS, Kind};
use toml::{Table, Value};

/// One condition, or a list of which any must be true. `at`: its place in the text.
pub(crate) fn conditions(value: &Value, at: usize) -> Result<Vec<Condition>, Fault> {
    match value {
        Value::Table(table) => Ok(vec![condition(table, at)?]),
        Value::Array(list) if list.is_empty() => Fault::at(
            at,
            "`when` is an empty list: remove it for a place that matches every resource",
        ),
        Value::Array(list) if list.len() > PLACES_MAX => {
            Fault::at(at, format!("`when` has more than {PLACES_MAX} conditions"))
        }
        Value::Array(list) => list
            .iter()
            .map(|it| it.as_table().map_or_else(|| wrong_form(at), |table| condition(table, at)))
            .collect(),
        _ => wrong_form(at),
    }
}

fn wrong_form<T>(at: usize) -> Result<T, Fault> {
    let form =
        "a table of facts, such as { kind = \"css\", in_head = true }, or a list of such tables";
    Fault::at(at, format!("`when` must be {form}"))
}

fn condition(table: &Table, at: usize) -> Result<Condition, Fault> {
    if table.is_empty() {
        return Fault::at(
            at,
            "`when` names no fact: remove it for a place that matches every resource",
        );
    }
    let mut condition = Condition::default();
    for (key, value) in table {
        match key.as_str() {
            "kind" => condition.kinds = kinds(value, at)?,
            "bytes_from" => condition.bytes_from = Some(bytes(key, value, at)?),
            "bytes_below" => condition.bytes_below = Some(bytes(key, value, at)?),
            name => {
                let fact = FACTS.iter().find(|it| it.name == name);
                let fact = fact.ok_or_else(|| unknown(name, at))?;
                let Some(holds) = value.as_bool() else {
                    return Fault::at(at, format!("`{name}` must be true or false"));
                };
                condition.facts.push((fact, holds));
            }
        }
    }
    Ok(condition)
}

fn unknown(name: &str, at: usize) -> Fault {
    let facts = FACTS.iter().map(|it| it.name);
    let names = ["kind", "bytes_from", "bytes_below"].into_iter().chain(facts);
    Fault::new(at, not_one(name, "fact", names))
}

const NO_KIND: &str = "`kind` must be a kind in quotes, or a list of kinds";

fn kinds(value: &Value, at: usize) -> Result<Vec<Kind>, Fault> {
    match value {
        Value::String(_) => Ok(vec![kind(value, at)?]),
        Value::Array(list) if !list.is_empty() => list.iter().map(|it| kind(it, at)).collect(),
        _ => Fault::at(at, NO_KIND),
    }
}

fn kind(value: &Value, at: usize) -> Result<Kind, Fault> {
    let name = value.as_str().ok_or_else(|| Fault::new(at, NO_KIND))?;
    let kind = Kind::named(name);
    kind.ok_or_else(|| Fault::new(at, not_one(name, "kind", Kind::NAMES.into_iter())))
}

fn bytes(key: &str, value: &Value, at: usize) -> Result<u64, Fault> {
    let number = value.as_integer().and_then(|it| u64::try_from(it).ok());
    number.ok_or_else(|| Fault::new(at, format!("`{key}` must be a number of bytes")))
}
