//! A visit, independent of the transport: the pages one after another, the next resources to request, and the effect of each
//! response.

use crate::cancelling::Cancelling;
use crate::http_cache::{HttpCache, NOT_MODIFIED};
use crate::outcome::{Outcome, Problem};
use crate::playback::Playback;
use crate::preload::{self, EARLY_HINTS};
use crate::requests::Requests;
use crate::responses::Receiving;
use crate::signalling::Signalling;
use crate::{Cancels, NextPage, Options};
use corpus::Page;
use http3::{Header, Signal, StreamId};
use qlog::streamer::QlogStreamer;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pages, and their state.
pub(crate) struct Visit {
    /// The page that is being loaded.
    pub(crate) page: Arc<Page>,
    /// The pages that follow.
    pub(crate) next: VecDeque<NextPage>,
    /// The page is loaded, and its user reads it until then.
    reads_until: Option<Instant>,
    pub(crate) playback: Playback,
    pub(crate) signalling: Signalling,
    /// Discovered resources that wait for a stream.
    pub(crate) requests: Requests,
    /// The copies that earlier navigations left; some have been validated since.
    pub(crate) cache: HttpCache,
    pub(crate) cancelling: Cancelling,
    pub(crate) options: Options,
    /// When the visit began; the playback counts from here.
    epoch: Instant,
    pub(crate) outcome: Outcome,
}

impl Visit {
    pub(crate) fn new(page: Arc<Page>, options: &Options, now: Instant) -> Self {
        Self {
            playback: Playback::new(Arc::clone(&page)),
            signalling: Signalling::new(options.scheme.as_ref(), options.says),
            page,
            next: options.then.clone().into(),
            reads_until: None,
            requests: Requests::new(options.hold_back),
            cache: options.cache.clone(),
            cancelling: Cancelling::new(&options.cancels),
            epoch: now,
            outcome: Outcome {
                cookies: options.cookies.clone(),
                cache: options.cache.clone(),
                ..Outcome::default()
            },
            options: options.clone(),
        }
    }

