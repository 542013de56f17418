//! The server's side of one response that may migrate.

use crate::limits::ANSWER;
use crate::{Action, Destination, Error, Kind, Migrate, Name, Rest, Subject};
use std::time::Instant;

/// Where a server sends a response, and from which byte on. It stays on its source until it migrates, once. It can
/// return, and then stays.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sending {
    source: Name,
    subject: Subject,
    /// The first byte that has not been sent.
    next: u64,
    /// The first byte that can still be sent again.
    kept: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    /// Never moved.
    Here,
    /// The server started; the client has not answered.
    Offered { to: Destination, cut: u64, end: u64, until: Instant },
    /// Both ends agree.
    Away { on: Name, cut: u64 },
    /// The destination failed: the client is asked from which byte the source must continue.
    Returning { cut: u64, until: Instant },
    /// It returned, or never left; it cannot move again.
    Back,
    /// It was cancelled, or failed.
    Ended,
}

/// Where the next bytes of a response go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// On the connection of its request.
    Source,
    /// On the continuation at this connection, up to this offset for now.
    Destination(Name, u64),
    /// Nowhere, until the client answers.
    Nowhere,
}

impl Sending {
    /// A response on the connection `source`.
    pub fn new(source: Name, subject: Subject) -> Self {
        Self { source, subject, next: 0, kept: 0, state: State::Here }
    }

    /// Where the next bytes go. Beyond the source, they begin at [`Self::next`], after a [`crate::Continuation`]. If that
    /// connection has ended, they wait for the client.
    pub fn place(&self) -> Place {
        match self.state {
            State::Here | State::Back => Place::Source,
            State::Offered { to: Destination::Named(on), end, .. } => Place::Destination(on, end),
            State::Away { on, .. } => Place::Destination(on, u64::MAX),
            State::Offered { .. } | State::Returning { .. } | State::Ended => Place::Nowhere,
        }
    }

    /// The offset of the next byte in the response's stream.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Records that the next `bytes` were sent, at [`Self::place`].
    pub fn sent(&mut self, bytes: u64) {
        self.next += bytes;
    }

    /// Records that the bytes before `offset` cannot be sent again. A file's bytes always can.
    pub fn discarded(&mut self, offset: u64) {
        self.kept = self.kept.max(offset);
    }

    /// Moves the rest of the response. Its flow control credit at the source moves along: this number of bytes may be
    /// sent before the answer. `None` if it has moved before.
    pub fn start(&mut self, to: Destination, credit_bytes: u64, now: Instant) -> Option<Migrate> {
        if self.state != State::Here || to == Destination::Named(self.source) {
            return None;
        }
        let end = self.next.saturating_add(credit_bytes);
        self.state = State::Offered { to, cut: self.next, end, until: now + ANSWER };
        Some(self.frame(Kind::Start, to, self.next))
    }

    /// Processes a frame from the client about this response. `usable` returns whether the server has an open connection
    /// of this name. An error ends the response, on both connections.
    pub fn receive(
        &mut self,
        frame: &Migrate,
        usable: &dyn Fn(Name) -> bool,
        now: Instant,
    ) -> Result<Vec<Action>, Error> {
        let outcome = self.check(frame).and_then(|named| match named {
            _ if self.state == State::Ended => Ok(Vec::new()),
            named if named == self.source => self.come_back(frame.offset),
            named if frame.kind == Kind::Start => self.asked(named, usable),
            named => self.answered(named, frame.offset, usable, now),
        });
        if outcome.is_err() {
            self.state = State::Ended;
        }
        outcome
    }

    /// Records that a connection is over. If the response was there, the client must report how much arrived.
    pub fn destination_lost(&mut self, lost: Name, now: Instant) -> Option<Migrate> {
        match self.state {
            State::Away { on, cut } if on == lost => Some(self.ask_back(cut, now)),
            _ => None,
        }
    }

    /// When to call [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Offered { until, .. } | State::Returning { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Abandons a response whose client does not answer.
    pub fn on_timeout(&mut self, now: Instant) -> Result<(), Error> {
        if self.next_timeout().is_some_and(|until| until <= now) {
            self.state = State::Ended;
            return Err(Error::Unanswered);
        }
        Ok(())
    }

