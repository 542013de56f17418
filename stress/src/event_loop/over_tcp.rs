//! Attackers and visitors over TCP: a thread for each connection.

use super::{StressError, Target, now};
use crate::limits::{CONNECTIONS_MAX, REQUEST_EACH, VISITORS};
use crate::outcome::{Attacked, Served};
use crate::scripts::over_tcp::{Asked, GoAway, HTTP_2, TcpScript};
use crate::visitors::served_in;
use boring::error::ErrorStack;
use boring::ssl::{SslConnector, SslMethod, SslStream, SslVerifyMode};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A connection of an attack, made anew when the server has closed it.
pub(crate) type MakeScript = fn(Asked<'_>) -> Box<dyn TcpScript>;

/// Carries out an attack of so many connections from `start` on.
pub(super) fn attack(
    target: &Target,
    make: MakeScript,
    connections: usize,
    start: Instant,
    length: Duration,
) -> Attacked {
    let end = start + length;
    std::thread::scope(|scope| {
        std::thread::sleep(start.saturating_duration_since(now()));
        let one = || scope.spawn(move || attack_once_and_again(target, make, end));
        let threads: Vec<_> =
            std::iter::repeat_with(one).take(connections.min(CONNECTIONS_MAX)).collect();
        let mut memory_most = None;
        while now() < end {
            memory_most = memory_most.max(target.memory());
            std::thread::sleep(PAUSE);
        }
        let mut codes = BTreeMap::new();
        for code in threads.into_iter().flat_map(|it| it.join().unwrap_or_default()) {
            *codes.entry(code).or_default() += 1;
        }
        Attacked { codes, memory_most, ..Attacked::default() }
    })
}

/// One attacker. Returns the codes with which the server closed its connections.
fn attack_once_and_again(target: &Target, make: MakeScript, end: Instant) -> Vec<u64> {
    let mut codes = Vec::new();
    while now() < end {
        let mut script = make(Asked { authority: &target.authority, path: target.path() });
        // A server that does not let it in is what it wants.
        if let Ok(stream) = connect(target, script.protocol()) {
            codes.extend(attack_on(stream, script.as_mut(), end));
        }
        std::thread::sleep(PAUSE);
    }
    codes
}

/// Carries on one connection until it or the attack ends.
fn attack_on(mut stream: Stream, script: &mut dyn TcpScript, end: Instant) -> Option<u64> {
    let (begin, mut goaway) = (now(), GoAway::default());
    let (mut unsent, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    stream.tcp().set_nonblocking(true).ok()?;
    while now() < end {
        if unsent.is_empty() {
            unsent = script.next(now() - begin);
        }
        let sent = if unsent.is_empty() { Ok(0) } else { stream.write(&unsent) };
        let came = if script.reads() {
            stream.read(&mut buffer)
        } else {
            Err(ErrorKind::WouldBlock.into())
        };
        let (sent, came) = (patient(sent), patient(came));
        if let Ok(Some(bytes)) = came
            && script.protocol() == Some(HTTP_2)
        {
            // What came before the end may say why.
            goaway.take(&buffer[..bytes]);
        }
        let (Ok(sent), Ok(came)) = (sent, came) else { break };
        if came == Some(0) {
            break;
        }
        unsent.drain(..sent.unwrap_or(0));
        std::thread::sleep(TURN);
    }
    goaway.code
}

/// What a call of a stream says that does not wait; `None`: not now.
fn patient(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(None)
        }
        done => done.map(Some),
    }
}

/// A request of a visitor: when it began, how long it took, and whether it had success.
struct Visit {
    asked: Instant,
    took: Duration,
    is_good: bool,
}

/// Visitors over HTTP/1.1, until they are told to leave.
pub(super) struct Visitors<'scope> {
    threads: Vec<std::thread::ScopedJoinHandle<'scope, Vec<Visit>>>,
}

