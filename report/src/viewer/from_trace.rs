//! Turns a trace into the data for the page.

use std::collections::BTreeMap;

use super::band::band;
use super::clocks::Clock;
use super::delivered::deliver;
use super::event_columns::EventColumns;
use super::findings::{Findings, judged};
use super::in_numbers::in_numbers;
use super::over_time::{End, events, sent, series};
use super::recording::{Answer, Frame, NO_FRAMES, Recording, Role, Stream};
use crate::limits::SHOWN_PRIORITY_CHARACTERS;
use figures::palette::Look;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::causes::{Causes, Mark};
use qlog_tools::event_list::EventList;
use qlog_tools::limits::NAME_CHARACTERS;
use qlog_tools::metrics::{Completions, Measured, finished_share};
use qlog_tools::naming::heading_of_sender;
use qlog_tools::pairing::{Ends, pairs};
use qlog_tools::saturating_cast::to_u64;
use qlog_tools::short_texts::shorten;
use qlog_tools::stream_table::{StreamRow, stream_rows};
use qlog_tools::summary::{Sentence, Summary, Traffic};
use qlog_tools::trace::{DATAGRAMS, StreamRole, Trace, Vantage};
use qlog_tools::views;

const NOT_ARRIVED: &str =
    "a server's log does not show when data arrived; open the client's log, or both";

impl Recording {
    /// The recording of `trace`, which must have been read with [`qlog_tools::trace::Detail::Full`]. If `trace` is a
    /// client's log, `sender` is its server's, from which window, round-trip times and losses come.
    pub fn of(trace: &Trace, sender: Option<&Trace>) -> Self {
        let start_us = start_us(trace);
        let shown = End { trace, clock: Clock::new(start_us, end_us(trace)) };
        let other = sender.map(|sender| End::other(&shown, sender));
        let no_frames = no_frames(trace);
        let lacks_lengths = no_frames.is_some() && !trace.timeline.frames.is_empty();
        // Frames without lengths only show that they exist.
        let mut streams = if lacks_lengths { Vec::new() } else { streams(trace, start_us) };
        let mut facts = facts(trace, sender);
        facts.extend(cut_common_origin(&mut streams));
        streams.iter_mut().for_each(shorten_texts);
        let places: BTreeMap<u64, usize> =
            streams.iter().enumerate().map(|(place, stream)| (stream.id, place)).collect();
        let (mut frames, mut is_exact) = (Vec::new(), false);
        let with_bytes = sender.filter(|it| views::no_streams(it).is_none());
        if !lacks_lengths {
            frames = self::frames(trace, &places, start_us);
            is_exact = deliver(&mut streams, &mut frames, trace, with_bytes);
        }
        let is_server = trace.vantage == Vantage::Server;
        let no_stacks = if is_server { Some(NOT_ARRIVED) } else { no_frames };
        let unmeasured = no_frames.filter(|_| lacks_lengths).map(str::to_owned);
        let measured = unmeasured.map_or_else(|| measured(trace), Err);
        // If a server's log lacks such events, the client's are used.
        let congestion = other.filter(|it| it.trace.recovery.is_some()).unwrap_or(shown);
        let band = band(&other.unwrap_or(shown));
        let lint = judged(&shown, other.as_ref());
        let ends = Ends { log: trace, server: sender };
        let (summary, traffic) = (Summary::of(&ends, lint.as_ref()), Traffic::of(&ends));
        let duration_us = end_us(trace).saturating_sub(start_us).max(1000);
        Self {
            name: name(trace),
            sender: sender.map(name),
            facts,
            remarks: remarks(trace, other.as_ref()),
            is_server,
            duration_us,
            start_us,
            series: series(&congestion),
            series_of: whose(congestion.trace).to_owned(),
            shown_of: whose(trace).to_owned(),
            losses_of: whose(other.unwrap_or(shown).trace).to_owned(),
            sent: other.map(|it| sent(&it, duration_us)).unwrap_or_default(),
            no_band: band.as_ref().err().map(|it| (*it).to_owned()),
            band: band.ok(),
            events: events(&shown, other.as_ref()),
            logs: logs(&shown, other.as_ref(), lacks_lengths),
            in_numbers: in_numbers(&traffic, whose(other.unwrap_or(shown).trace)),
            beside: beside(trace, start_us, duration_us),
            answer: answer(summary.sentences, &shown, other.as_ref()),
            findings: lint.map_or_else(Findings::default, |it| {
                Findings::of(it, other.as_ref().unwrap_or(&shown))
            }),
            causes: causes(trace.vantage, with_bytes.is_some()),
            no_metrics: measured.as_ref().err().cloned(),
            metrics: measured.ok(),
            completed: completed(trace, start_us),
            order_is_estimated: no_stacks.is_none() && !is_exact,
            no_stacks: no_stacks.map(str::to_owned),
            no_frames: no_frames.unwrap_or(NO_FRAMES).to_owned(),
            streams,
            frames,
        }
    }
}

