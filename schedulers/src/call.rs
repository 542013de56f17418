//! The calls made to a scheduler, and their form in logs.
//!
//! A scheduler is a pure function of its calls. So a log with all of them explains why each packet
//! was sent when it was, and a reader can repeat them.

use crate::kind::Kind;
use crate::resource::{FACTS, Resource};
use crate::scheduler::Scheduler;
use crate::signal::{Signal, StreamId, UnknownElement};
use std::borrow::Cow;

/// A call to a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// A new scheduler takes over. The following calls open responses in progress in it.
    Start {
        /// The scheme, with its parameters and variant.
        scheme: String,
        /// Whether the scheduler also orders other connections of the client.
        in_group: bool,
    },
    /// [`Scheduler::open`].
    Open(StreamId, Resource),
    /// [`Scheduler::signal`].
    Signal(Signal),
    /// [`Scheduler::set_ready`].
    SetReady(StreamId, bool),
    /// [`Scheduler::pick`], with its answer.
    Pick(Option<StreamId>),
    /// [`Scheduler::sent`].
    Sent(StreamId, u64),
    /// [`Scheduler::close`].
    Close(StreamId),
}

/// A value in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// Not known.
    Null,
    /// A boolean.
    Flag(bool),
    /// A number that is not negative.
    Number(u64),
    /// A text.
    Text(Cow<'a, str>),
    /// An object.
    Fields(Vec<(&'static str, Value<'a>)>),
}

impl Value<'_> {
    fn number(value: Option<u64>) -> Self {
        value.map_or(Self::Null, Self::Number)
    }

    fn flag(value: Option<bool>) -> Self {
        value.map_or(Self::Null, Self::Flag)
    }
}

impl Call {
    /// The event that logs a [`Call::Start`].
    pub const START_EVENT: &'static str = "utmost:scheme";
    /// The event that logs any other call.
    pub const EVENT: &'static str = "utmost:scheduler";

    /// The name of the event that logs this call.
    pub fn event(&self) -> &'static str {
        if matches!(self, Self::Start { .. }) { Self::START_EVENT } else { Self::EVENT }
    }

    /// Makes the call. `Start` and `Pick` do not change an existing scheduler.
    pub fn make(&self, scheduler: &mut Scheduler) {
        match self {
            Self::Open(stream, resource) => scheduler.open(*stream, resource),
            Self::Signal(signal) => scheduler.signal(*signal),
            Self::SetReady(stream, ready) => scheduler.set_ready(*stream, *ready),
            Self::Sent(stream, bytes) => scheduler.sent(*stream, *bytes),
            Self::Close(stream) => scheduler.close(*stream),
            Self::Start { .. } | Self::Pick(_) => {}
        }
    }

    /// The fields of the event that logs this call; [`CallReader`] reads them back.
    pub fn fields(&self) -> Vec<(&'static str, Value<'_>)> {
        let (op, stream, said) = match self {
            Self::Start { scheme, in_group } => {
                let name = Value::Text(scheme.as_str().into());
                return vec![("name", name), ("in_group", Value::Flag(*in_group))];
            }
            Self::Open(stream, resource) => {
                let resource = Value::Fields(resource_fields(resource));
                ("opened", Some(*stream), Some(("resource", resource)))
            }
            Self::Signal(signal) => {
                let said = Value::Fields(signal_fields(*signal));
                ("signalled", signal.stream(), Some(("signal", said)))
            }
            Self::SetReady(stream, true) => ("ready", Some(*stream), None),
            Self::SetReady(stream, false) => ("blocked", Some(*stream), None),
            Self::Pick(stream) => ("picked", *stream, None),
            Self::Sent(stream, bytes) => {
                ("sent", Some(*stream), Some(("bytes", Value::Number(*bytes))))
            }
            Self::Close(stream) => ("closed", Some(*stream), None),
        };
        let stream = Value::number(stream.map(|it| it.0));
        [("op", Value::Text(op.into())), ("stream", stream)].into_iter().chain(said).collect()
    }
}

