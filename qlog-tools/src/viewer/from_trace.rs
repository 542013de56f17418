//! From what a log says to what the page shows.

use std::collections::{BTreeMap, BTreeSet};

use schedulers::Kind;

use super::delivered::deliver;
use super::recording::{Events, Frame, Mark, Recording, Role, Series, Stream, Unit};
use crate::byte_index::{byte_index, completed_share};
use crate::figures::PageResource;
use crate::figures::palette::{Look, Pattern, looks};
use crate::timeline::Transfer;
use crate::trace::{
    PacketEvent, RecoverySample, SignalKind, StreamRole, StreamSummary, Trace, TransferDetails,
    Vantage,
};
use crate::views;

impl Recording {
    /// What `trace` shows, which must have been read with [`crate::trace::Detail::Full`]; `sender` is the log of the
    /// server, when `trace` is its client's.
    pub fn of(trace: &Trace, sender: Option<&Trace>) -> Self {
        let start_us = start_us(trace);
        let mut streams = streams(trace, start_us);
        let mut facts = facts(trace);
        if let Some(origin) = common_origin(&streams) {
            for stream in streams.iter_mut().filter(|it| it.role != Role::Control) {
                stream.url.drain(..origin.len());
            }
            facts.push(origin);
        }
        let places: BTreeMap<u64, usize> =
            streams.iter().enumerate().map(|(place, stream)| (stream.id, place)).collect();
        let mut frames: Vec<Frame> = trace
            .timeline
            .frames
            .iter()
            .map(|frame| Frame {
                time_us: frame.time_us.saturating_sub(start_us),
                stream: places.get(&frame.stream).copied().unwrap_or_default(),
                offset: frame.offset,
                bytes: frame.bytes,
                ..Frame::default()
            })
            .collect();
        let exactness = deliver(&mut frames, trace, sender);
        let stacks = if trace.vantage == Vantage::Server {
            Err("a server's log does not say when data arrived; open the client's log, or both"
                .to_owned())
        } else if frames.is_empty() {
            Err("the log holds no STREAM frames".to_owned())
        } else {
            Ok(exactness)
        };
        Self {
            name: short_name(&trace.file),
            facts,
            remarks: remarks(trace),
            is_server: trace.vantage == Vantage::Server,
            duration_us: end_us(trace).saturating_sub(start_us),
            series: series(&trace.recovery, start_us),
            events: events(trace, start_us),
            causes: causes(trace.vantage),
            byte_index: byte_index(&trace.timeline, |_| true).map_err(|reason| reason.to_string()),
            completed: completed(trace, start_us),
            stacks,
            streams,
            frames,
        }
    }
}

/// The file without its folders, which are long and often the same.
fn short_name(file: &str) -> String {
    file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned()
}

/// `https://a.test`, when all URLs begin with it.
fn common_origin(streams: &[Stream]) -> Option<String> {
    let mut urls = streams.iter().filter(|it| it.role != Role::Control).map(|it| &*it.url);
    let first = urls.next()?;
    let host = first.find("://")? + 3;
    let end = first[host..].find('/')? + host;
    let origin = &first[..end];
    urls.all(|url| url.strip_prefix(origin).is_some_and(|path| path.starts_with('/')))
        .then(|| origin.to_owned())
}

fn start_us(trace: &Trace) -> u64 {
    let firsts = [
        trace.timeline.start_us(),
        trace.timeline.frames.first().map(|frame| frame.time_us),
        trace.packets.first().map(|packet| packet.time_us),
    ];
    firsts.into_iter().flatten().min().unwrap_or_default()
}

fn end_us(trace: &Trace) -> u64 {
    let lasts = [
        trace.timeline.frames.iter().map(|frame| frame.time_us).max(),
        trace.packets.last().map(|packet| packet.time_us),
        trace.recovery.last().map(|sample| sample.time_us),
    ];
    lasts.into_iter().flatten().max().unwrap_or_default()
}

