//! Runs a scenario over QUIC, in virtual time: a bare client sends the scenario's requests and signals, the real server
//! answers, and its log has the tree at each moment.
//!
//! The server is paced like the paper's, and a slot is one of its ticks of 10 ms. The events of slot n happen midway between
//! two ticks, so the tree that decides slot n's packet is the one at [`tree_time_ms`]. If a scenario has no signals, the
//! scheme's client half, if any, sends its own. Responses have the scenario's sizes, headers included. A response shorter than
//! [`HEAD_BYTES`] is all header.

use super::{Request, Scenario, TreeSignal};
use crate::limits::{QUIC_PACKET_BYTES_MAX, QUIC_REQUESTS_MAX, QUIC_SLOTS_MAX};
use crate::network::{Network, NetworkError};
use crate::stack::{CLIENT, SERVER, StackError, patient, server_world};
use crate::{FileError, file_name};
use connection::ClientConfig;
use gateway::site::RuledSite;
use http3::{Event, Extension, Settings};
use schedulers::{ClientHalf, Scheme, Signal, StreamId};
use server::site::{Body, Response, Site};
use server::{Identity, Options, Pace, Server, SignalUse};
use simulator::{BareClient, World};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a response's header.
pub const HEAD_BYTES: u64 = 100;

/// Why a scenario cannot be sent.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages and types say it")]
pub enum OverQuicError {
    #[error("{0}")]
    Impossible(String),
    #[error(transparent)]
    Stack(#[from] StackError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    Log(#[from] FileError),
}

/// The time in a log, in ms, of the tree that decides the packet of `slot`.
pub fn tree_time_ms(slot: u64) -> u64 {
    let tick_ms = u64::try_from(Pace::PAPER.interval.as_millis()).unwrap_or(u64::MAX);
    // After all events of the slot, and before its tick.
    (slot + 1).saturating_mul(tick_ms).saturating_sub(1)
}

/// Sends `scenario` under `scheme` and keeps the server's log in `folder`, which must exist. Returns the log's path.
pub fn over_quic(
    scenario: &Scenario,
    scheme: &Scheme,
    folder: &Path,
) -> Result<PathBuf, OverQuicError> {
    check(scenario).map_err(|cause| impossible(scenario, &cause))?;
    let names = [&scenario.name, &scheme.name].map(|it| file_name(it));
    let path = folder.join(format!("{}.sqlog", names.join("-")));
    let logs = tempfile::tempdir_in(folder).map_err(FileError::at(&path))?;
    let mut sending = Sending::new(scenario, scheme, logs.path())?;
    let outcome = sending.run();
    // The server ends its log when it is dropped.
    drop(sending);
    outcome.map_err(|cause| impossible(scenario, &cause))?;
    move_only_file(logs.path(), &path).map_err(FileError::at(&path))?;
    Ok(path)
}

fn impossible(scenario: &Scenario, cause: &str) -> OverQuicError {
    OverQuicError::Impossible(format!("{} over QUIC: {cause}", scenario.name))
}

/// The server chooses the name of its log itself.
fn move_only_file(folder: &Path, to: &Path) -> std::io::Result<()> {
    let file = std::fs::read_dir(folder)?.next().ok_or(std::io::ErrorKind::NotFound)??;
    std::fs::rename(file.path(), to)
}

/// Returns the obstacle, if any.
fn check(scenario: &Scenario) -> Result<(), String> {
    if scenario.requests.len() > QUIC_REQUESTS_MAX {
        return Err(format!("{} requests, at most {QUIC_REQUESTS_MAX}", scenario.requests.len()));
    }
    for Request { stream, .. } in &scenario.requests {
        if !stream.is_multiple_of(4) || *stream >= 4 * QUIC_REQUESTS_MAX as u64 {
            return Err(format!(
                "stream {stream} is not one of a client's first {QUIC_REQUESTS_MAX} requests: 0, 4, 8, ..."
            ));
        }
    }
    let packets = scenario.requests.iter().map(|it| it.bytes.div_ceil(scenario.packet_bytes));
    let arrivals = scenario.requests.iter().map(|it| it.arrival_slot + it.wait_slots);
    let last = arrivals.chain(scenario.signals.iter().map(|it| it.slot)).max().unwrap_or(0);
    let slots = packets.fold(last, u64::saturating_add);
    if slots > QUIC_SLOTS_MAX {
        return Err(format!("it may last {slots} slots, at most {QUIC_SLOTS_MAX}"));
    }
    if scenario.packet_bytes > QUIC_PACKET_BYTES_MAX {
        return Err(format!("a packet has at most {QUIC_PACKET_BYTES_MAX} bytes"));
    }
    Ok(())
}

struct ScenarioSite {
    /// By path.
    requests: BTreeMap<String, Request>,
}

impl Site for ScenarioSite {
    fn respond(&self, request: &server::site::Request) -> Response {
        let Some(asked) = self.requests.get(&request.path) else { return Response::empty(404) };
        let body_bytes = asked.bytes.saturating_sub(HEAD_BYTES);
        let slots = u32::try_from(asked.wait_slots).unwrap_or(u32::MAX);
        Response {
            body: Body::synthetic(body_bytes, asked.stream),
            resource: asked.resource,
            ready: vec![(slots * Pace::PAPER.interval, body_bytes)],
            ..Response::empty(200)
        }
    }
}

/// The path of a request. Figures show its last part.
fn path(request: &Request) -> String {
    match &request.name {
        Some(name) if name.chars().all(is_plain) => format!("/{}/{name}", request.stream),
        _ => format!("/{0}/{0}", request.stream),
    }
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_.".contains(letter)
}

struct Sending<'a> {
    world: World<Server>,
    client: BareClient,
    /// Sends signals if the scenario has none.
    half: Option<Box<dyn ClientHalf>>,
    /// By slot: its requests, then its signals.
    to_send: BTreeMap<u64, (Vec<&'a Request>, Vec<&'a TreeSignal>)>,
    responses: BTreeSet<StreamId>,
}

