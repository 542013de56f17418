//! The loads of pages, as a server that explores measures them, and the reports of each response to the
//! observers.

use super::Responder;
use crate::exploration::{Begun, Candidate, Draw, Outcome};
use crate::observer::Watched;
use crate::send_loop::Ending;
use crate::site::{Request, Response};
use http3::StreamId;
use std::time::{Duration, Instant};

/// A request after a pause is not part of the load: scrolling requests images, and scripts send reports.
const PAUSE: Duration = Duration::from_secs(1);

/// The loads of one connection.
#[derive(Debug, Default)]
pub(super) struct Visits {
    draw: Option<Draw>,
    load: Option<Load>,
}

#[derive(Debug)]
struct Load {
    page: String,
    begun: Begun,
    began: Instant,
    under_way: usize,
    last_end: Instant,
    is_cut: bool,
    is_cached: bool,
    all: Index,
    above_fold: Index,
}

/// The mean time of body bytes, where a byte counts once its whole resource is sent.
#[derive(Debug, Default)]
struct Index {
    body_bytes: u64,
    byte_ms: f64,
}

impl Index {
    fn add(&mut self, body_bytes: u64, after: Duration) {
        self.body_bytes += body_bytes;
        self.byte_ms += body_bytes as f64 * after.as_secs_f64() * 1e3;
    }
}

impl Load {
    /// A response of the load has ended.
    fn ended(&mut self, watched: &Watched, above_fold: bool, now: Instant) {
        let answered = &watched.answered;
        self.under_way = self.under_way.saturating_sub(1);
        self.last_end = now;
        self.is_cached |= answered.status == 304;
        // A request that was not answered, such as a long poll, does not make a load incomplete.
        self.is_cut |= !answered.is_complete && answered.bytes > 0;
        if answered.is_complete {
            let after = now.saturating_duration_since(self.began);
            self.all.add(answered.bytes, after);
            if above_fold {
                self.above_fold.add(answered.bytes, after);
            }
        }
    }

    fn outcome(&self) -> Outcome {
        let index = if self.above_fold.body_bytes > 0 { &self.above_fold } else { &self.all };
        if self.is_cut || index.body_bytes == 0 {
            return Outcome::Incomplete;
        }
        if self.is_cached {
            return Outcome::Cached;
        }
        let byte_index_ms = index.byte_ms / index.body_bytes as f64;
        Outcome::Complete { byte_index_ms, body_bytes: self.all.body_bytes }
    }
}

impl Responder {
    /// A page begins: with the order that its visitor tries, if any.
    pub(super) fn begin_load(
        &mut self,
        request: &Request,
        document: &Response,
        now: Instant,
    ) -> Option<Candidate> {
        self.end_load();
        let exploration = self.shared.options.exploration.as_ref()?;
        if request.method != "GET" || !matches!(document.status, 0 | 200) {
            return None;
        }
        let page = format!("{}{}", request.host().to_ascii_lowercase(), request.plain_path());
        let draw = *self.visits.draw.get_or_insert_with(|| exploration.draw());
        let begun = exploration.begin(&page, request.client, draw)?;
        self.visits.load = Some(Load {
            page,
            begun,
            began: now,
            under_way: 0,
            last_end: now,
            is_cut: false,
            is_cached: false,
            all: Index::default(),
            above_fold: Index::default(),
        });
        exploration.candidate(begun.order).cloned()
    }

    /// Another page begins while one is being loaded: their orders mix.
    pub(super) fn spoil_load(&mut self) {
        if let Some(load) = &mut self.visits.load {
            load.is_cut = true;
        }
    }

    /// The facts about the response on `stream` that the observers and the load need.
    pub(super) fn watch(
        &mut self,
        stream: StreamId,
        request: &Request,
        response: &Response,
        now: Instant,
    ) {
        let is_of_load = self.joins_load(request, now);
        let is_watched = is_of_load || !self.shared.options.observers.is_empty();
        if let Some(record) = self.sender.streams.get_mut(stream).filter(|_| is_watched) {
            let of_load = is_of_load.then_some(response.resource.above_fold);
            record.watched = Some(Watched::new(request, of_load, now).into());
        }
    }

    fn joins_load(&mut self, request: &Request, now: Instant) -> bool {
        let Some(load) = &mut self.visits.load else { return false };
        if load.under_way == 0 && now.saturating_duration_since(load.last_end) > PAUSE {
            self.end_load();
            return false;
        }
        let is_stream_of_events =
            request.list("accept").is_some_and(|it| it.starts_with("text/event-stream"));
        if is_stream_of_events || request.pushed || request.upgrade.is_some() {
            return false;
        }
        load.under_way += 1;
        true
    }

    fn end_load(&mut self) {
        let Some(load) = self.visits.load.take() else { return };
        if let Some(exploration) = &self.shared.options.exploration {
            exploration.end(&load.page, load.begun, load.outcome());
        }
    }

    /// Informs the observers about responses that have ended.
    pub(super) fn tell(&mut self, now: Instant) {
        for watched in self.sender.streams.take_ended() {
            if let (Some(load), Some(above_fold)) = (&mut self.visits.load, watched.of_load) {
                load.ended(&watched, above_fold, now);
            }
            if !self.shared.options.observers.is_empty() {
                let event = watched.ended(self.sender.order.scheme(), now);
                self.shared.options.observers.notice(&event);
            }
        }
    }

    /// The connection is over, and with it all responses.
    pub(crate) fn gone(&mut self, now: Instant) {
        let left: Vec<StreamId> = self.sender.streams.under_way().collect();
        for stream in left {
            self.sender.finish(stream, Ending::Disconnected);
        }
        self.tell(now);
        self.end_load();
    }
}
