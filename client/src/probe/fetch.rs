//! A client that carries out a plan of requests.

use super::pace::Pace;
use super::{Answer, Fetched, Late, Patience, Plan, Request};
use crate::limits::BODY_BYTES_MAX;
use connection::{ClientConfig, ConnectError, Connection, Endpoint, MemoryLog, Path, Transmit};
use http3::{Code, Event, Header, Signal, StreamId};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Bytes read from one stream before the next has its turn.
const TURN_BYTES: usize = 16_384;
const STREAM_WINDOW_BYTES: u64 = 64 << 20;

/// A client that carries out one [`Plan`], without socket or clock.
pub struct Fetch {
    connection: Connection,
    plan: Plan,
    log: MemoryLog,
    answers: Vec<Answer>,
    /// How many of the first requests have been made.
    asked: usize,
    late_asked: bool,
    is_updated: bool,
    pace: Pace,
    epoch: Instant,
    /// The deadline after the handshake.
    until: Option<Instant>,
    patience: Duration,
    problem: Option<String>,
    buffer: Vec<u8>,
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
        // RFC 6066, section 3: an address is not a name.
        let name = Some(&*plan.host).filter(|it| it.parse::<IpAddr>().is_err());
        let config = transport(&plan, patience);
        let mut connection = Connection::connect(name, local, server, &config, now)?;
        let log = MemoryLog::default();
        let title = "utmost probe".to_owned();
        connection.quic.set_qlog(Box::new(log.clone()), title, plan.host.clone());
        Ok(Self {
            connection,
            pace: Pace::new(plan.reading),
            plan,
            log,
            answers: Vec::new(),
            asked: 0,
            late_asked: false,
            is_updated: false,
            epoch: now,
            until: None,
            patience: patience.within,
            problem: None,
            buffer: vec![0; TURN_BYTES],
        })
    }

    /// Whether its connection is over.
    pub fn is_over(&mut self) -> bool {
        self.connection.is_over()
    }

    /// The result. Call it once the fetch is over.
    pub fn fetched(&mut self) -> Fetched {
        let rtt = self.connection.quic.path_stats().next();
        let end = self.connection.end().filter(|_| !self.is_done());
        Fetched {
            problem: self.problem.take().or_else(|| end.map(|it| it.to_string())),
            answers: std::mem::take(&mut self.answers),
            rtt: rtt.map(|path| path.min_rtt.unwrap_or(path.rtt)).unwrap_or_default(),
            log: self.log.take(),
        }
    }

    fn work(&mut self, now: Instant) {
        if self.connection.open() {
            self.epoch = now;
            self.until = Some(now + self.patience);
        }
        if !self.connection.is_connected() {
            return;
        }
        self.connection.flush();
        self.ask();
        self.read(now);
        self.ask_late();
        self.update_late();
        if self.is_done() {
            self.connection.close(Code::NoError, "done");
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
        let Some(Late { request, after_bytes, .. }) = self.plan.late.clone() else { return };
        let is_due = self.asked == self.plan.first.len() && self.read_bytes() >= after_bytes;
        if !self.late_asked && is_due {
            self.late_asked = self.request(&request);
        }
    }

    /// Signals the late request anew.
    fn update_late(&mut self) {
        let Some(update) = self.plan.late.as_ref().and_then(|it| it.update) else { return };
        let late = self.answers.last().filter(|_| self.late_asked).map(|it| StreamId(it.stream));
        let is_due = !self.is_updated && self.read_bytes() >= update.after_bytes;
        if let Some(stream) = late.filter(|_| is_due) {
            let signal = Signal::Extensible { stream, urgency: update.urgency, incremental: false };
            self.is_updated = self.connection.signal(&signal);
            self.connection.flush();
        }
    }

    /// Bytes of all bodies.
    fn read_bytes(&self) -> u64 {
        self.answers.iter().map(|it| it.body_bytes).sum()
    }

    /// Sends a request. Returns `false` if the server allows no further stream now.
    fn request(&mut self, request: &Request) -> bool {
        let stream = self.connection.next_request();
        let sent = self.connection.request(stream, &self.fields(request), true);
        if sent == Ok(true) {
            self.answers.push(Answer { stream: stream.0, ..Answer::default() });
        }
        // A request that the server does not accept is not retried.
        sent != Ok(false)
    }

    fn fields(&self, request: &Request) -> Vec<Header> {
        let authority = authority(&self.plan.host, self.plan.port);
        let mut fields = http3::get_request(&authority, &request.path);
        fields.push(Header::new(b"user-agent", b"utmost"));
        if let Some(urgency) = request.urgency {
            let incremental = if request.incremental { ", i" } else { "" };
            fields.push(Header::new(b"priority", format!("u={urgency}{incremental}").as_bytes()));
        }
        fields
    }

    /// Reads as much as the pace allows, in turns over all readable streams.
    fn read(&mut self, now: Instant) {
        self.pace.refill(now.saturating_duration_since(self.epoch));
        while self.read_turns() {}
        while let Some(event) = self.connection.poll() {
            self.on_event(event);
        }
    }

    /// One turn for each stream. Returns `false` if there is nothing more to read now.
    fn read_turns(&mut self) -> bool {
        let mut has_read = false;
        for stream in self.connection.readable() {
            let room = self.pace.room().min(TURN_BYTES);
            if room == 0 {
                return false;
            }
            match self.connection.read(stream, &mut self.buffer[..room]) {
                Ok(turn) => {
                    let bytes = turn.map_or(0, |it| it.bytes);
                    self.pace.spend(bytes);
                    has_read |= bytes > 0;
                }
                Err(error) => {
                    self.connection.fail_whole(&error, stream);
                    return false;
                }
            }
        }
        has_read
    }

    fn on_event(&mut self, event: Event) {
        let keep_bodies = self.plan.keep_bodies;
        match event {
            Event::Headers { stream, headers } => {
                if let Some(answer) = self.answer(stream) {
                    answer.status = http3::status(&headers).unwrap_or_default();
                }
            }
            Event::Data { stream, bytes } => {
                let Some(answer) = self.answer(stream) else { return };
                answer.body_bytes += bytes.len() as u64;
                if keep_bodies && answer.body.len() < BODY_BYTES_MAX {
                    answer.body.extend(bytes);
                }
            }
            Event::Finished { stream } => {
                if let Some(answer) = self.answer(stream) {
                    answer.is_complete = true;
                }
            }
            Event::Reset { stream, code } => {
                self.give_up(format!("stream {} was reset with code {code:#x}", stream.0));
            }
            _ => {}
        }
    }

    fn answer(&mut self, stream: StreamId) -> Option<&mut Answer> {
        self.answers.iter_mut().find(|it| it.stream == stream.0)
    }

    fn give_up(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
        self.connection.close(Code::NoError, "");
    }
}

