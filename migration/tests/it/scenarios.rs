//! The ways in which a response moves, and the peers that break the rules.

use http3::{PushId, StreamId};
use migration::{
    Action, Continuation, Destination, Error, Kind, Migrate, Name, Place, Reads, Receiving, Rest,
    Secret, Sending, Subject,
};
use schedulers::Priority;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const SUBJECT: Subject = Subject::Request(StreamId(0));
const PUSH: Subject = Subject::Push(PushId(3));
const CREDIT: u64 = 1000;

fn now() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    #[expect(clippy::disallowed_methods, reason = "tests need some moment to count from")]
    *BASE.get_or_init(Instant::now)
}

/// Connection `own` of the application that connection 1 began.
fn name(own: u8) -> Name {
    let [first, secret] = [1, own].map(|it| Secret::new(&[it; 32]));
    Name::next(&first, &secret)
}

/// The source, and two idle connections, the smaller name first.
fn names() -> (Name, Name, Name) {
    let (one, other) = (name(2), name(3));
    (name(1), one.min(other), one.max(other))
}

fn foreign() -> Name {
    Name::first(&Secret::new(&[9; 32]))
}

fn ends(subject: Subject) -> (Sending, Receiving) {
    (Sending::new(name(1), subject), Receiving::new(name(1), subject))
}

fn named(name: Name) -> Destination {
    Destination::Named(name)
}

fn server_takes(server: &mut Sending, frame: Migrate) -> Result<Vec<Action>, Error> {
    server.receive(&frame, &|_| true, now())
}

fn client_takes(client: &mut Receiving, frame: Migrate) -> Result<Vec<Action>, Error> {
    client.receive(&frame, &|_| true, now())
}

/// The only frame among actions.
fn sent(actions: Result<Vec<Action>, Error>) -> Migrate {
    let actions = actions.expect("the frame is allowed");
    let [Action::Send(frame)] = actions[..] else { panic!("not one frame: {actions:?}") };
    frame
}

fn from_client(destination: Name, offset: u64, kind: Kind) -> Migrate {
    Migrate { subject: SUBJECT, destination: named(destination), offset, kind, rest: Rest::Nothing }
}

#[test]
fn a_server_moves_a_response_to_an_idle_connection_without_a_pause() {
    let ((mut server, mut client), (_, idle, _)) = (ends(SUBJECT), names());
    server.sent(100);
    let offer = server.start(named(idle), CREDIT, now()).unwrap();
    assert_eq!((server.place(), server.next()), (Place::Destination(idle, 1100), 100));
    client.read(60);
    let answer = sent(client_takes(&mut client, offer));
    assert_eq!(answer, Migrate { kind: Kind::Acknowledgement, rest: Rest::Nothing, ..offer });
    assert_eq!(client.reads(), Reads::Source(40), "what is on the way comes first");
    client.read(40);
    assert_eq!(client.reads(), Reads::Destination(idle));
    assert_eq!(server_takes(&mut server, answer), Ok(Vec::new()));
    assert_eq!(server.place(), Place::Destination(idle, u64::MAX));
}

#[test]
fn a_client_moves_a_response_to_an_idle_connection_after_a_round_trip() {
    let ((mut server, mut client), (_, idle, _)) = (ends(SUBJECT), names());
    let ask = client.ask(idle).unwrap();
    server.sent(100);
    let answer = sent(server_takes(&mut server, ask));
    assert_eq!((answer.kind, answer.offset), (Kind::Acknowledgement, 100));
    assert_eq!(server.place(), Place::Destination(idle, u64::MAX));
    client.read(100);
    assert_eq!(client_takes(&mut client, answer), Ok(Vec::new()));
    assert_eq!(client.reads(), Reads::Destination(idle));
}

#[test]
fn a_server_without_an_idle_connection_pauses_until_the_client_has_opened_one() {
    let ((mut server, mut client), (_, new, _)) = (ends(SUBJECT), names());
    let offer = server.start(Destination::Any, CREDIT, now()).unwrap();
    assert_eq!(server.place(), Place::Nowhere);
    assert_eq!(client_takes(&mut client, offer), Ok(vec![Action::Connect]));
    assert_eq!(client.reads(), Reads::Nothing);
    let answer = client.connected(Some(new), now()).unwrap();
    assert_eq!(server_takes(&mut server, answer), Ok(Vec::new()));
    assert_eq!(server.place(), Place::Destination(new, u64::MAX));
    assert_eq!(client.reads(), Reads::Destination(new));
}

