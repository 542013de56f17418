//! Connections over TCP of attackers and visitors, with or without TLS.

use super::{StressError, Target};
use boring::error::ErrorStack;
use boring::ssl::{Ssl, SslContext, SslMethod, SslStream};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

/// A visitor's deadline for a response, and every client's for a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A connection with or without TLS.
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(SslStream<TcpStream>),
}

impl Stream {
    pub(super) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            Self::Secure(tls) => tls.get_ref(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.read(buffer),
            Self::Secure(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(tcp) => tcp.write(bytes),
            Self::Secure(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp().flush()
    }
}

/// Connects with this protocol; `None`: without TLS.
pub(super) fn connect(target: &Target, protocol: Option<&[u8]>) -> io::Result<Stream> {
    let tcp = TcpStream::connect_timeout(&target.address, PATIENCE)?;
    tcp.set_nodelay(true)?;
    let Some(protocol) = protocol else { return Ok(Stream::Plain(tcp)) };
    tcp.set_read_timeout(Some(PATIENCE))?;
    let tls = client(target, protocol).map_err(io::Error::other)?;
    tls.connect(tcp).map(Stream::Secure).map_err(|error| io::Error::other(error.to_string()))
}

/// A client end for this protocol that trusts any certificate. The library's connector would read the system's certificates each
/// time, which takes a hundred times as long as the handshake, and would load the machine instead of the server.
pub(super) fn client(target: &Target, protocol: &[u8]) -> Result<Ssl, ErrorStack> {
    let mut context = SslContext::builder(SslMethod::tls())?;
    context.set_alpn_protos(protocol)?;
    let mut tls = Ssl::new(&context.build())?;
    let host = http3::host(&target.authority);
    // An address is not a name (RFC 6066, 3).
    if host.parse::<IpAddr>().is_err() {
        tls.set_hostname(host)?;
    }
    Ok(tls)
}

pub(super) fn answers(target: &Target) -> Result<bool, StressError> {
    match TcpStream::connect_timeout(&target.address, PATIENCE) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(false),
        Err(error) => Err(error.into()),
    }
}
