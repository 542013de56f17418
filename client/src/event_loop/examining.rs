//! The doctor's sockets: they examine a host as a browser would.

use super::{Line, PlayError, any_for, now};
use crate::doctor::datagrams::{SIZES, answer, asking};
use crate::doctor::visit::Visit;
use crate::doctor::{Certificate, Observed, Patient, Tcp, Trouble, Trusted, Udp};
use crate::probe::authority;
use crate::{Verify, doctor};
use boring::asn1::Asn1Time;
use boring::error::ErrorStack;
use boring::ssl::{SslConnector, SslMethod, SslRef, SslStream, SslVerifyMode};
use boring::stack::StackRef;
use boring::x509::X509VerifyError;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// Looks at a host.
pub fn examine(patient: &Patient) -> Result<Observed, PlayError> {
    let trusted = match &patient.verify {
        Verify::System => Trusted::System,
        Verify::Authorities(_) => Trusted::File,
        Verify::Nobody => Trusted::Anybody,
    };
    let tcp = TcpStream::connect_timeout(&patient.address, patient.within);
    let tcp = match tcp {
        Ok(stream) => Ok(over_tcp(patient, stream)?),
        Err(error) => Err(plainly(&error)),
    };
    let said = tcp.as_ref().ok().and_then(|it| it.answer.as_ref().ok());
    let said = said.and_then(|(_, values)| doctor::alternative(values));
    let port = said.map_or(patient.port, |(port, _)| port);
    let udp = over_udp(patient, port)?;
    Ok(Observed { host: patient.host.clone(), port: patient.port, trusted, tcp, udp })
}

/// A cause in few words.
fn plainly(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "refused: nobody listens".to_owned(),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "no answer".to_owned(),
        _ => error.to_string(),
    }
}

fn over_tcp(patient: &Patient, stream: TcpStream) -> Result<Tcp, PlayError> {
    stream.set_read_timeout(Some(patient.within))?;
    stream.set_write_timeout(Some(patient.within))?;
    let connector = connector(&patient.verify).map_err(io::Error::other)?;
    Ok(match connector.connect(&patient.host, stream) {
        Ok(mut tls) => Tcp {
            certificate: certificate(tls.ssl(), &patient.verify).map_err(|it| it.to_string()),
            answer: answer_of(patient, &mut tls).map_err(|it| plainly(&it)),
        },
        Err(error) => Tcp {
            certificate: Err(format!("no TLS handshake: {error}")),
            answer: Err("no TLS".to_owned()),
        },
    })
}

/// A connector that accepts any certificate, but knows whether it is valid.
fn connector(verify: &Verify) -> Result<SslConnector, ErrorStack> {
    let mut tls = SslConnector::builder(SslMethod::tls())?;
    if let Verify::Authorities(file) = verify {
        tls.set_ca_file(file)?;
    }
    tls.set_verify_callback(SslVerifyMode::PEER, |_, _| true);
    tls.set_alpn_protos(b"\x08http/1.1")?;
    Ok(tls.build())
}

fn certificate(tls: &SslRef, verify: &Verify) -> Result<Certificate, ErrorStack> {
    let mut names = Vec::new();
    let mut days_left = 0;
    if let Some(own) = tls.peer_certificate() {
        let said = own.subject_alt_names();
        let said = said.iter().flatten();
        names.extend(said.filter_map(|name| {
            name.dnsname().map(str::to_owned).or_else(|| address(name.ipaddress()?))
        }));
        days_left = Asn1Time::days_from_now(0)?.diff(own.not_after())?.days.into();
    }
    let chain = tls.peer_cert_chain().map_or(0, StackRef::len);
    let trouble = tls.verify_result().err().and_then(|error| match error {
        X509VerifyError::CERT_HAS_EXPIRED | X509VerifyError::CERT_NOT_YET_VALID => {
            Some(Trouble::Date)
        }
        X509VerifyError::HOSTNAME_MISMATCH | X509VerifyError::IP_ADDRESS_MISMATCH => {
            Some(Trouble::Name)
        }
        _ if *verify == Verify::Nobody => None,
        error => Some(Trouble::Untrusted(error.error_string().to_owned())),
    });
    Ok(Certificate { names, chain, days_left, trouble })
}

fn address(bytes: &[u8]) -> Option<String> {
    let of_4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    Some(of_4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()?.to_string())
}

/// Status and `Alt-Svc` of `/`, over HTTP/1.1.
fn answer_of(patient: &Patient, tls: &mut SslStream<TcpStream>) -> io::Result<(u16, Vec<String>)> {
    let authority = authority(&patient.host, patient.port);
    let request = format!("GET / HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    tls.write_all(request.as_bytes())?;
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let bytes = tls.read(&mut buffer)?;
        if bytes == 0 || head.len() > HEAD_BYTES {
            return Err(io::Error::other("the answer is not an HTTP/1.1 head"));
        }
        head.extend(&buffer[..bytes]);
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.split("\r\n").take_while(|it| !it.is_empty());
    let status = lines.next().and_then(|it| it.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("the answer is not an HTTP/1.1 head"))?;
    let fields = lines.filter_map(|it| it.split_once(':'));
    let values = fields.filter(|(name, _)| name.eq_ignore_ascii_case("alt-svc"));
    Ok((status, values.map(|(_, value)| value.trim().to_owned()).collect()))
}

fn over_udp(patient: &Patient, port: u16) -> Result<Udp, PlayError> {
    let server = SocketAddr::new(patient.address.ip(), port);
    let mut udp = Udp { port, ..Udp::default() };
    sizes(&mut udp, server, patient.within)?;
    let mut line = Line::to(server)?;
    let until = now() + patient.within;
    let authority = authority(&patient.host, patient.port);
    let visit = Visit::connect(&patient.host, &authority, line.local, server, until, now());
    let mut visit = visit.map_err(PlayError::Connect)?;
    udp.quic = Some(match line.drive(&mut visit, |visit| visit.is_over()) {
        Err(PlayError::Refused(_)) => Err("refused: nobody listens".to_owned()),
        driven => driven.map_err(|it| it.to_string()).and_then(|()| visit.seen()),
    });
    Ok(udp)
}

/// Which sizes of datagrams are answered, and the versions in the answers, if any.
fn sizes(udp: &mut Udp, server: SocketAddr, within: Duration) -> io::Result<()> {
    let socket = UdpSocket::bind(any_for(server))?;
    socket.connect(server)?;
    let mut answered = SIZES.map(|size| (size, false));
    let mut buffer = [0; 2048];
    for _ in 0..TRIES {
        for (size, _) in answered.iter().filter(|(_, it)| !it) {
            // A datagram that the system rejects counts as lost, and so do errors about earlier ones.
            socket.send(&asking(*size)).ok();
        }
        let until = now() + within.min(TRY);
        while answered.iter().any(|(_, it)| !it) && now() < until {
            socket.set_read_timeout(Some((until - now()).max(Duration::from_millis(1))))?;
            let Ok(bytes) = socket.recv(&mut buffer) else { continue };
            if let Some((size, said)) = answer(&buffer[..bytes]) {
                answered.iter_mut().filter(|it| it.0 == size).for_each(|it| it.1 = true);
                udp.versions = said;
            }
        }
    }
    udp.answered = answered.to_vec();
    Ok(())
}

/// The most bytes of a head that are read.
const HEAD_BYTES: usize = 64 << 10;
/// Attempts for each size, and the wait for each.
const TRIES: usize = 3;
const TRY: Duration = Duration::from_millis(700);