/// The traffic besides requests and responses, on the same axis.
fn beside(trace: &Trace, start_us: u64, duration_us: u64) -> Option<Box<Recording>> {
    let beside = trace.beside()?;
    let mut streams = streams(&beside, start_us);
    for stream in &mut streams {
        let datagrams = ["received", "sent"].into_iter().zip(DATAGRAMS);
        let way = datagrams.filter(|it| it.1 == stream.id).map(|it| it.0).next();
        let request = trace.timeline.transfers.iter().find(|it| it.stream == stream.id);
        (stream.role, stream.url) = match way {
            Some(way) => (Role::Datagrams, way.to_owned()),
            None => (Role::Upload, request.map_or_else(String::new, |it| it.url.clone())),
        };
        shorten_texts(stream);
    }
    let places: BTreeMap<u64, usize> =
        streams.iter().enumerate().map(|(place, stream)| (stream.id, place)).collect();
    let mut frames = frames(&beside, &places, start_us);
    deliver(&mut streams, &mut frames, &beside, None);
    let is_server = beside.vantage == Vantage::Server;
    let causes = causes(beside.vantage, false);
    Some(Box::new(Recording {
        name: name(trace),
        is_server,
        duration_us,
        start_us,
        causes,
        streams,
        frames,
        ..Recording::default()
    }))
}

/// Removes the origin common to all addresses, and returns it: `https://a.test`.
fn cut_common_origin(streams: &mut [Stream]) -> Option<String> {
    let of_requests = streams.iter_mut().filter(|it| it.role != Role::Control);
    let urls: Vec<&mut String> = of_requests.map(|it| &mut it.url).collect();
    let first = urls.first()?;
    let host = first.find("://")? + 3;
    let end = first[host..].find('/')? + host;
    let origin = first[..end].to_owned();
    let has_it = |url: &str| url.strip_prefix(&*origin).is_some_and(|it| it.starts_with('/'));
    if !urls.iter().all(|url| has_it(url)) {
        return None;
    }
    for url in urls {
        url.drain(..end);
    }
    Some(shorten(&origin, NAME_CHARACTERS))
}

/// The sentences of a summary, with their moments on the figures' axis.
fn answer(sentences: Vec<Sentence>, shown: &End<'_>, sender: Option<&End<'_>>) -> Vec<Answer> {
    let moved = sentences.into_iter().map(|Sentence { text, moment, .. }| Answer {
        text: shorten(&text, NAME_CHARACTERS),
        time_us: moment.map(|it| {
            let end = sender.filter(|_| it.is_server).unwrap_or(shown);
            end.clock.at(to_u64(it.time_ms * 1000.0))
        }),
    });
    moved.collect()
}

/// One recording for each connection, from the logs of both ends if available.
pub fn recordings(traces: &[Trace]) -> Vec<Recording> {
    let recordings = pairs(traces).into_iter().map(|Ends { log, server }| Recording {
        name: log.timeline.name.clone(),
        sender: server.map(|it| heading_of_sender(it, log)),
        ..Recording::of(log, server)
    });
    recordings.collect()
}

fn shorten_texts(stream: &mut Stream) {
    stream.url = shorten(&stream.url, NAME_CHARACTERS);
    stream.priority = shorten(&stream.priority, SHOWN_PRIORITY_CHARACTERS);
}

/// Why there are no frames to show; `None` if there are some.
fn no_frames(trace: &Trace) -> Option<&'static str> {
    let is_empty = trace.timeline.frames.is_empty();
    if is_empty { Some(NO_FRAMES) } else { views::no_streams(trace) }
}

/// The frames in the log's order; `places` gives each stream's place.
fn frames(trace: &Trace, places: &BTreeMap<u64, usize>, start_us: u64) -> Vec<Frame> {
    let frames = trace.timeline.frames.iter().map(|frame| Frame {
        time_us: frame.time_us.saturating_sub(start_us),
        stream: places.get(&frame.stream).copied().unwrap_or_default(),
        offset: frame.offset,
        bytes: frame.bytes,
        ..Frame::default()
    });
    frames.collect()
}

