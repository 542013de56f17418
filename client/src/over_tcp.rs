//! Page loads over HTTP/2 and HTTP/1.1, on TLS over the system's TCP, in real time. An asynchronous task carries each request and
//! passes on its arrivals; the rest is here: the choice of the next request, and the effect of an arrival.
//!
//! Above TCP, a client sees when bytes are delivered, in the order of the connection. It does not see packets: neither the
//! arrival of bytes that wait for a lost packet, nor the losses.

mod http1;
mod http2;
mod line;
mod log;

use crate::limits::ARRIVALS;
use crate::outcome::Problem;
use crate::play_error::PlayError;
use crate::responses::Receiving;
use crate::visit::Visit;
use crate::{HttpVersion, Options, Outcome};
use bytes::Bytes;
use corpus::Page;
use http3::{Header, StreamId};
use line::Line;
use log::Log;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedSender, channel};
use tokio::time::timeout_at;

pub(crate) fn play(
    page: Arc<Page>,
    server: SocketAddr,
    options: &Options,
) -> Result<Outcome, PlayError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let line = Arc::new(Line::new(&page, server, options)?);
    runtime.block_on(async {
        let (to, arrivals) = channel(ARRIVALS);
        let log = Log::new(&page, options)?;
        let carrier = match options.http {
            HttpVersion::Http1 => Carrier::Http1(http1::open(line, page.host(0), to).await?),
            _ => Carrier::Http2(http2::open(&line, &options.transport, to).await?),
        };
        let visit = Visit::new(page, options, now());
        let responses = BTreeMap::new();
        Ok(Load { visit, carrier, arrivals, responses, asked: 0, log }.run().await)
    })
}

/// A request for a carrier.
struct Ask {
    id: StreamId,
    fields: Vec<Header>,
    host: String,
    /// As in browsers (RFC 9218); if not all requests can be sent at once, the lowest goes first.
    urgency: u8,
}

/// Something that happened to a request.
struct Arrival {
    /// `None`: the whole connection.
    id: Option<StreamId>,
    what: What,
}

enum What {
    /// The request was handed to the transport, with these fields.
    Asked(Vec<Header>),
    /// The head of the response or of an interim response.
    Head(Vec<Header>),
    /// The next bytes of the body, and whether they are the last.
    Bytes(Bytes, bool),
    /// The server reset it, with this code.
    Reset(u64),
    /// The rest will not arrive.
    Broken(String),
}

enum Carrier {
    Http1(http1::Hosts),
    Http2(UnboundedSender<Ask>),
}

/// Reports an event of a request to the load. Fails only if the load is over.
async fn tell(to: &Sender<Arrival>, id: StreamId, what: What) {
    to.send(Arrival { id: Some(id), what }).await.ok();
}

/// Reports to the load that its connection has ended.
async fn tell_all(to: &Sender<Arrival>, cause: String) {
    to.send(Arrival { id: None, what: What::Broken(cause) }).await.ok();
}

struct Load {
    visit: Visit,
    carrier: Carrier,
    arrivals: Receiver<Arrival>,
    /// Keyed by HTTP/2 stream. HTTP/1.1 requests are numbered in the same way.
    responses: BTreeMap<StreamId, Receiving>,
    /// The number of requests so far.
    asked: u64,
    log: Log,
}

impl Load {
    async fn run(mut self) -> Outcome {
        self.visit.start(now());
        self.request_due();
        while !self.visit.is_over() {
            let next = self.visit.next_timeout();
            let silent = now() + self.visit.options.transport.idle;
            match timeout_at(next.unwrap_or(silent).into(), self.arrivals.recv()).await {
                Ok(Some(Arrival { id: Some(id), what })) => self.on_arrival(id, what),
                Ok(Some(Arrival { what: What::Broken(cause), .. })) => return self.lost(cause),
                Err(_) if next.is_none() => return self.lost("the server is silent".to_owned()),
                _ => {}
            }
            self.request_due();
        }
        self.visit.outcome
    }

    fn lost(mut self, cause: String) -> Outcome {
        self.visit.outcome.problems.push(Problem::Connection(cause));
        self.visit.outcome
    }

    /// Requests everything discovered so far, in order of discovery.
    fn request_due(&mut self) {
        let now = now();
        if self.visit.navigate_if_due(now) {
            self.log.navigation(&self.visit.page);
        }
        self.visit.expire(now);
        while self.visit.discover(now) {
            while let Some(resource) = self.visit.next_request(now) {
                self.request(resource);
                self.visit.requests.asked(resource);
            }
        }
        self.visit.end_page(!self.responses.is_empty(), now);
        self.log.milestones(&mut self.visit, now);
    }

    fn request(&mut self, resource: usize) {
        let id = StreamId(2 * self.asked + 1);
        self.asked += 1;
        // The libraries cannot send signals in frames.
        let (fields, _) = self.visit.request(id, resource);
        let known = &self.visit.page.resources[resource];
        let host = self.visit.page.host(resource).to_owned();
        let urgency = known.browser.map_or(3, |it| it.urgency);
        self.responses.insert(id, Receiving::of(Some(resource)));
        let ask = Ask { id, fields, host, urgency };
        match &mut self.carrier {
            Carrier::Http1(hosts) => hosts.ask(ask),
            // It fails only if the load is over.
            Carrier::Http2(asks) => drop(asks.send(ask)),
        }
    }

    fn on_arrival(&mut self, id: StreamId, what: What) {
        let now = now();
        let Some(receiving) = self.responses.get_mut(&id) else { return };
        match what {
            What::Asked(fields) => self.log.asked(id, &fields),
            What::Head(fields) => {
                self.log.head(id, &fields);
                self.visit.take_announcement(&fields);
                let status = http3::status(&fields).unwrap_or_default();
                receiving.on_head(status, &fields, now);
                if let Some(resource) = receiving.resource {
                    self.visit.on_head(resource, status, &fields, now);
                }
            }
            What::Bytes(bytes, ends) => {
                self.log.data(id, receiving.body_bytes, bytes.len(), ends);
                self.visit.on_data(receiving, bytes.into(), now);
                if ends {
                    self.finish(id, None, now);
                }
            }
            What::Reset(code) => self.break_off(id, |url| Problem::Reset { url, code }, now),
            What::Broken(cause) => self.break_off(id, |url| Problem::Broken { url, cause }, now),
        }
    }

    fn break_off(&mut self, id: StreamId, why: impl FnOnce(String) -> Problem, now: Instant) {
        let resource = self.responses.get(&id).and_then(|it| it.resource);
        let url = resource.map(|it| self.visit.page.resources[it].url.clone());
        self.finish(id, url.map(why), now);
    }

    /// A response has ended. The page load continues as a browser's does.
    fn finish(&mut self, id: StreamId, broken: Option<Problem>, now: Instant) {
        let Some(receiving) = self.responses.remove(&id) else { return };
        let Some(resource) = receiving.resource else { return };
        self.visit.signalling.closed(id);
        self.visit.finish(resource, &receiving, broken, now);
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
