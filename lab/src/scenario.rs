//! Pure scheduling: which stream gets each packet when responses become ready at known times.
//!
//! A scenario (`utmost-scenario/1`) has no network and no page: time is counted in slots of one packet.
//! The requests of a slot arrive in the order of the file before its decision; a response is completely
//! available `wait_slots` after its request, and is closed when it is completely sent.

mod figure;
mod over_quic;
mod playing;
mod trace;

pub use figure::{PANELS, figure};
pub use over_quic::{HEAD_BYTES, OverQuicError, over_quic, tree_time_ms};
pub use playing::What;
pub use trace::{Moment, TraceError, node_json, trace};

use crate::FileError;
use crate::limits::{SCENARIO_REQUESTS_MAX, SCENARIO_SLOTS_MAX};
use schedulers::{Element, FACTS, Kind, Resource, Scheme, Signal};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use thiserror::Error;

/// The format that this reads.
pub const FORMAT: &str = "utmost-scenario/1";

/// A list of requests, to be scheduled.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// [`FORMAT`], or absent.
    #[serde(default)]
    pub format: Option<String>,
    /// Its name.
    pub name: String,
    /// Its purpose.
    #[serde(default)]
    pub description: Option<String>,
    /// The most stream bytes in a slot.
    #[serde(default = "packet_bytes")]
    pub packet_bytes: u64,
    /// The requests; requests of one slot arrive in this order.
    pub requests: Vec<Request>,
    /// The client's tree signals; signals of a slot follow its requests, in this order.
    #[serde(default)]
    pub signals: Vec<TreeSignal>,
    /// Expected orders by scheme, in golden vectors.
    #[serde(default)]
    pub orders: BTreeMap<String, Vec<Run>>,
}

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The stream that carries it.
    pub stream: u64,
    /// The slot in which it arrives.
    #[serde(default)]
    pub arrival_slot: u64,
    /// Slots until the server has the response.
    #[serde(default)]
    pub wait_slots: u64,
    /// Bytes of the response.
    pub bytes: u64,
    /// Its name in figures; by default its stream ID.
    #[serde(default)]
    pub name: Option<String>,
    /// Its known facts: `mime`, and each of [`FACTS`] by name.
    #[serde(deserialize_with = "resource")]
    pub resource: Resource,
}

/// A `PRIORITY` frame of the dependency tree (HTTP/3 drafts 20 and 22).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSignal {
    /// The slot in which it arrives.
    #[serde(default)]
    pub slot: u64,
    /// The node that it moves: `stream 4`, `placeholder 0`.
    #[serde(deserialize_with = "element")]
    pub element: Element,
    /// Its new parent, which goes before it: in the same form, or `root`.
    #[serde(deserialize_with = "element")]
    pub parent: Element,
    /// 1 to 256.
    #[serde(default = "weight")]
    pub weight: u16,
    /// Whether all other children of the parent move below the node.
    #[serde(default)]
    pub exclusive: bool,
}

/// Packets of one stream in consecutive slots. In JSON: `[first_slot, stream, packets, last_bytes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "(u64, u64, u64, u64)", into = "(u64, u64, u64, u64)")]
pub struct Run {
    /// Slot of the first packet.
    pub first_slot: u64,
    /// The stream.
    pub stream: u64,
    /// Packets, one per slot.
    pub packets: u64,
    /// Bytes in the last of them.
    pub last_bytes: u64,
}

impl From<(u64, u64, u64, u64)> for Run {
    fn from(row: (u64, u64, u64, u64)) -> Self {
        let (first_slot, stream, packets, last_bytes) = row;
        Self { first_slot, stream, packets, last_bytes }
    }
}

impl From<Run> for (u64, u64, u64, u64) {
    fn from(run: Run) -> Self {
        (run.first_slot, run.stream, run.packets, run.last_bytes)
    }
}

/// Why a scenario cannot be run. Each message names the file, the place and the cause.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not JSON, not a scenario, or not consistent.
    #[error("{0}")]
    Wrong(String),
}

