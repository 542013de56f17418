//! Where a client is when it changes its address during a connection (RFC 9000, 9).
//!
//! quiche makes a path for each address, and each path counts its own bytes in flight. When quiche leaves a path, packets in flight
//! there are neither acknowledged nor declared lost, so most of them are never sent again. Therefore quiche knows only one address
//! of the client, its *home*, and what it sends there goes to the address that the client proved last. Everything that quiche knows
//! about the connection survives the client's move, and it detects losses by itself.
//!
//! An unproven address is a *candidate*. quiche learns of it under a *name*, an address that belongs to nobody, and sends a
//! challenge to it, while everything else is held back. Names are few, because quiche never forgets a path; an address that nobody
//! proves leaves its name to the next.

mod names;

use self::names::{NameState, Names, SIGN_OF_LIFE_BYTES, Standing, standing};
use crate::limits::CHALLENGES;
use crate::unproven::Unproven;
use connection::{Connection, Path};
use quiche::PathEvent;
use std::time::{Duration, Instant};

/// The addresses of one client. It has many methods, because whether a datagram may go to one address depends on everything that the
/// client has shown about the others.
pub(crate) struct Addresses {
    /// How many of them the transport keeps.
    most: usize,
    /// The address that the transport knows.
    pub(crate) home: Path,
    /// Where the client is, as far as it has proven it.
    pub(crate) current: Path,
    /// The bytes that may go there if the client has not proven it: enough to announce that its connection is closed.
    current_credit: Option<Unproven>,
    proven: Vec<Path>,
    names: Names,
    candidate: Option<Candidate>,
    asking: Option<Asking>,
}

/// An address that is not proven.
struct Candidate {
    to: Path,
    /// The number of its name.
    name: usize,
    credit: Unproven,
    /// The client has left its old address. Until then, it is only testing whether the new one works.
    has_left: bool,
    /// A datagram arrived that was not answered.
    may_reply: bool,
}

/// The client is asked for a sign of life: to answer a challenge, or to bring the transport home.
#[derive(Clone, Copy)]
struct Asking {
    since: Instant,
    times: u32,
    /// It has not been sent. The transport acknowledges only to the address that it considers the client's, so until a challenge
    /// goes, every datagram counts as coming from there: the challenge then carries an acknowledgement. A client whose window is
    /// full of a request's body may forget a challenge without one, as quiche does.
    is_owed: bool,
}

/// The caller's next step after a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    GoOn,
    /// The client is at an address that the transport cannot keep. Only a new connection helps it.
    Lost,
}

/// A path for a datagram while a client moves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// The address for which the transport is asked for a datagram.
    pub(crate) by: Path,
    /// Where it is sent.
    pub(crate) to: Path,
    /// Its most bytes.
    pub(crate) room: usize,
}

impl Addresses {
    pub(crate) fn new(home: Path, most: usize) -> Self {
        Self {
            most,
            home,
            current: home,
            current_credit: None,
            proven: vec![home],
            names: Names::new(most),
            candidate: None,
            asking: None,
        }
    }

    pub(crate) fn proven(&self) -> usize {
        self.proven.len()
    }

    /// The address that the transport must send to, once it knows several.
    pub(crate) fn home(&self) -> Option<Path> {
        (!self.names.is_empty()).then_some(self.home)
    }

    /// Passes a datagram on to the transport.
    pub(crate) fn receive(
        &mut self,
        connection: &mut Connection,
        datagram: &mut [u8],
        from: Path,
        now: Instant,
    ) -> Verdict {
        if from == self.current && self.is_settled() {
            if let Some(credit) = &mut self.current_credit {
                credit.received(datagram.len());
            }
            self.hand_over(connection, datagram, self.home);
            return Verdict::GoOn;
        }
        let verdict = if self.proven.contains(&from) {
            self.receive_from_proven(connection, datagram, from);
            Verdict::GoOn
        } else {
            self.receive_from_other(connection, datagram, from, now)
        };
        self.come_home(connection, now);
        verdict
    }

