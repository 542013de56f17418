//! The outer shape of an event. Its body is parsed only if its name shows that it is relevant.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::tolerant::Number;

#[derive(Debug, PartialEq)]
pub(super) struct Event<'a> {
    pub(super) time: f64,
    pub(super) name: Cow<'a, str>,
    /// The body as JSON text.
    pub(super) data: &'a [u8],
    /// The connection to which it belongs, if the log has several.
    pub(super) group: Option<Cow<'a, str>>,
    /// The trigger, which drafts before 02 wrote beside the body.
    pub(super) trigger: Option<Cow<'a, str>>,
    /// The path of its packet, if the connection has several.
    pub(super) path: Option<Cow<'a, str>>,
}

/// The shape of an event, by where its parts are in its record: an event that waits is not parsed again.
#[derive(Debug)]
pub(super) struct Shape {
    time: f64,
    name: Part,
    data: Option<Range<usize>>,
    /// Group, trigger and path, which few events have.
    others: Option<Box<[Option<Part>; 3]>>,
}

/// A text of a record. One with escapes is kept.
#[derive(Debug)]
enum Part {
    Within(Range<usize>),
    Kept(String),
}

impl Shape {
    /// The shape of an event that was parsed from this record.
    pub(super) fn of(event: Event<'_>, record: &[u8]) -> Self {
        let text = |it: Cow<'_, str>| match it {
            Cow::Borrowed(text) => match within(text.as_bytes(), record) {
                Some(range) => Part::Within(range),
                None => Part::Kept(text.to_owned()),
            },
            Cow::Owned(text) => Part::Kept(text),
        };
        let Event { time, name, data, group, trigger, path } = event;
        let others = [group, trigger, path];
        let has_others = others.iter().any(Option::is_some);
        let others = has_others.then(|| Box::new(others.map(|it| it.map(text))));
        Self { time, name: text(name), data: within(data, record), others }
    }

    /// The event of this shape in its record.
    pub(super) fn event<'a>(&'a self, record: &'a [u8]) -> Event<'a> {
        let text = |it: &'a Part| match it {
            Part::Within(range) => {
                Cow::Borrowed(std::str::from_utf8(&record[range.clone()]).unwrap_or_default())
            }
            Part::Kept(text) => Cow::Borrowed(text.as_str()),
        };
        let others = self.others.as_deref().map(|it| it.each_ref().map(|it| it.as_ref().map(text)));
        let [group, trigger, path] = others.unwrap_or_default();
        let data = self.data.clone().map_or(&b"{}"[..], |it| &record[it]);
        Event { time: self.time, name: text(&self.name), data, group, trigger, path }
    }
}

/// Where a part of a record is in it.
fn within(part: &[u8], record: &[u8]) -> Option<Range<usize>> {
    let from = (part.as_ptr() as usize).checked_sub(record.as_ptr() as usize)?;
    let range = from..from + part.len();
    (range.end <= record.len()).then_some(range)
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(alias = "relative_time", alias = "delta_time")]
    time: Number,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    category: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type", alias = "event", alias = "event_type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    group_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    trigger: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    path: Option<&'a RawValue>,
}

impl<'a> Event<'a> {
    /// The common shape, `{"time":1.5,"name":"a:b","data":{..}}`, without parsing the body. Fields after the body count as part of
    /// it, so a body that cannot be parsed must be read again with [`Event::object`].
    pub(super) fn quick(record: &'a [u8]) -> Option<Self> {
        let rest = record.strip_prefix(b"{\"time\":")?;
        let comma = rest[..rest.len().min(32)].iter().position(|&byte| byte == b',')?;
        let time = std::str::from_utf8(&rest[..comma]).ok()?.parse().ok()?;
        let rest = rest[comma..].strip_prefix(b",\"name\":\"")?;
        let start = &rest[..rest.len().min(128)];
        let quote = start.iter().position(|&byte| byte == b'"' || byte == b'\\')?;
        let name = std::str::from_utf8(&rest[..quote]).ok()?;
        let data = rest[quote..].strip_prefix(b"\",\"data\":")?.strip_suffix(b"}")?;
        // Something other than an object's end at the end: fields follow the body.
        if !data.ends_with(b"}") {
            return None;
        }
        Some(Self { time, name: Cow::Borrowed(name), data, group: None, trigger: None, path: None })
    }