impl<'a> Sending<'a> {
    fn new(scenario: &'a Scenario, scheme: &Scheme, logs: &Path) -> Result<Self, OverQuicError> {
        let pace = Pace {
            packet_bytes: usize::try_from(scenario.packet_bytes).unwrap_or(usize::MAX),
            ..Pace::PAPER
        };
        let options = Options {
            signals: SignalUse::Obey,
            qlog_dir: Some(logs.to_owned()),
            ..Options::new(scheme.clone()).paced(pace)
        };
        let requests = scenario.requests.iter().map(|it| (path(it), it.clone())).collect();
        let network = Network::find("paper")?;
        let identity = Identity::self_signed().map_err(StackError::from)?;
        let site = RuledSite::of(ScenarioSite { requests });
        let world = server_world(site, options, &identity, &network, 0)?;
        let settings = Settings { extensions: offered(scenario, scheme), ..Settings::default() };
        let config = patient(ClientConfig { settings, ..ClientConfig::default() });
        let client = BareClient::connect(CLIENT.into(), SERVER.into(), &config, world.now())
            .map_err(StackError::from)?;
        let has_signals = !scenario.signals.is_empty();
        let half = if has_signals { None } else { scheme.client_half().ok() };
        let to_send = scenario.arrivals();
        Ok(Self { world, client, half, to_send, responses: BTreeSet::new() })
    }

    /// Runs from the handshake to the end of the last response. The error names anything that could not be sent.
    fn run(&mut self) -> Result<(), String> {
        while self.client.connection.session.peer_settings().is_none() {
            self.step(None)?;
        }
        let setup = self.half.as_mut().map(|it| it.setup()).unwrap_or_default();
        setup.iter().try_for_each(|signal| say(&mut self.client, signal))?;
        while let Some((&slot, _)) = self.to_send.first_key_value() {
            let time = slot_time(slot);
            if self.world.elapsed() < time {
                self.step(Some(time))?;
                continue;
            }
            let (requests, signals) = self.to_send.remove(&slot).unwrap_or_default();
            requests.into_iter().try_for_each(|it| self.send(it))?;
            signals.into_iter().try_for_each(|it| say(&mut self.client, &it.in_tree()))?;
        }
        while !self.responses.is_empty() {
            self.step(None)?;
        }
        Ok(())
    }