    fn receive_from_proven(
        &mut self,
        connection: &mut Connection,
        datagram: &mut [u8],
        from: Path,
    ) {
        if !self.pass_on(connection, datagram, self.home) || !connection.is_connected() {
            return;
        }
        self.current = from;
        self.current_credit = None;
        self.stay();
    }

    fn receive_from_other(
        &mut self,
        connection: &mut Connection,
        datagram: &mut [u8],
        from: Path,
        now: Instant,
    ) -> Verdict {
        let bytes = datagram.len();
        if self.proven.len() >= self.most {
            let is_clients = self.pass_on(connection, datagram, self.home);
            return if is_clients { self.lose(from, bytes) } else { Verdict::GoOn };
        }
        if self.candidate.as_ref().is_none_or(|it| it.to != from) {
            return self.receive_from_new(connection, datagram, from, now);
        }
        let is_owed = self.owes_question();
        let Some(candidate) = &mut self.candidate else { return Verdict::GoOn };
        candidate.credit.received(bytes);
        let is_there = is_owed || !candidate.has_left;
        let name = self.names.path(candidate.name);
        let is_failed = standing(connection, name) == Standing::Failed;
        let known = if is_there && !is_failed { name } else { self.home };
        if self.pass_on(connection, datagram, known) {
            self.came(connection, now);
        }
        Verdict::GoOn
    }

    /// A datagram came from an address from which none came recently. If it is the client's, the address becomes a candidate.
    fn receive_from_new(
        &mut self,
        connection: &mut Connection,
        datagram: &mut [u8],
        from: Path,
        now: Instant,
    ) -> Verdict {
        let bytes = datagram.len();
        let Some(name) = self.names.free(connection, from) else {
            // Addresses that nobody proves may be the work of someone else, unknown to the client (RFC 9000, 9.3.2).
            self.hand_over(connection, datagram, self.home);
            return Verdict::GoOn;
        };
        let path = self.names.path(name);
        let is_failed = standing(connection, path) == Standing::Failed;
        let known = if is_failed { self.home } else { path };
        if !self.pass_on(connection, datagram, known) {
            return Verdict::GoOn;
        }
        // A client's address does not change during the handshake (RFC 9000, 9). If it does anyway, the transport learns of the new
        // address only from a packet that arrives with the client's last part of the handshake. Without one, the client never learns
        // that the handshake is over, and repeats packets whose keys we have dropped. So it must try again.
        if !is_known(connection, known) {
            let is_over = connection.quic.is_established();
            return if is_over { self.lose(from, bytes) } else { Verdict::GoOn };
        }
        if let Some(former) = self.candidate.take() {
            self.names.end_challenges(connection, former.name);
        }
        self.names.set(name, NameState::Free);
        let mut credit = Unproven::default();
        credit.received(bytes);
        self.candidate =
            Some(Candidate { to: from, name, credit, has_left: false, may_reply: false });
        self.came(connection, now);
        self.ask_for_challenge(connection, now, 1);
        Verdict::GoOn
    }

    /// Tells the transport that a datagram came from `known`. Returns `true` if it is the client's, and new.
    fn pass_on(&mut self, connection: &mut Connection, datagram: &mut [u8], known: Path) -> bool {
        let before = received(connection);
        self.hand_over(connection, datagram, known);
        received(connection) > before
    }

    /// The same, where nobody asks.
    fn hand_over(&mut self, connection: &mut Connection, datagram: &mut [u8], known: Path) {
        connection.receive(datagram, known);
        self.take_events(connection);
    }

    /// A datagram from the client came from the candidate.
    fn came(&mut self, connection: &mut Connection, now: Instant) {
        let Some(candidate) = &mut self.candidate else { return };
        let name = self.names.path(candidate.name);
        candidate.may_reply = true;
        let leaves = !candidate.has_left && active(connection) == Some(name);
        candidate.has_left |= leaves;
        let is_failed = standing(connection, name) == Standing::Failed;
        if leaves || is_failed || self.is_overdue(connection, now) {
            self.ask_for_challenge(connection, now, 1);
        }
    }

