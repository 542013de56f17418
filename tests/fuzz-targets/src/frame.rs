//! The frames of one request stream mean the same whole and in pieces. Input: the length of each
//! piece is the first byte plus one; the rest is the stream.

use http3::{Error, Event, Limits, Role, Session, Settings, StreamId};

const STREAM: StreamId = StreamId(0);

/// Plays one input.
///
/// # Panics
///
/// Panics if the frames mean something else in pieces.
pub fn play(data: &[u8]) {
    let Some((piece_bytes, stream)) = data.split_first() else { return };
    for role in [Role::Client, Role::Server] {
        let whole = run(role, stream, stream.len().max(1));
        assert_eq!(run(role, stream, usize::from(*piece_bytes) + 1), whole);
    }
}

/// The events and the errors of a stream that arrives in pieces and ends.
fn run(role: Role, stream: &[u8], piece_bytes: usize) -> (Vec<Event>, Vec<Error>) {
    let mut session = Session::new(role, Settings::default(), Limits::default());
    let mut errors = Vec::new();
    for piece in stream.chunks(piece_bytes) {
        errors.extend(session.receive(STREAM, piece, false).err());
    }
    errors.extend(session.receive(STREAM, &[], true).err());
    errors.dedup();
    let mut events: Vec<Event> = Vec::new();
    while let Some(event) = session.poll() {
        match (events.last_mut(), event) {
            (Some(Event::Data { bytes, .. }), Event::Data { bytes: more, .. }) => {
                bytes.extend(more);
            }
            (_, event) => events.push(event),
        }
    }
    (events, errors)
}
