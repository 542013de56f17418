//! The client's side of one response that may migrate.

use crate::limits::CONTINUATION;
use crate::{Action, Continuation, Destination, Error, Kind, Migrate, Name, Rest, Subject};
use std::time::Instant;

/// Where a client reads a response.
///
/// It never stores bytes of a continuation that arrives early: they wait in the transport, where flow control limits
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receiving {
    source: Name,
    subject: Subject,
    /// Bytes read so far.
    read: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    /// Never moved.
    Here,
    /// The client asked; the server has not answered.
    Asked { to: Name },
    /// The server's proposal crossed the client's, whose answer decides.
    Crossed { to: Name, offered: Destination, cut: u64 },
    /// The server wants a connection, which is being opened.
    Connecting { cut: u64 },
    /// Both ends agree. The first byte of the continuation has a deadline.
    Away { on: Name, cut: u64, until: Option<Instant> },
    /// It returned, or never left; it cannot move again.
    Back,
    /// It is complete, was cancelled, or failed.
    Ended,
}

/// Where a client finds the next bytes of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reads {
    /// On the stream of its request, at most this number of bytes.
    Source(u64),
    /// On the continuation at this connection.
    Destination(Name),
    /// Nowhere: bytes that have arrived elsewhere must wait.
    Nothing,
}

impl Receiving {
    /// The response to a request on the connection `source`.
    pub fn new(source: Name, subject: Subject) -> Self {
        Self { source, subject, read: 0, state: State::Here }
    }

    /// Where to read. Beyond the source, check the header of the continuation with [`Self::continues`] first.
    pub fn reads(&self) -> Reads {
        match self.state {
            State::Here | State::Asked { .. } | State::Back => Reads::Source(u64::MAX),
            State::Crossed { cut, .. } | State::Connecting { cut } | State::Away { cut, .. }
                if self.read < cut =>
            {
                Reads::Source(cut - self.read)
            }
            State::Away { on, .. } => Reads::Destination(on),
            State::Crossed { .. } | State::Connecting { .. } | State::Ended => Reads::Nothing,
        }
    }

    /// Whether the response is or may move to this connection.
    pub fn involves(&self, name: Name) -> bool {
        match self.state {
            State::Asked { to } => to == name,
            State::Crossed { to, offered, .. } => to == name || offered == Destination::Named(name),
            State::Away { on, .. } => on == name,
            State::Here | State::Connecting { .. } | State::Back | State::Ended => false,
        }
    }

    /// Bytes of the response's stream that were read so far.
    pub fn bytes(&self) -> u64 {
        self.read
    }

    /// Records that the next `bytes` of the response were read, at [`Self::reads`].
    pub fn read(&mut self, bytes: u64) {
        self.read += bytes;
        if let State::Away { cut, until, .. } = &mut self.state
            && self.read > *cut
        {
            *until = None;
        }
    }

    /// Checks the header of the continuation at the connection that [`Self::reads`] names.
    pub fn continues(&self, header: &Continuation) -> Result<(), Error> {
        let is_ours = header.source == self.source && header.subject == self.subject;
        match self.state {
            State::Away { cut, .. } if is_ours && header.offset == cut => Ok(()),
            _ => Err(Error::Offset),
        }
    }

    /// Whether [`Self::ask`] is of use.
    pub fn may_ask(&self) -> bool {
        self.state == State::Here
    }

    /// Asks the server to move the rest of the response to `to`, which is open. `None` if it has moved before.
    pub fn ask(&mut self, to: Name) -> Option<Migrate> {
        if self.state != State::Here || to == self.source {
            return None;
        }
        self.state = State::Asked { to };
        Some(self.frame(Kind::Start, to, self.read))
    }

    /// Processes a frame from the server about this response. `usable` returns whether the client has an open connection
    /// of this name. An error ends the response, on both connections.
    pub fn receive(
        &mut self,
        frame: &Migrate,
        usable: &dyn Fn(Name) -> bool,
        now: Instant,
    ) -> Result<Vec<Action>, Error> {
        let outcome = match frame.destination {
            _ if self.state == State::Ended => Ok(Vec::new()),
            Destination::Named(name) if !name.is_beside(self.source) => Err(Error::Foreign),
            _ if frame.kind == Kind::Start => self.offered(frame, usable, now),
            Destination::Any => Err(Error::OtherDestination),
            Destination::Named(name) => self.answered(name, frame.offset, usable, now),
        };
        if outcome.is_err() {
            self.state = State::Ended;
        }
        outcome
    }

