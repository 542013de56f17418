//! TLS connections over TCP to the server, and the messages on them.

use crate::play_error::PlayError;
use crate::{HttpVersion, Options, Verify};
use boring::error::ErrorStack;
use boring::ssl::{SslConnector, SslMethod, SslVerifyMode};
use connection::ConnectError;
use corpus::Page;
use http3::{Header, NameValue};
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, StatusCode, Uri};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_boring::SslStream;

/// The way to the server.
pub(super) struct Line {
    server: SocketAddr,
    name: String,
    tls: SslConnector,
    version: HttpVersion,
    connect_within: Duration,
}

pub(super) type Stream = SslStream<TcpStream>;

impl Line {
    pub(super) fn new(
        page: &Page,
        server: SocketAddr,
        options: &Options,
    ) -> Result<Self, PlayError> {
        let (verify, version) = (&options.transport.verify, options.http);
        let tls = connector(verify, version).map_err(|error| match verify {
            Verify::Authorities(file) => ConnectError::Authorities(file.clone()).into(),
            _ => PlayError::Socket(io::Error::other(error)),
        })?;
        let name = options.server_name(page);
        Ok(Self { server, name, tls, version, connect_within: options.transport.connect_within })
    }

    /// Opens a connection on which the server speaks this version of HTTP.
    pub(super) async fn connect(&self) -> Result<Stream, PlayError> {
        let opened = timeout(self.connect_within, self.open()).await;
        let stream = opened.map_err(|_| PlayError::Unanswered(self.server))??;
        match stream.ssl().selected_alpn_protocol() {
            Some(protocol) if protocol == &alpn(self.version)[1..] => Ok(stream),
            // A server without ALPN speaks HTTP/1.1.
            None if self.version == HttpVersion::Http1 => Ok(stream),
            _ => Err(PlayError::NotOffered(self.server, self.version)),
        }
    }

    async fn open(&self) -> Result<Stream, PlayError> {
        let stream = TcpStream::connect(self.server).await.map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => PlayError::Refused(self.server),
            _ => error.into(),
        })?;
        stream.set_nodelay(true)?;
        let tls = self.tls.configure().map_err(io::Error::other)?;
        let stream = tokio_boring::connect(tls, &self.name, stream).await;
        stream.map_err(|error| {
            // Servers that support none of the offered protocols may reject the handshake (RFC 7301,
            // 3.2).
            let text = error.to_string();
            if text.to_ascii_lowercase().contains("no_application_protocol") {
                PlayError::NotOffered(self.server, self.version)
            } else {
                PlayError::Tls(self.server, text)
            }
        })
    }
}

fn connector(verify: &Verify, version: HttpVersion) -> Result<SslConnector, ErrorStack> {
    let mut tls = SslConnector::builder(SslMethod::tls())?;
    match verify {
        Verify::Nobody => tls.set_verify(SslVerifyMode::NONE),
        Verify::Authorities(file) => tls.set_ca_file(file)?,
        Verify::System => {}
    }
    tls.set_alpn_protos(alpn(version))?;
    Ok(tls.build())
}

fn alpn(version: HttpVersion) -> &'static [u8] {
    if version == HttpVersion::Http1 { b"\x08http/1.1" } else { b"\x02h2" }
}

/// The request with these HTTP/3 fields, in the form of another version. `None`: the fields do not form
/// a request.
pub(super) fn request<B>(fields: &[Header], version: HttpVersion, body: B) -> Option<Request<B>> {
    let text = |name| std::str::from_utf8(http3::values(fields, name).next()?).ok();
    let (authority, path) = (text(":authority")?, text(":path")?);
    let mut request = Request::new(body);
    if version == HttpVersion::Http1 {
        *request.uri_mut() = path.parse().ok()?;
        request.headers_mut().insert(HOST, HeaderValue::from_str(authority).ok()?);
    } else {
        let uri = Uri::builder().scheme("https").authority(authority).path_and_query(path);
        *request.uri_mut() = uri.build().ok()?;
    }
    for field in fields.iter().filter(|it| !it.name().starts_with(b":")) {
        let name = HeaderName::from_bytes(field.name()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(field.value()).ok()?);
    }
    Some(request)
}

/// The fields of a response in the form of HTTP/3.
pub(super) fn fields(status: StatusCode, headers: &HeaderMap) -> Vec<Header> {
    let status = Header::new(b":status", status.as_str().as_bytes());
    let headers = headers.iter();
    let headers = headers.map(|it| Header::new(it.0.as_str().as_bytes(), it.1.as_bytes()));
    std::iter::once(status).chain(headers).collect()
}
