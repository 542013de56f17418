//! The sentences of a summary about random connections agree with the simulator's knowledge: the links' verdicts, and the server's send
//! loop. The summary reads the logs without our server's own events, as another stack would write them.

mod truth;

use super::{Planted, document, load, log_files};
use corpus::page::Chunk;
use qlog_tools::pairing::pairs;
use qlog_tools::reader::{ReadOptions, read_traces};
use qlog_tools::summary::{Cause, Summary};
use qlog_tools::trace::{Detail, Trace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schedulers::Restraint;
use server::CongestionControl;
use simulator::link::{Blackhole, GilbertElliott, Loss, Queue, Rate, Reorder};
use std::path::Path;
use truth::Truth;

const CONNECTIONS: u64 = 20;
/// Its application writes as much as a window now and then, in pauses as long as a pacer's. Without events of writes nothing distinguishes
/// these, and `limits` states this.
const LOOKS_PACED: u64 = 7;

#[test]
fn sentences_about_random_connections_are_right() {
    let mut faults = Vec::new();
    for seed in 0..CONNECTIONS {
        let folder = tempfile::tempdir().expect("a folder");
        let planted = drawn(seed);
        let (bytes, rate) = (planted.page.resources[0].bytes, planted.network.down.rate.mean());
        let thinks = planted.page.resources[0].wait_ms > 0.0;
        let told_of = describe(&planted);
        let loaded = load(planted, seed, folder.path());
        let (said, traces) = read(folder.path());
        let truth = Truth::of(&loaded, &said, rate);
        let pairs = pairs(&traces);
        assert!(pairs.len() == 1 && pairs[0].server.is_some(), "both ends of one connection");
        let summary = Summary::of(&pairs[0], None);
        let judged = Judged { summary: &summary, truth: &truth, bytes, rate, thinks };
        let mut wrong = judged.faults();
        let is_paced = judged.summary.held.as_ref().is_some_and(|it| it.cause == Cause::Pacing);
        if seed == LOOKS_PACED && is_paced {
            wrong.retain(|it| !it.starts_with("share: "));
        }
        if !wrong.is_empty() {
            let sentences: Vec<&str> = summary.sentences.iter().map(|it| &*it.text).collect();
            faults.push(format!(
                "{seed}: {told_of}\n{}\n{truth:?}\n{}",
                wrong.join("\n"),
                sentences.join("\n")
            ));
        }
    }
    assert!(faults.is_empty(), "{} connections:\n{}", faults.len(), faults.join("\n\n"));
}

/// A random connection.
fn drawn(seed: u64) -> Planted {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let between = |random: &mut ChaCha8Rng, least: f64, most: f64| {
        least * (most / least).powf(random.random_range(0.0..=1.0))
    };
    let bytes = whole(between(&mut random, 50_000.0, 2_000_000.0));
    let mut planted = document(bytes);
    let rate = between(&mut random, 1e6, 50e6);
    let delay_ms = between(&mut random, 2.0, 150.0);
    let bdp_bytes = rate * 2.0 * delay_ms / 8000.0;
    let queue_bytes = whole((bdp_bytes * between(&mut random, 0.25, 4.0)).max(20_000.0));
    for link in [&mut planted.network.down, &mut planted.network.up] {
        (link.rate, link.delay_ms) = (Rate::Constant(rate), delay_ms);
        link.queue = Queue::Bytes(queue_bytes);
    }
    let down = &mut planted.network.down;
    match random.random_range(0..10) {
        0..3 => down.loss = Some(Loss::Independent(between(&mut random, 0.001, 0.03))),
        3 => {
            let (good, bad, to_bad, to_good) = (0.0, 0.3, 0.01, 0.2);
            down.loss = Some(Loss::GilbertElliott(GilbertElliott { good, bad, to_bad, to_good }));
        }
        4 => {
            let (share, by_ms) =
                (between(&mut random, 0.005, 0.03), between(&mut random, 2.0, 20.0));
            down.reorder = Some(Reorder { share, by_ms });
        }
        5 => {
            let from_ms = between(&mut random, 100.0, 600.0);
            let to_ms = from_ms + between(&mut random, 300.0, 1500.0);
            let hole = Blackhole { windows_ms: vec![[from_ms, to_ms]], every_ms: None };
            (down.blackhole, planted.network.up.blackhole) = (Some(hole.clone()), Some(hole));
        }
        6 => down.queue = Queue::Unlimited,
        _ => {}
    }
    let transport = &mut planted.transport;
    let window_bytes = whole(between(&mut random, 15_000.0, 200_000.0));
    match random.random_range(0..6) {
        0 => (transport.receive_bytes, transport.windows_grow) = (window_bytes, false),
        1 => (transport.stream_receive_bytes, transport.windows_grow) = (window_bytes, false),
        _ => {}
    }
    let resource = &mut planted.page.resources[0];
    match random.random_range(0..6) {
        0 => resource.wait_ms = between(&mut random, 100.0, 1500.0),
        1 => {
            let (pieces, every_ms) =
                (random.random_range(5..20), between(&mut random, 20.0, 200.0));
            let piece = |it| Chunk { at_ms: it as f64 * every_ms, bytes: bytes / pieces };
            resource.chunks = (0..pieces).map(piece).collect();
        }
        _ => {}
    }
    let controls = [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno];
    planted.control = controls[random.random_range(0..controls.len())];
    planted
}

fn describe(planted: &Planted) -> String {
    let Planted { page, network, control, transport } = planted;
    let resource = &page.resources[0];
    format!(
        "{} bytes ready after {} ms, {:?}; {:?}; {}; windows {} and {}",
        resource.bytes,
        resource.wait_ms,
        resource.chunks.get(1),
        network.down,
        control.name(),
        transport.receive_bytes,
        transport.stream_receive_bytes
    )
}

/// What the send loop logged and when, and the logs without that.
fn read(folder: &Path) -> (Vec<(f64, Restraint)>, Vec<Trace>) {
    let (mut said, mut traces) = (Vec::new(), Vec::new());
    for file in log_files(folder) {
        let text = std::fs::read_to_string(&file).expect("a log");
        let (own, others): (Vec<&str>, Vec<&str>) =
            text.split_inclusive('\n').partition(|line| line.contains(r#""name":"utmost:"#));
        for line in own.iter().filter(|line| line.contains(Restraint::EVENT)) {
            let event: serde_json::Value =
                serde_json::from_str(line.trim_start_matches('\u{1e}')).expect("an event");
            let by = Restraint::ALL.into_iter().find(|it| event["data"]["by"] == it.name());
            said.push((event["time"].as_f64().expect("a time"), by.expect("a restraint")));
        }
        let options = ReadOptions { detail: Detail::Full, vantage: None };
        let name = file.display().to_string();
        traces.extend(read_traces(&name, others.concat().as_bytes(), options).expect("a log"));
    }
    (said, traces)
}

/// A summary, and what it describes.
struct Judged<'a> {
    summary: &'a Summary,
    truth: &'a Truth,
    /// The document's.
    bytes: u64,
    /// The link's, in bits a second.
    rate: f64,
    /// Whether the server takes its time before it answers.
    thinks: bool,
}

impl Judged<'_> {
    /// What is wrong.
    fn faults(&self) -> Vec<String> {
        let all = [
            self.cause(),
            self.goodput(),
            self.losses(),
            self.timeouts(),
            self.round_trips(),
            self.waits(),
        ];
        all.into_iter().filter_map(Result::err).collect()
    }

    fn sentence(&self, about: &str) -> &str {
        let mut sentences = self.summary.sentences.iter();
        sentences.find(|it| it.about == about).map_or("", |it| &it.text)
    }

    /// The named restraint held about as long as any, and for the stated time; and its named cause was real.
    fn cause(&self) -> Result<(), String> {
        let held = self.summary.held.as_ref().ok_or("no cause")?;
        let text = self.sentence("cause");
        let said = number_after(text, "held the sender back for ")? / 100.0;
        let truth = self.truth.share(held.by);
        near("share", said, truth, 0.0, 0.05)?;
        let weight =
            |by: Restraint| self.truth.share(by) * if by == Restraint::Nothing { 0.5 } else { 1.0 };
        let most = Restraint::ALL.map(weight).into_iter().fold(0.0, f64::max);
        is(weight(held.by) >= most - 0.05, || format!("{} did not hold longest", held.by.name()))?;
        is(self.is_behind(held.cause), || format!("{:?} was not behind it", held.cause))
    }

    fn is_behind(&self, cause: Cause) -> bool {
        let truth = self.truth;
        let (least_ms, p95_ms) = (truth.round_trips_ms[0], percentile(&truth.round_trips_ms, 0.95));
        let is_queued = |factor: f64| p95_ms >= 2.0 * factor * least_ms && p95_ms >= least_ms + 5.0;
        let lost_share = truth.lost as f64 / truth.sent as f64;
        let may_reorder = truth.overtaken >= 3 && truth.overtaken >= truth.lost / 2;
        match cause {
            Cause::ThinkTime => self.thinks,
            Cause::Application => !self.thinks,
            Cause::Reordering => may_reorder,
            Cause::Queue => is_queued(0.95),
            Cause::Loss => lost_share >= 0.001 && !is_queued(1.05),
            Cause::CongestionWindow => !is_queued(1.05),
            _ => true,
        }
    }

    fn goodput(&self) -> Result<(), String> {
        let text = self.sentence("goodput");
        let said = number_after(text, "Responses arrived at ")? * 1e6;
        near("goodput", said, self.bytes as f64 * 8000.0 / self.truth.under_way_ms, 0.05, 0.0)?;
        let Ok(path) = number_after(text, "of the ") else {
            return is(self.truth.busy_share < 0.5, || "the path's rate is not told".to_owned());
        };
        let path = path * 1e6;
        is(path <= 1.05 * self.rate, || format!("the path carried {path}"))?;
        is(path >= 0.9 * self.rate || self.truth.busy_share < 0.6, || {
            format!("{path} is not the path's rate")
        })
    }

    fn losses(&self) -> Result<(), String> {
        let text = self.sentence("losses");
        let Truth { lost, overtaken, sent, .. } = *self.truth;
        if text == "No packet was declared lost." {
            return is(lost <= 3, || format!("{lost} were lost"));
        }
        let declared = number_after(text, "")?;
        let packets = number_after(text, " of ")?;
        near("packets", packets, sent as f64, 0.0, 5.0)?;
        let most = (lost + overtaken) as f64;
        is(declared <= 1.1 * most + 5.0 && declared >= 0.9 * lost as f64 - 5.0, || {
            format!("{declared} declared lost, {lost} lost, {overtaken} overtaken")
        })?;
        let again = number_after(text, "logged; of ")?;
        let vain = number_after(text, "bytes sent again, ")?;
        near("bytes that had not arrived", again - vain, self.truth.lost_bytes as f64, 0.15, 5000.0)
    }

    fn timeouts(&self) -> Result<(), String> {
        let text = self.sentence("probe_timeouts");
        let never = text.contains("never expired");
        is(!never || self.truth.silences.is_empty(), || {
            format!("silences {:?}", self.truth.silences)
        })?;
        let nothing = self.truth.lost + self.truth.overtaken == 0 && self.truth.silences.is_empty();
        is(never || !nothing, || "it never expired".to_owned())
    }

    fn round_trips(&self) -> Result<(), String> {
        let text = self.sentence("round_trips");
        let truth = &self.truth.round_trips_ms;
        let longest = truth.last().copied().unwrap_or_default();
        let least = number_after(text, "Round trips took ")?;
        // Small datagrams go faster, and not each of them asks for an acknowledgement.
        let small_ms = 10_000_000.0 / self.rate;
        is(least > truth[0] - 0.1 && least < truth[0] + small_ms + 0.2, || {
            format!("least: {least} instead of {}", truth[0])
        })?;
        let p95 = number_after(text, "95 % took ")?;
        // Many take equally long.
        let share = |most_ms: f64| {
            truth.iter().filter(|it| **it <= most_ms).count() as f64 / truth.len() as f64
        };
        is(share(p95 - 0.1) < 0.98 && share(p95 + 0.1) >= 0.9, || {
            format!("p95: {p95} instead of {}", percentile(truth, 0.95))
        })?;
        near("longest", number_after(text, "the longest took ")?, longest, 0.02, 0.2)?;
        let delays = &self.truth.ack_delays_ms;
        let longest = delays.last().copied().unwrap_or_default();
        near("delay", number_after(text, "back for ")?, percentile(delays, 0.95), 0.05, 1.0)?;
        near("longest delay", number_after(text, "of cases, ")?, longest, 0.05, 1.0)
    }

    fn waits(&self) -> Result<(), String> {
        let none = self.sentence("longest_wait").starts_with("No byte");
        let Truth { lost, overtaken, .. } = *self.truth;
        is(none || lost + overtaken > 0, || "nothing was lost or overtaken".to_owned())
    }
}

fn is(holds: bool, otherwise: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn near(what: &str, said: f64, truth: f64, relative: f64, absolute: f64) -> Result<(), String> {
    is((said - truth).abs() <= (relative * truth).max(absolute), || {
        format!("{what}: {said} instead of {truth}")
    })
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = whole((share * sorted.len() as f64).ceil());
    sorted[usize::try_from(place).expect("a place").max(1) - 1]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is small and positive"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

/// The number that follows these words.
fn number_after(text: &str, words: &str) -> Result<f64, String> {
    let rest = text.split_once(words).map(|it| it.1);
    let digits = |it: &str| {
        it.split(|it: char| !it.is_ascii_digit() && it != '.')
            .next()
            .map(|it| it.trim_end_matches('.').to_owned())
    };
    let number = rest.and_then(digits).and_then(|it| it.parse().ok());
    number.ok_or_else(|| format!("no number after `{words}`: {text}"))
}
