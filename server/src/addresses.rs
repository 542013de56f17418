//! Where a client is, when it changes its address in the middle of a connection (RFC 9000, 9).
//!
//! quiche makes a path for each address, and each path counts its own bytes in flight. When quiche leaves a path, packets in
//! flight there are neither acknowledged nor declared lost, so most of them are never sent again. Therefore quiche
//! changes its path only as long as the new address is unproven. It sends a challenge there, and we hold back
//! everything else. When the client has answered, we tell quiche that its datagrams come from the address that quiche knew
//! before, its *home*, and send there what quiche sends home. Everything that quiche knows about the connection stays,
//! and it finds what was lost by itself.

use crate::limits::CHALLENGES;
use connection::{Connection, Path};
use quiche::PathEvent;
use std::time::{Duration, Instant};

/// The addresses of one client.
pub(crate) struct Addresses {
    /// How many of them the transport keeps.
    most: usize,
    /// The address that the transport knows.
    home: Path,
    /// Where the client is.
    current: Path,
    /// Where it has proven to be.
    proven: Vec<Path>,
    /// The transport knows of more addresses than its home.
    has_others: bool,
    moving: Option<Moving>,
}

/// A change of address that is not proven.
struct Moving {
    to: Path,
    /// The client has left its old address; until then it only tries whether the new one works.
    has_left: bool,
    /// Datagrams that may go to the new address. It is one for each that came, so that little is in flight there.
    allowed: u32,
    /// The client was asked for a sign of life.
    was_asked: bool,
    /// When the last challenge became due, and how many there were.
    challenged: Instant,
    challenges: u32,
    /// When the client was last asked for a sign of life, which lets the challenge be repeated, and how often it was.
    nudged: Instant,
    nudges: u32,
    /// Datagrams that came from there.
    came: u32,
    /// The transport has a challenge that was not asked for yet. It acknowledges only to the address that it takes for the
    /// client's, so until then every datagram counts as coming from there: the challenge then carries an acknowledgement. A
    /// client whose window is full of a request's body may forget a challenge without one, as quiche does.
    owes_challenge: bool,
    takes: Takes,
}

/// What the transport takes from an address that is not proven.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Everything,
    /// It has given the address up, and makes it active with the next datagram.
    OneMore,
    /// It has done so. Before it has sent another challenge, it would close the connection for any datagram.
    Nothing,
}

/// What the caller must do after a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    GoOn,
    /// The client is at an address that the transport cannot keep. Only a new connection can help it.
    Lost,
}

impl Addresses {
    pub(crate) fn new(home: Path, most: usize) -> Self {
        Self { most, home, current: home, proven: vec![home], has_others: false, moving: None }
    }

    /// At how many addresses the client has proven to be.
    pub(crate) fn proven(&self) -> usize {
        self.proven.len()
    }

    /// Where the client is, as far as it has proven it.
    pub(crate) fn current(&self) -> Path {
        self.current
    }

    /// Passes a datagram on to the transport.
    pub(crate) fn receive(
        &mut self,
        connection: &mut Connection,
        datagram: &mut [u8],
        from: Path,
        now: Instant,
    ) -> Verdict {
        if !connection.is_connected() {
            return self.receive_early(connection, datagram, from);
        }
        if from == self.current && self.moving.is_none() {
            self.pass_on(connection, datagram, self.home);
            return Verdict::GoOn;
        }
        if self.moving.as_ref().is_some_and(|it| it.takes == Takes::Nothing) {
            return Verdict::GoOn;
        }
        let before = received(connection);
        let is_there = self.owes_challenge(from) || self.is_news(connection, from, now);
        let known = if is_there { from } else { self.home };
        self.pass_on(connection, datagram, known);
        if received(connection) == before {
            return Verdict::GoOn;
        }
        if let Some(moving) = self.moving.as_mut().filter(|it| it.to == known)
            && moving.takes == Takes::OneMore
        {
            moving.takes = Takes::Nothing;
        }
        let verdict = self.came(connection, from, now);
        if let Some(moving) = self.moving.as_mut().filter(|it| is_there && it.to == from) {
            moving.owes_challenge = true;
        }
        if verdict == Verdict::Lost {
            self.give_up(Some(from));
        }
        verdict
    }