impl Scenario {
    /// Reads a scenario from a file.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let text = named_files::read_text(path).map_err(FileError::at(path))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads a scenario from JSON; `file` is its name in messages.
    pub fn parse(json: &str, file: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = serde_json::from_str(json)
            .map_err(|cause| ScenarioError::Wrong(format!("{file}: not a scenario: {cause}")))?;
        scenario.check().map_err(|cause| ScenarioError::Wrong(format!("{file}: {cause}")))?;
        Ok(scenario)
    }

    /// Its requests and signals by the slot in which they arrive.
    fn arrivals(&self) -> BTreeMap<u64, (Vec<&Request>, Vec<&TreeSignal>)> {
        let mut arrivals: BTreeMap<u64, (Vec<&Request>, Vec<&TreeSignal>)> = BTreeMap::new();
        for request in &self.requests {
            arrivals.entry(request.arrival_slot).or_default().0.push(request);
        }
        for signal in &self.signals {
            arrivals.entry(signal.slot).or_default().1.push(signal);
        }
        arrivals
    }

    /// Place and cause of an inconsistency.
    fn check(&self) -> Result<(), String> {
        if let Some(other) = &self.format
            && other != FORMAT
        {
            return Err(format!("format: `{other}` is not `{FORMAT}`"));
        }
        if self.packet_bytes == 0 {
            return Err("packet_bytes: a packet needs at least 1 byte".to_owned());
        }
        for (key, count) in [("requests", self.requests.len()), ("signals", self.signals.len())] {
            if count > SCENARIO_REQUESTS_MAX {
                return Err(format!("{key}: {count} {key}, at most {SCENARIO_REQUESTS_MAX}"));
            }
        }
        self.check_signals()?;
        self.check_requests()
    }

    fn check_signals(&self) -> Result<(), String> {
        for (index, signal) in self.signals.iter().enumerate() {
            if signal.slot > SCENARIO_SLOTS_MAX {
                return Err(format!("signals[{index}].slot: {}", too_long()));
            }
            if !(1..=256).contains(&signal.weight) {
                let weight = signal.weight;
                return Err(format!("signals[{index}].weight: {weight} is not within 1 to 256"));
            }
        }
        Ok(())
    }

    fn check_requests(&self) -> Result<(), String> {
        let mut streams = BTreeMap::new();
        let mut packets: u64 = 0;
        for (index, request) in self.requests.iter().enumerate() {
            let stream = request.stream;
            if let Some(first) = streams.insert(stream, index) {
                return Err(format!(
                    "requests[{index}].stream: {stream} is also the stream of requests[{first}]"
                ));
            }
            if stream >= 1 << 62 {
                return Err(format!("requests[{index}].stream: {stream} is not below 2^62"));
            }
            let available = request.arrival_slot.saturating_add(request.wait_slots);
            packets = packets.saturating_add(request.bytes.div_ceil(self.packet_bytes));
            if packets.saturating_add(available) > SCENARIO_SLOTS_MAX {
                let key = if available > SCENARIO_SLOTS_MAX { "arrival_slot" } else { "bytes" };
                return Err(format!("requests[{index}].{key}: {}", too_long()));
            }
        }
        Ok(())
    }
}

impl TreeSignal {
    /// The signal in the form that a scheduler gets and a client sends.
    pub fn in_tree(&self) -> Signal {
        let Self { element, parent, weight, exclusive, .. } = *self;
        Signal::Depend { element, parent, weight, exclusive }
    }
}

/// Schedules a scenario under `scheme`: the runs in the order of their slots.
pub fn run(scenario: &Scenario, scheme: &Scheme) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let Ok(()) = playing::play(scenario, scheme, |slot, what, _| {
        if let What::Sent(stream, bytes) = what {
            append(&mut runs, slot, stream, bytes);
        }
        Ok::<(), Infallible>(())
    });
    runs
}

fn append(runs: &mut Vec<Run>, slot: u64, stream: u64, bytes: u64) {
    match runs.last_mut() {
        Some(run) if run.stream == stream && run.first_slot + run.packets == slot => {
            run.packets += 1;
            run.last_bytes = bytes;
        }
        _ => runs.push(Run { first_slot: slot, stream, packets: 1, last_bytes: bytes }),
    }
}

fn element<'de, D: serde::Deserializer<'de>>(text: D) -> Result<Element, D::Error> {
    String::deserialize(text)?.parse().map_err(D::Error::custom)
}

