//! The workers that ask the backend: the threads, sockets and the clock of [`super`].
//!
//! The client library blocks while it reads and writes, so each request under way has a thread. The number of threads is
//! limited, and so is the number of requests that wait for one.

use super::exchange::{Exchange, Trouble};
use super::fields::inbound;
use super::interim::{InterimConnector, watching};
use super::site::Address;
use super::troubles::{Report, Troubles};
use crate::limits::{BACKEND_FIELDS, UpstreamLimits};
use crate::site::Response;
use schedulers::{Kind, Resource};
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, TcpConnector};
use ureq::{Agent, Body, SendBody, http};

const PIECE_BYTES: usize = 16 << 10;
const STACK_BYTES: usize = 256 << 10;
/// Idle connections are not reused after this time: the backend may just be closing them.
const KEPT_FOR: Duration = Duration::from_secs(3);

pub(super) struct Backend {
    queue: SyncSender<Arc<Exchange>>,
}

struct Shared {
    address: Address,
    agent: Agent,
    queue: Mutex<Receiver<Arc<Exchange>>>,
    troubles: Arc<Mutex<Troubles>>,
    /// When to report the troubles that were not reported at once.
    tell_at: Sender<Instant>,
}

impl Backend {
    /// Starts the workers; they end when this is dropped.
    pub(super) fn start(
        address: &Address,
        limits: &UpstreamLimits,
        report: Report,
    ) -> std::io::Result<Self> {
        let (queue, waiting) = sync_channel(limits.waiting);
        let troubles = Arc::new(Mutex::new(Troubles::new(report)));
        let tell_at = tell_later(Arc::clone(&troubles))?;
        let shared = Arc::new(Shared {
            address: address.clone(),
            agent: agent(limits),
            queue: Mutex::new(waiting),
            troubles,
            tell_at,
        });
        for _ in 0..limits.requests {
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name("upstream".to_owned());
            builder.stack_size(STACK_BYTES).spawn(move || shared.work())?;
        }
        Ok(Self { queue })
    }

    /// Queues a request; false: too many wait.
    pub(super) fn take(&self, exchange: &Arc<Exchange>) -> bool {
        self.queue.try_send(Arc::clone(exchange)).is_ok()
    }
}

impl Shared {
    fn work(&self) {
        loop {
            let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(exchange) = next else { return };
            if exchange.is_abandoned() {
                continue;
            }
            let end = watching(&exchange, || self.carry_out(&exchange));
            if let Err(trouble) = &end
                && *trouble != Trouble::ClientGone
            {
                let request = &exchange.request;
                let line = format!(
                    "upstream {}: {} {}: {trouble}",
                    self.address, request.method, request.path
                );
                self.tell(line);
            }
            exchange.finish(end);
        }
    }

    fn tell(&self, line: String) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(later) = troubles.tell(line, now()) {
            // The thread at the other end lives as long as the workers.
            self.tell_at.send(later).ok();
        }
    }

    /// Asks the backend and passes the response on as it comes.
    fn carry_out(&self, exchange: &Arc<Exchange>) -> Result<(), Trouble> {
        let response = match self.ask(exchange) {
            // The backend may have closed a reused connection while the request was on its way.
            Err(trouble @ Trouble::Improper(_)) if is_repeatable(exchange) => {
                self.ask(exchange).map_err(|_| trouble)?
            }
            other => other?,
        };
        if response.status() == http::StatusCode::SWITCHING_PROTOCOLS {
            return Err(Trouble::Improper("it switches protocols".to_owned()));
        }
        if response.headers().len() > BACKEND_FIELDS {
            return Err(Trouble::Improper(format!(
                "its head has more than {BACKEND_FIELDS} fields"
            )));
        }
        // The body would be passed on still encoded, and no field would say so.
        let codings = response.headers().get_all("transfer-encoding").iter();
        if codings.into_iter().any(|it| !it.as_bytes().eq_ignore_ascii_case(b"chunked")) {
            return Err(Trouble::Improper("a transfer coding other than chunked".to_owned()));
        }
        exchange.answer(head(exchange, &response));
        let mut body = response.into_body().into_reader();
        let mut piece = [0; PIECE_BYTES];
        loop {
            let read = body.read(&mut piece).map_err(ureq::Error::from);
            let count = read.map_err(|it| trouble(exchange, &it))?;
            if count == 0 {
                return Ok(());
            }
            exchange.write_body(&piece[..count])?;
        }
    }

    fn ask(&self, exchange: &Arc<Exchange>) -> Result<http::Response<Body>, Trouble> {
        let asked = &exchange.request;
        let mut request = http::Request::builder()
            .method(asked.method.as_str())
            .uri(format!("{}{}", self.address, asked.path));
        for (name, value) in &asked.fields {
            request = request.header(name, value);
        }
        let upload = Upload(Arc::clone(exchange));
        let body =
            if asked.has_body { SendBody::from_owned_reader(upload) } else { SendBody::none() };
        let request = request.body(body).map_err(|it| Trouble::Unsayable(it.to_string()))?;
        self.agent.run(request).map_err(|it| trouble(exchange, &it))
    }
}

