//! The connection of a probe: quiche below, HTTP/3 above, a plan of requests.

use super::log::MemoryLog;
use super::{Answer, Fetched, Late, Patience, Plan, Reading, Request};
use crate::{ConnectError, Verify};
use connection::{Endpoint, Transmit};
use http3::{Event, Header, NameValue, Role, Session, Settings, StreamId};
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Bodies are kept up to this size.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Read from one stream before the next has its turn.
const TURN_BYTES: usize = 16_384;
const STREAM_WINDOW_BYTES: u64 = 64 << 20;
const NO_ERROR: u64 = 0x100;

/// A client that carries out one [`Plan`], without socket and clock.
pub struct Fetch {
    local: SocketAddr,
    quic: quiche::Connection,
    session: Session,
    plan: Plan,
    log: MemoryLog,
    /// Bytes that the transport had no room for, and whether they are their stream's last.
    control: VecDeque<(StreamId, Vec<u8>, bool)>,
    answers: Vec<Answer>,
    /// How many of the first requests have been made.
    asked: usize,
    late_asked: bool,
    pace: Pace,
    epoch: Instant,
    connect_until: Option<Instant>,
    until: Option<Instant>,
    patience: Duration,
    problem: Option<String>,
    scratch: Vec<u8>,
}

impl Fetch {
    /// A connection from `local` to `server` that will make the requests of `plan`.
    pub fn connect(
        plan: Plan,
        local: SocketAddr,
        server: SocketAddr,
        patience: &Patience,
        now: Instant,
    ) -> Result<Self, ConnectError> {
        let mut config = transport_config(&plan, patience)?;
        let mut id = [0; 16];
        SystemRandom::new().fill(&mut id).map_err(|_| ConnectError::Random)?;
        // RFC 6066, section 3: an address is not a name.
        let name = Some(&*plan.host).filter(|it| it.parse::<IpAddr>().is_err());
        let scid = quiche::ConnectionId::from_ref(&id);
        let mut quic = quiche::connect(name, &scid, local, server, &mut config)?;
        let log = MemoryLog::default();
        quic.set_qlog(Box::new(log.clone()), "utmost probe".to_owned(), plan.host.clone());
        Ok(Self {
            local,
            quic,
            session: Session::new(Role::Client, Settings::default(), http3::Limits::default()),
            pace: Pace::new(plan.reading),
            plan,
            log,
            control: VecDeque::new(),
            answers: Vec::new(),
            asked: 0,
            late_asked: false,
            epoch: now,
            connect_until: Some(now + patience.connect_within),
            until: None,
            patience: patience.within,
            problem: None,
            scratch: vec![0; TURN_BYTES],
        })
    }

    /// What came of it, once it is over.
    pub fn fetched(&mut self) -> Fetched {
        let rtt = self.quic.path_stats().next().map(|path| path.min_rtt.unwrap_or(path.rtt));
        Fetched {
            answers: std::mem::take(&mut self.answers),
            rtt: rtt.unwrap_or_default(),
            log: self.log.take(),
            problem: self.problem.take(),
        }
    }

    fn work(&mut self, now: Instant) {
        if !self.quic.is_established() {
            return;
        }
        if self.connect_until.take().is_some() {
            self.epoch = now;
            self.until = Some(now + self.patience);
            let opening = self.session.opening().into_iter();
            self.control = opening.map(|(stream, bytes)| (stream, bytes, false)).collect();
        }
        self.write_control();
        self.ask();
        self.read(now);
        self.ask_late();
        if self.is_done() {
            self.quic.close(true, NO_ERROR, b"done").ok();
        }
    }

    fn is_done(&self) -> bool {
        match self.plan.late {
            Some(_) => self.late_asked && self.answers.last().is_some_and(|it| it.is_complete),
            None => {
                self.asked == self.plan.first.len() && self.answers.iter().all(|it| it.is_complete)
            }
        }
    }

    /// Makes the first requests, as far as the server allows streams.
    fn ask(&mut self) {
        while let Some(request) = self.plan.first.get(self.asked).cloned() {
            if !self.request(&request) {
                return;
            }
            self.asked += 1;
        }
    }

    fn ask_late(&mut self) {
        let Some(Late { request, after_bytes }) = self.plan.late.clone() else { return };
        let read: u64 = self.answers.iter().map(|it| it.body_bytes).sum();
        if !self.late_asked && self.asked == self.plan.first.len() && read >= after_bytes {
            self.late_asked = self.request(&request);
        }
    }

    /// Opens a request; false: the server allows no further stream now.
    fn request(&mut self, request: &Request) -> bool {
        let stream = StreamId(4 * self.answers.len() as u64);
        let fields = self.fields(request);
        let Ok(frame) = self.session.encode_headers(&fields) else { return true };
        match self.quic.stream_send(stream.0, &frame, true) {
            Ok(taken) if taken == frame.len() => {}
            Ok(taken) => self.control.push_back((stream, frame[taken..].to_vec(), true)),
            Err(_) => return false,
        }
        http3::log::headers_created(self.quic.qlog_streamer(), stream, &fields, frame.len());
        self.answers.push(Answer { stream: stream.0, ..Answer::default() });
        true
    }

