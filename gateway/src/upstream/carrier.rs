//! Carries out one exchange after another: forwards the request and passes on the backend's answer.

mod tunnel;

use super::address::Address;
use super::connections::{Body, Connection, Connections};
use super::encoding::Encoding;
use super::fields::{BackendRequest, Outbound, inbound, request};
use super::handshake::Handshake;
use super::patience::Patience;
use super::reports::{Report, Troubles};
use super::slots::{Place, Slots};
use super::unanswered::Unanswered;
use crate::limits::{
    ANSWERED, BACKEND_FIELDS, UNANSWERED, UpstreamLimits, WHOLE_BODY_WITHIN, backend_connections,
};
use hyper::header::HeaderMap;
use hyper::{StatusCode, header};
use parking_lot::Mutex;
use schedulers::{Kind, Resource};
use server::limits::TRAILER_BYTES;
use server::site::{BackendFailure, Exchange, Response, trailers};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

type HttpResponse = hyper::Response<Body>;

/// The state that all exchanges with one backend share.
pub(super) struct Carrier {
    address: Address,
    connections: Arc<Connections>,
    limits: UpstreamLimits,
    /// The slots of requests with incomplete bodies, which may last long.
    unended: Arc<Slots>,
    /// The slots of long-lasting requests: their number does not show how busy the backend is.
    slow: Arc<Slots>,
    troubles: Mutex<Troubles>,
}

/// How much of a request's body has arrived.
enum Gathered {
    Whole,
    /// A buffer is full of it.
    Much,
    /// The client may wait for an answer before it sends more.
    Unended,
}

impl Carrier {
    pub(super) fn new(
        address: &Address,
        connections: Arc<Connections>,
        limits: &UpstreamLimits,
        report: Report,
    ) -> Arc<Self> {
        let (address, limits) = (address.clone(), limits.clone());
        let unended = Slots::new(limits.requests, limits.waiting);
        let slow = Slots::new(limits.slow.min(backend_connections()), 0);
        let troubles = Mutex::new(Troubles::new(report));
        Arc::new(Self { address, connections, limits, unended, slow, troubles })
    }

    pub(super) async fn carry(self: Arc<Self>, backend_request: BackendRequest, mut place: Place) {
        let BackendRequest { request, exchange } = &backend_request;
        let end = tokio::select! {
            biased;
            trouble = poll_fn(|it| exchange.poll_stopped(it)) => Err(trouble),
            end = self.carry_out(&backend_request, &mut place) => end,
        };
        if let Err(trouble) = &end
            && !trouble.is_the_clients()
        {
            self.tell(format!(
                "upstream {}: {} {}: {trouble}",
                self.address, request.method, request.path
            ));
        }
        exchange.finish(end);
    }

    fn tell(self: &Arc<Self>, line: String) {
        if let Some(later) = self.troubles.lock().tell(line, now()) {
            let carrier = Arc::clone(self);
            tokio::spawn(async move {
                sleep_until(later.into()).await;
                carrier.troubles.lock().tell_rest(now());
            });
        }
    }

    /// Forwards the request and passes on the answer; returns the trailer fields at the end.
    async fn carry_out(
        &self,
        backend_request: &BackendRequest,
        place: &mut Place,
    ) -> Result<HeaderMap, BackendFailure> {
        let BackendRequest { request, exchange } = backend_request;
        let gathered = self.gather(exchange).await;
        if matches!(gathered, Gathered::Unended) && !place.move_to(&self.unended) {
            return Err(BackendFailure::Busy);
        }
        let is_whole = matches!(gathered, Gathered::Whole);
        timeout(self.limits.queue, place.turn()).await.map_err(|_| BackendFailure::Busy)?;
        if request.is_tunnel {
            return self.tunnel(backend_request).await;
        }
        let answer = self.response(backend_request, is_whole);
        let (response, connection) = self.await_within(UNANSWERED, answer, place).await??;
        check(&response, self.limits.header_bytes)?;
        let most = if streams(&response) { Duration::ZERO } else { ANSWERED };
        let mut head = head(request, &response);
        let is_asked = self.address.is_compressed;
        let encoding = is_asked.then(|| Encoding::begin(request, &mut head, now())).flatten();
        exchange.answer(head);
        let body = self.pass_on(exchange, response.into_body(), encoding);
        let trailers = self.await_within(most, body, place).await??;
        // A backend that does not expect a body would take it for the next request, possibly another client's.
        if !(expects_no_body(request) && exchange.has_body()) {
            self.connections.keep(connection).await;
        }
        Ok(trailers)
    }