    /// Ends the response: the client has all of it or has cancelled it, or its source is over.
    pub fn end(&mut self) {
        self.state = State::Ended;
    }

    /// The destination that a frame names.
    fn check(&self, frame: &Migrate) -> Result<Name, Error> {
        match frame.destination {
            _ if frame.rest == Rest::Follows => Err(Error::OpenRequest),
            Destination::Any => Err(Error::OtherDestination),
            Destination::Named(name) if !name.is_beside(self.source) => Err(Error::Foreign),
            Destination::Named(name) => Ok(name),
        }
    }

    /// The client asks to move the response.
    fn asked(&mut self, to: Name, usable: &dyn Fn(Name) -> bool) -> Result<Vec<Action>, Error> {
        let (ours, cut) = match self.state {
            State::Here => (None, self.next),
            State::Offered { to: Destination::Named(ours), cut, .. } => (Some(ours), cut),
            State::Offered { cut, .. } => (None, cut),
            _ => return Err(Error::Twice),
        };
        let agreed = self.agree(ours, to, cut, usable);
        let mut actions = Vec::new();
        if let Some(ours) = ours.filter(|ours| Some(*ours) != agreed) {
            actions.push(Action::Drop(ours));
            self.go_on_from(cut)?;
        }
        self.state = agreed.map_or(State::Back, |on| State::Away { on, cut });
        let destination = Destination::Named(agreed.unwrap_or(self.source));
        actions.push(Action::Send(self.frame(Kind::Acknowledgement, destination, cut)));
        Ok(actions)
    }

    /// The smaller name of two crossing proposals (SMig, section 4.3), if it can be used.
    fn agree(
        &self,
        ours: Option<Name>,
        theirs: Name,
        cut: u64,
        usable: &dyn Fn(Name) -> bool,
    ) -> Option<Name> {
        let can_switch = self.next == cut || self.kept <= cut;
        let theirs = Some(theirs).filter(|it| ours == Some(*it) || can_switch);
        ours.into_iter().chain(theirs).filter(|it| usable(*it)).min()
    }

    /// The client answers our proposal.
    fn answered(
        &mut self,
        named: Name,
        offset: u64,
        usable: &dyn Fn(Name) -> bool,
        now: Instant,
    ) -> Result<Vec<Action>, Error> {
        let State::Offered { to, cut, .. } = self.state else { return Err(Error::Unasked) };
        match to {
            _ if offset != cut => Err(Error::Offset),
            Destination::Named(ours) if ours != named => Err(Error::OtherDestination),
            _ if usable(named) => {
                self.state = State::Away { on: named, cut };
                Ok(Vec::new())
            }
            _ => Ok(vec![Action::Send(self.ask_back(cut, now))]),
        }
    }

    /// The client rejects the server's proposal, or brings the response back: it has the bytes before `offset`.
    fn come_back(&mut self, offset: u64) -> Result<Vec<Action>, Error> {
        let (dropped, cut) = match self.state {
            State::Offered { to: Destination::Named(on), cut, .. } | State::Away { on, cut } => {
                (Some(on), cut)
            }
            State::Offered { cut, .. } | State::Returning { cut, .. } => (None, cut),
            _ => return Err(Error::Unasked),
        };
        if offset < cut {
            return Err(Error::Offset);
        }
        self.go_on_from(offset)?;
        self.state = State::Back;
        Ok(dropped.map(Action::Drop).into_iter().collect())
    }

    fn ask_back(&mut self, cut: u64, now: Instant) -> Migrate {
        self.state = State::Returning { cut, until: now + ANSWER };
        self.frame(Kind::Start, Destination::Named(self.source), cut)
    }

    fn go_on_from(&mut self, offset: u64) -> Result<(), Error> {
        match offset {
            _ if offset > self.next => Err(Error::Offset),
            _ if offset < self.next && offset < self.kept => Err(Error::NotKept),
            _ => {
                self.next = offset;
                Ok(())
            }
        }
    }

    fn frame(&self, kind: Kind, destination: Destination, offset: u64) -> Migrate {
        Migrate { subject: self.subject, destination, offset, kind, rest: Rest::Follows }
    }
}