/// In the order of requests; streams that nobody asked for come last.
fn streams(trace: &Trace, start_us: u64) -> Vec<Stream> {
    let said = Said::of(trace);
    let with_frames: BTreeSet<u64> = trace.streams.iter().map(|it| it.stream).collect();
    let mut streams: Vec<Stream> =
        trace.streams.iter().map(|summary| said.stream(summary, start_us)).collect();
    for transfer in &trace.timeline.transfers {
        if !with_frames.contains(&transfer.stream) {
            let summary = StreamSummary {
                stream: transfer.stream,
                role: StreamRole::Request,
                ..StreamSummary::default()
            };
            streams.push(Stream { first_us: None, ..said.stream(&summary, start_us) });
        }
    }
    streams.sort_by_key(|stream| (stream.role == Role::Control, stream.requested_us, stream.id));
    let resources: Vec<PageResource> = streams
        .iter()
        .map(|stream| PageResource {
            url: stream.url.clone(),
            kind: said.kind(stream.id),
            above_fold: false,
            body_bytes: Some(stream.bytes),
        })
        .collect();
    for (stream, look) in streams.iter_mut().zip(looks(&resources)) {
        stream.look = look;
    }
    streams
}

/// What HTTP/3 said, by stream: a log may have hundreds of thousands.
struct Said<'a> {
    transfers: BTreeMap<u64, (&'a Transfer, Option<&'a TransferDetails>)>,
    priorities: BTreeMap<u64, Vec<&'a str>>,
}

impl<'a> Said<'a> {
    fn of(trace: &'a Trace) -> Self {
        let details = trace.details.iter().map(Some).chain(std::iter::repeat(None));
        let transfers = trace.timeline.transfers.iter().zip(details);
        let mut priorities: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for signal in trace.signals.iter().filter(|it| it.how != SignalKind::PushUpdate) {
            priorities.entry(signal.element).or_default().push(&signal.value);
        }
        Self { transfers: transfers.map(|both| (both.0.stream, both)).collect(), priorities }
    }

    fn stream(&self, summary: &StreamSummary, start_us: u64) -> Stream {
        let from_start = |time_us: u64| time_us.saturating_sub(start_us);
        let transfer = self.transfers.get(&summary.stream).map(|(transfer, _)| transfer);
        Stream {
            id: summary.stream,
            role: match summary.role {
                StreamRole::Push => Role::Push,
                _ if transfer.is_some() => Role::Request,
                _ => Role::Control,
            },
            url: match transfer {
                Some(transfer) if !transfer.url.starts_with("stream ") => transfer.url.clone(),
                Some(_) => String::new(),
                None => summary.role.name().to_owned(),
            },
            priority: self.priority(summary.stream),
            requested_us: transfer.map(|transfer| from_start(transfer.requested_us)),
            first_us: Some(from_start(summary.first_us)),
            complete_us: summary.complete_us.map(from_start),
            bytes: summary.bytes,
            retransmitted_bytes: summary.retransmitted_bytes,
            duplicate_bytes: summary.duplicate_bytes,
            reordered_bytes: summary.reordered_bytes,
            // Looks differ by the number of streams; they are given to all at the end.
            look: Look { colour: String::new(), pattern: Pattern::Solid },
        }
    }

    /// What was said of a stream, in order, without repetition: `u=3 → u=0`.
    fn priority(&self, stream: u64) -> String {
        let mut said = self.priorities.get(&stream).cloned().unwrap_or_default();
        said.dedup();
        said.truncate(4);
        said.join(" \u{2192} ")
    }

    /// By its MIME type, or else by the ending of its URL.
    fn kind(&self, stream: u64) -> Kind {
        let Some((transfer, details)) = self.transfers.get(&stream) else { return Kind::Other };
        if let Some(mime) = details.and_then(|it| it.content_type.as_deref()) {
            return Kind::of_mime(mime);
        }
        let path = transfer.url.split(['?', '#']).next().unwrap_or_default();
        match path.rsplit('.').next().unwrap_or_default() {
            "html" | "htm" => Kind::Html,
            "css" => Kind::Css,
            "js" | "mjs" => Kind::Js,
            "woff" | "woff2" | "ttf" | "otf" => Kind::Font,
            "png" | "jpg" | "jpeg" | "gif" | "webp" | "avif" | "svg" | "ico" => Kind::Image,
            "mp4" | "webm" | "mp3" => Kind::Media,
            "json" | "xml" => Kind::Xhr,
            _ => Kind::Other,
        }
    }
}

