//! Page loads over one connection: the connection below, the playback above.

mod cancels;
mod navigation;
mod pushes;

use crate::options::{LogWriter, log_title};
use crate::outcome::{Outcome, Problem};
use crate::pushed::PushCache;
use crate::responses::Receiving;
use crate::visit::Visit;
use crate::{Options, SavedSession};
use connection::experiments::OrderedDelivery;
use connection::{Arrival, ConnectError, Connection, Destinations, Endpoint, Path, Transmit};
use corpus::Page;
use http3::{Event, Header, Settings, Signal, StreamId};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// A client without socket or clock that loads pages one after another over one connection.
///
/// It has many methods, because an event of the connection concerns the page, the log and the signals at once. Each file of the
/// folder holds the methods for one concern.
pub struct Client {
    connection: Connection,
    destinations: Destinations,
    visit: Visit,
    responses: BTreeMap<StreamId, Receiving>,
    pushed: PushCache,
    server_name: String,
    /// Holds back data that must not be delivered on arrival.
    ordered: Option<OrderedDelivery>,
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
        let name = options.server_name(&page);
        let config = options.client_config();
        let mut connection = Connection::connect(Some(&name), local, server, &config, now)?;
        let mut destinations = Destinations::new(Some(&name), server, &config);
        if let Some(bytes) = options.migration.and_then(|migration| migration.ask_after_bytes) {
            destinations.ask_after(bytes);
        }
        if let Some(file) = options.create_log()? {
            log_to(&mut connection, &page, file);
        }
        if let Some(saved) = &options.session
            && saved.suits(&name, &config.verify)
        {
            connection.resume(&saved.transport, saved.settings.clone())?;
        }
        Ok(Self {
            connection,
            destinations,
            server_name: name,
            visit: Visit::new(page, options, now),
            responses: BTreeMap::new(),
            pushed: PushCache::default(),
            ordered: options.delivery_order.clone().map(OrderedDelivery::new),
            buffer: vec![0; 65_536],
        })
    }

    /// From now on, writes the connection's qlog to `writer` instead of [`Options::qlog_file`].
    pub fn log_to(&mut self, writer: LogWriter) {
        log_to(&mut self.connection, &self.visit.page, writer);
    }

    /// How the load ended. `None` until the connection is over.
    pub fn outcome(&mut self) -> Option<&Outcome> {
        let end = self.connection.end()?;
        let mut problems = self.visit.outcome.problems.iter();
        let is_noted = problems.any(|it| matches!(it, Problem::Connection(_)));
        let has_ended = self.visit.is_over() || self.visit.outcome.left;
        if !has_ended && !is_noted {
            self.visit.outcome.problems.push(Problem::Connection(end.to_string()));
        }
        self.visit.outcome.early_data = self.connection.early_data();
        self.visit.outcome.moved_bytes = self.destinations.moved_bytes();
        if let (Some(transport), Some(settings)) =
            (self.connection.quic.session(), self.connection.session.peer_settings())
        {
            let (name, verify) = (&self.server_name, &self.visit.options.transport.verify);
            self.visit.outcome.session = Some(SavedSession::new(name, verify, transport, settings));
        }
        Some(&self.visit.outcome)
    }

    /// Begins the page load once requests may be sent: after the handshake, or earlier as early data.
    fn start_if_open(&mut self, now: Instant) -> bool {
        self.destinations.opening(&mut self.connection);
        let starts = self.connection.open();
        if starts {
            self.allow_pushes();
            self.connection.flush();
            self.visit.start(now);
        }
        starts
    }

    fn say(&mut self, signals: Vec<Signal>) {
        for signal in signals {
            self.connection.signal(&signal);
        }
        self.connection.flush();
    }

    /// Requests everything discovered so far, in order of discovery.
    fn request_due(&mut self, now: Instant) {
        self.navigate_if_due(now);
        self.visit.expire(now);
        self.cancel_due(now);
        if self.visit.cancelling.has_left() {
            return self.end_if_left();
        }
        loop {
            let goes_on = self.visit.discover(now);
            self.visit.log_milestones(self.connection.quic.qlog_streamer(), now);
            if !goes_on {
                return self.end_if_loaded(now);
            }
            while let Some(resource) = self.visit.next_request(now) {
                if !self.request(resource) {
                    return;
                }
                self.visit.requests.asked(resource);
            }
        }
    }

    /// Sends a request. Returns `false` if the server allows no further stream now.
    fn request(&mut self, resource: usize) -> bool {
        if self.pushed.take(&self.visit.page.url(resource)) {
            return true;
        }
        let stream = self.connection.next_request();
        let (fields, signals) = self.visit.request(stream, resource);
        self.say(signals);
        let sent = self.connection.request(stream, &fields, true);
        if sent == Ok(true) {
            self.destinations.requested(stream);
            self.responses.insert(stream, Receiving::of(Some(resource)));
        }
        // A request that the server does not accept is not retried.
        sent != Ok(false)
    }

    /// Reads all readable streams. Returns `true` if there may be more, because a response has moved.
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

    /// Reads arrivals on other connections. Returns `true` if there were some.
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

    /// Handles the events of an arrival. Returns `false` if the server broke the rules, and the connection ends.
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
        if self.visit.options.migration.is_some_and(|migration| migration.keeps_spare) {
            self.destinations.open_spare(&self.connection, now);
        }
    }

    fn on_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Settings(settings) => {
                self.on_settings(&settings, now);
                let signals = self.visit.signalling.settings_came();
                self.say(signals);
            }
            Event::PreferredScheme(name) => {
                let signals = self.visit.signalling.preferred(&name);
                self.say(signals);
                self.visit.outcome.announced.get_or_insert(name);
            }
            Event::Headers { stream, headers } => self.on_head(stream, &headers, now),
            Event::Data { stream, bytes } => {
                if let Some(receiving) = self.responses.get_mut(&stream) {
                    self.visit.on_data(receiving, bytes, now);
                }
            }
            Event::PushPromise { push, headers, .. } => self.on_promise(push, &headers, now),
            Event::PushStream { stream, push } => {
                self.destinations.push_stream(stream, push);
                match self.pushed.stream(push, stream) {
                    Ok(url) if !self.visit.cancelling.has_left() => {
                        let resource = url.and_then(|it| self.visit.page.find(it));
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
        let signals = self.visit.take_announcement(headers);
        self.say(signals);
        let status = http3::status(headers).unwrap_or_default();
        let Some(receiving) = self.responses.get_mut(&stream) else { return };
        receiving.on_head(status, headers, now);
        let resource = receiving.resource;
        let is_for_us = self.on_pushed_head(stream, resource, headers);
        if let Some(resource) = resource.filter(|_| is_for_us) {
            self.visit.on_head(resource, status, headers, now);
        }
    }

    /// A response has ended. The page load continues as a browser's does, whatever the response was.
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
            Some(push) => self.visit.signalling.push_closed(push),
            None => self.visit.signalling.closed(stream),
        };
        self.say(signals);
        let broken = reset.map(|code| Problem::Reset {
            url: self.visit.page.resources[resource].url.clone(),
            code,
        });
        self.visit.finish(resource, &receiving, broken, now);
        self.end_if_loaded(now);
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
        self.visit.cancelling.arrived(now);
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
        let visit = self.visit.next_timeout().filter(|_| self.connection.is_open());
        let own = [self.connection.next_timeout(), visit];
        own.into_iter().flatten().chain(self.destinations.next_timeout()).min()
    }
}

fn log_to(connection: &mut Connection, page: &Page, writer: LogWriter) {
    connection.quic.set_qlog(writer, log_title(page), page.name.clone());
}