fn resource_fields(it: &Resource) -> Vec<(&'static str, Value<'static>)> {
    let mut fields = vec![
        ("id", Value::number(it.id.map(|it| it as u64))),
        ("kind", Value::Text(it.kind.name().into())),
        ("urgency", Value::number(it.browser.map(|it| it.0.into()))),
        ("incremental", Value::flag(it.browser.map(|it| it.1))),
        ("body_bytes", Value::number(it.body_bytes)),
    ];
    fields.extend(FACTS.iter().map(|fact| (fact.name, Value::Flag(fact.get(it)))));
    fields
}

fn signal_fields(signal: Signal) -> Vec<(&'static str, Value<'static>)> {
    match signal {
        Signal::Extensible { urgency, incremental, .. } => vec![
            ("urgency", Value::Number(urgency.into())),
            ("incremental", Value::Flag(incremental)),
        ],
        Signal::Depend { element, parent, weight, exclusive } => vec![
            ("element", Value::Text(element.to_string().into())),
            ("parent", Value::Text(parent.to_string().into())),
            ("weight", Value::Number(weight.into())),
            ("exclusive", Value::Flag(exclusive)),
        ],
        Signal::Bucket { byte, .. } => vec![("bucket", Value::Number(byte.into()))],
    }
}

const OPS: [&str; 7] = ["opened", "signalled", "ready", "blocked", "picked", "sent", "closed"];

/// Reconstructs a [`Call`] from the fields of its event, in any order.
#[derive(Debug, Default)]
pub struct CallReader {
    scheme: Option<String>,
    in_group: bool,
    op: Option<&'static str>,
    stream: Option<u64>,
    bytes: u64,
    resource: Resource,
    urgency: Option<u8>,
    incremental: Option<bool>,
    bucket: Option<u8>,
    element: Option<String>,
    parent: Option<String>,
    weight: Option<u16>,
    exclusive: bool,
}

impl CallReader {
    /// Reads a field, also one of an object within the event. Ignores unknown fields, and values of a
    /// type that the field never has.
    pub fn field(&mut self, name: &str, value: Value<'_>) {
        match value {
            Value::Flag(flag) => self.flag(name, flag),
            Value::Number(number) => self.number(name, number),
            Value::Text(text) => self.text(name, text),
            Value::Fields(fields) => {
                for (name, value) in fields {
                    self.field(name, value);
                }
            }
            Value::Null => {}
        }
    }

    fn flag(&mut self, name: &str, flag: bool) {
        match name {
            "in_group" => self.in_group = flag,
            "incremental" => self.incremental = Some(flag),
            "exclusive" => self.exclusive = flag,
            _ => {
                if let Some(fact) = FACTS.iter().find(|fact| fact.name == name) {
                    fact.set(&mut self.resource, flag);
                }
            }
        }
    }

    fn number(&mut self, name: &str, number: u64) {
        match name {
            "stream" => self.stream = Some(number),
            "bytes" => self.bytes = number,
            "id" => self.resource.id = usize::try_from(number).ok(),
            "body_bytes" => self.resource.body_bytes = Some(number),
            "urgency" => self.urgency = u8::try_from(number).ok(),
            "bucket" => self.bucket = u8::try_from(number).ok(),
            "weight" => self.weight = u16::try_from(number).ok(),
            _ => {}
        }
    }

    fn text(&mut self, name: &str, text: Cow<'_, str>) {
        match name {
            "name" => self.scheme = Some(text.into_owned()),
            "op" => self.op = OPS.into_iter().find(|it| *it == text),
            "kind" => self.resource.kind = Kind::named(&text).unwrap_or_default(),
            "element" => self.element = Some(text.into_owned()),
            "parent" => self.parent = Some(text.into_owned()),
            // Some writers put numbers in strings.
            _ => {
                if let Ok(number) = text.parse() {
                    self.number(name, number);
                }
            }
        }
    }

    /// The call, or why it is invalid; `None` if the fields do not form a known call.
    pub fn finish(self) -> Option<Result<Call, String>> {
        if self.op.is_some() {
            return Some(self.named());
        }
        self.scheme.map(|scheme| Ok(Call::Start { scheme, in_group: self.in_group }))
    }

