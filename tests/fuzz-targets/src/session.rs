//! Any calls of a session that offers every extension are handled, and its output is no larger than its
//! input. Input: the first byte is the role; then calls of three bytes (what, stream, length) with their
//! bytes.

use http3::{Event, Extension, Limits, Role, Session, Settings, StreamId};

/// Plays one input.
///
/// # Panics
///
/// Panics if its output is larger than its input.
pub fn play(data: &[u8]) {
    let Some((role, mut calls)) = data.split_first() else { return };
    let role = if role % 2 == 0 { Role::Client } else { Role::Server };
    let settings =
        Settings { extensions: Extension::ALL.into(), placeholders: 16, ..Settings::default() };
    let mut session = Session::new(role, settings, Limits::default());
    let (mut bytes_in, mut bytes_out) = (0, 0);
    while let [what, stream, length, rest @ ..] = calls {
        let (bytes, after) = rest.split_at(rest.len().min(usize::from(*length)));
        calls = after;
        let stream = StreamId(u64::from(*stream));
        match what % 8 {
            0 => session.forget(stream),
            1 => {
                let _ = session.stream_reset(stream, u64::from(*length));
            }
            kind => {
                bytes_in += bytes.len();
                let _ = session.receive(stream, bytes, kind == 2);
            }
        }
        while let Some(event) = session.poll() {
            if let Event::Data { bytes, .. } = event {
                bytes_out += bytes.len();
            }
        }
    }
    assert!(bytes_out <= bytes_in);
}