    /// Answers the server once its connection is open. `None`: the client cannot open one.
    pub fn connected(&mut self, on: Option<Name>, now: Instant) -> Option<Migrate> {
        let State::Connecting { cut } = self.state else { return None };
        Some(self.accept(on, cut, now))
    }

    /// Records that a connection is over. If the response was there, it returns.
    pub fn destination_lost(&mut self, lost: Name) -> Option<Migrate> {
        match self.state {
            State::Away { on, cut, .. } if on == lost => Some(self.come_back(cut)),
            _ => None,
        }
    }

    /// When to call [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<Instant> {
        if let State::Away { until, .. } = self.state { until } else { None }
    }

    /// Brings a response back if its continuation does not arrive, unless the source still delivers bytes.
    pub fn on_timeout(&mut self, now: Instant) -> Option<Migrate> {
        match &mut self.state {
            State::Away { cut, until: Some(until), .. } if *until <= now => {
                if self.read < *cut {
                    *until = now + CONTINUATION;
                    return None;
                }
                let cut = *cut;
                Some(self.come_back(cut))
            }
            _ => None,
        }
    }

    /// Ends the response: it is complete or cancelled, or its source is over.
    pub fn end(&mut self) {
        self.state = State::Ended;
    }

    /// The server moves the response, or asks how much of it the client has.
    fn offered(
        &mut self,
        frame: &Migrate,
        usable: &dyn Fn(Name) -> bool,
        now: Instant,
    ) -> Result<Vec<Action>, Error> {
        let is_return = frame.destination == Destination::Named(self.source);
        let (offered, cut) = (frame.destination, frame.offset);
        match (self.state, offered) {
            (State::Away { cut, .. }, _) if is_return => {
                Ok(vec![Action::Send(self.come_back(cut))])
            }
            // It crossed the frame that brought the response back.
            (State::Back, _) if is_return => Ok(Vec::new()),
            (State::Here | State::Asked { .. }, _) if is_return => Err(Error::Unasked),
            (State::Here, _) if cut < self.read => Err(Error::Offset),
            (State::Here, Destination::Any) => {
                self.state = State::Connecting { cut };
                Ok(vec![Action::Connect])
            }
            (State::Here, Destination::Named(name)) => {
                let on = Some(name).filter(|it| usable(*it));
                Ok(vec![Action::Send(self.accept(on, cut, now))])
            }
            // Bytes after the cut may have arrived: the server may have answered our frame by now, and stayed.
            (State::Asked { to }, _) => {
                self.state = State::Crossed { to, offered, cut };
                Ok(Vec::new())
            }
            _ => Err(Error::Twice),
        }
    }

    /// The server answers our proposal.
    fn answered(
        &mut self,
        named: Name,
        cut: u64,
        usable: &dyn Fn(Name) -> bool,
        now: Instant,
    ) -> Result<Vec<Action>, Error> {
        let (is_proposed, known) = match self.state {
            State::Asked { to } => (named == to, cut),
            State::Crossed { to, offered, cut } => {
                (named == to || Destination::Named(named) == offered, cut)
            }
            _ => return Err(Error::Unasked),
        };
        if named == self.source {
            self.state = State::Back;
            return Ok(Vec::new());
        }
        if !is_proposed {
            return Err(Error::OtherDestination);
        }
        if cut != known || cut < self.read {
            return Err(Error::Offset);
        }
        self.state = State::Away { on: named, cut, until: Some(now + CONTINUATION) };
        let lost = (!usable(named)).then(|| Action::Send(self.come_back(cut)));
        Ok(lost.into_iter().collect())
    }

    /// Answers a proposal: the response is on this connection now. `None`: it stays at the source.
    fn accept(&mut self, on: Option<Name>, cut: u64, now: Instant) -> Migrate {
        let Some(on) = on else { return self.come_back(cut) };
        self.state = State::Away { on, cut, until: Some(now + CONTINUATION) };
        self.frame(Kind::Acknowledgement, on, cut)
    }

    /// The source sends everything before the cut in any case.
    fn come_back(&mut self, cut: u64) -> Migrate {
        self.state = State::Back;
        self.frame(Kind::Acknowledgement, self.source, self.read.max(cut))
    }

    fn frame(&self, kind: Kind, destination: Name, offset: u64) -> Migrate {
        let destination = Destination::Named(destination);
        Migrate { subject: self.subject, destination, offset, kind, rest: Rest::Nothing }
    }
}
