//! Connections to a backend: opened, kept for the next request, shared if they are HTTP/2.
//!
//! A pool that selects connections by host would open one for each host name that clients invent. Here all requests
//! go to one address, whatever host they name.

use super::address::Address;
use super::http2::{self, Http2};
use super::stream::Stream;
use super::unanswered::Unanswered;
use super::upload::Upload;
use crate::limits::{BACKEND_FIELDS, UpstreamLimits};
use boring::error::ErrorStack;
use boring::ssl::{SslConnector, SslMethod, SslRef};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use server::site::{BackendFailure, Exchange};
use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_boring::{HandshakeError, SslStream};

/// Idle connections are not reused after this time, because the backend may be closing them.
const KEPT_FOR: Duration = Duration::from_secs(3);
/// The protocols that are offered in ALPN, in order of preference.
const PROTOCOLS: &[u8] = b"\x02h2\x08http/1.1";
/// The same for a connection that becomes a tunnel.
const ONLY_HTTP1: &[u8] = b"\x08http/1.1";
/// The smallest buffer that the HTTP library accepts.
const LEAST_BUFFER_BYTES: usize = 8 << 10;

/// Why the connections of a backend cannot be set up.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StartError {
    #[error("{0}: not a file of certificates in PEM form: {1}")]
    Ca(PathBuf, #[source] ErrorStack),
    #[error("TLS: {0}")]
    Tls(#[from] ErrorStack),
    #[error("upstream: {0}")]
    Thread(#[from] std::io::Error),
}

pub(super) struct Connections {
    address: Address,
    tls: Option<SslConnector>,
    limits: UpstreamLimits,
    kept: Mutex<Kept>,
    /// Held while opening a connection that others may be able to share.
    opening: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Kept {
    /// Idle connections with the time since when, the latest last.
    http1: Vec<(http1::SendRequest<Upload>, Instant)>,
    /// A further one is opened only if the others have as many requests as their backend allows.
    http2: Vec<Http2>,
    /// The backend chose HTTP/1.1, so connections are not shared.
    speaks_http1: bool,
    /// Whether a task closes connections that were idle for too long.
    is_watched: bool,
}

/// A connection that can carry a request.
pub(super) enum Connection {
    Http1(http1::SendRequest<Upload>),
    Http2(Http2),
}

pub(super) enum Body {
    Http1(Incoming),
    Http2(http2::Body),
}

impl Connection {
    pub(super) fn is_http2(&self) -> bool {
        matches!(self, Self::Http2(_))
    }

    /// Sends the request of `exchange`, which gets the interim responses.
    pub(super) async fn send(
        &mut self,
        mut request: Request<Upload>,
        exchange: &Arc<Exchange>,
    ) -> Result<Response<Body>, Unanswered> {
        let sender = match self {
            Self::Http2(sender) => {
                return Ok(sender.send(request, exchange).await?.map(Body::Http2));
            }
            Self::Http1(sender) => sender,
        };
        let watched = Arc::clone(exchange);
        hyper::ext::on_informational(&mut request, move |response| {
            watched.interim(response.status(), response.headers());
        });
        match sender.try_send_request(request).await {
            Ok(response) => Ok(response.map(Body::Http1)),
            Err(mut error) => {
                let was_sent = error.take_message().is_none();
                Err(Unanswered { trouble: BackendFailure::improper(error.error()), was_sent })
            }
        }
    }
}

impl Body {
    /// The length, if the backend states it.
    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::Http1(body) => body.size_hint().exact(),
            Self::Http2(body) => body.length,
        }
    }

    /// The next bytes, or the trailer fields after them; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Frame<Bytes>>, BackendFailure> {
        loop {
            let frame = match self {
                Self::Http2(body) => body.next().await?,
                Self::Http1(body) => {
                    body.frame().await.transpose().map_err(|it| BackendFailure::improper(&it))?
                }
            };
            if !frame.as_ref().and_then(Frame::data_ref).is_some_and(Bytes::is_empty) {
                return Ok(frame);
            }
        }
    }
}

impl Connections {
    pub(super) fn new(address: &Address, limits: &UpstreamLimits) -> Result<Arc<Self>, StartError> {
        Ok(Arc::new(Self {
            address: address.clone(),
            tls: address.is_secure().then(|| connector(address)).transpose()?,
            limits: limits.clone(),
            kept: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        }))
    }

    /// A connection, and whether it has carried requests before.
    pub(super) async fn get(&self) -> Result<(Connection, bool), BackendFailure> {
        if let Some(connection) = self.kept.lock().take() {
            return Ok((connection, true));
        }
        self.in_time(async {
            let may_be_shared = self.tls.is_some() && !self.kept.lock().speaks_http1;
            let _turn = if may_be_shared { Some(self.opening.lock().await) } else { None };
            if let Some(connection) = self.kept.lock().take() {
                return Ok((connection, true));
            }
            Ok((self.connect().await?, false))
        })
        .await
    }

    pub(super) async fn open(&self) -> Result<Connection, BackendFailure> {
        self.in_time(self.connect()).await
    }

