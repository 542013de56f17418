//! Page loads over one connection: the connection below, the playback above.

mod cancels;
mod navigation;
mod pushes;

use crate::cancelling::Cancelling;
use crate::http_cache::{HttpCache, NOT_MODIFIED};
use crate::outcome::{Outcome, Problem};
use crate::playback::Playback;
use crate::pushed::PushCache;
use crate::requests::Requests;
use crate::responses::Receiving;
use crate::signalling::Signalling;
use crate::{NextPage, Options, SavedSession, Verify, preload};
use connection::experiments::OrderedDelivery;
use connection::{Arrival, ConnectError, Connection, Destinations, Endpoint, Path, Transmit};
use corpus::Page;
use http3::{Event, Header, Settings, Signal, StreamId};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A client that loads pages, one after another, over one connection, without socket and clock.
///
/// It has many methods, because an event of the connection concerns the page, the log and the signals at once. Each file of the
/// folder has the methods for one concern.
pub struct Client {
    connection: Connection,
    /// The connections to which responses move.
    destinations: Destinations,
    /// The page that is being loaded.
    page: Arc<Page>,
    /// Those that come after it.
    next: VecDeque<NextPage>,
    /// The page is loaded, and the user reads it until then.
    reads_until: Option<Instant>,
    playback: Playback,
    signalling: Signalling,
    /// Discovered resources that wait for a stream.
    requests: Requests,
    responses: BTreeMap<StreamId, Receiving>,
    pushed: PushCache,
    /// The copies that earlier navigations left, some of them validated since.
    cache: HttpCache,
    cancelling: Cancelling,
    options: Options,
    server_name: String,
    /// Holds data back that must not be handed up as it arrives.
    ordered: Option<OrderedDelivery>,
    /// When the client was made; the playback counts from here.
    epoch: Instant,
    outcome: Outcome,
    buffer: Vec<u8>,
}

impl Client {
    /// A client at `local` that will load `page` from `server`.
    pub fn connect(
        page: Arc<Page>,
        local: SocketAddr,
        server: SocketAddr,
        options: &Options,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        let host = page.origins.first().map_or("localhost", |it| it.host.as_str());
        let name = if options.transport.verify == Verify::Nobody { host } else { "localhost" };
        let config = options.client_config();
        let mut connection = Connection::connect(Some(name), local, server, &config, now)?;
        let mut destinations = Destinations::new(Some(name), server, &config);
        if let Some(bytes) = options.migration.and_then(|migration| migration.ask_after_bytes) {
            destinations.ask_after(bytes);
        }
        if let Some(path) = &options.qlog_file {
            let file =
                File::create(path).map_err(|source| ConnectError::Log(path.clone(), source))?;
            log_to(&mut connection, &page, Box::new(BufWriter::new(file)));
        }
        if let Some(saved) = &options.session
            && saved.suits(name, &config.verify)
        {
            connection.resume(&saved.transport, saved.settings.clone())?;
        }
        Ok(Self {
            connection,
            destinations,
            server_name: name.to_owned(),
            playback: Playback::new(Arc::clone(&page)),
            signalling: Signalling::new(options.scheme.as_ref(), options.says),
            page,
            next: options.then.clone().into(),
            reads_until: None,
            epoch: now,
            requests: Requests::new(options.hold_back),
            responses: BTreeMap::new(),
            pushed: PushCache::default(),
            cache: options.cache.clone(),
            cancelling: Cancelling::new(&options.cancels),
            ordered: options.delivery_order.clone().map(OrderedDelivery::new),
            outcome: Outcome {
                cookies: options.cookies.clone(),
                cache: options.cache.clone(),
                ..Outcome::default()
            },
            buffer: vec![0; 65_536],
            options: options.clone(),
        })
    }

    /// Writes the connection's qlog to `writer` from now on, instead of [`Options::qlog_file`].
    pub fn log_to(&mut self, writer: Box<dyn std::io::Write + Send + Sync>) {
        log_to(&mut self.connection, &self.page, writer);
    }

