//! Matches the logs of the same connection: its client's and its server's.

use crate::clock_shift::least_delays_us;
use crate::repeated::{Common, common};
use crate::short_texts::shown;
use crate::trace::{Trace, Vantage};
use crate::views::no_waits;
use std::collections::BTreeSet;
use std::path::Path;

/// The clocks of two machines drift apart by less than this part of a connection's duration.
const DRIFT_PART: u64 = 1000;
/// Two ticks of the coarsest clocks, which count milliseconds.
const TICK_US: i64 = 2000;

/// The logs of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Ends<'a> {
    /// The server's log, if `log` is the client's.
    pub log: &'a Trace,
    /// The server's log, where `log` is the client's.
    pub server: Option<&'a Trace>,
}

/// Whether both logs are of the same connection: they name it, by any of its names, and nothing in them contradicts this.
pub(crate) fn is_same_connection(one: &Trace, other: &Trace) -> bool {
    have_same_name(one, other) && !are_of_two_runs(one, other)
}

fn have_same_name(one: &Trace, other: &Trace) -> bool {
    let mut names = one.connection.iter().chain(&one.names);
    names.any(|name| other.connection.as_ref() == Some(name) || other.names.contains(name))
}

fn are_of_two_runs(one: &Trace, other: &Trace) -> bool {
    contradiction(one, other).is_some()
}

/// Why a client's and a server's log cannot be of one connection: a packet arrived with other bytes than sent, or before it was
/// sent, whatever the clocks. Checked as far as the logs were read.
fn contradiction(one: &Trace, other: &Trace) -> Option<String> {
    let (client, server) = match [one, other].map(|it| it.vantage == Vantage::Server) {
        [false, true] => (one, other),
        [true, false] => (other, one),
        _ => return None,
    };
    if let Some(number) = with_other_bytes(client, server) {
        return Some(format!(
            "packet {number} arrived with other stream bytes than it was sent with"
        ));
    }
    let (Some(down_us), Some(up_us)) = least_delays_us(client, server) else { return None };
    let lasts_us = client.packets().last().map_or(0, |it| it.time_us);
    let drift_us = i64::try_from(lasts_us / DRIFT_PART).unwrap_or(i64::MAX);
    let there_and_back_us = down_us.saturating_add(up_us);
    (there_and_back_us.saturating_add(drift_us) < -TICK_US).then(|| {
        format!(
            "whatever the clocks, a packet arrived before it was sent: the shortest ways there and back add up to {:.1} ms",
            there_and_back_us as f64 / 1000.0
        )
    })
}

/// A packet in both logs that arrived with other stream bytes than it was sent with.
fn with_other_bytes(client: &Trace, server: &Trace) -> Option<u64> {
    let mut sent: Vec<(u64, u64, u64)> = Vec::with_capacity(server.arrivals.len());
    for (frame, packet) in server.arrivals.iter() {
        sent.extend(packet.map(|it| (it, frame.stream, frame.offset)));
    }
    sent.sort_unstable();
    let has_packet = |number| {
        let place = sent.partition_point(|it| it.0 < number);
        sent.get(place).is_some_and(|it| it.0 == number)
    };
    client.arrivals.iter().find_map(|(frame, packet)| {
        packet.filter(|&number| {
            sent.binary_search(&(number, frame.stream, frame.offset)).is_err() && has_packet(number)
        })
    })
}

/// The log of the connection by this side. Two simulated runs can have the same connection ID, but each has its own folder.
pub(crate) fn other_end<'a>(
    traces: &'a [Trace],
    trace: &Trace,
    side: Vantage,
) -> Option<&'a Trace> {
    let named = traces.iter().filter(|it| it.vantage == side && have_same_name(it, trace));
    let mut named: Vec<&Trace> = named.collect();
    named.sort_by_key(|it| folder(it) != folder(trace));
    named.into_iter().find(|it| !are_of_two_runs(it, trace))
}

fn folder(trace: &Trace) -> Option<&Path> {
    Path::new(&trace.file).parent()
}