    pub(super) fn object(record: &'a [u8]) -> Option<Self> {
        let object: Object<'a> = body(record).ok()?;
        let name = match (object.name, object.category, object.kind) {
            (Some(name), ..) => name,
            (None, Some(category), Some(kind)) => Cow::Owned(format!("{category}:{kind}")),
            (None, None, Some(kind)) => kind,
            _ => return None,
        };
        let data = object.data.map_or(&b"{}"[..], |data| data.get().as_bytes());
        let Object { time, group_id: group, trigger, .. } = object;
        // A text, or a number.
        let path = object.path.and_then(|it| text(it).or(Some(Cow::Borrowed(it.get()))));
        Some(Self { time: time.0, name, data, group, trigger, path })
    }

    /// An event as an array, whose columns the trace's header names.
    pub(super) fn array(record: &'a [u8], fields: &[String]) -> Option<Self> {
        let columns: Vec<&'a RawValue> = body(record).ok()?;
        let (mut time, mut category, mut kind) = (None, None, None);
        let mut event = Self {
            time: 0.0,
            name: Cow::Borrowed(""),
            data: b"{}",
            group: None,
            trigger: None,
            path: None,
        };
        for (field, &column) in fields.iter().zip(&columns) {
            match &**field {
                "time" | "relative_time" | "delta_time" => {
                    time = serde_json::from_str::<Number>(column.get()).ok();
                }
                "category" => category = text(column),
                "event" | "event_type" | "type" | "name" => kind = text(column),
                "data" => event.data = column.get().as_bytes(),
                "trigger" => event.trigger = text(column),
                "group_id" => event.group = text(column),
                "path" => event.path = text(column),
                _ => {}
            }
        }
        event.time = time?.0;
        event.name = match category {
            Some(category) => Cow::Owned(format!("{category}:{}", kind?)),
            None => kind?,
        };
        Some(event)
    }
}

/// Parses the body of an event, or any other JSON text. Checks UTF-8 once for the whole text. If the body is not UTF-8, only the
/// strings that are used must be.
pub(super) fn body<'a, T: Deserialize<'a>>(data: &'a [u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(data) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(data),
    }
}

/// A value that is a text.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|it| it.0)
}

/// A string, borrowed unless it has escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_way_and_the_other_agree() {
        let record = br#"{"time":1.5,"name":"a:b","data":{"x":[1,{}]}}"#;
        assert_eq!(Event::quick(record), Event::object(record));
        let quick = Event::quick(record).unwrap();
        assert_eq!((quick.time, &*quick.name, quick.data), (1.5, "a:b", &br#"{"x":[1,{}]}"#[..]));
    }

    #[test]
    fn only_the_common_shape_is_quick() {
        for record in [
            r#"{"name":"a:b","time":1,"data":{}}"#,
            r#"{"time": 1, "name": "a:b", "data": {}}"#,
            r#"{"time":1,"name":"a\u003ab","data":{}}"#,
            r#"{"time":"1","name":"a:b","data":{}}"#,
            r#"{"time":1,"name":"a:b","data":{},"group_id":"x"}"#,
        ] {
            assert_eq!(Event::quick(record.as_bytes()), None, "{record}");
            let event = Event::object(record.as_bytes()).unwrap();
            assert_eq!(
                (event.time, &*event.name, event.data),
                (1.0, "a:b", &b"{}"[..]),
                "{record}"
            );
        }
    }

    #[test]
    fn a_text_that_nobody_asks_for_need_not_be_utf_8() {
        let read = |record| Event::object(record).map(|event| event.time);
        assert_eq!(read(&b"{\"time\":1,\"name\":\"a:b\",\"x\":\"\xff\"}"[..]), Some(1.0));
        assert_eq!(read(&b"{\"time\":1,\"name\":\"a:\xff\"}"[..]), None);
    }

    #[test]
    fn an_array_has_the_columns_of_its_header() {
        let fields = ["relative_time", "category", "event", "trigger", "data"].map(str::to_owned);
        let event =
            Event::array(br#"["5","transport","packet_sent","line",{"a":1}]"#, &fields).unwrap();
        assert_eq!((event.time, &*event.name), (5.0, "transport:packet_sent"));
        assert_eq!((event.data, event.trigger.as_deref()), (&br#"{"a":1}"#[..], Some("line")));
        assert_eq!(Event::array(b"[5]", &fields), None);
    }
}