    /// How the load ended. `None` until the connection is over.
    pub fn outcome(&mut self) -> Option<&Outcome> {
        let end = self.connection.end()?;
        let mut problems = self.outcome.problems.iter();
        let is_noted = problems.any(|it| matches!(it, Problem::Connection(_)));
        let has_ended = (self.outcome.completed && self.next.is_empty()) || self.outcome.left;
        if !has_ended && !is_noted {
            self.outcome.problems.push(Problem::Connection(end.to_string()));
        }
        self.outcome.early_data = self.connection.early_data();
        self.outcome.moved_bytes = self.destinations.moved_bytes();
        if let (Some(transport), Some(settings)) =
            (self.connection.quic.session(), self.connection.session.peer_settings())
        {
            let (name, verify) = (&self.server_name, &self.options.transport.verify);
            self.outcome.session = Some(SavedSession::new(name, verify, transport, settings));
        }
        Some(&self.outcome)
    }

    fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.epoch).as_micros()).unwrap_or(u64::MAX)
    }

    /// Begins the page load once requests may be sent: after the handshake, or earlier as early data.
    fn start_if_open(&mut self, now: Instant) -> bool {
        self.destinations.opening(&mut self.connection);
        let starts = self.connection.open();
        if starts {
            self.allow_pushes();
            self.connection.flush();
            self.playback.start(self.micros(now));
            self.cancelling.start(now);
        }
        starts
    }

    fn say(&mut self, signals: Vec<Signal>) {
        for signal in signals {
            self.connection.signal(&signal);
        }
        self.connection.flush();
    }

    /// Requests what has been discovered by now, in order of discovery.
    fn request_due(&mut self, now: Instant) {
        self.navigate_if_due(now);
        self.cache.expire(now);
        self.outcome.cookies.expire(now);
        let now_us = self.micros(now);
        self.cancel_due(now);
        if self.cancelling.has_left() {
            return self.end_if_left();
        }
        loop {
            let due = self.playback.due(now_us);
            self.log_milestones(now_us);
            if due.is_empty() && self.next_request().is_none() {
                return self.end_if_loaded(now);
            }
            for resource in due {
                self.requests.add(resource);
            }
            while let Some(resource) = self.next_request() {
                if self.cache.has(&self.page.url(resource)) {
                    self.outcome.cached.push(resource);
                    self.complete_from_cache(resource, now_us);
                } else if !self.request(resource) {
                    return;
                }
                self.requests.asked(resource);
            }
        }
    }

    fn next_request(&mut self) -> Option<usize> {
        // Few clients hold requests back, and the answer takes a look at all resources.
        let in_head = self.options.hold_back.is_some() && self.playback.is_in_head();
        self.requests.next(&self.page.resources, in_head)
    }

    fn complete_from_cache(&mut self, resource: usize, now_us: u64) {
        self.requests.came(resource);
        self.playback.arrived(resource, self.page.resources[resource].bytes, now_us);
        self.playback.completed(resource, now_us);
    }

    /// Logs what the user sees. Milestones that the playback foresees are logged before they are reached.
    fn log_milestones(&mut self, now_us: u64) {
        for (time_us, milestone) in self.playback.milestones() {
            let after = Duration::from_micros(time_us.saturating_sub(now_us));
            http3::log::milestone(self.connection.quic.qlog_streamer(), milestone, after);
        }
    }

    /// Opens a request. False: the server allows no further stream now.
    fn request(&mut self, resource: usize) -> bool {
        if self.pushed.take(&self.page.url(resource)) {
            return true;
        }
        let stream = self.connection.next_request();
        let fields = self.request_headers(stream, resource);
        let sent = self.connection.request(stream, &fields, true);
        if sent == Ok(true) {
            self.destinations.requested(stream);
            self.responses.insert(stream, Receiving::of(Some(resource)));
        }
        // A request that the server does not take is not tried again.
        sent != Ok(false)
    }

    fn request_headers(&mut self, stream: StreamId, resource: usize) -> Vec<Header> {
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
        self.say(said.signals);
        fields
    }

    /// Reads what the streams have. True: there may be more, because a response has moved.
    fn read_streams(&mut self, now: Instant) -> bool {
        for stream in self.connection.readable() {
            while let Some(arrival) =
                self.destinations.arrival(&mut self.connection, stream, &mut self.buffer, now)
            {
                let is_last = arrival.is_last();
                let waits = self.ordered.as_mut().is_some_and(|it| it.holds(stream, arrival));
                let delivered =
                    if waits { Ok(()) } else { self.connection.deliver(stream, arrival) };
                if !self.take_events(stream, delivered, now) {
                    return false;
                }
                if is_last {
                    break;
                }
            }
        }
        while let Some((stream, bytes, fin)) =
            self.ordered.as_mut().and_then(OrderedDelivery::release)
        {
            let delivered = self.connection.deliver(stream, Arrival::Bytes(&bytes, fin));
            if !self.take_events(stream, delivered, now) {
                return false;
            }
        }
        self.read_moved(now)
    }

    /// Reads what came on other connections. True: something did.
    fn read_moved(&mut self, now: Instant) -> bool {
        let mut came = false;
        while let Some((stream, arrival)) =
            self.destinations.moved(&mut self.connection, &mut self.buffer, now)
        {
            came = true;
            let delivered = self.connection.deliver(stream, arrival);
            if !self.take_events(stream, delivered, now) {
                return false;
            }
        }
        came
    }

    /// Acts on the events of an arrival. False: the server broke the rules, and the connection ends.
    fn take_events(
        &mut self,
        stream: StreamId,
        delivered: Result<(), http3::Error>,
        now: Instant,
    ) -> bool {
        while let Some(event) = self.connection.poll() {
            self.on_event(event, now);
        }
        delivered.map_err(|error| self.connection.fail_whole(&error, stream)).is_ok()
    }

    fn on_settings(&mut self, settings: &Settings, now: Instant) {
        self.destinations.on_settings(&mut self.connection, settings);
        if self.options.migration.is_some_and(|migration| migration.keeps_spare) {
            self.destinations.open_spare(&self.connection, now);
        }
    }

    fn on_event(&mut self, event: Event, now: Instant) {
        let now_us = self.micros(now);
        match event {
            Event::Settings(settings) => {
                self.on_settings(&settings, now);
                let signals = self.signalling.settings_came();
                self.say(signals);
            }
            Event::PreferredScheme(name) => {
                let signals = self.signalling.preferred(&name);
                self.say(signals);
                self.outcome.announced.get_or_insert(name);
            }
            Event::Headers { stream, headers } => self.on_head(stream, &headers, now),
            Event::Data { stream, bytes } => self.on_data(stream, bytes, now_us),
            Event::PushPromise { push, headers, .. } => self.on_promise(push, &headers, now),
            Event::PushStream { stream, push } => {
                self.destinations.push_stream(stream, push);
                match self.pushed.stream(push, stream) {
                    Ok(url) if !self.cancelling.has_left() => {
                        let resource = url.and_then(|it| self.page.find(it));
                        self.responses.insert(stream, Receiving::of(resource));
                    }
                    _ => self.stop(stream),
                }
            }
            Event::Frame { frame_type, payload } => {
                self.destinations.on_frame(&mut self.connection, frame_type, &payload, now);
            }
            Event::PushCancelled { push } => self.lose_push(push),
            Event::Finished { stream } => self.finish(stream, None, now),
            Event::Reset { stream, code } => self.finish(stream, Some(code), now),
            _ => {}
        }
    }

    /// A response's head, also an interim one's.
    fn on_head(&mut self, stream: StreamId, headers: &[Header], now: Instant) {
        // A server may prefer another scheme for this page than for the connection.
        let scheme = http3::values(headers, http3::SCHEME_FIELD).next();
        if let Some(name) = scheme.and_then(http3::parse_scheme_field) {
            let signals = self.signalling.preferred(&name);
            self.say(signals);
            self.outcome.announced = Some(name);
        }
        let status = http3::status(headers).unwrap_or_default();
        let Some(receiving) = self.responses.get_mut(&stream) else { return };
        receiving.on_head(status, headers, now);
        let resource = receiving.resource;
        let is_for_us = self.on_pushed_head(stream, resource, headers);
        let Some(resource) = resource.filter(|_| is_for_us) else { return };
        let url = self.page.url(resource);
        for cookie in http3::values(headers, "set-cookie") {
            self.outcome.cookies.set(&String::from_utf8_lossy(cookie), &url, now);
        }
        self.preload(resource, status, headers);
    }

    /// Queues the resources that a head preloads. As in browsers, the navigation's first 103 response counts and no other
    /// (Chromium).
    fn preload(&mut self, context: usize, status: u16, headers: &[Header]) {
        if status == preload::EARLY_HINTS {
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

    fn on_data(&mut self, stream: StreamId, bytes: Vec<u8>, now_us: u64) {
        let Some(receiving) = self.responses.get_mut(&stream) else { return };
        receiving.body_bytes += bytes.len() as u64;
        if let Some(resource) = receiving.resource {
            self.playback.arrived(resource, receiving.body_bytes, now_us);
        }
        if self.options.keep_bodies {
            match receiving.resource {
                Some(resource) => self.outcome.bodies.entry(resource).or_default().extend(bytes),
                None => receiving.body.extend(bytes),
            }
        }
    }

    /// A response is over. The page load goes on as a browser's does, whatever the response was.
    fn finish(&mut self, stream: StreamId, reset: Option<u64>, now: Instant) {
        let Some(receiving) = self.responses.get_mut(&stream) else { return };
        if receiving.resource.is_none() && reset.is_none() {
            receiving.ended = true;
            return;
        }
        let Some(receiving) = self.responses.remove(&stream) else { return };
        let push = self.pushed.on_stream(stream);
        if let Some(push) = push.filter(|_| reset.is_some()) {
            self.lose_push(push);
            return;
        }
        let Some(resource) = receiving.resource else { return };
        self.connection.session.forget(stream);
        let signals = match push {
            Some(push) => self.signalling.push_closed(push),
            None => self.signalling.closed(stream),
        };
        self.say(signals);
        self.outcome.statuses.insert(resource, receiving.status);
        let now_us = self.micros(now);
        if reset.is_none() && self.is_validated_by(resource, &receiving) {
            self.complete_from_cache(resource, now_us);
            return self.end_if_loaded(now);
        }
        self.outcome.problems.extend(receiving.problem(&self.page.resources[resource], reset));
        if self.options.keep_bodies {
            self.outcome.bodies.entry(resource).or_default();
        }
        self.requests.came(resource);
        self.playback.completed(resource, now_us);
        self.end_if_loaded(now);
    }

    /// Stores a complete response. True: it says that the copy in the cache is still valid.
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
}

impl Endpoint for Client {
    fn local_addr(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        if !self.destinations.receive(datagram, path) {
            self.connection.receive(datagram, path);
        }
        self.cancelling.arrived(now);
        self.start_if_open(now);
        if self.connection.is_connected() {
            while self.read_streams(now) {}
            self.destinations.progress(&mut self.connection, now);
            self.request_due(now);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        // The first packet shows whether a resumed session allows early data.
        if self.start_if_open(now) {
            self.request_due(now);
        }
        self.connection.transmit(out).or_else(|| self.destinations.transmit(out))
    }

    fn on_timeout(&mut self, now: Instant) {
        self.connection.on_timeout(now);
        self.destinations.on_timeout(now);
        self.destinations.progress(&mut self.connection, now);
        if self.connection.is_open() {
            self.request_due(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let goes_on = self.connection.is_open() && !self.cancelling.has_left();
        let playback = self.playback.next_timeout_us().filter(|_| goes_on);
        let playback = playback.map(|us| self.epoch + Duration::from_micros(us));
        let cancelling = self.cancelling.next_timeout().filter(|_| self.connection.is_open());
        let reading = self.reads_until.filter(|_| goes_on);
        let own = [self.connection.next_timeout(), playback, cancelling, reading];
        own.into_iter().flatten().chain(self.destinations.next_timeout()).min()
    }
}

fn log_to(connection: &mut Connection, page: &Page, writer: Box<dyn std::io::Write + Send + Sync>) {
    let title = format!("utmost client, page {}", page.name);
    connection.quic.set_qlog(writer, title, page.name.clone());
}
