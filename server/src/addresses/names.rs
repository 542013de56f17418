//! The names by which the transport knows unproven addresses.
//!
//! quiche never forgets a path, and accepts as many as `active_connection_id_limit`. So the name of an address that nobody proves
//! passes to the next address once no challenge sent to it can be answered: such an answer would prove the next address.

use super::addresses;
use connection::{Connection, Path};
use std::net::{Ipv6Addr, SocketAddr};

/// Bytes of a datagram that asks for a sign of life or gives one.
pub(super) const SIGN_OF_LIFE_BYTES: usize = 100;

/// The names of one connection, by number.
pub(super) struct Names {
    most: usize,
    names: Vec<Name>,
}

/// The name that the transport uses as an address.
struct Name {
    path: Path,
    state: NameState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NameState {
    /// No challenge sent to it can be answered any more.
    Free,
    /// A challenge was sent that the client may still answer.
    Challenged,
    /// The transport forgets its challenges as soon as the path's timer has fired more often.
    Ending { timeouts: usize },
    /// The client has proven an address under this name. The transport would not report a second one.
    Spent,
}

/// The transport's knowledge of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has given up the path and forgotten its challenges. A datagram from there would make the path active, and the next one
    /// would end the connection, unless a challenge went first.
    Failed,
    Unanswered,
    /// The client has answered a challenge. The transport continues to challenge it until it knows that large datagrams arrive, too
    /// (RFC 9000, 8.2.1).
    Reached,
}

impl Names {
    /// `most`: how many paths the transport keeps, including the first.
    pub(super) fn new(most: usize) -> Self {
        Self { most, names: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(super) fn path(&self, number: usize) -> Path {
        self.names[number].path
    }

    pub(super) fn number(&self, path: Path) -> Option<usize> {
        self.names.iter().position(|it| it.path == path)
    }

    /// A name under which challenges can no longer be answered, or a new one.
    pub(super) fn free(&mut self, connection: &Connection, from: Path) -> Option<usize> {
        let is_free = |name: &Name| match (name.state, standing(connection, name.path)) {
            (NameState::Spent, _) | (_, Standing::Reached) => false,
            (NameState::Free, _) | (_, Standing::Failed) => true,
            (NameState::Challenged, _) => false,
            (NameState::Ending { timeouts }, _) => timeouts_of(connection, name.path) > timeouts,
        };
        let free = self.names.iter().position(is_free);
        if free.is_some() || self.names.len() + 1 >= self.most {
            return free;
        }
        let number = self.names.len();
        self.names.push(Name { path: name_of(number, from), state: NameState::Free });
        Some(number)
    }

    pub(super) fn set(&mut self, number: usize, state: NameState) {
        self.names[number].state = state;
    }

    /// The transport forgets a challenge when the timer of its path fires, but sets no timer for a path that it has left unless
    /// something is sent there. So a challenge is sent that nobody receives.
    pub(super) fn end_challenges(&mut self, connection: &mut Connection, number: usize) {
        let name = &mut self.names[number];
        if name.state != NameState::Challenged {
            return;
        }
        let Path { local, peer } = name.path;
        let mut nowhere = [0; SIGN_OF_LIFE_BYTES];
        connection.quic.probe_path(local, peer).ok();
        connection.quic.send_on_path(&mut nowhere, Some(local), Some(peer)).ok();
        name.state = NameState::Ending { timeouts: timeouts_of(connection, name.path) };
    }
}

/// An address of the prefix from which nothing is ever delivered (RFC 6666).
fn name_of(number: usize, from: Path) -> Path {
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    let nobody = Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, number);
    Path { local: from.local, peer: SocketAddr::from((nobody, 1)) }
}

fn timeouts_of(connection: &Connection, path: Path) -> usize {
    let stats = connection.quic.path_stats().find(|it| addresses(it) == path);
    stats.map_or(0, |it| it.total_pto_count)
}

pub(super) fn standing(connection: &Connection, path: Path) -> Standing {
    let stats = connection.quic.path_stats().find(|it| addresses(it) == path);
    // The transport does not export the type.
    let state = stats.map(|it| format!("{:?}", it.validation_state));
    match state.as_deref() {
        Some("Failed") => Standing::Failed,
        Some("ValidatingMTU" | "Validated") => Standing::Reached,
        _ => Standing::Unanswered,
    }
}
