//! Guests of a soak: clients that connect, load files, abandon some, upload, change their address, leave and return.

use crate::client_connection::ClientConnection;
use crate::files::File;
use http3::{Code, Event, Settings, StreamId};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ring::digest::{Context, SHA256};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The observations of all guests of a soak.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Seen {
    /// Complete and correct bodies, and their bytes.
    pub bodies: u64,
    #[expect(missing_docs, reason = "said with the bodies")]
    pub body_bytes: u64,
    /// Uploads that were answered, whatever the answer.
    pub uploads: u64,
    /// Requests that the guest took back.
    pub cancelled: u64,
    /// Complete connections, and the number that resumed a session.
    pub connections: u64,
    #[expect(missing_docs, reason = "said with the connections")]
    pub resumed: u64,
    /// Times that a guest's address changed.
    pub moves: u64,
    /// The failures, and how often.
    pub wrong: BTreeMap<String, u64>,
    /// The durations of bodies since the last call.
    #[serde(skip)]
    pub(crate) times: Vec<Duration>,
}

impl Seen {
    fn note_wrong(&mut self, text: String) {
        *self.wrong.entry(text).or_default() += 1;
    }
}

/// Actions that a guest cannot perform itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GuestAction {
    Nothing,
    NewAddress,
    NewConnection,
}

pub(crate) struct Guest {
    chance: ChaCha8Rng,
    /// How long it waits for an answer.
    patience: Duration,
    /// It changes its address one in this number of times; 0: never.
    moves_each: u32,
    address: Address,
    /// The number of requests before it leaves, and the time of the next.
    asks_left: u32,
    asks_at: Option<Instant>,
    waiting: BTreeMap<StreamId, Waiting>,
    /// It has closed its connection.
    has_left: bool,
    is_counted: bool,
    session: Option<(Vec<u8>, Settings)>,
}

/// A guest's address on its connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Address {
    /// The server has not answered there, so the address must not change: the handshake may not be over (RFC 9000, section 9).
    Unanswered,
    First,
    Changed,
}

/// An unanswered request.
struct Waiting {
    since: Instant,
    /// The number of the file; `None`: an upload.
    file: Option<usize>,
    status: Option<u16>,
    bytes: u64,
    digest: Context,
    /// It is cancelled after this number of bytes.
    until: Option<u64>,
}

/// The most requests sent at once, the most rounds on a connection, and the longest pause between them.
const AT_ONCE: u32 = 6;
const ASKS: u32 = 20;
const PAUSE_MS: u32 = 150;
/// One in this number of requests is an upload, or is cancelled; a guest moves or connects without its session one in this number of
/// times.
const UPLOADS: u32 = 10;
const CANCELS: u32 = 8;
const MOVES: u32 = 15;
const STRANGERS: u32 = 2;
const UPLOAD_BYTES: u32 = 65_536;