fn resource<'de, D: serde::Deserializer<'de>>(json: D) -> Result<Resource, D::Error> {
    #[derive(Deserialize)]
    struct Known {
        mime: String,
        #[serde(flatten)]
        facts: BTreeMap<String, Value>,
    }
    let Known { mime, facts } = Known::deserialize(json)?;
    let mut resource = Resource { kind: Kind::of_mime(&mime), ..Resource::default() };
    for (name, holds) in facts {
        let fact = FACTS.iter().find(|it| it.name == name);
        let fact = fact.ok_or_else(|| {
            let known: Vec<&str> = FACTS.iter().map(|it| it.name).collect();
            let known = known.join("`, `");
            D::Error::custom(format!("unknown field `{name}`, expected one of `mime`, `{known}`"))
        })?;
        let Some(holds) = holds.as_bool() else {
            return Err(D::Error::custom(format!("`{name}` is true or false")));
        };
        fact.set(&mut resource, holds);
    }
    Ok(resource)
}

fn too_long() -> String {
    format!("the scenario would last more than {SCENARIO_SLOTS_MAX} slots")
}

fn weight() -> u16 {
    16
}

fn packet_bytes() -> u64 {
    1400
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::find_scheme;

    const TWO: &str = r#"{"name": "two", "packet_bytes": 1400, "requests": [
        {"stream": 0, "arrival_slot": 0, "bytes": 3000, "resource": {"mime": "image/png"}},
        {"stream": 4, "arrival_slot": 1, "wait_slots": 1, "bytes": 1400, "resource": {"mime": "text/css"}}]}"#;

    fn order(json: &str, scheme: &str) -> String {
        let scenario = Scenario::parse(json, "two.json").unwrap();
        serde_json::to_string(&run(&scenario, &find_scheme(scheme).unwrap())).unwrap()
    }

    fn error(from: &str, to: &str) -> String {
        assert!(TWO.contains(from));
        Scenario::parse(&TWO.replacen(from, to, 1), "two.json").unwrap_err().to_string()
    }

    #[test]
    fn a_response_takes_the_wire_when_it_is_ready() {
        assert_eq!(order(TWO, "dfifo"), "[[0,0,2,1400],[2,4,1,1400],[3,0,1,200]]");
        assert_eq!(order(TWO, "fifo"), "[[0,0,3,200],[3,4,1,1400]]");
    }

    #[test]
    fn an_idle_link_waits_for_the_next_arrival() {
        let late = TWO.replace("\"arrival_slot\": 1", "\"arrival_slot\": 9000000");
        assert_eq!(order(&late, "rr"), "[[0,0,3,200],[9000001,4,1,1400]]");
    }

    #[test]
    fn an_empty_response_sends_nothing() {
        let empty = TWO.replace("\"bytes\": 3000", "\"bytes\": 0");
        assert_eq!(order(&empty, "rr"), "[[2,4,1,1400]]");
    }

    #[test]
    fn what_makes_no_sense_is_named_with_file_and_place() {
        assert_eq!(
            error("1400, \"req", "0, \"req"),
            "two.json: packet_bytes: a packet needs at least 1 byte"
        );
        assert_eq!(
            error("\"stream\": 4", "\"stream\": 0"),
            "two.json: requests[1].stream: 0 is also the stream of requests[0]"
        );
        assert_eq!(
            error("3000", "14000001400"),
            "two.json: requests[0].bytes: the scenario would last more than 10000000 slots"
        );
        assert_eq!(
            error("\"arrival_slot\": 1", "\"arrival_slot\": 18446744073709551615"),
            "two.json: requests[1].arrival_slot: the scenario would last more than 10000000 slots"
        );
        assert_eq!(
            error("\"name\"", "\"format\": \"utmost-page/1\", \"name\""),
            "two.json: format: `utmost-page/1` is not `utmost-scenario/1`"
        );
    }

    #[test]
    fn an_unknown_key_is_named_with_line_and_column() {
        let message = error("\"mime\"", "\"hero\": true, \"mime\"");
        assert!(message.starts_with("two.json: not a scenario: unknown field `hero`"), "{message}");
        assert!(message.contains("at line 2 column"), "{message}");
    }
}
