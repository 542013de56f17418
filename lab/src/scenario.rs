//! Pure scheduling: who gets each packet when responses become ready at known times.
//!
//! A scenario (`utmost-scenario/1`) has no network and no page: time is counted in slots of one packet.
//! The requests of a slot arrive in the order of the file before its decision; a response is wholly
//! available `wait_slots` after its request; a response that is sent whole is closed.

mod figure;
mod over_quic;
mod playing;
mod trace;

pub use figure::{PANELS, figure};
pub use over_quic::{HEAD_BYTES, OverQuicError, over_quic, tree_time_ms};
pub use playing::What;
pub use trace::{Moment, TraceError, node_json, trace};

use crate::limits::{SCENARIO_REQUESTS_MAX, SCENARIO_SLOTS_MAX};
use schedulers::{Element, Kind, Resource, Scheme, Signal};
use serde::{Deserialize, Serialize};
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
    /// What it shows.
    #[serde(default)]
    pub description: Option<String>,
    /// The most stream bytes that a slot takes.
    #[serde(default = "packet_bytes")]
    pub packet_bytes: u64,
    /// The requests; those of one slot arrive in this order.
    pub requests: Vec<Request>,
    /// What the client says about the tree; those of a slot come after its requests, in this order.
    #[serde(default)]
    pub signals: Vec<TreeSignal>,
    /// Orders to compare with, by scheme: golden vectors have them.
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
    /// Slots that the server thinks before it has the response.
    #[serde(default)]
    pub wait_slots: u64,
    /// Bytes of the response.
    pub bytes: u64,
    /// What figures call it; its stream ID when absent.
    #[serde(default)]
    pub name: Option<String>,
    /// What is known of it.
    pub resource: ScenarioResource,
}

/// A `PRIORITY` frame of the dependency tree (HTTP/3 drafts 20 and 22).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSignal {
    /// The slot in which it arrives.
    #[serde(default)]
    pub slot: u64,
    /// The node it is about: `stream 4`, `placeholder 0`.
    #[serde(deserialize_with = "element")]
    pub element: Element,
    /// The node that goes before it: the same, or `root`.
    #[serde(deserialize_with = "element")]
    pub parent: Element,
    /// 1 to 256.
    #[serde(default = "weight")]
    pub weight: u16,
    /// Whether all other children of the parent move below the node.
    #[serde(default)]
    pub exclusive: bool,
}

/// What a scenario knows of a resource; what is absent is false.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of the scenario format")]
pub struct ScenarioResource {
    /// MIME type.
    pub mime: String,
    /// The main document.
    #[serde(default)]
    pub main: bool,
    /// Referenced in the document's head.
    #[serde(default)]
    pub in_head: bool,
    /// On the critical path.
    #[serde(default)]
    pub critical: bool,
    /// In the above-the-fold set.
    #[serde(default)]
    pub above_fold: bool,
    /// Referenced after the first image.
    #[serde(default)]
    pub after_first_image: bool,
    /// A script with `async`.
    #[serde(default, rename = "async")]
    pub asynchronous: bool,
    /// A script with `defer`.
    #[serde(default, rename = "defer")]
    pub deferred: bool,
    /// Asked for by a preload hint.
    #[serde(default)]
    pub preload: bool,
}

/// Packets of one stream in consecutive slots. In JSON: `[first_slot, stream, packets, last_bytes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "(u64, u64, u64, u64)", into = "(u64, u64, u64, u64)")]
pub struct Run {
    /// Slot of the first packet.
    pub first_slot: u64,
    /// The stream.
    pub stream: u64,
    /// Packets, one a slot.
    pub packets: u64,
    /// Bytes in the last of them.
    pub last_bytes: u64,
}