fn facts(trace: &Trace) -> Vec<String> {
    let counts = &trace.counts;
    let mut facts = vec![
        format!("{}'s log", trace.vantage.name()),
        format!("by {}", trace.stack),
        format!(
            "{} ({})",
            trace.format.as_deref().unwrap_or("no version named"),
            trace.container.name()
        ),
        format!("{} events", counts.events),
        format!(
            "{} packets sent, {} received, {} lost",
            counts.packets_sent, counts.packets_received, counts.packets_lost
        ),
        format!("{} distinct stream bytes", trace.unique_stream_bytes()),
    ];
    if let Some(title) = &trace.title {
        facts.insert(0, title.clone());
    }
    if let Ok(index) = byte_index(&trace.timeline, |_| true) {
        facts.push(format!("ByteIndex {:.1} ms", index.complete_ms));
    }
    facts
}

fn remarks(trace: &Trace) -> Vec<String> {
    let repairs =
        trace.repairs.iter().map(|repair| format!("{} ({}\u{d7})", repair.what, repair.count));
    repairs.chain(views::missing(trace).into_iter().map(str::to_owned)).collect()
}

fn causes(vantage: Vantage) -> Vec<(Mark, String)> {
    let retransmitted = match vantage {
        Vantage::Server => "these bytes had been sent before",
        _ => {
            "an earlier packet with these bytes was lost: this one has a higher number than what came after the hole"
        }
    };
    vec![
        (Mark::Retransmitted, retransmitted.to_owned()),
        (
            Mark::Duplicate,
            "all these bytes were there already: they were sent again without need".to_owned(),
        ),
        (Mark::Reordered, "a later packet overtook this one".to_owned()),
    ]
}

fn series(samples: &[RecoverySample], start_us: u64) -> Vec<Series> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to an hour"
    )]
    let us = |ms: f64| (ms.clamp(0.0, 3.6e6) * 1000.0) as u64;
    let of = |name, unit, value: &dyn Fn(&RecoverySample) -> Option<u64>| Series {
        name,
        unit,
        points: samples
            .iter()
            .filter_map(|sample| Some((sample.time_us.saturating_sub(start_us), value(sample)?)))
            .collect(),
    };
    let all = [
        of("congestion window", Unit::Bytes, &|it| it.congestion_window_bytes),
        of("bytes in flight", Unit::Bytes, &|it| it.bytes_in_flight),
        of("slow-start threshold", Unit::Bytes, &|it| it.slow_start_threshold_bytes),
        of("smoothed RTT", Unit::Us, &|it| it.smoothed_rtt_ms.map(us)),
        of("latest RTT", Unit::Us, &|it| it.latest_rtt_ms.map(us)),
        of("least RTT", Unit::Us, &|it| it.min_rtt_ms.map(us)),
    ];
    all.into_iter().filter(|series| !series.points.is_empty()).collect()
}

fn events(trace: &Trace, start_us: u64) -> Vec<Events> {
    let of = |name: &str, times_us: Vec<u64>| Events {
        name: name.to_owned(),
        times_us: times_us.into_iter().map(|time_us| time_us.saturating_sub(start_us)).collect(),
    };
    let lost = trace.packets.iter().filter(|it| it.event == PacketEvent::Lost).map(|it| it.time_us);
    let requests = trace.timeline.transfers.iter().map(|it| it.requested_us);
    let completions = trace.streams.iter().filter_map(|it| it.complete_us);
    let signals = |wanted: fn(SignalKind) -> bool| {
        trace.signals.iter().filter(move |it| wanted(it.how)).map(|it| it.time_us).collect()
    };
    let mut all = vec![
        of("packet lost", lost.collect()),
        of("request", requests.collect()),
        of("response complete", completions.collect()),
        of(
            "priority update",
            signals(|how| !matches!(how, SignalKind::Request | SignalKind::Response)),
        ),
        of("response with priority", signals(|how| how == SignalKind::Response)),
    ];
    for events in &mut all {
        events.times_us.sort_unstable();
    }
    all.retain(|events| !events.times_us.is_empty());
    all
}

/// The completions on the recording's clock, and the share of body bytes that was complete after each.
fn completed(trace: &Trace, start_us: u64) -> Vec<(u64, f64)> {
    let shift_us = trace.timeline.start_us().unwrap_or_default().saturating_sub(start_us);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of a log")]
    completed_share(&trace.timeline, |_| true)
        .into_iter()
        .map(|point| {
            (shift_us.saturating_add((point.time_ms * 1000.0).max(0.0) as u64), point.share)
        })
        .collect()
}