/// The name that the user gave it, otherwise the file without its folders, which are long and often the same.
fn name(trace: &Trace) -> String {
    let given = Some(&*trace.timeline.name).filter(|name| !name.is_empty() && *name != trace.file);
    let file = trace.file.rsplit(['/', '\\']).next().unwrap_or(&trace.file);
    shorten(given.unwrap_or(file), NAME_CHARACTERS)
}

/// All events of both ends. Frames without lengths are in no figure.
fn logs(shown: &End<'_>, other: Option<&End<'_>>, lacks_lengths: bool) -> Vec<EventColumns> {
    let frames = if lacks_lengths { &[][..] } else { &shown.trace.timeline.frames };
    let mut logs = vec![log(shown, frames)];
    logs.extend(other.map(|it| log(it, &[])));
    logs
}

fn log(end: &End<'_>, frames: &[StreamFrame]) -> EventColumns {
    let no_events = EventList::default();
    let list = end.trace.events.as_ref().map_or(&no_events, |it| &it.list);
    EventColumns {
        whose: whose(end.trace).to_owned(),
        file: name(end.trace),
        to_own_clock_us: end.clock.to_own_us(),
        ..EventColumns::of(list, |time_us| end.clock.at(time_us), frames)
    }
}

/// The side that the values belong to, in the figures' words.
fn whose(trace: &Trace) -> &'static str {
    match trace.vantage {
        Vantage::Client => "the client",
        Vantage::Server => "the server",
        Vantage::Network | Vantage::Unknown => "the log's side",
    }
}

pub(super) fn start_us(trace: &Trace) -> u64 {
    let firsts = [
        trace.timeline.start_us(),
        trace.timeline.frames.first().map(|frame| frame.time_us),
        trace.packets().first().map(|packet| packet.time_us),
    ];
    firsts.into_iter().flatten().min().unwrap_or_default()
}

fn end_us(trace: &Trace) -> u64 {
    let lasts = [
        trace.timeline.frames.iter().map(|frame| frame.time_us).max(),
        trace.packets().last().map(|packet| packet.time_us),
        trace.samples().last().map(|sample| sample.time_us),
    ];
    lasts.into_iter().flatten().max().unwrap_or_default()
}

/// The streams in the order of requests; streams without a request come last.
fn streams(trace: &Trace, start_us: u64) -> Vec<Stream> {
    let priorities = priorities(trace);
    let rows = stream_rows(trace).into_iter();
    let streams = rows.map(|row| stream(start_us, priorities.get(&row.stream), row));
    let mut streams: Vec<Stream> = streams.collect();
    streams.sort_by_key(|stream| (stream.role == Role::Control, stream.requested_us, stream.id));
    for (place, stream) in streams.iter_mut().enumerate() {
        stream.look = Look::nth(place);
    }
    streams
}

fn stream(start_us: u64, priorities: Option<&Vec<&str>>, row: StreamRow) -> Stream {
    let role = match row.role {
        StreamRole::Push => Role::Push,
        _ if row.requested_us.is_some() => Role::Request,
        _ => Role::Control,
    };
    let unnamed = if row.requested_us.is_some() { "" } else { row.role.name() };
    Stream {
        id: row.stream,
        role,
        url: row.url.unwrap_or_else(|| unnamed.to_owned()),
        priority: priorities.map(|it| it.join(" \u{2192} ")).unwrap_or_default(),
        requested_us: row.requested_us.map(|it| it.saturating_sub(start_us)),
        first_us: row.first_us.map(|it| it.saturating_sub(start_us)),
        complete_us: row.complete_us.map(|it| it.saturating_sub(start_us)),
        bytes: row.bytes,
        // Set from its frames, which are read later.
        causes: Causes::default(),
        // Set from its final place.
        look: Look::nth(0),
    }
}

/// The number of priorities shown for a stream: the first ones.
const PRIORITIES: usize = 4;

/// The priorities of each stream, in order, without repetition, because a log may have hundreds of thousands.
fn priorities(trace: &Trace) -> BTreeMap<u64, Vec<&str>> {
    let mut priorities: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for signal in trace.signals.iter().filter(|signal| signal.is_of_stream()) {
        let said = priorities.entry(signal.element).or_default();
        if said.last() != Some(&&*signal.value) && said.len() < PRIORITIES {
            said.push(&signal.value);
        }
    }
    priorities
}