impl<'scope> Visitors<'scope> {
    pub(super) fn come<'env>(
        scope: &'scope std::thread::Scope<'scope, 'env>,
        target: &'scope Target,
        is_over: &'scope AtomicBool,
    ) -> Self {
        let one = |_| scope.spawn(move || visit(target, is_over));
        Self { threads: (0..VISITORS).map(one).collect() }
    }

    /// What they got in as many times of this length, the first of which began at `start`; and how many responses had no success.
    pub(super) fn left<const N: usize>(
        self,
        start: Instant,
        length: Duration,
    ) -> ([Served; N], u64) {
        let visits = self.threads.into_iter().flat_map(|it| it.join().unwrap_or_default());
        let visits: Vec<Visit> = visits.filter(|it| it.asked >= start).collect();
        let refused = visits.iter().filter(|it| !it.is_good).count() as u64;
        let served = std::array::from_fn(|number| {
            let from = start + length * u32::try_from(number).unwrap_or(0);
            let here = visits.iter().filter(|it| (from..from + length).contains(&it.asked));
            served_in(here.map(|it| it.took).collect(), length)
        });
        (served, refused)
    }
}

/// One visitor: a request each 20 ms, or as fast as responses come.
fn visit(target: &Target, is_over: &AtomicBool) -> Vec<Visit> {
    let mut visits = Vec::new();
    let mut stream = None;
    while !is_over.load(Ordering::Relaxed) {
        let asked = now();
        let answered = load(target, &mut stream);
        if answered.is_err() {
            stream = None;
        }
        let took = now() - asked;
        visits.push(Visit { asked, took, is_good: answered.is_ok_and(|it| it) });
        std::thread::sleep(REQUEST_EACH.saturating_sub(took));
    }
    visits
}

/// Loads the file on a kept connection. Whether it came with success.
fn load(target: &Target, kept: &mut Option<BufReader<Stream>>) -> io::Result<bool> {
    if kept.is_none() {
        let stream = connect(target, Some(b"\x08http/1.1"))?;
        stream.tcp().set_read_timeout(Some(PATIENCE))?;
        *kept = Some(BufReader::new(stream));
    }
    let Some(stream) = kept else { return Ok(false) };
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", target.path(), target.authority);
    stream.get_mut().write_all(request.as_bytes())?;
    let (mut line, mut length, mut is_good) = (String::new(), 0, None);
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        is_good.get_or_insert_with(|| line.starts_with("HTTP/1.1 2"));
        let lower = line.to_ascii_lowercase();
        if let Some(said) = lower.strip_prefix("content-length:") {
            length = said.trim().parse().map_err(|_| ErrorKind::InvalidData)?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let came = io::copy(&mut stream.by_ref().take(length), &mut io::sink())?;
    if came == length { Ok(is_good == Some(true)) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// A connection with or without TLS.
enum Stream {
    Plain(TcpStream),
    Secure(SslStream<TcpStream>),
}

impl Stream {
    fn tcp(&self) -> &TcpStream {
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

fn connect(target: &Target, protocol: Option<&[u8]>) -> io::Result<Stream> {
    let tcp = TcpStream::connect_timeout(&target.address, PATIENCE)?;
    tcp.set_nodelay(true)?;
    let Some(protocol) = protocol else { return Ok(Stream::Plain(tcp)) };
    tcp.set_read_timeout(Some(PATIENCE))?;
    let connector = connector(protocol).map_err(io::Error::other)?;
    let host = http3::host(&target.authority);
    connector
        .connect(host, tcp)
        .map(Stream::Secure)
        .map_err(|error| io::Error::other(error.to_string()))
}

/// A client that trusts any certificate.
fn connector(protocol: &[u8]) -> Result<SslConnector, ErrorStack> {
    let mut tls = SslConnector::builder(SslMethod::tls())?;
    tls.set_verify(SslVerifyMode::NONE);
    tls.set_alpn_protos(protocol)?;
    Ok(tls.build())
}

/// Whether the server answers over TCP.
pub(super) fn answers(target: &Target) -> Result<bool, StressError> {
    match TcpStream::connect_timeout(&target.address, PATIENCE) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// How long a visitor waits for a response, and anybody for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time between two connections of an attacker, and two looks at memory.
const PAUSE: Duration = Duration::from_millis(50);
/// The time between two turns of an attacker.
const TURN: Duration = Duration::from_millis(2);