impl From<(u64, u64, u64, u64)> for Run {
    fn from((first_slot, stream, packets, last_bytes): (u64, u64, u64, u64)) -> Self {
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
    #[error("{file}: {cause}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// It is not JSON, or not a scenario; `cause` ends with line and column.
    #[error("{file}: not a scenario: {cause}")]
    Json {
        /// The file.
        file: String,
        /// What is wrong, with line and column.
        cause: serde_json::Error,
    },
    /// It is a scenario that makes no sense.
    #[error("{file}: {place}: {cause}")]
    Invalid {
        /// The file.
        file: String,
        /// The key.
        place: String,
        /// What is wrong with it.
        cause: String,
    },
}

impl Scenario {
    /// Reads a scenario from a file.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &file),
            Err(cause) => Err(ScenarioError::Read { file, cause }),
        }
    }

    /// Reads a scenario from JSON; `file` is its name in messages.
    pub fn parse(json: &str, file: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = serde_json::from_str(json)
            .map_err(|cause| ScenarioError::Json { file: file.to_owned(), cause })?;
        scenario.check().map_err(|(place, cause)| ScenarioError::Invalid {
            file: file.to_owned(),
            place,
            cause,
        })?;
        Ok(scenario)
    }

    /// Place and cause of what makes no sense.
    fn check(&self) -> Result<(), (String, String)> {
        let wrong = |place: &str, cause: String| Err((place.to_owned(), cause));
        match self.format.as_deref() {
            None | Some(FORMAT) => {}
            Some(other) => return wrong("format", format!("`{other}` is not `{FORMAT}`")),
        }
        if self.packet_bytes == 0 {
            return wrong("packet_bytes", "a packet needs at least 1 byte".to_owned());
        }
        if self.requests.len() > SCENARIO_REQUESTS_MAX {
            let cause =
                format!("{} requests, at most {SCENARIO_REQUESTS_MAX}", self.requests.len());
            return wrong("requests", cause);
        }
        self.check_signals()?;
        self.check_requests()
    }

    fn check_signals(&self) -> Result<(), (String, String)> {
        if self.signals.len() > SCENARIO_REQUESTS_MAX {
            let cause = format!("{} signals, at most {SCENARIO_REQUESTS_MAX}", self.signals.len());
            return Err(("signals".to_owned(), cause));
        }
        for (index, signal) in self.signals.iter().enumerate() {
            let wrong = |key: &str, cause| Err((format!("signals[{index}].{key}"), cause));
            if signal.slot > SCENARIO_SLOTS_MAX {
                return wrong(
                    "slot",
                    format!("the scenario would last more than {SCENARIO_SLOTS_MAX} slots"),
                );
            }
            if !(1..=256).contains(&signal.weight) {
                return wrong("weight", format!("{} is not within 1 to 256", signal.weight));
            }
        }
        Ok(())
    }

    fn check_requests(&self) -> Result<(), (String, String)> {
        let mut streams = BTreeMap::new();
        let mut packets: u64 = 0;
        for (index, request) in self.requests.iter().enumerate() {
            let wrong = |key: &str, cause: String| Err((format!("requests[{index}].{key}"), cause));
            if let Some(first) = streams.insert(request.stream, index) {
                let cause = format!("{} is also the stream of requests[{first}]", request.stream);
                return wrong("stream", cause);
            }
            if request.stream >= 1 << 62 {
                return wrong("stream", format!("{} is not below 2^62", request.stream));
            }
            let available = request.arrival_slot.saturating_add(request.wait_slots);
            packets = packets.saturating_add(request.bytes.div_ceil(self.packet_bytes));
            if packets.saturating_add(available) > SCENARIO_SLOTS_MAX {
                let cause = format!("the scenario would last more than {SCENARIO_SLOTS_MAX} slots");
                return wrong(
                    if available > SCENARIO_SLOTS_MAX { "arrival_slot" } else { "bytes" },
                    cause,
                );
            }
        }
        Ok(())
    }
}

impl TreeSignal {
    /// As a scheduler is told, and as a client says it.
    pub fn in_tree(&self) -> Signal {
        let Self { element, parent, weight, exclusive, .. } = *self;
        Signal::Depend { element, parent, weight, exclusive }
    }
}

impl ScenarioResource {
    /// What a scheduler may know of it.
    pub fn for_scheduler(&self) -> Resource {
        Resource {
            kind: Kind::of_mime(&self.mime),
            main: self.main,
            in_head: self.in_head,
            critical: self.critical,
            above_fold: self.above_fold,
            after_first_image: self.after_first_image,
            asynchronous: self.asynchronous,
            deferred: self.deferred,
            preload: self.preload,
            ..Resource::default()
        }
    }
}

/// What `utmost order --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Orders {
    /// The scenario's name.
    pub scenario: String,
    /// Its runs by scheme.
    pub orders: BTreeMap<String, Vec<Run>>,
}

/// Schedules a scenario under each of `schemes`.
pub fn orders(scenario: &Scenario, schemes: &[Scheme]) -> Orders {
    let order = |scheme: &Scheme| (scheme.name.clone(), run(scenario, scheme));
    Orders { scenario: scenario.name.clone(), orders: schemes.iter().map(order).collect() }
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
    String::deserialize(text)?.parse().map_err(serde::de::Error::custom)
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
    fn orders_are_named_by_their_schemes() {
        let scenario = Scenario::parse(TWO, "two.json").unwrap();
        let schemes = [find_scheme("fifo").unwrap(), find_scheme("dfifo").unwrap()];
        assert_eq!(
            serde_json::to_string(&orders(&scenario, &schemes)).unwrap(),
            r#"{"scenario":"two","orders":{"dfifo":[[0,0,2,1400],[2,4,1,1400],[3,0,1,200]],"fifo":[[0,0,3,200],[3,4,1,1400]]}}"#
        );
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
