//! Decides the next step of the send loop from the facts alone.

use std::time::Instant;

/// The facts that determine whether a datagram is sent now. The later facts count only where the earlier ones permit data; before
/// that they are not determined, because each answer makes the transport examine its paths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    pub(super) handshake: Handshake,
    /// A timer of the transport has fired, and not all of its probes have been sent.
    pub(super) owes_probe: bool,
    pub(super) paced: Paced,
    /// Bytes are before the transport.
    pub(super) is_staged: bool,
    pub(super) room: Room,
    /// A pause limits the window further than the transport does.
    pub(super) restarts: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Handshake {
    /// Its packets are sent by themselves, before everything else.
    #[default]
    Goes,
    /// It waits for the client, and nothing is sent before it is complete.
    Waits,
    /// It is complete, or answers to early data follow its packets.
    LetsDataGo,
}

/// Until when pacing holds back the next packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Paced {
    #[default]
    No,
    /// The transport paces, and does not mistake that for a lack of data.
    ByTransport(Instant),
    /// The loop paces, unknown to the transport.
    ByLoop(Instant),
}

/// Whether the staged bytes can be sent as one packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Room {
    /// They fit in the window.
    Fits,
    /// The window only seems full, because the connection's flow control credit is used up. Staged bytes and lost ones took their
    /// credit when they were offered, so they can be sent. The client may not extend the credit before it has them.
    LacksCredit,
    /// They were held back for as long as a probe timeout lasts (RFC 9002, 6.2.1). A window that is full because packets are in
    /// flight opens sooner. Otherwise it only seemed full.
    HeldTooLong,
    #[default]
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask the transport for a datagram.
    Send(Content),
    /// Show the transport that there is more to send than may be sent, and wait: until then, or until something arrives.
    Poke(Option<Instant>),
    /// Nothing is sent until then.
    Wait(Instant),
    /// Nothing is sent until something arrives.
    Idle,
}

/// The purpose of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Handshake,
    /// The transport's probes may ignore pacing and the window.
    Probe,
    /// Nothing is staged: whatever else the transport has, such as an acknowledgement.
    Unstaged,
    Staged,
}

/// The rules, in the order in which they apply.
pub(super) fn next(facts: &Facts) -> Next {
    match facts.handshake {
        Handshake::Goes => return Next::Send(Content::Handshake),
        Handshake::Waits => return Next::Idle,
        Handshake::LetsDataGo if facts.owes_probe => return Next::Send(Content::Probe),
        Handshake::LetsDataGo => {}
    }
    // A sender that a pause limits does not use up the transport's window, which must not grow then (RFC 9002, 7.8).
    let pokes = facts.is_staged && !facts.restarts;
    match facts.paced {
        // A sender that waits for its own pacing is not limited by the application (RFC 9002, 7.8), but the transport assumes that
        // it is, and would not let the window grow.
        Paced::ByLoop(until) if pokes => Next::Poke(Some(until)),
        Paced::ByLoop(until) | Paced::ByTransport(until) => Next::Wait(until),
        Paced::No if !facts.is_staged => Next::Send(Content::Unstaged),
        Paced::No if facts.room != Room::Full => Next::Send(Content::Staged),
        Paced::No if pokes => Next::Poke(None),
        Paced::No => Next::Idle,
    }
}

impl Facts {
    /// Whether nothing of the transport's own precedes data.
    pub(super) fn let_data_go(&self) -> bool {
        self.handshake == Handshake::LetsDataGo && !self.owes_probe
    }
}

impl Next {
    /// When pacing lets a packet go.
    pub(super) fn until(self) -> Option<Instant> {
        match self {
            Self::Wait(until) => Some(until),
            Self::Poke(until) => until,
            Self::Send(_) | Self::Idle => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant can only be had from the clock; it is only handed on"
    )]
    fn the_facts_decide_what_goes_next() {
        let at = Instant::now();
        let data = Facts { handshake: Handshake::LetsDataGo, ..Facts::default() };
        let staged = Facts { is_staged: true, ..data };
        let pause = Facts { restarts: true, ..staged };
        let (loop_, transport) = (Paced::ByLoop(at), Paced::ByTransport(at));
        let rows = [
            ("the handshake goes first", Facts::default(), Next::Send(Content::Handshake)),
            (
                "no data before the handshake",
                Facts { handshake: Handshake::Waits, owes_probe: true, ..staged },
                Next::Idle,
            ),
            (
                "a probe ignores pacing and the window",
                Facts { owes_probe: true, paced: transport, ..staged },
                Next::Send(Content::Probe),
            ),
            ("an acknowledgement goes alone", data, Next::Send(Content::Unstaged)),
            ("hold, and poke", staged, Next::Poke(None)),
            (
                "a full packet fits",
                Facts { room: Room::Fits, ..staged },
                Next::Send(Content::Staged),
            ),
            (
                "only credit lacks",
                Facts { room: Room::LacksCredit, ..staged },
                Next::Send(Content::Staged),
            ),
            (
                "what is held back for long goes",
                Facts { room: Room::HeldTooLong, ..staged },
                Next::Send(Content::Staged),
            ),
            ("a window after a pause must not grow", pause, Next::Idle),
            (
                "what fits after a pause goes",
                Facts { room: Room::Fits, ..pause },
                Next::Send(Content::Staged),
            ),
            ("the transport paces", Facts { paced: transport, ..staged }, Next::Wait(at)),
            ("the loop paces: poke", Facts { paced: loop_, ..staged }, Next::Poke(Some(at))),
            ("the loop paces, nothing to show", Facts { paced: loop_, ..data }, Next::Wait(at)),
            ("the loop paces after a pause", Facts { paced: loop_, ..pause }, Next::Wait(at)),
            (
                "pacing counts before room",
                Facts { paced: transport, room: Room::Fits, ..staged },
                Next::Wait(at),
            ),
        ];
        for (what, facts, then) in rows {
            assert_eq!(next(&facts), then, "{what}");
        }
    }
}