/// Each connection once, without logs that repeat an earlier one.
pub fn pairs(traces: &[Trace]) -> Vec<Ends<'_>> {
    let server_of = |log: &Trace| match log.vantage {
        Vantage::Client => other_end(traces, log, Vantage::Server),
        _ => None,
    };
    let repeated: BTreeSet<*const Trace> =
        repeated(traces).into_iter().map(|it| std::ptr::from_ref(it.1)).collect();
    let is_new = |log: &&Trace| !repeated.contains(&std::ptr::from_ref(*log));
    let logs = traces.iter().filter(is_new);
    let all: Vec<Ends<'_>> = logs.map(|log| Ends { log, server: server_of(log) }).collect();
    let paired: BTreeSet<*const Trace> =
        all.iter().filter_map(|it| it.server).map(std::ptr::from_ref).collect();
    // A server's log with a matching client's is listed with it.
    all.into_iter().filter(|it| !paired.contains(&std::ptr::from_ref(it.log))).collect()
}

/// The logs that tell nothing new, each behind the one that it repeats.
fn repeated(traces: &[Trace]) -> Vec<(&Trace, &Trace)> {
    let mut found: Vec<(&Trace, &Trace)> = Vec::new();
    for (place, one) in traces.iter().enumerate() {
        for (other_place, other) in traces.iter().enumerate().filter(|it| it.0 != place) {
            let is_known = |log| found.iter().any(|it| std::ptr::eq(it.1, log));
            let is_same_file = !one.file.is_empty() && one.file == other.file;
            let is_like = is_same_file || have_same_name(one, other);
            let is_left = !is_known(one) && !is_known(other) && is_like;
            let is_all = || common(one, other) == Some(Common::All);
            // Of two equal ones, the first stays.
            let is_first = || place < other_place || common(other, one) != Some(Common::All);
            if is_left && is_all() && is_first() {
                found.push((one, other));
            }
        }
    }
    found
}

/// `--vantage` names one side for all logs.
const NEITHER_SIDE: &str = "neither shows which side wrote it, so each counts as a connection of its own: read each by itself, with its side by \
     --vantage";
const CAPTURES: &str = "--vantage names the side of all captures, so both count as made there, each of a connection of its own: read each by \
     itself, with its side";
const OVERLAP: &str = "they are parts of one log that overlap, and what is in both counts in each: in one file, one behind the other, it counts once";

const PART: &str = "one of them begins after the connection did, so they may be parts of one log, of which each is summarized by itself";

/// Sentences about logs that repeat another, and about logs with the same connection ID that are not read as one connection's.
pub fn apart(traces: &[Trace]) -> Vec<String> {
    let repeated = repeated(traces);
    let mut sentences: Vec<String> = Vec::new();
    for (one, other) in repeated {
        let [one, other] = [one, other].map(Trace::label);
        sentences.push(format!(
            "{other} repeats {one}, with the same packets at the same times, and counts once."
        ));
    }
    let all = pairs(traces);
    for (place, one) in all.iter().enumerate() {
        for other in &all[place + 1..] {
            sentences.extend(why_apart(one, other));
        }
    }
    sentences
}

/// Why logs with the same connection ID are not joined; `None` also if they are of two runs.
pub fn why_apart(one: &Ends<'_>, other: &Ends<'_>) -> Option<String> {
    let is_alone = one.server.is_none() && other.server.is_none();
    let (one, other) = (one.log, other.log);
    if !have_same_name(one, other) {
        return None;
    }
    let is_side = |it: &Trace| matches!(it.vantage, Vantage::Client | Vantage::Server);
    let why = match [is_side(one), is_side(other)] {
        [true, true] if one.vantage == other.vantage => same_side(one, other)?.to_owned(),
        _ if !is_alone => return None,
        [true, true] => contradiction(one, other)?,
        [false, false] => NEITHER_SIDE.to_owned(),
        [has_side, _] => {
            let log = if has_side { other } else { one }.label();
            format!("{log} does not show which side wrote it: name it with --vantage")
        }
    };
    let id = one.connection.as_ref().or(other.connection.as_ref());
    let id = id.map_or_else(String::new, |it| format!(" {}", shown(it, 60)));
    let [one, other] = [one, other].map(Trace::label);
    Some(format!("{one} and {other} have the same connection ID{id}, and were not joined: {why}."))
}