    fn fields(&self, request: &Request) -> Vec<Header> {
        let Plan { host, port, .. } = &self.plan;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let authority = if *port == 443 { host } else { format!("{host}:{port}") };
        let mut fields = vec![
            Header::new(b":method", b"GET"),
            Header::new(b":scheme", b"https"),
            Header::new(b":authority", authority.as_bytes()),
            Header::new(b":path", request.path.as_bytes()),
            Header::new(b"user-agent", b"utmost"),
        ];
        if let Some(urgency) = request.urgency {
            fields.push(Header::new(b"priority", format!("u={urgency}").as_bytes()));
        }
        fields
    }

    fn write_control(&mut self) {
        while let Some((stream, bytes, fin)) = self.control.front_mut() {
            let Ok(taken) = self.quic.stream_send(stream.0, bytes, *fin) else { return };
            bytes.drain(..taken);
            if !bytes.is_empty() {
                return;
            }
            self.control.pop_front();
        }
    }

    /// Reads what the pace allows, a turn from each stream that has something.
    fn read(&mut self, now: Instant) {
        self.pace.refill(now.saturating_duration_since(self.epoch));
        while self.read_turns() {}
        while let Some(event) = self.session.poll() {
            self.on_event(event);
        }
    }

    /// One turn for each stream; whether there may be more.
    fn read_turns(&mut self) -> bool {
        let mut has_read = false;
        for stream in self.quic.readable() {
            let room = self.pace.room().min(TURN_BYTES);
            if room == 0 {
                return false;
            }
            match self.quic.stream_recv(stream, &mut self.scratch[..room]) {
                Ok((bytes, fin)) => {
                    self.pace.spend(bytes);
                    has_read |= bytes > 0;
                    let part = &self.scratch[..bytes];
                    if let Err(error) = self.session.receive(StreamId(stream), part, fin) {
                        self.fail(format!("{error} on stream {stream}"), error.code());
                        return false;
                    }
                }
                Err(quiche::Error::StreamReset(code)) => {
                    self.session.stream_reset(StreamId(stream), code).ok();
                }
                Err(_) => {}
            }
        }
        has_read
    }

    fn on_event(&mut self, event: Event) {
        let keep_bodies = self.plan.keep_bodies;
        match event {
            Event::Headers { stream, headers } => {
                let bytes = self.session.headers_frame_bytes(stream);
                http3::log::headers_parsed(self.quic.qlog_streamer(), stream, &headers, bytes);
                let status = headers.iter().find(|it| it.name() == b":status");
                let status =
                    status.and_then(|it| std::str::from_utf8(it.value()).ok()?.parse().ok());
                if let Some(answer) = self.answer(stream) {
                    answer.status = status.unwrap_or_default();
                }
            }
            Event::DataFrame { stream, payload_bytes } => {
                http3::log::data_parsed(self.quic.qlog_streamer(), stream, payload_bytes);
            }
            Event::Data { stream, bytes } => {
                let Some(answer) = self.answer(stream) else { return };
                answer.body_bytes += bytes.len() as u64;
                if keep_bodies && answer.body.len() < BODY_BYTES_MAX {
                    answer.body.extend(bytes);
                }
            }
            Event::Finished { stream } => {
                let Some(answer) = self.answer(stream) else { return };
                answer.is_complete = true;
            }
            Event::Reset { stream, code } => {
                self.fail(format!("stream {} was reset with code {code:#x}", stream.0), NO_ERROR);
            }
            _ => {}
        }
    }

    fn answer(&mut self, stream: StreamId) -> Option<&mut Answer> {
        self.answers.iter_mut().find(|it| it.stream == stream.0)
    }

    fn fail(&mut self, problem: String, code: u64) {
        self.problem.get_or_insert(problem);
        self.quic.close(true, code, b"").ok();
    }

    /// Why a connection that is over ended, when nothing else was noted.
    fn note_end(&mut self) {
        if self.problem.is_some() || self.is_done() {
            return;
        }
        let problem = match (self.quic.peer_error(), self.quic.local_error()) {
            // A TLS alert about a certificate (RFC 9001, 4.8; RFC 8446, 6).
            (_, Some(it)) if matches!(it.error_code, 0x12a..=0x130) && !it.is_app => {
                "the server's certificate is not trusted; name its authority with --ca, or use --insecure"
                    .to_owned()
            }
            (Some(it), _) => {
                let reason = String::from_utf8_lossy(&it.reason);
                format!("closed by the server, code {:#x} {reason}", it.error_code)
            }
            _ => "the connection was lost".to_owned(),
        };
        self.problem = Some(problem);
    }
}

