//! Values between a script and the tree: resources, words and places.

use crate::error::{group_of, near};
use crate::limits::{PUTS_MAX, RANK_MAX};
use rhai::{Dynamic, Engine, Map};
use schedulers::{ClientSignal, Element, FACTS, Group, Language, Place, Rank, Resource, StreamId};

type Result<T> = std::result::Result<T, String>;

/// A node and its place, from `put(who, place)`.
#[derive(Debug, Clone)]
struct Put {
    who: Dynamic,
    place: Map,
}

pub(crate) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<Resource>("Resource");
    for fact in &FACTS {
        // `async` is a keyword of the language.
        let name = if fact.name == "async" { "asynchronous" } else { fact.name };
        engine.register_get(name, |resource: &mut Resource| fact.get(resource));
    }
    engine.register_get("kind", |resource: &mut Resource| resource.kind.name());
    engine.register_get("id", |resource: &mut Resource| {
        known(resource.id.and_then(|it| i64::try_from(it).ok()))
    });
    engine.register_get("body_bytes", |it: &mut Resource| known(it.body_bytes.map(number)));
    engine.register_get("browser_urgency", |resource: &mut Resource| {
        known(resource.browser.map(|(urgency, _)| i64::from(urgency)))
    });
    engine.register_get("browser_incremental", |resource: &mut Resource| {
        known(resource.browser.map(|(_, incremental)| incremental))
    });
    engine.register_type_with_name::<Put>("Put");
    engine.register_fn("put", |who: Dynamic, place: Map| Put { who, place });
}

fn known(value: Option<impl Into<Dynamic>>) -> Dynamic {
    value.map_or(Dynamic::UNIT, Into::into)
}

/// A number of bytes in the scripts' form.
pub(crate) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A stream in the scripts' form: its ID.
pub(crate) fn stream_number(stream: StreamId) -> i64 {
    stream.0.cast_signed()
}

/// The moves that a script function returns: nodes and their places. A map is the place of the stream that the call
/// concerns. Values of other types are ignored, because a function always returns its last expression.
pub(crate) fn puts(
    result: Dynamic,
    about: Option<StreamId>,
    groups: &[Group],
) -> Result<Vec<(Element, Place)>> {
    let puts = match result.try_cast_result::<Put>() {
        Ok(put) => vec![put],
        Err(result) => match (result.try_cast_result::<Map>(), about) {
            (Ok(place), Some(stream)) => vec![Put { who: stream_number(stream).into(), place }],
            (Ok(_), None) => Vec::new(),
            (Err(result), _) => {
                let list = result.into_array().unwrap_or_default();
                list.into_iter().filter_map(Dynamic::try_cast::<Put>).take(PUTS_MAX).collect()
            }
        },
    };
    let read = puts.iter().map(|put| Ok((element(&put.who, groups)?, place(&put.place, groups)?)));
    read.collect()
}

/// A stream by its number, or a group by its name.
fn element(who: &Dynamic, groups: &[Group]) -> Result<Element> {
    if let Ok(stream) = who.as_int() {
        return Ok(Element::Stream(StreamId(stream.cast_unsigned())));
    }
    let name = who.as_immutable_string_ref().map_err(|kind| {
        format!("a node is a stream's number or a group's name, not a value of type {kind}")
    })?;
    group_of(&name, groups.iter())
}

/// `#{ parent: "HIGH", rank: 1, order: 7, weight: 32 }`.
fn place(map: &Map, groups: &[Group]) -> Result<Place> {
    let (mut parent, mut rank, mut weight, mut order) = (Element::Root, 0, 16, None);
    for (key, value) in map {
        match key.as_str() {
            "parent" => parent = element(value, groups)?,
            "rank" => rank = within("rank", value, 0, RANK_MAX)?,
            "weight" => weight = within("weight", value, 1, 256)?,
            "order" => order = Some(whole("order", value)?),
            "then" => {}
            other => {
                let known = ["parent", "rank", "weight", "order", "then"];
                let near = near(other, known.into_iter());
                return Err(format!("a place has no `{}`{near}", other.escape_default()));
            }
        }
    }
    let then = map.get("then").map(|it| whole("then", it)).transpose()?;
    let rank = match order {
        None => Rank::level(rank),
        Some(order) => Rank::sequence_in(rank, sorted(order)).then(then.map_or(0, sorted)),
    };
    Ok(Place::below(parent).rank(rank).weight(weight))
}

/// Maps non-negative numbers to the same order.
fn sorted(number: i64) -> u64 {
    number.cast_unsigned() ^ (1 << 63)
}

fn whole(key: &str, value: &Dynamic) -> Result<i64> {
    value
        .as_int()
        .map_err(|kind| format!("{key} must be a whole number, not a value of type {kind}"))
}

fn within(key: &str, value: &Dynamic, least: u16, most: u16) -> Result<u16> {
    let number = whole(key, value)?;
    let found = u16::try_from(number).ok().filter(|it| (least..=most).contains(it));
    found.ok_or_else(|| format!("{key} {number} must be from {least} to {most}"))
}

/// A client's signal in the scripts' form; `None` if its form is not the scheme's.
pub(crate) fn signal_map(signal: ClientSignal, form: Language) -> Option<Map> {
    let entries = match (signal, form) {
        (ClientSignal::Bucket(byte), Language::Bucket) => {
            [("priority", i64::from(byte >> 2).into()), ("concurrency", i64::from(byte & 3).into())]
        }
        (ClientSignal::Priority(urgency, incremental), Language::Priority) => {
            [("urgency", i64::from(urgency).into()), ("incremental", incremental.into())]
        }
        _ => return None,
    };
    Some(entries.into_iter().map(|(key, value): (&str, Dynamic)| (key.into(), value)).collect())
}

/// Parses the value that `says` returned.
pub(crate) fn signal(result: &Dynamic) -> Result<ClientSignal> {
    let wrong = "`says` must return #{ priority: 0 to 63, concurrency: 0 to 3 } or #{ urgency: 0 to 7, incremental: true or false }";
    let map = result.as_map_ref().map_err(|_| wrong.to_owned())?;
    let number = |key: &str, most: u16| -> Result<u8> {
        let value = map.get(key).ok_or_else(|| wrong.to_owned())?;
        Ok(u8::try_from(within(key, value, 0, most)?).unwrap_or(u8::MAX))
    };
    if map.contains_key("priority") {
        return Ok(ClientSignal::Bucket(number("priority", 63)? << 2 | number("concurrency", 3)?));
    }
    let incremental = map.get("incremental").map_or(Ok(false), Dynamic::as_bool);
    let incremental = incremental.map_err(|_| wrong.to_owned())?;
    Ok(ClientSignal::Priority(number("urgency", 7)?, incremental))
}