/// Starts a thread that reports deferred troubles when due.
fn tell_later(troubles: Arc<Mutex<Troubles>>) -> std::io::Result<Sender<Instant>> {
    let (tell_at, times) = channel::<Instant>();
    let builder = std::thread::Builder::new().name("upstream-troubles".to_owned());
    builder.stack_size(STACK_BYTES).spawn(move || {
        for at in times {
            std::thread::sleep(at.saturating_duration_since(now()));
            troubles.lock().unwrap_or_else(PoisonError::into_inner).tell_rest(now());
        }
    })?;
    Ok(tell_at)
}

#[expect(clippy::disallowed_methods, reason = "this is where the backend's clock is read")]
fn now() -> Instant {
    Instant::now()
}

/// The request's body as the client library reads it.
struct Upload(Arc<Exchange>);

impl Read for Upload {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_upload(buffer)
    }
}

fn agent(limits: &UpstreamLimits) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .user_agent("")
        .accept("")
        .accept_encoding("")
        .max_response_header_size(limits.header_bytes)
        .input_buffer_size(limits.header_bytes + PIECE_BYTES)
        .output_buffer_size(limits.header_bytes)
        .max_idle_connections(limits.requests)
        .max_idle_connections_per_host(limits.requests)
        .max_idle_age(KEPT_FOR)
        .timeout_connect(Some(limits.connect))
        .timeout_recv_response(Some(limits.answer))
        .timeout_per_read(Some(limits.answer.max(limits.idle)))
        .timeout_per_write(Some(limits.idle))
        .build();
    let connector = ().chain(TcpConnector::default()).chain(InterimConnector);
    Agent::with_parts(config, connector, DefaultResolver::default())
}

/// Whether asking twice does no harm (RFC 9110, 9.2.1).
fn is_repeatable(exchange: &Exchange) -> bool {
    matches!(exchange.request.method.as_str(), "GET" | "HEAD") && !exchange.is_abandoned()
}

fn head(exchange: &Exchange, response: &http::Response<Body>) -> Response {
    let status = response.status().as_u16();
    let fields = response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let fields: Vec<(&str, &[u8])> = fields.collect();
    // A response without a body states the length it would have (RFC 9110, 8.6).
    let bodiless = exchange.request.method == "HEAD" || status == 304;
    let said = || response.headers().get("content-length")?.to_str().ok()?.parse().ok();
    let length = if bodiless { said() } else { response.body().content_length() };
    let mime = response.headers().get("content-type").and_then(|it| it.to_str().ok());
    let resource = Resource {
        kind: Kind::of_mime(mime.unwrap_or_default()),
        body_bytes: length,
        ..Resource::default()
    };
    Response { headers: inbound(&fields, length), resource, ..Response::empty(status) }
}

fn trouble(exchange: &Exchange, error: &ureq::Error) -> Trouble {
    use std::io::ErrorKind;
    let text = error.to_string();
    match error {
        _ if exchange.is_abandoned() => Trouble::ClientGone,
        ureq::Error::Timeout(_) => Trouble::TooSlow(text),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Trouble::Unreachable(text),
        ureq::Error::Io(cause) => match cause.kind() {
            ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::AddrNotAvailable => Trouble::Unreachable(text),
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Trouble::TooSlow(text),
            _ => Trouble::Improper(text),
        },
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => Trouble::Unsayable(text),
        _ => Trouble::Improper(text),
    }
}
