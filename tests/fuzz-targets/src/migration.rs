//! Any bytes parse as a MIGRATE frame or an error, and as a continuation's header, its beginning, or an error.
//! Frames from a peer that violates all rules never move either end beyond the bytes that were sent. Input: frames
//! of 30 bytes; the last byte of each is the number of bytes sent before it.

use http3::StreamId;
use migration::{Continuation, Destination, Migrate, Name, Receiving, Secret, Sending, Subject};
use std::time::Instant;

/// Plays one input.
///
/// # Panics
///
/// Panics if an end moves beyond the sent bytes.
pub fn play(data: &[u8]) {
    if let Ok(Some((header, read))) = Continuation::parse(data) {
        let bytes = header.to_bytes().split_off(4);
        assert!(bytes.len() <= read && read <= data.len());
        assert_eq!(Continuation::parse(&bytes), Ok(Some((header, bytes.len()))));
    }
    #[expect(clippy::disallowed_methods, reason = "any moment will do: it stays the same")]
    let now = Instant::now();
    let [first, second] = [1, 2].map(|it| Secret::new(&[it; 32]));
    let (source, idle) = (Name::first(&first), Name::next(&first, &second));
    let subject = Subject::Request(StreamId(0));
    let (mut server, mut client) = (Sending::new(source, subject), Receiving::new(source, subject));
    let mut sent = 0;
    for chunk in data.chunks(30) {
        let Some((bytes, payload)) = chunk.split_last() else { return };
        sent += u64::from(*bytes);
        server.sent(u64::from(*bytes));
        client.read(u64::from(*bytes));
        if *bytes == 0 {
            server.start(Destination::Named(idle), 0, now);
        }
        let Ok(frame) = Migrate::parse(payload) else { continue };
        assert_eq!(Migrate::parse(&frame.to_frame()[5..]), Ok(frame));
        for named in [frame.destination, Destination::Named(source), Destination::Named(idle)] {
            let frame = Migrate { destination: named, subject, ..frame };
            let _ = server.receive(&frame, &|_| true, now);
            let _ = client.receive(&frame, &|_| true, now);
        }
        assert!(server.next() <= sent);
    }
}