    /// The transport does not repeat a challenge on a path that it does not use.
    fn ask_for_challenge(&mut self, connection: &mut Connection, since: Instant, times: u32) {
        let Some(candidate) = &self.candidate else { return };
        let Path { local, peer } = self.names.path(candidate.name);
        let is_owed = connection.quic.probe_path(local, peer).is_ok();
        self.asking = Some(Asking { since, times, is_owed });
    }

    fn take_events(&mut self, connection: &mut Connection) {
        while let Some(event) = connection.quic.path_event_next() {
            if let PathEvent::Validated(local, peer) = event {
                self.proved(Path { local, peer });
            }
        }
    }

    /// The client has answered a challenge sent to this name.
    fn proved(&mut self, path: Path) {
        let Some(number) = self.names.number(path) else { return };
        self.names.set(number, NameState::Spent);
        self.asking = None;
        if let Some(candidate) = self.candidate.take_if(|it| it.name == number) {
            self.proven.push(candidate.to);
            if candidate.has_left {
                self.current = candidate.to;
            }
        }
    }

    /// The transport goes home with the client's next datagram from a proven address, so the client is asked for one.
    fn come_home(&mut self, connection: &mut Connection, now: Instant) {
        if self.candidate.as_ref().is_some_and(|it| it.has_left) {
            return;
        }
        let Some(away) = self.away(connection) else {
            self.asking = None;
            if let Some(name) = self.candidate.as_ref().map(|it| it.name) {
                self.names.end_challenges(connection, name);
            }
            return;
        };
        if self.asking.is_none_or(|_| self.is_overdue(connection, now)) {
            let times = self.asking.map_or(1, |it| it.times + 1);
            self.asking = Some(Asking { since: now, times, is_owed: true });
            connection.quic.send_ack_eliciting_on_path(away.local, away.peer).ok();
        }
    }

    /// The name that the transport considers the client's address, if that is not its home.
    fn away(&self, connection: &Connection) -> Option<Path> {
        if self.names.is_empty() {
            return None;
        }
        active(connection).filter(|it| *it != self.home)
    }

    /// A timer has fired: the transport's, or that of a question. If the client does not prove that it has moved, the last proven
    /// address counts again (RFC 9000, 9.3.2): someone else may have forwarded the client's datagrams.
    pub(crate) fn timer_fired(&mut self, connection: &mut Connection, now: Instant) {
        self.take_events(connection);
        if let Some(asking) = self.asking.filter(|_| self.is_overdue(connection, now)) {
            match &mut self.candidate {
                Some(candidate) if candidate.has_left && asking.times < CHALLENGES => {
                    self.ask_for_challenge(connection, now, asking.times + 1);
                }
                _ => self.stay(),
            }
        }
        self.come_home(connection, now);
    }

    /// The client is where it was.
    fn stay(&mut self) {
        if let Some(candidate) = self.candidate.as_mut().filter(|it| it.has_left) {
            candidate.has_left = false;
            self.asking = None;
        }
    }

    /// When the client must be asked again.
    pub(crate) fn next_timeout(&self, connection: &Connection) -> Option<Instant> {
        let asking = self.asking.filter(|it| it.times <= CHALLENGES)?;
        Some(asking.since + patience(connection))
    }

    fn is_overdue(&self, connection: &Connection, now: Instant) -> bool {
        self.asking.is_some_and(|it| now >= it.since + patience(connection))
    }

    /// The client is where it can be reached in no other way. There it learns that its connection is closed.
    fn lose(&mut self, at: Path, bytes: usize) -> Verdict {
        let mut credit = Unproven::default();
        credit.received(bytes);
        self.current = at;
        self.current_credit = Some(credit);
        self.candidate = None;
        Verdict::Lost
    }

    fn owes_question(&self) -> bool {
        self.asking.is_some_and(|it| it.is_owed)
    }

    fn is_settled(&self) -> bool {
        self.asking.is_none() && self.candidate.as_ref().is_none_or(|it| !it.has_left)
    }

    /// Whether the client is at an unproven address, or the transport is not at home. Nothing may be sent except through
    /// [`Addresses::ways`].
    pub(crate) fn is_held_back(&self, connection: &Connection) -> bool {
        let has_left = self.candidate.as_ref().is_some_and(|it| it.has_left);
        has_left || self.asked_by(connection).is_some()
    }