    /// Waits for a part of an exchange. If that takes longer than `within`, the exchange moves to another slot, or yields to
    /// others.
    async fn await_within<T>(
        &self,
        most: Duration,
        part: impl Future<Output = T>,
        place: &mut Place,
    ) -> Result<T, BackendFailure> {
        let mut part = pin!(part);
        if let Ok(end) = timeout(most, part.as_mut()).await {
            return Ok(end);
        }
        tokio::select! {
            end = part => Ok(end),
            () = place.step_aside(&self.slow) => Err(BackendFailure::Busy),
        }
    }

    /// Waits a moment for the request's body. A complete body is forwarded with its length and its trailer fields.
    async fn gather(&self, exchange: &Exchange) -> Gathered {
        if exchange.is_tunnel {
            return Gathered::Whole;
        }
        let gathered = poll_fn(|it| exchange.poll_gathered(it));
        match timeout(WHOLE_BODY_WITHIN, gathered).await {
            Ok(true) => Gathered::Whole,
            Ok(false) => Gathered::Much,
            Err(_) => Gathered::Unended,
        }
    }

    async fn response(
        &self,
        backend_request: &BackendRequest,
        is_whole: bool,
    ) -> Result<(HttpResponse, Connection), BackendFailure> {
        let (mut connection, is_reused) = self.connections.get().await?;
        match self.ask(&mut connection, backend_request, is_whole, None).await {
            Ok(response) => Ok((response, connection)),
            // The backend may have closed a reused connection while the request was in transit.
            Err(it)
                if is_reused && (!it.was_sent || is_repeatable(backend_request, &it.trouble)) =>
            {
                let mut connection = self.connections.open().await?;
                let response = self.ask(&mut connection, backend_request, is_whole, None).await;
                response.map(|it| (it, connection)).map_err(|it| it.trouble)
            }
            Err(it) => Err(it.trouble),
        }
    }

    async fn ask(
        &self,
        connection: &mut Connection,
        backend_request: &BackendRequest,
        is_whole: bool,
        handshake: Option<&Handshake>,
    ) -> Result<HttpResponse, Unanswered> {
        let request = request(backend_request, connection.is_http2(), is_whole, self.limits.idle);
        let mut request = request.map_err(Unanswered::sent)?;
        if let Some(handshake) = handshake {
            handshake.ask(request.headers_mut());
        }
        let most = self.limits.answer;
        tokio::select! {
            answer = connection.send(request, &backend_request.exchange) => answer,
            () = silence(&backend_request.exchange, most) => {
                Err(Unanswered::sent(BackendFailure::TooSlow(format!("no answer after {most:?}"))))
            }
        }
    }

    /// Passes the body on as it arrives; returns the trailer fields at its end.
    async fn pass_on(
        &self,
        exchange: &Exchange,
        mut body: Body,
        mut encoding: Option<Encoding>,
    ) -> Result<HeaderMap, BackendFailure> {
        let unencoded =
            |it: std::io::Error| BackendFailure::Improper(format!("not compressed: {it}"));
        let mut trailers = HeaderMap::new();
        let mut patience = Patience::new(self.limits.unread);
        loop {
            let since = Instant::now();
            let room = poll_fn(|it| exchange.poll_room(it));
            timeout(patience.left(), room).await.map_err(|_| BackendFailure::ClientSlow)?;
            patience.waited(since.elapsed());
            let next = tokio::select! {
                next = body.next() => next?,
                trouble = standstill(exchange, self.limits.idle) => return Err(trouble),
            };
            let Some(frame) = next else {
                if let Some(encoding) = encoding {
                    exchange.write_body(&encoding.end().map_err(unencoded)?);
                }
                return Ok(trailers);
            };
            match frame.into_data() {
                Ok(bytes) => {
                    patience.moved(bytes.len());
                    match &mut encoding {
                        Some(it) => {
                            exchange.write_body(&it.encoded(&bytes, now()).map_err(unencoded)?);
                        }
                        None => exchange.write_body(&bytes),
                    }
                }
                Err(frame) => trailers = checked(&frame.into_trailers().unwrap_or_default())?,
            }
        }
    }
}