/// Facts about both ends' logs, as far as available.
fn facts(shown: &Trace, sender: Option<&Trace>) -> Vec<String> {
    let mut facts: Vec<String> =
        shown.header.title.iter().map(|it| shorten(it, NAME_CHARACTERS)).collect();
    facts.extend(packets(shown));
    facts.extend(sender.into_iter().flat_map(packets));
    facts.push(shown.stream_bytes_in_words());
    if let Ok((all, _)) = Completions::of_finished(shown, |_| true) {
        facts.push(format!("ByteIndex {:.1} ms", all.byte_index_ms()));
    }
    facts
}

/// The side that wrote the log, and its packets.
fn packets(trace: &Trace) -> [String; 2] {
    let counts = &trace.counts;
    let whose = match trace.vantage {
        Vantage::Client => "client's log",
        Vantage::Server => "server's log",
        Vantage::Network => "log from the network",
        Vantage::Unknown => "log of an unnamed side",
    };
    let format = trace.header.format.as_deref().unwrap_or("no version named");
    let side = match trace.vantage {
        Vantage::Client | Vantage::Server => format!("the {}: ", trace.vantage.name()),
        _ => String::new(),
    };
    let (stack, format) = (shorten(&trace.header.stack.to_string(), 80), shorten(format, 80));
    let (container, losses) =
        (trace.header.container.name(), views::losses(trace, "declared lost"));
    let (sent, received) = (counts.packets_sent, counts.packets_received);
    [
        format!("{whose} by {stack}, {format} ({container}), {} events", counts.events),
        format!("{side}{sent} packets sent, {received} received, {losses}"),
    ]
}

fn remarks(shown: &Trace, sender: Option<&End<'_>>) -> Vec<String> {
    let mut remarks = remarks_of(shown);
    if let Some(sender) = sender {
        let its = remarks_of(sender.trace).into_iter();
        remarks.extend(its.map(|it| format!("server's log: {it}")));
        remarks.push(format!(
            "the server's times were moved by {:+.3} ms to the client's clock, by the least delays of both directions",
            sender.clock.shift_ms()
        ));
    }
    remarks
}

fn remarks_of(trace: &Trace) -> Vec<String> {
    let repairs = trace.repairs.iter().map(|it| format!("{} ({}\u{d7})", it.what, it.count));
    let mut remarks: Vec<String> = repairs.collect();
    remarks.extend(views::missing(trace).into_iter().map(str::to_owned));
    let unfinished = Completions::of_finished(trace, |_| true).map_or(0, |it| it.1.len());
    if unfinished > 0 {
        remarks.push(format!("{unfinished} responses did not finish; the ByteIndex excludes them"));
    }
    remarks
}

/// The meaning of each mark in the log of this side. Without the bytes that a server's log says it sent, a client's is a guess.
fn causes(vantage: Vantage, has_sent: bool) -> BTreeMap<Mark, String> {
    let retransmitted = match vantage {
        Vantage::Server => {
            "the earlier packet with these bytes was never acknowledged: lost, or sent again as a probe"
        }
        _ if has_sent => {
            "an earlier packet with these bytes never arrived, as the server's log shows"
        }
        _ => {
            "a guess: an earlier packet with these bytes was lost, because this one has a higher number than the packets after the hole"
        }
    };
    let duplicate = if vantage == Vantage::Server {
        "the earlier packet with these bytes was acknowledged: a spurious retransmission"
    } else {
        "all these bytes had already arrived: a spurious retransmission, or the replaced packet arrived after all"
    };
    BTreeMap::from([
        (Mark::Retransmitted, retransmitted.to_owned()),
        (Mark::Duplicate, duplicate.to_owned()),
        (Mark::Reordered, "a later packet overtook this one".to_owned()),
    ])
}

fn measured(trace: &Trace) -> Result<Measured, String> {
    if trace.timeline.transfers.is_empty() {
        return Err("the log has no request streams".to_owned());
    }
    let finished = Completions::of_finished(trace, |_| true);
    let (all, _) = finished.map_err(|reason| reason.to_string())?;
    Ok(Measured::of(&trace.timeline, Some(&all), None))
}

/// The completions on the recording's clock, each with the share of complete body bytes.
fn completed(trace: &Trace, start_us: u64) -> Vec<(u64, f64)> {
    let shift_us = trace.timeline.start_us().unwrap_or_default().saturating_sub(start_us);
    let completed = finished_share(trace).into_iter();
    completed
        .map(|point| (shift_us.saturating_add(to_u64(point.time_ms * 1000.0)), point.share))
        .collect()
}