    /// A new HTTP/1.1 connection, which can become a tunnel.
    pub(super) async fn open_http1(&self) -> Result<Connection, BackendFailure> {
        self.in_time(async {
            let stream = self.stream().await?;
            match &self.tls {
                Some(tls) => self.http1(self.secured(tls, stream, ONLY_HTTP1).await?).await,
                None => self.http1(stream).await,
            }
        })
        .await
    }

    /// Keeps a connection whose response has ended.
    pub(super) async fn keep(self: &Arc<Self>, connection: Connection) {
        // An HTTP/2 connection is kept from the beginning.
        let Connection::Http1(mut sender) = connection else { return };
        match poll_fn(|it| Poll::Ready(sender.poll_ready(it))).await {
            Poll::Ready(Ok(())) => self.keep_http1(sender),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let connections = Arc::clone(self);
                tokio::spawn(async move {
                    if sender.ready().await.is_ok() {
                        connections.keep_http1(sender);
                    }
                });
            }
        }
    }

    fn keep_http1(self: &Arc<Self>, sender: http1::SendRequest<Upload>) {
        let mut kept = self.kept.lock();
        kept.http1.push((sender, Instant::now()));
        if !std::mem::replace(&mut kept.is_watched, true) {
            tokio::spawn(Arc::clone(self).watch());
        }
    }

    /// Closes connections that have been idle for too long, until there are none.
    async fn watch(self: Arc<Self>) {
        loop {
            sleep(KEPT_FOR).await;
            let mut kept = self.kept.lock();
            kept.http1.retain(|(sender, since)| !sender.is_closed() && since.elapsed() < KEPT_FOR);
            kept.is_watched = !kept.http1.is_empty();
            if !kept.is_watched {
                return;
            }
        }
    }

    async fn in_time<T>(
        &self,
        opening: impl Future<Output = Result<T, BackendFailure>>,
    ) -> Result<T, BackendFailure> {
        let most = self.limits.connect;
        let late = |_| Err(BackendFailure::TooSlow(format!("no connection after {most:?}")));
        timeout(most, opening).await.unwrap_or_else(late)
    }

    async fn connect(&self) -> Result<Connection, BackendFailure> {
        let stream = self.stream().await?;
        let Some(tls) = &self.tls else { return self.http1(stream).await };
        let stream = self.secured(tls, stream, PROTOCOLS).await?;
        if stream.ssl().selected_alpn_protocol() == Some(b"h2") {
            let opened = Http2::open(stream, &self.limits).await?;
            self.kept.lock().http2.push(opened.clone());
            return Ok(Connection::Http2(opened));
        }
        self.kept.lock().speaks_http1 = true;
        self.http1(stream).await
    }

    async fn stream(&self) -> Result<Stream, BackendFailure> {
        let unreachable = |it: std::io::Error| BackendFailure::Unreachable(it.to_string());
        let stream = TcpStream::connect((self.address.host(), self.address.port())).await;
        let stream = stream.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        Ok(Stream(stream))
    }

    /// The TLS stream, with one of these protocols.
    async fn secured(
        &self,
        tls: &SslConnector,
        stream: Stream,
        protocols: &[u8],
    ) -> Result<SslStream<Stream>, BackendFailure> {
        let unusable = |it: ErrorStack| BackendFailure::Unreachable(format!("TLS: {it}"));
        let mut configuration = tls.configure().map_err(unusable)?;
        configuration.set_alpn_protos(protocols).map_err(unusable)?;
        let stream = tokio_boring::connect(configuration, self.address.host(), stream).await;
        stream.map_err(|it| untrusted(&it))
    }

    async fn http1<S>(&self, stream: S) -> Result<Connection, BackendFailure>
    where
        TokioIo<S>: Read + Write + Unpin + Send + 'static,
    {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(self.limits.header_bytes.max(LEAST_BUFFER_BYTES));
        builder.max_headers(BACKEND_FIELDS);
        let (sender, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|it| BackendFailure::improper(&it))?;
        // The request in progress gets the failure.
        tokio::spawn(connection.with_upgrades());
        Ok(Connection::Http1(sender))
    }
}

impl Kept {
    /// A connection that can carry a request.
    fn take(&mut self) -> Option<Connection> {
        self.http2.retain(Http2::is_usable);
        if let Some(shared) = self.http2.iter().find(|it| it.has_room()) {
            return Some(Connection::Http2(shared.clone()));
        }
        while let Some((sender, since)) = self.http1.pop() {
            if sender.is_ready() && since.elapsed() < KEPT_FOR {
                return Some(Connection::Http1(sender));
            }
        }
        None
    }
}

fn connector(address: &Address) -> Result<SslConnector, StartError> {
    let mut tls = SslConnector::builder(SslMethod::tls())?;
    if let Some(ca) = &address.ca {
        tls.set_ca_file(ca).map_err(|it| StartError::Ca(ca.to_owned(), it))?;
    }
    Ok(tls.build())
}

fn untrusted(error: &HandshakeError<Stream>) -> BackendFailure {
    let verdict = error.ssl().map(SslRef::verify_result);
    BackendFailure::Unreachable(match verdict {
        Some(Err(why)) => format!(
            "its certificate is not trusted ({why}): it must name the host of the address, and be issued by a CA of the system or of `upstream_ca` (--upstream-ca)"
        ),
        _ => format!("TLS: {error}"),
    })
}