/// Ends when the backend has neither answered nor taken any of the request's body for `most`.
async fn silence(exchange: &Exchange, most: Duration) {
    let mut turns = exchange.turns();
    loop {
        let before = turns;
        let change = poll_fn(|it: &mut Context<'_>| exchange.poll_turns(before, it));
        // The upload handles a client that is too slow.
        turns = if before.awaits_client {
            change.await
        } else if let Ok(turns) = timeout(most, change).await {
            turns
        } else {
            return;
        };
    }
}

/// Ends when the backend has taken nothing of the request's body for `most`; returns which end is too slow.
async fn standstill(exchange: &Exchange, most: Duration) -> BackendFailure {
    let mut turns = exchange.turns();
    while let Ok(next) = timeout(most, poll_fn(|it| exchange.poll_turns(turns, it))).await {
        turns = next;
    }
    if turns.awaits_client {
        return BackendFailure::ClientSlow;
    }
    BackendFailure::TooSlow(format!("no more of the body after {most:?}"))
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// Whether the request can safely be repeated (RFC 9110, 9.2.1).
fn is_repeatable(backend_request: &BackendRequest, trouble: &BackendFailure) -> bool {
    expects_no_body(&backend_request.request)
        && !backend_request.exchange.has_body()
        && matches!(trouble, BackendFailure::Improper(_))
}

/// Whether a body of the request has no defined meaning (RFC 9110, 9.3.1 and 9.3.2). It is passed on all the same.
fn expects_no_body(request: &Outbound) -> bool {
    matches!(request.method.as_str(), "GET" | "HEAD")
}

/// Rejects features that this server does not pass on.
fn check(response: &HttpResponse, head_bytes_max: usize) -> Result<(), BackendFailure> {
    let improper = |cause: &str| Err(BackendFailure::Improper(cause.to_owned()));
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return improper("it switches protocols");
    }
    check_size(response, head_bytes_max)?;
    // The body would be passed on encoded, without a field that states it.
    let mut codings = response.headers().get_all(header::TRANSFER_ENCODING).iter();
    if codings.any(|it| !it.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        return improper("a transfer coding other than chunked");
    }
    Ok(())
}

/// The library's own limit is one of its buffer, which a larger head can fit.
fn check_size(response: &HttpResponse, head_bytes_max: usize) -> Result<(), BackendFailure> {
    let fields = response.headers();
    // Each line has a colon, a space and a line end.
    let bytes: usize =
        fields.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let cause = if fields.len() > BACKEND_FIELDS {
        format!("its head has more than {BACKEND_FIELDS} fields")
    } else if bytes > head_bytes_max {
        format!("its head has more than {head_bytes_max} bytes")
    } else {
        return Ok(());
    };
    Err(BackendFailure::Improper(cause))
}

/// Whether a response is an endless stream.
fn streams(response: &HttpResponse) -> bool {
    let mime = response.headers().get(header::CONTENT_TYPE);
    mime.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"))
}

/// The trailer fields that are passed on.
fn checked(fields: &HeaderMap) -> Result<HeaderMap, BackendFailure> {
    let large = || BackendFailure::Improper(format!("more than {TRAILER_BYTES} bytes of trailers"));
    trailers::of_response(fields).ok_or_else(large)
}

fn head(request: &Outbound, response: &HttpResponse) -> Response {
    let status = response.status().as_u16();
    let said = || response.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    let length = match status {
        // It has no content, and no field about its length (RFC 9110, 8.6).
        204 => None,
        // A response without a body states the length it would have (RFC 9110, 8.6).
        304 => said(),
        _ if request.method == "HEAD" => said(),
        _ => response.body().length(),
    };
    let mime = response.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let resource = Resource {
        kind: Kind::of_mime(mime.unwrap_or_default()),
        body_bytes: length,
        ..Resource::default()
    };
    let headers = inbound(response.headers(), response.version(), length);
    Response { headers, resource, ..Response::empty(status) }
}