    fn send(&mut self, request: &Request) -> Result<(), String> {
        let client = &mut self.client;
        let (stream, resource) = (StreamId(request.stream), request.resource);
        let signals = self.half.as_mut().map(|it| it.request(stream, &resource));
        signals.iter().flatten().try_for_each(|signal| say(client, signal))?;
        let metadata = schedulers::metadata_field(&resource);
        let fields = [(schedulers::METADATA_FIELD, metadata.as_str())];
        if !client.get(stream, "localhost", &path(request), &fields) {
            return Err(format!("the server does not take a request on stream {}", request.stream));
        }
        self.responses.insert(stream);
        Ok(())
    }

    fn step(&mut self, wakeup: Option<Duration>) -> Result<(), String> {
        if !self.world.step(&mut [&mut self.client], wakeup) {
            return Err("the connection ended before the last response".to_owned());
        }
        let events: Vec<Event> = self.client.events().collect();
        for event in events {
            if let Event::Finished { stream } | Event::Reset { stream, .. } = event {
                self.responses.remove(&stream);
                let signals = self.half.as_mut().map(|it| it.closed(stream)).unwrap_or_default();
                signals.iter().try_for_each(|signal| say(&mut self.client, signal))?;
            }
        }
        Ok(())
    }
}

fn say(client: &mut BareClient, signal: &Signal) -> Result<(), String> {
    let sent = client.connection.signal(signal);
    if sent { Ok(()) } else { Err(format!("there is no frame for {signal:?}")) }
}

/// Offers only draft 20's frames if the scheme follows its rules and they can carry every signal. Otherwise it offers all
/// forms, and the best one is used.
fn offered(scenario: &Scenario, scheme: &Scheme) -> BTreeSet<Extension> {
    let is_exclusive = scenario.signals.iter().any(|it| it.exclusive);
    if scheme.args.variant.as_deref() == Some("draft20") && !is_exclusive {
        return [Extension::TreeDraft20].into();
    }
    Extension::ALL.into()
}

/// The midpoint between the preceding slot's tick and its own. The server's ticks count from its connection, which begins at
/// once on this network.
fn slot_time(slot: u64) -> Duration {
    Duration::from_millis(tree_time_ms(slot)).saturating_sub(Pace::PAPER.interval / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedulers::find_scheme;

    fn error(change: impl FnOnce(&mut Scenario)) -> String {
        let json = r#"{"name": "one", "requests": [{"stream": 0, "bytes": 1400, "resource": {"mime": ""}}]}"#;
        let mut scenario = Scenario::parse(json, "one.json").unwrap();
        change(&mut scenario);
        let folder = tempfile::tempdir().unwrap();
        let error = over_quic(&scenario, &find_scheme("tree").unwrap(), folder.path()).unwrap_err();
        error.to_string()
    }

    #[test]
    fn a_scenario_that_cannot_go_over_quic_names_the_obstacle() {
        assert_eq!(
            error(|it| it.requests[0].stream = 2),
            "one over QUIC: stream 2 is not one of a client's first 100 requests: 0, 4, 8, ..."
        );
        assert_eq!(
            error(|it| it.requests[0].bytes = 30_000_000),
            "one over QUIC: it may last 21429 slots, at most 20000"
        );
        assert_eq!(
            error(|it| it.packet_bytes = 70_000),
            "one over QUIC: a packet has at most 16000 bytes"
        );
        assert_eq!(
            error(|it| it.requests = vec![it.requests[0].clone(); 101]),
            "one over QUIC: 101 requests, at most 100"
        );
        let below_itself = TreeSignal {
            slot: 0,
            element: schedulers::Element::Placeholder(99),
            parent: schedulers::Element::Root,
            weight: 16,
            exclusive: false,
        };
        let said = error(|it| it.signals = vec![below_itself]);
        assert!(said.starts_with("one over QUIC: there is no frame for Depend"), "{said}");
    }
}