    /// The address of a client stays during the handshake (RFC 9000, 9). If it changes all the same, the transport learns
    /// of the new address only from a packet that comes with the client's last part of the handshake. Without one, the
    /// client never learns that the handshake is over, and repeats packets whose keys we have dropped. So the
    /// connection ends at once, and the client tries again.
    fn receive_early(
        &mut self,
        connection: &mut Connection,
        datagram: &mut [u8],
        from: Path,
    ) -> Verdict {
        self.pass_on(connection, datagram, from);
        if !connection.quic.is_established() || is_known(connection, from) {
            return Verdict::GoOn;
        }
        self.give_up(Some(from));
        Verdict::Lost
    }

    /// Tells the transport that a datagram came from `known`.
    fn pass_on(&mut self, connection: &mut Connection, datagram: &mut [u8], known: Path) {
        self.has_others |= known != self.home;
        connection.receive(datagram, known);
        self.take_events(connection);
    }

    fn owes_challenge(&self, from: Path) -> bool {
        self.moving.as_ref().is_some_and(|it| it.to == from && it.owes_challenge)
    }

    /// Whether the transport must learn that a datagram came from this address, and can. It may send three times as much
    /// to an unproven address as it knows to have come from there, so it learns of one datagram for each challenge.
    fn is_news(&self, connection: &Connection, from: Path, now: Instant) -> bool {
        if self.proven.contains(&from) {
            return false;
        }
        match self.moving.as_ref().filter(|it| it.to == from && it.has_left) {
            Some(moving) => moving.is_overdue(connection, now),
            None => self.has_room(connection, from),
        }
    }

    /// Whether the transport can keep this address.
    fn has_room(&self, connection: &Connection, address: Path) -> bool {
        connection.quic.path_stats().count() < self.most || is_known(connection, address)
    }

    /// A datagram of the client's came from this address.
    fn came(&mut self, connection: &mut Connection, from: Path, now: Instant) -> Verdict {
        if self.moving.as_ref().is_none_or(|it| it.to != from) {
            if self.proven.contains(&from) {
                self.current = from;
                self.moving = None;
                return Verdict::GoOn;
            }
            if !self.has_room(connection, from) {
                return Verdict::Lost;
            }
            self.moving = Some(Moving::to(from, now));
        }
        if let Some(moving) = &mut self.moving {
            moving.came += 1;
            moving.allowed += 1;
            moving.has_left |= active(connection) == Some(from);
        }
        self.settle(connection);
        if !self.challenge_again(connection, now) {
            self.moving = None;
        }
        Verdict::GoOn
    }

    /// Repeats a challenge that was not answered: the transport does not do so on a path that it does not use. False:
    /// there were enough.
    fn challenge_again(&mut self, connection: &mut Connection, now: Instant) -> bool {
        let Some(moving) = self.moving.as_mut().filter(|it| it.is_overdue(connection, now)) else {
            return true;
        };
        moving.challenged = now;
        moving.challenges += 1;
        connection.quic.probe_path(moving.to.local, moving.to.peer).ok();
        moving.challenges <= CHALLENGES
    }

    /// Ends a move once it is proven and the transport is back home. The transport goes home with the client's next
    /// datagram, so the client is asked for one.
    fn settle(&mut self, connection: &mut Connection) {
        let Some(moving) = self.moving.as_mut().filter(|it| it.has_left) else { return };
        if !self.proven.contains(&moving.to) {
            return;
        }
        if active(connection) == Some(self.home) {
            self.current = moving.to;
            self.moving = None;
        } else if !std::mem::replace(&mut moving.was_asked, true) {
            moving.allowed += 1;
            let Path { local, peer } = moving.to;
            connection.quic.send_ack_eliciting_on_path(local, peer).ok();
        }
    }

    fn take_events(&mut self, connection: &mut Connection) {
        while let Some(event) = connection.quic.path_event_next() {
            match event {
                PathEvent::Validated(local, peer) | PathEvent::PeerMigrated(local, peer) => {
                    note(&mut self.proven, Path { local, peer });
                }
                // Where the round trip is short, this comes within milliseconds, after a lost datagram. We challenge the
                // address again all the same: it may still be proven.
                PathEvent::FailedValidation(local, peer) => {
                    let to = Path { local, peer };
                    if let Some(moving) = self.moving.as_mut().filter(|it| it.to == to) {
                        moving.takes = Takes::OneMore;
                    }
                }
                _ => {}
            }
        }
        self.settle(connection);
    }