#[test]
fn a_push_moves_like_any_response_and_its_priority_moves_along() {
    let ((mut server, mut client), (source, idle, _)) = (ends(PUSH), names());
    let offer = server.start(named(idle), CREDIT, now()).unwrap();
    assert_eq!(offer.subject, PUSH);
    client_takes(&mut client, offer).unwrap();
    let priority = Priority::new(1, true);
    let header = Continuation { source, subject: PUSH, offset: 0, priority };
    assert_eq!(client.continues(&header), Ok(()));
    for wrong in [
        Continuation { offset: 1, ..header },
        Continuation { subject: SUBJECT, ..header },
        Continuation { source: foreign(), ..header },
    ] {
        assert_eq!(client.continues(&wrong), Err(Error::Offset));
    }
}

#[test]
fn of_two_proposals_that_cross_the_smaller_name_counts() {
    let (source, small, large) = names();
    for (ours, theirs, agreed) in
        [(small, large, small), (large, small, small), (small, small, small)]
    {
        let (mut server, mut client) = ends(SUBJECT);
        let (offer, ask) = (server.start(named(ours), CREDIT, now()), client.ask(theirs));
        server.sent(10);
        assert_eq!(client_takes(&mut client, offer.unwrap()), Ok(Vec::new()));
        let actions = server_takes(&mut server, ask.unwrap()).unwrap();
        assert_eq!(actions.contains(&Action::Drop(ours)), ours != agreed);
        assert_eq!(server.next(), if ours == agreed { 10 } else { 0 });
        let Some(Action::Send(answer)) = actions.last() else { panic!("no answer") };
        client_takes(&mut client, *answer).unwrap();
        assert_eq!(client.reads(), Reads::Destination(agreed));
        assert_eq!(server.place(), Place::Destination(agreed, u64::MAX));
        assert_ne!(source, agreed);
    }
}

#[test]
fn a_client_that_migrates_to_nowhere_keeps_its_response_at_the_source() {
    let ((mut server, mut client), (source, gone, _)) = (ends(SUBJECT), names());
    let ask = client.ask(gone).unwrap();
    let answer = sent(server.receive(&ask, &|_| false, now()));
    assert_eq!(answer.destination, named(source));
    client_takes(&mut client, answer).unwrap();
    assert_eq!((server.place(), client.reads()), (Place::Source, Reads::Source(u64::MAX)));
}

#[test]
fn a_destination_that_fails_gives_the_response_back_from_the_first_missing_byte() {
    let ((mut server, mut client), (_, idle, _)) = (ends(SUBJECT), names());
    server.sent(100);
    client.read(100);
    let offer = server.start(named(idle), CREDIT, now()).unwrap();
    let answer = sent(client_takes(&mut client, offer));
    server_takes(&mut server, answer).unwrap();
    server.sent(500);
    client.read(200);
    let back = client.destination_lost(idle).unwrap();
    assert_eq!(back.offset, 300);
    assert_eq!(server_takes(&mut server, back), Ok(vec![Action::Drop(idle)]));
    assert_eq!((server.place(), server.next()), (Place::Source, 300));
    assert_eq!(client.reads(), Reads::Source(u64::MAX));
    assert_eq!((server.start(named(idle), CREDIT, now()), client.ask(idle)), (None, None));
}

#[test]
fn bytes_that_were_not_kept_end_the_response_in_an_error() {
    let ((mut server, _), (source, idle, _)) = (ends(SUBJECT), names());
    server.start(named(idle), CREDIT, now());
    server.sent(500);
    server.discarded(400);
    let back = from_client(source, 300, Kind::Acknowledgement);
    assert_eq!(server_takes(&mut server, back), Err(Error::NotKept));
    assert_eq!(server.place(), Place::Nowhere);
}

#[test]
fn a_client_that_never_answers_ends_its_response_in_an_error() {
    let ((mut server, _), (_, idle, _)) = (ends(SUBJECT), names());
    server.start(named(idle), CREDIT, now());
    let until = server.next_timeout().unwrap();
    assert_eq!(until - now(), Duration::from_secs(10));
    assert_eq!(server.on_timeout(now()), Ok(()));
    assert_eq!(server.on_timeout(until), Err(Error::Unanswered));
    assert_eq!((server.place(), server.next_timeout()), (Place::Nowhere, None));
}