impl Endpoint for Fetch {
    fn local_addr(&self) -> SocketAddr {
        self.connection.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        self.connection.receive(datagram, path);
        self.work(now);
    }

    fn transmit(&mut self, _: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.connection.transmit(out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.connection.on_timeout(now);
        if self.until.take_if(|until| *until <= now).is_some() {
            self.give_up("the responses did not all arrive in time".to_owned());
        } else {
            self.work(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        // Wake up only for unread data.
        let has_unread = self.connection.readable().next().is_some();
        let reading = self.pace.next_refill().filter(|_| has_unread).map(|it| self.epoch + it);
        [self.connection.next_timeout(), self.until, reading].into_iter().flatten().min()
    }
}

/// The host, with the port unless it is the default.
pub(crate) fn authority(host: &str, port: u16) -> String {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    if port == 443 { host } else { format!("{host}:{port}") }
}

fn transport(plan: &Plan, patience: &Patience) -> ClientConfig {
    ClientConfig {
        verify: patience.verify.clone(),
        connect_within: patience.connect_within,
        // Only the connection's window is small. If stream windows were small too, the server could not send much
        // of the urgent response before the others had their turn.
        receive_bytes: plan.reading.window_bytes,
        stream_receive_bytes: STREAM_WINDOW_BYTES,
        windows_grow: false,
        ..ClientConfig::default()
    }
}