    /// A timer has fired, the transport's or the challenge's: something may go there again. Where the challenge was
    /// lost, the client, whose requests are acknowledged, may have nothing to say, and the transport has no credit for
    /// another challenge until something comes. So the client is asked for an acknowledgement.
    /// If it gives none, the last address that it has proven counts again.
    pub(crate) fn timer_fired(&mut self, connection: &mut Connection, now: Instant) {
        self.take_events(connection);
        if let Some(moving) = &mut self.moving {
            moving.allowed = moving.allowed.max(1);
        }
        if !self.nudge(connection, now) {
            // RFC 9000, 9.3.2: somebody else may have sent on what the client sent.
            self.moving = None;
        }
    }

    /// Asks a client that has not answered the challenge for a sign of life. False: it was asked often enough.
    fn nudge(&mut self, connection: &mut Connection, now: Instant) -> bool {
        let Path { local, peer } = self.home;
        let Some(moving) = self.moving.as_mut().filter(|it| it.has_left) else { return true };
        if moving.may_nudge() && now >= moving.nudge_at(connection) {
            moving.nudged = now;
            moving.nudges += 1;
            connection.quic.send_ack_eliciting_on_path(local, peer).ok();
        }
        moving.nudges <= CHALLENGES
    }

    /// When the client must be asked again.
    pub(crate) fn next_timeout(&self, connection: &Connection) -> Option<Instant> {
        let moving = self.moving.as_ref().filter(|it| it.has_left && it.may_nudge())?;
        Some(moving.nudge_at(connection))
    }

    /// The client is where it cannot be reached otherwise. There it learns that its connection is closed. That is one
    /// datagram.
    fn give_up(&mut self, at: Option<Path>) {
        self.current = at.unwrap_or(self.current);
        self.moving = None;
    }

    /// The address that the client must prove.
    pub(crate) fn challenged(&self) -> Option<Path> {
        self.moving.as_ref().map(|it| it.to)
    }

    /// Whether the client is at an address that it has not proven. Nothing may be sent elsewhere now.
    pub(crate) fn is_held_back(&self) -> bool {
        self.moving.as_ref().is_some_and(|it| it.has_left)
    }

    /// The address that the transport must send to, once it knows several.
    pub(crate) fn home(&self) -> Option<Path> {
        self.has_others.then_some(self.home)
    }

    /// The transport has sent a challenge, or gone back to another address, so it takes datagrams again.
    pub(crate) fn takes_again(&mut self) {
        if let Some(moving) = self.moving.as_mut().filter(|it| it.takes == Takes::Nothing) {
            moving.takes = Takes::Everything;
        }
    }

    /// Takes one of the datagrams that may go to an unproven address; false: none is left. The caller asks the transport
    /// for a challenge first.
    pub(crate) fn spend(&mut self) -> bool {
        let Some(moving) = self.moving.as_mut().filter(|it| it.allowed > 0) else { return false };
        moving.allowed -= 1;
        moving.owes_challenge = false;
        true
    }

    /// Where a datagram goes that the transport sends to `known`.
    pub(crate) fn destination(&self, known: Path) -> Path {
        if known == self.home { self.current } else { known }
    }
}

impl Moving {
    fn to(to: Path, now: Instant) -> Self {
        Self {
            to,
            has_left: false,
            allowed: 0,
            was_asked: false,
            challenged: now,
            challenges: 1,
            nudged: now,
            nudges: 0,
            came: 0,
            owes_challenge: false,
            takes: Takes::Everything,
        }
    }

    /// Whether the last challenge should have been answered.
    fn is_overdue(&self, connection: &Connection, now: Instant) -> bool {
        now >= self.challenged + Self::patience(connection)
    }

    /// A datagram that asks for a sign of life is as small as any that the client sends. One datagram goes there for each
    /// that came, and two such may follow: at most three times as much as came from there (RFC 9000, 9.3).
    fn may_nudge(&self) -> bool {
        self.nudges < 2 * self.came
    }

    fn nudge_at(&self, connection: &Connection) -> Instant {
        self.challenged.max(self.nudged) + Self::patience(connection)
    }

    fn patience(connection: &Connection) -> Duration {
        3 * round_trip(connection).max(LEAST_ROUND_TRIP)
    }
}

/// A path may have been measured on this machine only.
const LEAST_ROUND_TRIP: Duration = Duration::from_millis(25);

fn round_trip(connection: &Connection) -> Duration {
    connection.quic.path_stats().map(|it| it.rtt).min().unwrap_or_default()
}

/// How many of the client's packets the transport has taken. One that is forged or comes again does not count.
fn received(connection: &Connection) -> usize {
    connection.quic.path_stats().map(|it| it.recv).sum()
}

fn note(paths: &mut Vec<Path>, path: Path) {
    if !paths.contains(&path) {
        paths.push(path);
    }
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