#[test]
fn a_continuation_that_never_comes_is_given_up_once_the_source_is_read() {
    let ((mut server, mut client), (source, idle, _)) = (ends(SUBJECT), names());
    server.sent(100);
    let offer = server.start(named(idle), CREDIT, now()).unwrap();
    client_takes(&mut client, offer).unwrap();
    let until = client.next_timeout().unwrap();
    assert_eq!(client.on_timeout(until), None, "the source has 100 bytes");
    client.read(100);
    let back = client.on_timeout(client.next_timeout().unwrap()).unwrap();
    assert_eq!((back.destination, back.offset), (named(source), 100));
}

#[test]
fn a_server_refuses_clients_that_break_the_rules() {
    let (source, small, large) = names();
    let ask = |to| from_client(to, 0, Kind::Start);
    let answer = |to| from_client(to, 0, Kind::Acknowledgement);
    for (frame, error) in [
        (ask(foreign()), Error::Foreign),
        (Migrate { rest: Rest::Follows, ..ask(small) }, Error::OpenRequest),
        (Migrate { destination: Destination::Any, ..ask(small) }, Error::OtherDestination),
        (answer(small), Error::Unasked),
        (answer(source), Error::Unasked),
    ] {
        let (mut server, _) = ends(SUBJECT);
        assert_eq!(server_takes(&mut server, frame), Err(error), "{frame:?}");
        assert_eq!(server.place(), Place::Nowhere);
    }
    for (frame, error) in [
        (Migrate { offset: 5, ..answer(large) }, Error::OtherDestination),
        (Migrate { offset: 6, ..answer(small) }, Error::Offset),
        (Migrate { offset: 6, ..answer(source) }, Error::Offset),
        (Migrate { offset: 4, ..answer(source) }, Error::Offset),
        (answer(foreign()), Error::Foreign),
    ] {
        let (mut server, _) = ends(SUBJECT);
        server.sent(5);
        server.start(named(small), CREDIT, now());
        assert_eq!(server_takes(&mut server, frame), Err(error), "{frame:?}");
    }
    let (mut server, _) = ends(SUBJECT);
    server_takes(&mut server, ask(small)).unwrap();
    assert_eq!(server_takes(&mut server, ask(large)), Err(Error::Twice));
}

#[test]
fn a_client_refuses_servers_that_break_the_rules() {
    let (source, small, large) = names();
    let offer = |to, offset| Migrate {
        subject: SUBJECT,
        destination: named(to),
        offset,
        kind: Kind::Start,
        rest: Rest::Follows,
    };
    let answer = |to, offset| Migrate { kind: Kind::Acknowledgement, ..offer(to, offset) };
    for (frame, error) in [
        (offer(foreign(), 10), Error::Foreign),
        (offer(small, 9), Error::Offset),
        (offer(source, 10), Error::Unasked),
        (answer(small, 10), Error::Unasked),
    ] {
        let (_, mut client) = ends(SUBJECT);
        client.read(10);
        assert_eq!(client_takes(&mut client, frame), Err(error), "{frame:?}");
        assert_eq!(client.reads(), Reads::Nothing);
    }
    for (frame, error) in [
        (answer(large, 10), Error::OtherDestination),
        (answer(small, 9), Error::Offset),
        (Migrate { destination: Destination::Any, ..answer(small, 10) }, Error::OtherDestination),
    ] {
        let (_, mut client) = ends(SUBJECT);
        client.read(10);
        client.ask(small).unwrap();
        assert_eq!(client_takes(&mut client, frame), Err(error), "{frame:?}");
    }
    let (_, mut client) = ends(SUBJECT);
    client_takes(&mut client, offer(small, 0)).unwrap();
    assert_eq!(client_takes(&mut client, offer(large, 0)), Err(Error::Twice));
}

#[test]
fn a_response_that_is_over_does_not_move() {
    let ((_, mut client), (source, idle, _)) = (ends(SUBJECT), names());
    let answer = client.ask(idle).unwrap().too_late(source);
    assert_eq!((answer.kind, answer.rest), (Kind::Acknowledgement, Rest::Nothing));
    client_takes(&mut client, answer).unwrap();
    assert_eq!(client.reads(), Reads::Source(u64::MAX));
}
