//! Visitors over TCP: a thread for each, with one connection at a time.

use super::tcp_stream::{PATIENCE, Stream, client, connect};
use super::{Target, now};
use crate::limits::{REQUEST_EACH, VISITORS};
use crate::outcome::{PHASES, Served, Visited};
use crate::scripts::over_tcp::{HTTP_1, HTTP_2};
use crate::visitors::served_in;
use bytes::Bytes;
use h2::client::SendRequest;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_boring::SslStreamBuilder;

/// A visitor's connection, replaced after a failure.
trait Loader {
    /// Loads the file. Returns whether it arrived successfully.
    fn load(&mut self, target: &Target) -> io::Result<bool>;
}

/// A way of visiting.
struct Version {
    protocol: &'static str,
    loader: fn() -> io::Result<Box<dyn Loader>>,
}

static VERSIONS: [Version; 2] = [
    Version { protocol: "HTTP/2", loader: || Ok(Box::new(Http2::new()?)) },
    Version { protocol: "HTTP/1.1", loader: || Ok(Box::new(Http1(None))) },
];

/// A visitor's load: its start, duration, and result.
struct Load {
    asked: Instant,
    took: Duration,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Good,
    /// A complete response with a status other than success.
    Refused,
    /// No whole response.
    Unanswered,
}

/// Visitors of each version, until they are asked to leave.
pub(super) struct Visitors<'scope> {
    groups: Vec<(&'static str, Vec<ScopedJoinHandle<'scope, Vec<Load>>>)>,
}

impl<'scope> Visitors<'scope> {
    pub(super) fn come<'env>(
        scope: &'scope Scope<'scope, 'env>,
        target: &'scope Target,
        is_over: &'scope AtomicBool,
    ) -> Self {
        let groups = VERSIONS.iter().map(|version| {
            let visitors = (0..VISITORS)
                .map(|_| scope.spawn(move || visit(target, version, is_over).unwrap_or_default()));
            (version.protocol, visitors.collect())
        });
        Self { groups: groups.collect() }
    }

    /// Their responses in each phase of this length, the first of which began at `start`, and the number of failed loads since
    /// then.
    pub(super) fn left(self, start: Instant, length: Duration) -> (Vec<Visited>, u64) {
        let (mut visited, mut failed) = (Vec::new(), 0);
        for (protocol, threads) in self.groups {
            let loads = threads.into_iter().flat_map(|it| it.join().unwrap_or_default());
            let loads: Vec<Load> = loads.filter(|it| it.asked >= start).collect();
            failed += loads.iter().filter(|it| it.end != End::Good).count() as u64;
            visited.push(Visited::new(protocol, phases(&loads, start, length)));
        }
        (visited, failed)
    }
}

/// The results of loads in each phase.
fn phases(loads: &[Load], start: Instant, length: Duration) -> [Served; PHASES] {
    std::array::from_fn(|number| {
        let from = start + length * u32::try_from(number).unwrap_or(0);
        let here = loads.iter().filter(|it| (from..from + length).contains(&it.asked));
        let (answered, unanswered): (Vec<&Load>, Vec<&Load>) =
            here.partition(|it| it.end != End::Unanswered);
        let [answered, unanswered] = [answered, unanswered]
            .map(|loads| loads.iter().map(|it| it.took).collect::<Vec<Duration>>());
        served_in(&answered, &unanswered, length)
    })
}

/// One visitor: a load every 20 ms, or as fast as responses arrive.
fn visit(target: &Target, version: &Version, is_over: &AtomicBool) -> io::Result<Vec<Load>> {
    let mut loader = (version.loader)()?;
    let mut loads = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let asked = now();
        let end = match loader.load(target) {
            Ok(true) => End::Good,
            Ok(false) => End::Refused,
            Err(_) => End::Unanswered,
        };
        let took = now() - asked;
        loads.push(Load { asked, took, end });
        std::thread::sleep(REQUEST_EACH.saturating_sub(took));
    }
    Ok(loads)
}

/// A kept connection of HTTP/1.1.
struct Http1(Option<BufReader<Stream>>);

impl Loader for Http1 {
    fn load(&mut self, target: &Target) -> io::Result<bool> {
        let mut stream = if let Some(stream) = self.0.take() {
            stream
        } else {
            let stream = connect(target, Some(HTTP_1))?;
            stream.tcp().set_read_timeout(Some(PATIENCE))?;
            BufReader::new(stream)
        };
        let is_good = load_1(target, &mut stream)?;
        self.0 = Some(stream);
        Ok(is_good)
    }
}

fn load_1(target: &Target, stream: &mut BufReader<Stream>) -> io::Result<bool> {
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

/// A kept connection of HTTP/2.
struct Http2 {
    runtime: Runtime,
    kept: Option<SendRequest<Bytes>>,
}

impl Http2 {
    fn new() -> io::Result<Self> {
        Ok(Self { runtime: Builder::new_current_thread().enable_all().build()?, kept: None })
    }
}

impl Loader for Http2 {
    fn load(&mut self, target: &Target) -> io::Result<bool> {
        let kept = self.kept.take();
        let loading = async { timeout(PATIENCE, load_2(target, kept)).await };
        let (sender, is_good) = self.runtime.block_on(loading)??;
        self.kept = Some(sender);
        Ok(is_good)
    }
}

async fn load_2(
    target: &Target,
    kept: Option<SendRequest<Bytes>>,
) -> io::Result<(SendRequest<Bytes>, bool)> {
    let sender = match kept {
        Some(sender) => sender,
        None => open_2(target).await?,
    };
    let mut sender = sender.ready().await.map_err(io::Error::other)?;
    let url = format!("https://{}{}", target.authority, target.path());
    let request = hyper::Request::get(url).body(()).map_err(io::Error::other)?;
    let (response, _) = sender.send_request(request, true).map_err(io::Error::other)?;
    let response = response.await.map_err(io::Error::other)?;
    let is_good = response.status().is_success();
    let mut body = response.into_body();
    while let Some(bytes) = body.data().await {
        let count = bytes.map_err(io::Error::other)?.len();
        body.flow_control().release_capacity(count).map_err(io::Error::other)?;
    }
    Ok((sender, is_good))
}

/// A connection that is driven concurrently with the visitor.
async fn open_2(target: &Target) -> io::Result<SendRequest<Bytes>> {
    let stream = TcpStream::connect(target.address).await?;
    stream.set_nodelay(true)?;
    let tls = client(target, HTTP_2).map_err(io::Error::other)?;
    let connecting = SslStreamBuilder::new(tls, stream).connect().await;
    let stream = connecting.map_err(|error| io::Error::other(error.to_string()))?;
    let (sender, connection) = h2::client::handshake(stream).await.map_err(io::Error::other)?;
    // It ends with the last sender.
    tokio::spawn(connection);
    Ok(sender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_count_in_the_phase_in_which_they_began_and_those_without_an_answer_are_no_responses() {
        let start = now();
        let ms = Duration::from_millis;
        let load = |at, took, end| Load { asked: start + ms(at), took: ms(took), end };
        let loads = [
            load(10, 5, End::Good),
            load(990, 50, End::Refused),
            load(1500, 5000, End::Unanswered),
            load(2500, 7, End::Good),
        ];
        let [before, during, after] = phases(&loads, start, ms(1000));
        assert_eq!((before.responses, before.p50_ms, before.p99_ms), (2, 5.0, 50.0));
        assert_eq!((during.responses, during.p99_ms), (0, 5000.0));
        assert_eq!((after.responses, after.p50_ms), (1, 7.0));
    }
}