/// The same for two logs of one side.
fn same_side(one: &Trace, other: &Trace) -> Option<&'static str> {
    let is_capture = [one, other].iter().any(|it| it.is_capture());
    match common(one, other) {
        Some(_) => Some(OVERLAP),
        None if is_capture => Some(CAPTURES),
        None => [one, other].iter().any(|it| it.lacks_beginning()).then_some(PART),
    }
}

/// The connections with known arrivals, each with its server's log if that has STREAM frames.
pub fn with_arrivals(traces: &[Trace]) -> Vec<Ends<'_>> {
    let (clients, servers): (Vec<&Trace>, Vec<&Trace>) = traces
        .iter()
        .filter(|it| no_waits(it).is_none())
        .partition(|it| it.vantage != Vantage::Server);
    // If neither log names its connection, trust the caller's pairing.
    if let ([client], [server]) = (&clients[..], &servers[..])
        && (client.connection.is_none() && server.connection.is_none()
            || have_same_name(client, server))
        && !are_of_two_runs(client, server)
    {
        return vec![Ends { log: client, server: Some(server) }];
    }
    let mut pairs = pairs(traces);
    pairs.retain(|it| it.log.vantage != Vantage::Server && no_waits(it.log).is_none());
    for pair in &mut pairs {
        pair.server = pair.server.filter(|server| no_waits(server).is_none());
    }
    pairs
}

/// The servers' logs, and the logs of clients whose server's log is missing.
pub fn senders(traces: &[Trace]) -> Vec<&Trace> {
    let is_sender = |it: &&Trace| {
        it.vantage == Vantage::Server || other_end(traces, it, Vantage::Server).is_none()
    };
    traces.iter().filter(is_sender).collect()
}