    pub(crate) fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.epoch).as_micros()).unwrap_or(u64::MAX)
    }

    /// Requests may be sent: begins the page load.
    pub(crate) fn start(&mut self, now: Instant) {
        self.playback.start(self.micros(now));
        self.cancelling.start(now);
    }

    /// Logs milestones that the user sees. Milestones that the playback can predict are logged early.
    pub(crate) fn log_milestones(&mut self, mut log: Option<&mut QlogStreamer>, now: Instant) {
        let now_us = self.micros(now);
        for (time_us, milestone) in self.playback.milestones() {
            let after = Duration::from_micros(time_us.saturating_sub(now_us));
            http3::log::milestone(log.as_deref_mut(), milestone, after);
        }
    }

    /// Drops cached responses and cookies that have expired.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.cache.expire(now);
        self.outcome.cookies.expire(now);
    }

    /// Queues everything discovered so far, in order of discovery. Returns `false` if nothing is left to request.
    pub(crate) fn discover(&mut self, now: Instant) -> bool {
        let due = self.playback.due(self.micros(now));
        if due.is_empty() && self.first_waiting().is_none() {
            return false;
        }
        for resource in due {
            self.requests.add(resource);
        }
        true
    }

    /// The next resource to request. Cached resources are complete at once.
    pub(crate) fn next_request(&mut self, now: Instant) -> Option<usize> {
        while let Some(resource) = self.first_waiting() {
            if !self.cache.has(&self.page.url(resource)) {
                return Some(resource);
            }
            self.outcome.cached.push(resource);
            self.complete_from_cache(resource, self.micros(now));
            self.requests.asked(resource);
        }
        None
    }

    fn first_waiting(&mut self) -> Option<usize> {
        // Few clients hold requests back, and the check examines all resources.
        let in_head = self.options.hold_back.is_some() && self.playback.is_in_head();
        self.requests.next(&self.page.resources, in_head)
    }

    fn complete_from_cache(&mut self, resource: usize, now_us: u64) {
        self.requests.came(resource);
        self.playback.arrived(resource, self.page.resources[resource].bytes, now_us);
        self.playback.completed(resource, now_us);
    }

    /// The fields of a request, and the signals to send before it.
    pub(crate) fn request(
        &mut self,
        stream: StreamId,
        resource: usize,
    ) -> (Vec<Header>, Vec<Signal>) {
        let page = Arc::clone(&self.page);
        let (known, host) = (&page.resources[resource], page.host(resource));
        let mut fields = http3::get_request(host, &known.url);
        fields.extend(self.own_fields(resource));
        let mut add = |name: &str, value: &str| {
            fields.push(Header::new(name.as_bytes(), value.as_bytes()));
        };
        let said = self.signalling.request(stream, known);
        said.fields.iter().for_each(|(name, value)| add(name, value));
        if let Some(tag) = self.cache.to_validate(&page.url(resource)) {
            add("if-none-match", tag);
        }
        if self.options.cache_digest && known.main {
            add("cache-digest", &self.cache.digest());
        }
        (fields, said.signals)
    }

    /// The request fields on which responses may vary: fields that identify the client.
    pub(crate) fn own_fields(&self, resource: usize) -> Vec<Header> {
        let mut fields = vec![Header::new(b"user-agent", b"utmost")];
        let cookies = self.outcome.cookies.field(&self.page.url(resource));
        fields.extend(cookies.map(|it| Header::new(b"cookie", it.as_bytes())));
        fields
    }

    /// A head arrived: reads the scheme that it announces. A server may prefer another scheme for this page than for the
    /// connection. Returns the signals that follow.
    pub(crate) fn take_announcement(&mut self, headers: &[Header]) -> Vec<Signal> {
        let scheme = http3::values(headers, http3::SCHEME_FIELD).next();
        let Some(name) = scheme.and_then(http3::parse_scheme_field) else { return Vec::new() };
        let signals = self.signalling.preferred(&name);
        self.outcome.announced = Some(name);
        signals
    }

    /// The head of a resource's response or of an interim response arrived: processes its cookies and preloads.
    pub(crate) fn on_head(
        &mut self,
        resource: usize,
        status: u16,
        headers: &[Header],
        now: Instant,
    ) {
        let url = self.page.url(resource);
        for cookie in http3::values(headers, "set-cookie") {
            self.outcome.cookies.set(&String::from_utf8_lossy(cookie), &url, now);
        }
        self.preload(resource, status, headers);
    }

    /// Queues the resources that a head preloads. As in browsers, only the navigation's first 103 response counts (Chromium).
    fn preload(&mut self, context: usize, status: u16, headers: &[Header]) {
        if status == EARLY_HINTS {
            self.outcome.early_hints += 1;
            if !self.page.resources[context].main || self.outcome.early_hints > 1 {
                return;
            }
        }
        for resource in preload::resources(headers, &self.page, context) {
            if self.requests.add(resource) {
                self.outcome.preloaded.push(resource);
            }
        }
    }

    pub(crate) fn on_data(&mut self, receiving: &mut Receiving, bytes: Vec<u8>, now: Instant) {
        receiving.body_bytes += bytes.len() as u64;
        if let Some(resource) = receiving.resource {
            self.playback.arrived(resource, receiving.body_bytes, self.micros(now));
        }
        if self.options.keep_bodies {
            match receiving.resource {
                Some(resource) => self.outcome.bodies.entry(resource).or_default().extend(bytes),
                None => receiving.body.extend(bytes),
            }
        }
    }

    /// The response of a resource has ended. The page load continues as a browser's does, whatever the response was. `broken`:
    /// why the rest will not arrive.
    pub(crate) fn finish(
        &mut self,
        resource: usize,
        receiving: &Receiving,
        broken: Option<Problem>,
        now: Instant,
    ) {
        self.outcome.statuses.insert(resource, receiving.status);
        let now_us = self.micros(now);
        if broken.is_none() && self.is_validated_by(resource, receiving) {
            return self.complete_from_cache(resource, now_us);
        }
        let known = &self.page.resources[resource];
        self.outcome.problems.extend(broken.or_else(|| receiving.problem(known)));
        if self.options.keep_bodies {
            self.outcome.bodies.entry(resource).or_default();
        }
        self.requests.came(resource);
        self.playback.completed(resource, now_us);
    }

    /// Stores a complete response. Returns `true` if it confirms that the cached copy is still valid.
    fn is_validated_by(&mut self, resource: usize, receiving: &Receiving) -> bool {
        let url = self.page.url(resource);
        if let Some(stored) = receiving.stored.clone() {
            self.outcome.cache.store(&url, stored);
        }
        let is_valid = receiving.status == NOT_MODIFIED && self.cache.to_validate(&url).is_some();
        if is_valid {
            self.outcome.validated.push(resource);
        }
        is_valid
    }

    /// Records that the page is loaded; true if this call did so. Then its user reads it.
    pub(crate) fn end_page(&mut self, responses_are_open: bool, now: Instant) -> bool {
        let is_loaded = self.playback.is_done() && self.requests.is_empty() && !responses_are_open;
        if !is_loaded || !self.cancelling.is_tail_over() || self.outcome.completed {
            return false;
        }
        self.outcome.completed = true;
        self.playback.run_on();
        self.reads_until = self.next.front().map(|it| now + it.think);
        true
    }

    /// The last page is loaded.
    pub(crate) fn is_over(&self) -> bool {
        self.outcome.completed && self.next.is_empty()
    }

    /// Navigates to the next page once the user has read this one; true if this call did so. Keeps caches and cookies.
    pub(crate) fn navigate_if_due(&mut self, now: Instant) -> bool {
        if self.reads_until.take_if(|until| *until <= now).is_none() {
            return false;
        }
        let Some(NextPage { page, .. }) = self.next.pop_front() else { return false };
        self.page = page;
        self.playback = Playback::new(Arc::clone(&self.page));
        self.playback.start(self.micros(now));
        self.requests = Requests::new(self.options.hold_back);
        self.cancelling = Cancelling::new(&Cancels::default());
        self.begin_outcome();
        self.cache = self.outcome.cache.clone();
        true
    }

    /// Begins the outcome of a page, and keeps what stays from the preceding one.
    fn begin_outcome(&mut self) {
        let mut before = std::mem::take(&mut self.outcome);
        let mut earlier = std::mem::take(&mut before.earlier);
        self.outcome = Outcome {
            announced: before.announced.clone(),
            cookies: before.cookies.clone(),
            cache: before.cache.clone(),
            ..Outcome::default()
        };
        earlier.push(before);
        self.outcome.earlier = earlier;
    }

    /// When to look for requests again, if nothing arrives.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let goes_on = !self.cancelling.has_left();
        let playback = self.playback.next_timeout_us().filter(|_| goes_on);
        let playback = playback.map(|us| self.epoch + Duration::from_micros(us));
        let reading = self.reads_until.filter(|_| goes_on);
        [playback, self.cancelling.next_timeout(), reading].into_iter().flatten().min()
    }
}
