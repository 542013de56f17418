//! The two outer shapes of a record: an event with its body unread, and the header.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::Vantage;

/// An event; its body is left as text until its name says that it counts.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    pub(super) time: f64,
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
}

/// The first record of a file.
#[derive(Deserialize)]
pub(super) struct Header {
    file_schema: Option<String>,
    qlog_version: Option<String>,
    title: Option<String>,
    trace: Option<TraceHeader>,
    /// Only a contained file has it.
    pub(super) traces: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TraceHeader {
    title: Option<String>,
    vantage_point: VantagePoint,
    common_fields: CommonFields,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct VantagePoint {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CommonFields {
    time_format: Option<String>,
    reference_time: Option<serde_json::Value>,
}

impl Header {
    pub(super) fn is_header(&self) -> bool {
        self.file_schema.is_some() || self.qlog_version.is_some() || self.trace.is_some()
    }

    pub(super) fn vantage(&self) -> Vantage {
        let kind = self.trace.as_ref().and_then(|trace| trace.vantage_point.kind.as_deref());
        match kind {
            Some("client") => Vantage::Client,
            Some("server") => Vantage::Server,
            Some("network") => Vantage::Network,
            _ => Vantage::Unknown,
        }
    }

    pub(super) fn time_format(&self) -> Option<&str> {
        self.trace.as_ref()?.common_fields.time_format.as_deref()
    }

    /// The wall clock at time 0: the reference time's, or the reference time itself.
    pub(super) fn start(&self) -> Option<String> {
        let reference = self.trace.as_ref()?.common_fields.reference_time.as_ref()?;
        let wall_clock = reference.get("wall_clock_time").unwrap_or(reference);
        match wall_clock {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    pub(super) fn title(&self) -> Option<String> {
        self.trace.as_ref().and_then(|trace| trace.title.clone()).or_else(|| self.title.clone())
    }

    pub(super) fn format(&self) -> Option<String> {
        self.file_schema.clone().or_else(|| self.qlog_version.clone())
    }
}