impl Endpoint for Fetch {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn receive(&mut self, datagram: &mut [u8], from: SocketAddr, now: Instant) {
        let info = quiche::RecvInfo { from, to: self.local };
        // quiche closes the connection itself where an error asks for it.
        self.quic.recv(datagram, info).ok();
        self.work(now);
    }

    fn transmit(&mut self, _: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.write_control();
        let (bytes, info) = self.quic.send(out).ok()?;
        Some(Transmit::single(info.to, bytes))
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.quic.timeout_instant().is_some_and(|it| it <= now) {
            self.quic.on_timeout();
        }
        if self.connect_until.is_some_and(|it| it <= now) {
            let problem = "no answer to the handshake in time; is an HTTP/3 server there?";
            self.fail(problem.to_owned(), 0);
        } else if self.until.is_some_and(|it| it <= now) {
            self.until = None;
            self.fail("not all was there in time".to_owned(), NO_ERROR);
        } else {
            self.work(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        // Only unread data is worth waking up for.
        let has_unread = self.quic.readable().next().is_some();
        let reading = self.pace.next_refill().filter(|_| has_unread).map(|it| self.epoch + it);
        [self.quic.timeout_instant(), self.connect_until, self.until, reading]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Fetch {
    /// Whether the connection has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        let is_over = self.quic.is_closed() || self.quic.is_draining();
        if is_over {
            self.note_end();
        }
        is_over
    }
}

/// How many bytes may be read by now.
#[derive(Debug)]
struct Pace {
    bytes_per_ms: Option<f64>,
    /// The most bytes that can be saved up.
    most_bytes: f64,
    room_bytes: f64,
    refilled: Duration,
}

impl Pace {
    /// Between two readings.
    const STEP: Duration = Duration::from_millis(1);

    fn new(reading: Reading) -> Self {
        let most_bytes = reading.window_bytes as f64;
        Self {
            bytes_per_ms: reading.bytes_per_ms,
            most_bytes,
            room_bytes: 0.0,
            refilled: Duration::ZERO,
        }
    }

    fn refill(&mut self, since_start: Duration) {
        if let Some(bytes_per_ms) = self.bytes_per_ms {
            let passed = since_start.saturating_sub(self.refilled);
            let more_bytes = passed.as_secs_f64() * 1000.0 * bytes_per_ms;
            self.room_bytes = (self.room_bytes + more_bytes).min(self.most_bytes);
            self.refilled = since_start;
        }
    }

    fn room(&self) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most a window, at least 0"
        )]
        let room = self.room_bytes.max(0.0) as usize;
        if self.bytes_per_ms.is_some() { room } else { usize::MAX }
    }

    fn spend(&mut self, bytes: usize) {
        self.room_bytes -= bytes as f64;
    }

    fn next_refill(&self) -> Option<Duration> {
        self.bytes_per_ms.map(|_| self.refilled + Self::STEP)
    }
}

fn transport_config(plan: &Plan, patience: &Patience) -> Result<quiche::Config, ConnectError> {
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[b"h3"])?;
    config.verify_peer(patience.verify != Verify::Nobody);
    if let Verify::Authorities(path) = &patience.verify {
        let unusable = || ConnectError::Authorities(path.clone());
        let text = path.to_str().ok_or_else(unusable)?;
        config.load_verify_locations_from_file(text).map_err(|_| unusable())?;
    }
    config.set_max_idle_timeout(30_000);
    config.set_max_recv_udp_payload_size(65_527);
    // Only the connection's window is small: with small ones of streams as well, the server could not
    // send much of the urgent response before the others had their turn.
    config.set_initial_max_data(plan.reading.window_bytes);
    config.set_max_connection_window(plan.reading.window_bytes);
    config.set_max_stream_window(STREAM_WINDOW_BYTES);
    config.set_initial_max_stream_data_bidi_local(STREAM_WINDOW_BYTES);
    config.set_initial_max_stream_data_uni(STREAM_WINDOW_BYTES);
    config.set_initial_max_streams_bidi(0);
    config.set_initial_max_streams_uni(16);
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_saves_up_no_more_than_a_window() {
        let mut pace = Pace::new(Reading { window_bytes: 1000, bytes_per_ms: Some(100.0) });
        pace.refill(Duration::from_millis(3));
        assert_eq!(pace.room(), 300);
        pace.spend(250);
        pace.refill(Duration::from_millis(4));
        assert_eq!(pace.room(), 150);
        pace.refill(Duration::from_secs(9));
        assert_eq!(pace.room(), 1000);
        assert_eq!(pace.next_refill(), Some(Duration::from_millis(9001)));
        assert_eq!(Pace::new(Reading::FREE).room(), usize::MAX);
    }
}
