//! Reads the headers of a file and a trace, in the shapes of all generations.

use serde_json::{Map, Value};

use super::clock::Clock;
use super::http3::kept;
use super::moment::epoch_ms;
use super::raw::PART_BEGINS_US;
use crate::limits::HEADER_BYTES;
use crate::trace::{self, Stack, Vantage};

/// A header: the file's own fields, overridden by the trace's.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Header {
    file: Map<String, Value>,
    trace: Map<String, Value>,
}

/// Programs that write qlogs, by the text that identifies them in logs. The first match counts.
const STACKS: &str = "\
    utmost quic-go tquic quiche aioquic ngtcp2 mvfst neqo quinn noq picoquic quicly h2o xquic lsquic \
    haproxy s2n-quic msquic golang.org/x/net/quic pcap2qlog kwik openssl";

impl Header {
    /// Reads a record or a file's outer object; `None` if it is not a header.
    pub(super) fn of_record(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > HEADER_BYTES {
            return None;
        }
        let Value::Object(mut file) = serde_json::from_slice(bytes).ok()? else { return None };
        let trace = match file.remove("trace") {
            Some(Value::Object(trace)) => Some(trace),
            _ => None,
        };
        let versions = ["file_schema", "qlog_version", "qlog_format"];
        let is_header = trace.is_some() || versions.iter().any(|key| file.contains_key(*key));
        is_header.then(|| Self { file, trace: trace.unwrap_or_default() })
    }

    /// A contained file's outer object and one of its traces, as far as they could be read.
    pub(super) fn of_trace(file: &[u8], trace: &[u8]) -> Self {
        let [file, trace] = [file, trace].map(|bytes| match serde_json::from_slice(bytes) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        });
        Self { file, trace }
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.trace.get(key).or_else(|| self.file.get(key))
    }

    fn text_at(&self, keys: &[&str]) -> Option<String> {
        let (first, rest) = keys.split_first()?;
        let value = rest.iter().try_fold(self.get(first)?, |value, key| value.get(key))?;
        text(value)
    }

    /// The first of these places with text.
    fn first_text(&self, places: &[&[&str]]) -> Option<String> {
        places.iter().find_map(|keys| self.text_at(keys))
    }

    pub(super) fn vantage(&self) -> Vantage {
        let kind = self.first_text(&[&["vantage_point", "type"], &["vantagepoint"]]);
        Vantage::named(&kind.unwrap_or_default().to_ascii_lowercase()).unwrap_or_default()
    }

    /// Whether the packets of a log from the network flow as in its server's log.
    pub(super) fn flows_as_server(&self) -> bool {
        self.text_at(&["vantage_point", "flow"]).is_some_and(|flow| flow == "server")
    }

    /// The unit that it names for times.
    fn time_units(&self) -> Option<String> {
        self.first_text(&[&["configuration", "time_units"], &["common_fields", "time_units"]])
    }

    pub(super) fn clock(&self) -> Clock {
        let (common, configured) = ("common_fields", "configuration");
        // Draft 01's `event_fields` name the kind of times.
        let deltas = self.event_fields().into_iter().find(|field| field == "delta_time");
        let format = deltas
            .or_else(|| self.first_text(&[&[common, "time_format"], &[configured, "time_format"]]));
        Clock::new(format.as_deref(), self.time_units().as_deref().and_then(unit_us))
    }

    /// The columns of array events, in lower case: mvfst wrote some of them in upper case.
    pub(super) fn event_fields(&self) -> Vec<String> {
        let fields = self.get("event_fields").or_else(|| self.get("fields"));
        let names = fields.and_then(Value::as_array).into_iter().flatten();
        let names = names.filter_map(text).map(|name| name.to_ascii_lowercase());
        let names: Vec<String> = names.take(32).collect();
        if names.is_empty() {
            return ["relative_time", "category", "event", "data"].map(str::to_owned).into();
        }
        names
    }

    pub(super) fn said(&self) -> trace::Header {
        // The wall clock at time 0: the reference time's, or the reference time itself.
        let reference = ["common_fields", "reference_time", "wall_clock_time"];
        let start = self.first_text(&[&reference, &reference[..2], &["starttime"]]);
        let [schema, version] = ["file_schema", "qlog_version"]
            .map(|key| self.file.get(key).or_else(|| self.trace.get(key)).and_then(text));
        trace::Header {
            title: self.title(),
            stack: self.stack(),
            part_begins_us: self.trace.get(PART_BEGINS_US).and_then(Value::as_u64),
            format: schema.or(version),
            started_ms: start.as_deref().and_then(epoch_ms),
            time_unit_ms: self.time_units().as_deref().and_then(unit_us).map(|it| it / 1000.0),
            start,
            ..trace::Header::default()
        }
    }

    fn title(&self) -> Option<String> {
        self.text_at(&["title"]).or_else(|| self.file.get("title").and_then(text))
    }

    /// The connection's ID, in the form that both ends write.
    pub(super) fn connection(&self) -> Option<String> {
        let [first, old, group] = ["ODCID", "odcid", "group_id"].map(|it| ["common_fields", it]);
        let id = self.first_text(&[&first, &old, &group, &["connectionid"]]);
        id.map(|id| id.to_ascii_lowercase())
    }

    /// The program that wrote it, from whatever identifies it.
    fn stack(&self) -> Stack {
        let named = self.text_at(&["vantage_point", "name"]);
        let hints = [
            named.clone(),
            self.title(),
            self.file.get("title").and_then(text),
            self.text_at(&["code_version"]),
            self.text_at(&["description"]),
            self.get("event_schemas").map(Value::to_string),
            self.text_at(&["configuration", "original_uris"]),
            self.get("configuration").map(Value::to_string),
        ];
        let known = hints.iter().flatten().find_map(|hint| {
            let hint = hint.to_ascii_lowercase();
            STACKS.split(' ').find(|stack| hint.contains(stack))
        });
        // tquic does not name itself, but has unique descriptions.
        let description = self.text_at(&["description"]).unwrap_or_default();
        let is_tquic = ["id=SERVER-", "id=CLIENT-"].iter().any(|it| description.starts_with(it));
        let known = known.or_else(|| is_tquic.then_some("tquic"));
        let name = known.map(str::to_owned).or_else(|| {
            named.filter(|name| !matches!(&**name, "" | "TODO" | "client" | "server" | "pcap"))
        });
        Stack { name, version: self.text_at(&["code_version"]) }
    }
}