/// The client's log of the connection of `server`, from the logs that the user named as clients' and the others. A single named log
/// need not name its connection. An error says why a log that was named as the client's cannot be used.
pub fn client_of<'a>(
    server: &Trace,
    named: &'a [Trace],
    others: &'a [Trace],
) -> Result<Option<&'a Trace>, String> {
    if server.vantage != Vantage::Server {
        return Ok(None);
    }
    for log in named.iter().chain(others) {
        if log.vantage != Vantage::Server && is_same_connection(log, server) {
            return Ok(Some(log));
        }
    }
    let Some(first) = named.first() else { return Ok(None) };
    if named.iter().all(|log| log.vantage == Vantage::Server) {
        return Err(format!(
            "{}: a server's log; --client takes the log of its client",
            first.label()
        ));
    }
    // Exactly repeated loads have the same IDs.
    if let Some(run) = named.iter().find(|log| have_same_name(log, server)) {
        return Err(format!(
            "{}: not the client's log of the server's connection: the same ID, but other packets; name the client's log of the same run",
            run.file
        ));
    }
    match (&first.connection, &server.connection) {
        (Some(there), Some(here)) => Err(format!(
            "{}: not the client's log of the server's connection: ID {} in this log, {} at the server",
            first.file,
            shown(there, 60),
            shown(here, 60)
        )),
        _ => Ok(Some(first).filter(|_| named.len() == 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::StreamFrame;
    use crate::packet::{Packet, PacketEvent, Space};

    fn log(vantage: Vantage, connection: Option<&str>) -> Trace {
        Trace { vantage, connection: connection.map(str::to_owned), ..Trace::default() }
    }

    #[test]
    fn a_connection_with_both_logs_is_one_pair() {
        let logs = [
            log(Vantage::Server, Some("aa")),
            log(Vantage::Client, Some("aa")),
            log(Vantage::Server, Some("bb")),
            log(Vantage::Client, None),
        ];
        let pairs = pairs(&logs);
        let of = |it: &Ends<'_>| (it.log.vantage, it.server.is_some());
        let expected =
            [(Vantage::Client, true), (Vantage::Server, false), (Vantage::Client, false)];
        assert_eq!(pairs.iter().map(of).collect::<Vec<_>>(), expected);
        assert_eq!(senders(&logs).len(), 3, "the client of aa is judged by its server's log");
    }

    #[test]
    fn of_two_runs_with_the_same_id_each_has_the_server_of_its_folder() {
        let ends = [Vantage::Client, Vantage::Server];
        let run = |folder: &str| {
            ends.map(|it| Trace {
                file: format!("{folder}/{}.sqlog", it.name()),
                ..log(it, Some("aa"))
            })
        };
        let logs = [run("rr"), run("fifo")].concat();
        let pairs = pairs(&logs);
        let files: Vec<(&str, &str)> =
            pairs.iter().map(|it| (&*it.log.file, &*it.server.unwrap().file)).collect();
        let expected =
            [("rr/client.sqlog", "rr/server.sqlog"), ("fifo/client.sqlog", "fifo/server.sqlog")];
        assert_eq!(files, expected);
    }

    /// A log of connection aa with packets of 100 bytes of stream 0: the number, the time in ms, and the offset of each.
    fn run(vantage: Vantage, packets: &[(u64, u64, u64)]) -> Trace {
        let event =
            if vantage == Vantage::Server { PacketEvent::Sent } else { PacketEvent::Received };
        let other =
            if vantage == Vantage::Server { PacketEvent::Received } else { PacketEvent::Sent };
        let mut trace = log(vantage, Some("aa"));
        trace.counts.stream_frames = 1;
        let mut all = Vec::new();
        for &(number, time_ms, offset) in packets {
            let time_us = time_ms * 1000;
            let packet = Packet {
                time_us,
                event,
                space: Space::Application,
                number: Some(number),
                bytes: 130,
                is_ack_eliciting: true,
                is_mtu_probe: false,
            };
            // As many packets go the other way, at the same times.
            all.extend([packet, Packet { event: other, ..packet }]);
            let frame = StreamFrame { time_us, stream: 0, offset, bytes: 100 };
            trace.arrivals.push(frame, Some(number));
        }
        trace.packets = Some(all.into_iter().collect());
        trace
    }

    #[test]
    fn logs_of_two_runs_with_the_same_id_are_not_one_connection() {
        let client = run(Vantage::Client, &[(1, 30, 0), (2, 40, 100), (4, 60, 300)]);
        let is_paired = |server: &Trace| {
            let logs = [client.clone(), server.clone()];
            let found = [pairs(&logs).len(), with_arrivals(&logs).len()];
            assert_eq!(found, if pairs(&logs)[0].server.is_some() { [1, 1] } else { [2, 1] });
            (pairs(&logs)[0].server.is_some(), with_arrivals(&logs)[0].server.is_some())
        };
        // Packet 3 was lost. The clocks are 1000 ms apart.
        let own = [(1, 1010, 0), (2, 1020, 100), (3, 1030, 200), (4, 1040, 300)];
        assert_eq!(is_paired(&run(Vantage::Server, &own)), (true, true));
        let other_order = [(1, 1010, 0), (2, 1020, 200), (3, 1030, 100), (4, 1040, 300)];
        assert_eq!(is_paired(&run(Vantage::Server, &other_order)), (false, false));
        // The same packets, ten times as slow: data that arrived after 30 ms was sent after 300.
        let slower = [(1, 1010, 0), (2, 1120, 100), (3, 1230, 200), (4, 1340, 300)];
        assert_eq!(is_paired(&run(Vantage::Server, &slower)), (false, false));
        let told = |server: &Trace| apart(&[client.clone(), server.clone()]);
        assert_eq!(told(&run(Vantage::Server, &own)), Vec::<String>::new());
        let named = |server: &Trace| Trace { file: "s.sqlog".to_owned(), ..server.clone() };
        assert_eq!(
            told(&named(&run(Vantage::Server, &other_order))),
            [
                " and s.sqlog have the same connection ID aa, and were not joined: packet 2 arrived with other stream bytes than it was sent with."
            ]
        );
        let early = told(&run(Vantage::Server, &slower));
        assert!(early[0].ends_with("there and back add up to -300.0 ms."), "{early:?}");
        let between = Trace { vantage: Vantage::Network, ..client.clone() };
        let sideless = apart(&[between, run(Vantage::Server, &own)]);
        assert!(sideless[0].ends_with("name it with --vantage."), "{sideless:?}");
        let error = client_of(&run(Vantage::Server, &slower), std::slice::from_ref(&client), &[]);
        assert!(error.as_ref().is_err_and(|it| it.contains("but other packets")), "{error:?}");
    }

    #[test]
    fn a_log_that_repeats_another_counts_once_and_parts_that_overlap_are_said_to() {
        let named = |file: &str, log: Trace| Trace { file: file.to_owned(), ..log };
        let packets = [(1, 30, 0), (2, 40, 100), (4, 60, 300), (5, 75, 400)];
        let whole = named("a", run(Vantage::Client, &packets));
        let told = |logs: &[Trace]| (pairs(logs).len(), apart(logs));
        // Another clock.
        let copy = named("b", run(Vantage::Client, &packets.map(|it| (it.0, it.1 + 500, it.2))));
        let repeats = "b repeats a, with the same packets at the same times, and counts once.";
        assert_eq!(told(&[whole.clone(), copy]), (1, vec![repeats.to_owned()]));
        let [first, last] = [
            named("b", run(Vantage::Client, &packets[..3])),
            named("c", run(Vantage::Client, &packets[1..])),
        ];
        assert_eq!(told(&[first.clone(), whole.clone()]).0, 1, "the longer one counts");
        // Both have the first packet of the other direction, which has numbers of its own.
        let other = *first.packets_of(PacketEvent::Sent).next().expect("one");
        let all = last.packets().iter().copied().chain([other]);
        let last = Trace { packets: Some(all.collect()), ..last };
        let (count, sentences) = told(&[first, last]);
        assert_eq!((count, sentences.len()), (2, 1));
        assert!(
            sentences[0].contains("not joined: they are parts of one log that overlap"),
            "{sentences:?}"
        );
        let later = named("c", run(Vantage::Client, &[(11, 130, 1100), (12, 140, 1200)]));
        let (count, sentences) = told(&[whole.clone(), later]);
        assert_eq!((count, sentences.len()), (2, 1));
        assert!(sentences[0].contains("one of them begins after the connection did"));
        // Runs of a simulation: the same packets with other contents, or at other times.
        let contents = named(
            "b",
            run(Vantage::Client, &[(1, 30, 0), (2, 40, 300), (4, 60, 100), (5, 75, 400)]),
        );
        let times = named(
            "b",
            run(Vantage::Client, &[(1, 30, 0), (2, 41, 100), (4, 60, 300), (5, 75, 400)]),
        );
        for other in [contents, times] {
            assert_eq!(told(&[whole.clone(), other]), (2, Vec::new()));
        }
    }

    #[test]
    fn captures_of_one_connection_with_one_side_are_not_joined_and_are_no_two_runs() {
        let capture = |file: &str, vantage, delay_ms: [u64; 2]| {
            let mut log = run(vantage, &[(1, 30 + delay_ms[0], 0), (2, 40 + delay_ms[1], 100)]);
            (log.file, log.header.format) = (file.to_owned(), Some("capture".to_owned()));
            log
        };
        let told = |side| {
            let logs = [capture("a", side, [0, 0]), capture("b", side, [5, 7])];
            (pairs(&logs).len(), apart(&logs).concat())
        };
        let (count, sentence) = told(Vantage::Client);
        let expected = "a and b have the same connection ID aa, and were not joined: --vantage names the side of all captures, so both count";
        assert!(count == 2 && sentence.starts_with(expected), "{sentence}");
        let (count, sentence) = told(Vantage::Network);
        let expected =
            "neither shows which side wrote it, so each counts as a connection of its own";
        assert!(count == 2 && sentence.contains(expected), "{sentence}");
    }

    #[test]
    fn a_single_named_client_without_an_id_is_trusted() {
        let server = log(Vantage::Server, Some("aa"));
        let (nameless, other) = (log(Vantage::Client, None), log(Vantage::Client, Some("bb")));
        let found = |named: &[Trace]| client_of(&server, named, &[]).map(|it| it.is_some());
        assert_eq!(found(&[nameless]), Ok(true));
        assert_eq!(found(&[]), Ok(false));
        let error = found(&[other]).unwrap_err();
        assert!(error.ends_with("ID bb in this log, aa at the server"), "{error}");
    }
}