impl Guest {
    pub(crate) fn new(seed: u64, number: usize, patience: Duration, moves: bool) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        chance.set_stream(number as u64);
        let asks_left = 1 + chance.next_u32() % ASKS;
        Self {
            chance,
            patience,
            moves_each: if moves { MOVES } else { 0 },
            address: Address::Unanswered,
            asks_left,
            asks_at: None,
            waiting: BTreeMap::new(),
            has_left: false,
            is_counted: false,
            session: None,
        }
    }

    fn below(&mut self, end: u32) -> u32 {
        self.chance.next_u32() % end
    }

    /// Processes arrivals, and makes further requests if it `may_ask` and wants to.
    pub(crate) fn act(
        &mut self,
        client: &mut ClientConnection,
        files: &mut [File],
        seen: &mut Seen,
        may_ask: bool,
        now: Instant,
    ) -> GuestAction {
        for event in client.heard.replace(Vec::new()).unwrap_or_default() {
            self.hear(client, event, files, seen, now);
        }
        if let Some(end) = client.connection.end().filter(|_| !self.has_left) {
            seen.note_wrong(format!("a connection ended: {end}{}", self.history()));
            self.waiting.clear();
            self.has_left = true;
        }
        if self.has_left {
            return self.come_back();
        }
        let mut waiting = self.waiting.values();
        if let Some(late) = waiting.find(|waiting| now >= waiting.since + self.patience) {
            let path = late.file.map_or("an upload", |it| &files[it].path);
            let seconds = self.patience.as_secs();
            seen.note_wrong(format!("{path}: no answer within {seconds} s{}", self.history()));
            self.leave(client);
        }
        if !may_ask || !client.connection.is_connected() || !self.waiting.is_empty() {
            return GuestAction::Nothing;
        }
        self.count(client, seen);
        if self.asks_at.is_some_and(|asks_at| now < asks_at) {
            return GuestAction::Nothing;
        }
        self.ask(client, files, seen, now)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// When it wants to ask again.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.asks_at.filter(|_| self.waiting.is_empty())
    }

    /// Begins a connection, with its stored session.
    pub(crate) fn greet(&mut self, client: &mut ClientConnection) {
        client.heard = Some(Vec::new());
        if let Some((transport, settings)) = self.session.take() {
            // Without it, the connection is a new client's.
            client.connection.resume(&transport, settings).ok();
        }
    }

    /// A possible explanation of a failure.
    fn history(&self) -> &'static str {
        if self.address == Address::Changed { ", after a change of address" } else { "" }
    }

    fn come_back(&mut self) -> GuestAction {
        (self.has_left, self.is_counted) = (false, false);
        self.address = Address::Unanswered;
        self.asks_left = 1 + self.below(ASKS);
        if self.below(STRANGERS) == 0 {
            self.session = None;
        }
        GuestAction::NewConnection
    }

    fn leave(&mut self, client: &mut ClientConnection) {
        let settings = client.connection.session.peer_settings().cloned();
        self.session = client.connection.quic.session().map(<[u8]>::to_vec).zip(settings);
        client.connection.close(Code::NoError, "");
        self.waiting.clear();
        self.has_left = true;
    }

    fn count(&mut self, client: &ClientConnection, seen: &mut Seen) {
        if !std::mem::replace(&mut self.is_counted, true) {
            seen.connections += 1;
            seen.resumed += u64::from(client.connection.quic.is_resumed());
        }
    }

    fn ask(
        &mut self,
        client: &mut ClientConnection,
        files: &[File],
        seen: &mut Seen,
        now: Instant,
    ) -> GuestAction {
        if self.asks_left == 0 {
            self.leave(client);
            return GuestAction::Nothing;
        }
        self.asks_left -= 1;
        self.asks_at = Some(now + Duration::from_millis(self.below(PAUSE_MS).into()));
        for _ in 0..=self.below(AT_ONCE) {
            if self.below(UPLOADS) == 0 {
                self.upload(client, now);
            } else {
                self.download(client, files, seen, now);
            }
        }
        let stays = self.moves_each == 0 || self.below(self.moves_each) != 0;
        if stays || self.address == Address::Unanswered {
            return GuestAction::Nothing;
        }
        self.address = Address::Changed;
        seen.moves += 1;
        GuestAction::NewAddress
    }

    fn download(
        &mut self,
        client: &mut ClientConnection,
        files: &[File],
        seen: &mut Seen,
        now: Instant,
    ) {
        let file = self.below(u32::try_from(files.len()).unwrap_or(u32::MAX)) as usize;
        let until = match self.below(CANCELS) {
            0 => Some([0, 1000, 100_000][self.below(3) as usize]),
            _ => None,
        };
        let stream = client.connection.next_request();
        let fields = client.get(&files[file].path, &[]);
        if !matches!(client.connection.request(stream, &fields, true), Ok(true)) {
            return;
        }
        if until == Some(0) {
            client.connection.shut(stream, Code::RequestCancelled);
            seen.cancelled += 1;
            return;
        }
        self.waiting.insert(stream, Waiting { until, ..Waiting::new(Some(file), now) });
    }

    fn upload(&mut self, client: &mut ClientConnection, now: Instant) {
        let bytes = self.below(UPLOAD_BYTES);
        let stream = client.connection.next_request();
        let fields = client.request("POST", "/", &[("content-length", &bytes.to_string())]);
        if matches!(client.connection.request(stream, &fields, false), Ok(true)) {
            let mut body = http3::data_frame_header(bytes.into());
            body.resize(body.len() + bytes as usize, b'x');
            client.connection.send(stream, body, true);
            self.waiting.insert(stream, Waiting::new(None, now));
        }
    }

    fn hear(
        &mut self,
        client: &mut ClientConnection,
        event: Event,
        files: &mut [File],
        seen: &mut Seen,
        now: Instant,
    ) {
        match event {
            Event::Headers { stream, headers } => {
                if self.address == Address::Unanswered {
                    self.address = Address::First;
                }
                if let Some(waiting) = self.waiting.get_mut(&stream) {
                    waiting.status = http3::status(&headers);
                }
            }
            Event::Data { stream, bytes } => {
                let Some(waiting) = self.waiting.get_mut(&stream) else { return };
                waiting.bytes += bytes.len() as u64;
                waiting.digest.update(&bytes);
                if waiting.until.is_some_and(|until| waiting.bytes >= until) {
                    self.waiting.remove(&stream);
                    client.connection.shut(stream, Code::RequestCancelled);
                    seen.cancelled += 1;
                }
            }
            Event::Finished { stream } => {
                if let Some(waiting) = self.waiting.remove(&stream) {
                    waiting.judge(files, seen, now);
                }
            }
            Event::Reset { stream, code } => match self.waiting.remove(&stream) {
                Some(Waiting { file: Some(file), .. }) => {
                    seen.note_wrong(format!("{}: reset with {code:#x}", files[file].path));
                }
                Some(_) => seen.uploads += 1,
                None => {}
            },
            _ => {}
        }
    }
}

impl Waiting {
    fn new(file: Option<usize>, since: Instant) -> Self {
        Self { since, file, status: None, bytes: 0, digest: Context::new(&SHA256), until: None }
    }

    /// Judges a complete response.
    fn judge(self, files: &mut [File], seen: &mut Seen, now: Instant) {
        let Some(file) = self.file else {
            seen.uploads += 1;
            return;
        };
        let file = &mut files[file];
        let digest = self.digest.finish().as_ref().to_vec();
        if self.status != Some(200) {
            seen.note_wrong(format!("{}: status {}", file.path, self.status.unwrap_or_default()));
        } else if *file.sha256.get_or_insert_with(|| digest.clone()) == digest {
            seen.bodies += 1;
            seen.body_bytes += self.bytes;
            seen.times.push(now - self.since);
        } else {
            seen.note_wrong(format!("{}: other bytes ({})", file.path, self.bytes));
        }
    }
}
