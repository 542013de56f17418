//! When a browser learns over HTTP/2 that there is HTTP/3.
//!
//! A browser that learns it in the middle of a page requests the rest of the page over a second connection. Fonts and images that it
//! discovers late then wait for a handshake, and both connections share the link, so none of our orders holds between them. So the heads
//! of its responses do not announce HTTP/3. A frame does (RFC 7838, 4), once the connection has been silent for a while.

use super::activity::now;
use hyper::http::uri::Authority;
use parking_lot::Mutex;
use server::{Options, head};
use std::time::{Duration, Instant};

/// A connection that is never silent, because of an event stream for example, announces HTTP/3 after this time.
/// Nearly all pages load sooner.
const LATEST: Duration = Duration::from_secs(30);

/// The longest origin that is announced. Names of hosts are shorter.
const ORIGIN_BYTES: usize = 300;

/// In this field, every browser says what it needs a response for.
const OF_BROWSERS: &str = "sec-fetch-dest";

/// The announcement to a connection's browser.
#[derive(Default)]
pub(super) struct Announcement(Mutex<State>);

#[derive(Default)]
enum State {
    /// No browser has requested anything.
    #[default]
    Unneeded,
    /// There is a frame for the browser.
    Withheld {
        frame: Vec<u8>,
        until: Instant,
    },
    /// The next frame is this one.
    Due(Vec<u8>),
    Made,
}

impl Announcement {
    /// Whether the head of the response must not announce HTTP/3.
    pub(super) fn is_withheld_from<B>(
        &self,
        request: &hyper::Request<B>,
        options: &Options,
    ) -> bool {
        if !request.headers().contains_key(OF_BROWSERS) {
            return false;
        }
        let mut state = self.0.lock();
        if let State::Unneeded = *state
            && let Some(frame) = frame(request.uri().authority(), options)
        {
            *state = State::Withheld { frame, until: now() + LATEST };
        }
        matches!(*state, State::Withheld { .. } | State::Due(_))
    }

    /// Until when it can wait for silence; `None` if nothing is withheld.
    pub(super) fn latest(&self) -> Option<Instant> {
        match *self.0.lock() {
            State::Withheld { until, .. } => Some(until),
            _ => None,
        }
    }

    /// The frame may go.
    pub(super) fn fall_due(&self) {
        let mut state = self.0.lock();
        *state = match std::mem::replace(&mut *state, State::Made) {
            State::Withheld { frame, .. } => State::Due(frame),
            other => other,
        };
    }

    /// The frame, once it is due. The caller sends it before all others.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.0.lock();
        let State::Due(frame) = &mut *state else { return None };
        let frame = std::mem::take(frame);
        *state = State::Made;
        Some(frame)
    }
}

#[cfg(test)]
impl Announcement {
    /// One whose frame has these bytes and may go.
    pub(super) fn due(frame: &[u8]) -> Self {
        Self(Mutex::new(State::Due(frame.to_vec())))
    }
}

/// An ALTSVC frame for this host; `None` if there is no HTTP/3.
fn frame(host: Option<&Authority>, options: &Options) -> Option<Vec<u8>> {
    const ALTSVC: u8 = 10;
    let service = head::alternative_service(options)?;
    let origin = format!("https://{}", host?);
    if origin.len() > ORIGIN_BYTES {
        return None;
    }
    let origin_length = u16::try_from(origin.len()).ok()?;
    let payload =
        [&origin_length.to_be_bytes()[..], origin.as_bytes(), service.as_bytes()].concat();
    let [_, length @ ..] = u32::try_from(payload.len()).ok()?.to_be_bytes();
    Some([&length[..], &[ALTSVC, 0], &[0; 4], &payload].concat())
}
