//! Bytes may arrive in any pieces, and may be any bytes.

use crate::peer::*;
use http3::{Error, Event, Extension, Limits, Role, Session, Settings, StreamId, priority_update};
use proptest::prelude::*;
use proptest::sample::Index;

/// One stream's bytes and whether they end it.
type Stream = (StreamId, Vec<u8>, bool);

/// The events of `streams`, one after another, each cut at `cuts`; the contents of one stream's
/// neighbouring `Data` are joined. Stops at an error.
fn run(role: Role, streams: &[Stream], cuts: &[Index]) -> (Vec<Event>, Vec<Error>) {
    let mut session = open_to_all(role);
    let mut errors = Vec::new();
    for (stream, bytes, fin) in streams {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let mut start = 0;
        for (index, end) in ends.iter().enumerate() {
            let last = index + 1 == ends.len();
            errors.extend(session.receive(*stream, &bytes[start..*end], *fin && last).err());
            start = *end;
        }
    }
    errors.dedup();
    (joined(&mut session), errors)
}

/// A session that offers every extension.
fn open_to_all(role: Role) -> Session {
    Session::new(role, every_extension(), Limits::default())
}

fn every_extension() -> Settings {
    Settings { extensions: Extension::ALL.into(), placeholders: 2, ..Settings::default() }
}

/// A frame of one of our extensions, good and bad.
fn extension_frame() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        6 => (0u8..4, 0u8..3, any::<u8>()).prop_map(|(element, parent, weight)| vec![element << 6 | 0x30, 4 * parent, weight]),
        2 => (0u8..3, any::<u8>()).prop_map(|(index, byte)| vec![4 * index, byte]),
        2 => (0u8..4, any::<u8>()).prop_map(|(types, weight)| vec![0xc0 | types << 4, weight]),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ];
    (proptest::sample::select(Extension::ALL.to_vec()), payload)
        .prop_map(|(extension, payload)| frame(extension.codepoint(), &payload))
}

fn joined(session: &mut Session) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    while let Some(event) = session.poll() {
        match (events.last_mut(), event) {
            (
                Some(Event::Data { stream: one, bytes }),
                Event::Data { stream: other, bytes: more },
            ) if *one == other => {
                bytes.extend(more);
            }
            (_, event) => events.push(event),
        }
    }
    events
}

/// Frames as a client might send them, good and bad.
fn request_frame() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(get("")),
        1 => Just(get("content-length=5")),
        1 => extension_frame(),
        1 => extension_frame().prop_map(|tree| [tree, get("")].concat()),
        1 => Just(headers("etag=x")),
        1 => Just(headers(":method=GET :path=/")),
        6 => proptest::collection::vec(any::<u8>(), 0..80).prop_map(|body| frame(DATA, &body)),
        3 => proptest::collection::vec(any::<u8>(), 0..80).prop_map(|body| frame(GREASE, &body)),
        1 => (0u64..16, proptest::collection::vec(any::<u8>(), 0..9)).prop_map(|(kind, body)| frame(kind, &body)),
    ]
}

fn control_frame() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0u64..6, 0u8..8, any::<bool>()).prop_map(|(index, u, i)| priority_update(StreamId(4 * index), u, i)),
        4 => extension_frame(),
        2 => proptest::collection::vec(any::<u8>(), 0..80).prop_map(|body| frame(GREASE, &body)),
        1 => (0u8..9).prop_map(|id| frame(GOAWAY, &[id])),
        1 => (0u8..9).prop_map(|id| frame(MAX_PUSH_ID, &[id])),
        1 => (0u64..16, proptest::collection::vec(any::<u8>(), 0..9)).prop_map(|(kind, body)| frame(kind, &body)),
    ]
}

/// A client's streams: control, then requests.
fn client_streams() -> impl Strategy<Value = Vec<Stream>> {
    let control = proptest::collection::vec(control_frame(), 0..5).prop_map(|frames| {
        let opening = open_to_all(Role::Client).opening().swap_remove(0).1;
        (CLIENT_CONTROL, [opening, frames.concat()].concat(), false)
    });
    let request = (proptest::collection::vec(request_frame(), 0..5), any::<bool>());
    (control, proptest::collection::vec(request, 0..4)).prop_map(|(control, requests)| {
        let requests = (0u64..)
            .zip(requests)
            .map(|(index, (frames, fin))| (StreamId(4 * index), frames.concat(), fin));
        std::iter::once(control).chain(requests).collect()
    })
}

/// What a call of the session may be, with any bytes.
#[derive(Debug, Clone)]
enum Call {
    Receive(u64, Vec<u8>, bool),
    Reset(u64, u64),
    Forget(u64),
}

fn any_call() -> impl Strategy<Value = Call> {
    let id = prop_oneof![8 => 0u64..24, 1 => any::<u64>()];
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..60),
        proptest::collection::vec(0u8..8, 0..60),
        request_frame(),
        control_frame(),
        control_frame().prop_map(|frame| [vec![0x00, 0x04, 0x00], frame].concat()),
        control_frame().prop_map(|frame| [
            open_to_all(Role::Client).opening().swap_remove(0).1,
            frame
        ]
        .concat()),
    ];
    prop_oneof![
        8 => (id.clone(), bytes, any::<bool>()).prop_map(|(id, bytes, fin)| Call::Receive(id, bytes, fin)),
        1 => (id.clone(), any::<u64>()).prop_map(|(id, code)| Call::Reset(id, code)),
        1 => id.prop_map(Call::Forget),
    ]
}

proptest! {
    #[test]
    fn events_and_errors_are_the_same_at_any_split(
        streams in client_streams(),
        cuts in proptest::collection::vec(any::<Index>(), 0..9),
    ) {
        prop_assert_eq!(run(Role::Server, &streams, &cuts), run(Role::Server, &streams, &[]));
    }

    #[test]
    fn byte_by_byte_is_the_same_as_whole(streams in client_streams()) {
        let mut session = open_to_all(Role::Server);
        let mut errors = Vec::new();
        for (stream, bytes, fin) in &streams {
            for (index, byte) in bytes.iter().enumerate() {
                errors.extend(session.receive(*stream, &[*byte], *fin && index + 1 == bytes.len()).err());
            }
            if bytes.is_empty() {
                errors.extend(session.receive(*stream, &[], *fin).err());
            }
        }
        errors.dedup();
        prop_assert_eq!((joined(&mut session), errors), run(Role::Server, &streams, &[]));
    }

    #[test]
    fn any_calls_are_answered_and_what_comes_out_is_bounded_by_what_went_in(
        is_client: bool,
        calls in proptest::collection::vec(any_call(), 0..40),
    ) {
        let role = if is_client { Role::Client } else { Role::Server };
        let mut session = open_to_all(role);
        let (mut bytes_in, mut bytes_out, mut calls_made) = (0, 0, 0);
        for call in calls {
            calls_made += 1;
            match call {
                Call::Receive(id, bytes, fin) => {
                    bytes_in += bytes.len();
                    let _ = session.receive(StreamId(id), &bytes, fin);
                }
                Call::Reset(id, code) => drop(session.stream_reset(StreamId(id), code)),
                Call::Forget(id) => session.forget(StreamId(id)),
            }
            let mut events = 0;
            while let Some(event) = session.poll() {
                events += 1;
                if let Event::Data { bytes, .. } = event {
                    bytes_out += bytes.len();
                }
            }
            prop_assert!(bytes_out <= bytes_in);
            prop_assert!(events <= bytes_in + calls_made);
        }
    }
}