    /// The name by which the client is asked to bring the transport home. It is asked as long as the transport is away, so that the
    /// paths need not be checked for each datagram.
    fn asked_by(&self, connection: &Connection) -> Option<Path> {
        self.asking.and_then(|_| self.away(connection))
    }

    /// The paths to try, in this order, for a question, a challenge and an acknowledgement.
    pub(crate) fn ways(&self, connection: &Connection) -> [Option<Way>; 2] {
        let candidate = self.candidate.as_ref();
        let has_left = candidate.is_some_and(|it| it.has_left);
        if let Some(by) = self.asked_by(connection).filter(|_| !has_left) {
            let question = Way { by, to: self.current, room: SIGN_OF_LIFE_BYTES };
            return [self.owes_question().then_some(question), None];
        }
        let is_owed = self.owes_question();
        let Some(candidate) = candidate.filter(|it| is_owed || it.may_reply) else {
            return [None; 2];
        };
        let (name, to) = (self.names.path(candidate.name), candidate.to);
        let room = match standing(connection, name) {
            Standing::Reached => usize::MAX,
            Standing::Failed | Standing::Unanswered => candidate.credit.challenge_room(),
        };
        let way = |by, room| (room > 0).then_some(Way { by, to, room });
        let acknowledgement = way(self.home, room.min(SIGN_OF_LIFE_BYTES)).filter(|_| has_left);
        [way(name, room), acknowledgement]
    }

    /// A datagram was sent this way.
    pub(crate) fn went(&mut self, way: Way, bytes: usize) {
        if let Some(asking) = self.asking.as_mut().filter(|_| way.by != self.home) {
            asking.is_owed = false;
        }
        if let Some(candidate) = self.candidate.as_mut().filter(|it| it.to == way.to) {
            candidate.credit.sent(bytes);
            candidate.may_reply = false;
            if way.by != self.home {
                self.names.set(candidate.name, NameState::Challenged);
            }
        }
    }

    /// The transport has nothing to send on these paths.
    pub(crate) fn nothing_went(&mut self) {
        if let Some(candidate) = &mut self.candidate {
            candidate.may_reply = false;
        }
    }

    /// Bytes of the largest datagram that may be sent apart from these paths.
    pub(crate) fn room(&mut self) -> usize {
        self.destination().1.map_or(usize::MAX, |it| it.left())
    }

    /// A datagram was sent apart from these paths. Returns its destination.
    pub(crate) fn sent(&mut self, bytes: usize) -> Path {
        let (to, credit) = self.destination();
        if let Some(credit) = credit {
            credit.sent(bytes);
        }
        to
    }

    /// Where the client is, and how much may be sent there if that is unproven.
    fn destination(&mut self) -> (Path, Option<&mut Unproven>) {
        match self.candidate.as_mut().filter(|it| it.has_left) {
            Some(candidate) => (candidate.to, Some(&mut candidate.credit)),
            None => (self.current, self.current_credit.as_mut()),
        }
    }
}

/// A path may only have been measured on this machine.
const LEAST_ROUND_TRIP: Duration = Duration::from_millis(25);

/// How long an answer may take.
fn patience(connection: &Connection) -> Duration {
    let round_trip = connection.quic.path_stats().map(|it| it.rtt).min().unwrap_or_default();
    3 * round_trip.max(LEAST_ROUND_TRIP)
}

/// How many of the client's packets the transport has accepted. A forged or repeated packet does not count.
fn received(connection: &Connection) -> usize {
    connection.quic.path_stats().map(|it| it.recv).sum()
}

fn active(connection: &Connection) -> Option<Path> {
    connection.quic.path_stats().find(|it| it.active).map(|it| addresses(&it))
}

/// Whether the transport knows this address.
fn is_known(connection: &Connection, address: Path) -> bool {
    connection.quic.path_stats().any(|it| addresses(&it) == address)
}

fn addresses(path: &quiche::PathStats) -> Path {
    Path { local: path.local_addr, peer: path.peer_addr }
}