/// The microseconds in a unit of time.
fn unit_us(name: &str) -> Option<f64> {
    match name {
        "us" | "microseconds" => Some(1.0),
        "ms" | "milliseconds" => Some(1000.0),
        "s" | "seconds" => Some(1e6),
        _ => None,
    }
}

/// Whether a program of this name is among the ones that are recognized.
pub(crate) fn is_known_stack(name: &str) -> bool {
    STACKS.split(' ').any(|it| it == name)
}

/// A text or number as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(kept(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_each_generation_says_whose_log_it_is() {
        let sequence = Header::of_record(
            br#"{"file_schema":"f","title":"quiche-client qlog","trace":{"vantage_point":{"type":"client"},"common_fields":{"group_id":"AB01"}}}"#,
        );
        let header = sequence.unwrap();
        assert_eq!(header.vantage(), Vantage::Client);
        assert_eq!(header.connection().as_deref(), Some("ab01"));
        assert_eq!(header.stack().name.as_deref(), Some("quiche"));
        let old = Header::of_trace(
            br#"{"qlog_version":"0.1"}"#,
            br#"{"vantagepoint":"SERVER","connectionid":"c3","fields":["time"],"starttime":5}"#,
        );
        assert_eq!(old.vantage(), Vantage::Server);
        let said = old.said();
        assert_eq!((said.format.as_deref(), said.start.as_deref()), (Some("0.1"), Some("5")));
        assert_eq!(old.event_fields(), ["time"]);
    }

    #[test]
    fn columns_are_known_without_regard_to_case() {
        let mvfst = Header::of_trace(
            b"{}",
            br#"{"event_fields":["relative_time","CATEGORY","EVENT_TYPE","TRIGGER","DATA"]}"#,
        );
        assert_eq!(
            mvfst.event_fields(),
            ["relative_time", "category", "event_type", "trigger", "data"]
        );
    }

    #[test]
    fn an_event_is_not_a_header() {
        assert_eq!(Header::of_record(br#"{"time":1,"name":"a:b","data":{}}"#), None);
    }
}