    fn named(&self) -> Result<Call, String> {
        let op = self.op.unwrap_or_default();
        Ok(match op {
            "opened" => {
                let browser = self.urgency.zip(self.incremental);
                Call::Open(self.stream(op)?, Resource { browser, ..self.resource })
            }
            "signalled" => Call::Signal(self.signal()?),
            "ready" => Call::SetReady(self.stream(op)?, true),
            "blocked" => Call::SetReady(self.stream(op)?, false),
            "sent" => Call::Sent(self.stream(op)?, self.bytes),
            "closed" => Call::Close(self.stream(op)?),
            _ => Call::Pick(self.stream.map(StreamId)),
        })
    }

    fn signal(&self) -> Result<Signal, String> {
        if let Some(byte) = self.bucket {
            return Ok(Signal::Bucket { stream: self.stream("signalled")?, byte });
        }
        if let (Some(element), Some(parent), Some(weight)) =
            (&self.element, &self.parent, self.weight)
        {
            let element = element.parse().map_err(|it: UnknownElement| it.to_string())?;
            let parent = parent.parse().map_err(|it: UnknownElement| it.to_string())?;
            return Ok(Signal::Depend { element, parent, weight, exclusive: self.exclusive });
        }
        match (self.urgency, self.incremental) {
            (Some(urgency), Some(incremental)) => {
                let stream = self.stream("signalled")?;
                Ok(Signal::Extensible { stream, urgency, incremental })
            }
            _ => Err("signalled: no known signal".to_owned()),
        }
    }

    fn stream(&self, op: &str) -> Result<StreamId, String> {
        self.stream.map(StreamId).ok_or_else(|| format!("{op}: no stream"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Element;

    fn read(call: &Call) -> Result<Call, String> {
        let mut reader = CallReader::default();
        for (name, value) in call.fields() {
            reader.field(name, value);
        }
        reader.finish().unwrap()
    }

    #[test]
    fn every_call_comes_back_from_its_fields() {
        let stream = StreamId(4);
        let mut known = Resource {
            id: Some(3),
            kind: Kind::Css,
            browser: Some((1, true)),
            body_bytes: Some(9),
            ..Resource::default()
        };
        let mut calls = vec![
            Call::Start { scheme: "kway:4".to_owned(), in_group: true },
            Call::Open(stream, Resource::default()),
            Call::Signal(Signal::Extensible { stream, urgency: 2, incremental: true }),
            Call::Signal(Signal::Bucket { stream, byte: 255 }),
            Call::Signal(Signal::Depend {
                element: Element::Placeholder(2),
                parent: Element::Root,
                weight: 256,
                exclusive: true,
            }),
            Call::SetReady(stream, true),
            Call::SetReady(stream, false),
            Call::Pick(Some(stream)),
            Call::Pick(None),
            Call::Sent(stream, 1400),
            Call::Close(stream),
        ];
        for fact in &FACTS {
            fact.set(&mut known, true);
            calls.push(Call::Open(stream, known));
        }
        for call in calls {
            assert_eq!(read(&call), Ok(call));
        }
    }

    #[test]
    fn a_call_that_lacks_something_is_an_error() {
        let read = |fields: &[(&str, Value<'static>)]| {
            let mut reader = CallReader::default();
            for (name, value) in fields {
                reader.field(name, value.clone());
            }
            reader.finish().map(Result::unwrap_err)
        };
        let op = |op: &'static str| ("op", Value::Text(op.into()));
        let error = |text: &str| Some(text.to_owned());
        assert_eq!(read(&[op("juggled")]), None);
        assert_eq!(read(&[op("sent")]), error("sent: no stream"));
        assert_eq!(read(&[op("signalled")]), error("signalled: no known signal"));
        let [element, parent] = ["element", "parent"].map(|it| (it, Value::Text("heaven".into())));
        assert_eq!(
            read(&[op("signalled"), element, parent, ("weight", Value::Number(1))]),
            error("`heaven` is not an element: use `root`, `placeholder N` or `stream N`")
        );
    }
}
