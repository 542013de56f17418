//! When a browser learns over HTTP/2 that there is HTTP/3.
//!
//! A browser that learns it in the middle of a page requests the rest of the page over a second connection. Fonts and images that it
//! discovers late then wait for a handshake, and both connections share the link, so none of our orders holds between them. So the heads
//! of its responses do not announce HTTP/3. A frame does (RFC 7838, 4), once the page has loaded.

use super::activity::{Activity, now};
use super::write_order::WriteOrder;
use h2::{Ping, PingPong};
use hyper::StatusCode;
use hyper::header::HeaderName;
use hyper::http::uri::Authority;
use parking_lot::Mutex;
use server::{Options, head};
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until};

/// A connection that is never silent, because of an event stream for example, announces HTTP/3 after this time.
/// Nearly all pages load sooner.
const LATEST: Duration = Duration::from_secs(30);

/// The longest origin that is announced. Names of hosts are shorter.
const ORIGIN_BYTES: usize = 300;

/// In this field, every browser says what it needs a response for. Parsing the name for each request would cost more than the look-up.
const OF_BROWSERS: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The announcement to a connection's browser.
#[derive(Default)]
pub(super) struct Announcement {
    state: Mutex<State>,
    /// It is withheld from now on.
    withheld: Notify,
}

#[derive(Default)]
enum State {
    /// No browser has got a response.
    #[default]
    Unneeded,
    /// There is a frame for the browser.
    Withheld {
        origin: String,
        frame: Vec<u8>,
        until: Instant,
    },
    /// The next frame is this one.
    Due(Vec<u8>),
    Made,
}

/// A browser's request, whose response may not announce HTTP/3.
pub(super) struct OfBrowser {
    announcement: Arc<Announcement>,
    origin: String,
}

impl OfBrowser {
    /// `None`: the request is not a browser's, or names no origin.
    pub(super) fn new<B>(
        announcement: &Arc<Announcement>,
        request: &hyper::Request<B>,
    ) -> Option<Self> {
        let is_browsers = request.headers().contains_key(OF_BROWSERS);
        let origin = request.uri().authority().filter(|_| is_browsers).and_then(origin)?;
        Some(Self { announcement: Arc::clone(announcement), origin })
    }

    /// Whether the head with this status must not announce HTTP/3, because a frame will. The frame is for the origin of the first
    /// response alone.
    pub(super) fn is_withheld(&self, status: StatusCode, options: &Options) -> bool {
        let is_of_origin =
            !matches!(status, StatusCode::BAD_REQUEST | StatusCode::MISDIRECTED_REQUEST);
        let mut state = self.announcement.state.lock();
        if let State::Unneeded = *state
            && is_of_origin
            && let Some(frame) = frame(&self.origin, options)
        {
            let origin = self.origin.clone();
            *state = State::Withheld { origin, frame, until: now() + LATEST };
            self.announcement.withheld.notify_one();
        }
        match &*state {
            State::Withheld { origin, .. } => *origin == self.origin,
            State::Unneeded | State::Due(_) | State::Made => false,
        }
    }
}

impl Announcement {
    /// Until when it can wait for the end of the page; `None` if nothing is withheld.
    fn latest(&self) -> Option<Instant> {
        match *self.state.lock() {
            State::Withheld { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Waits until the announcement must be made, even if the page has not loaded.
    async fn too_late(&self) {
        loop {
            match self.latest() {
                Some(latest) => return sleep_until(latest.into()).await,
                None => self.withheld.notified().await,
            }
        }
    }

    /// The frame may go.
    pub(super) fn fall_due(&self) {
        let mut state = self.state.lock();
        *state = match std::mem::replace(&mut *state, State::Made) {
            State::Withheld { frame, .. } => State::Due(frame),
            other => other,
        };
    }

    /// The frame, once it is due. The caller sends it before all others.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.state.lock();
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
        Self { state: Mutex::new(State::Due(frame.to_vec())), ..Self::default() }
    }
}

/// Waits until the client has had all responses for so long that its page has loaded, or until the announcement must be made
/// anyway. A new request begins this anew.
pub(super) async fn page_loaded(
    order: &WriteOrder,
    activity: &Activity,
    announcement: &Announcement,
    pings: Option<&mut PingPong>,
    silence: Duration,
) {
    let loaded = async {
        order.idle().await;
        // The library sends a ping before the bytes that it still has.
        activity.flushed().await;
        let Some(pings) = pings.filter(|_| announcement.latest().is_some()) else {
            return pending().await;
        };
        // Its answer comes when the client has had all bytes before it. One may be on its way since an earlier pause.
        while pings.send_ping(Ping::opaque()).is_err() {
            if poll_fn(|it| pings.poll_pong(it)).await.is_err() {
                return pending().await;
            }
        }
        poll_fn(|it| pings.poll_pong(it)).await.ok();
        sleep(silence).await;
    };
    tokio::select! {
        () = loaded => {}
        () = announcement.too_late() => {}
    }
}

/// The origin in ASCII (RFC 6454, 6.2).
fn origin(host: &Authority) -> Option<String> {
    let port = host.port_u16().filter(|it| *it != 443);
    let port = port.map_or_else(String::new, |it| format!(":{it}"));
    let origin = format!("https://{}{port}", host.host().to_ascii_lowercase());
    (!host.as_str().contains('@') && origin.len() <= ORIGIN_BYTES).then_some(origin)
}

/// An ALTSVC frame for this origin; `None` if there is no HTTP/3.
fn frame(origin: &str, options: &Options) -> Option<Vec<u8>> {
    const ALTSVC: u8 = 10;
    let service = head::alternative_service(options)?;
    let origin_length = u16::try_from(origin.len()).ok()?;
    let payload =
        [&origin_length.to_be_bytes()[..], origin.as_bytes(), service.as_bytes()].concat();
    let [_, length @ ..] = u32::try_from(payload.len()).ok()?.to_be_bytes();
    Some([&length[..], &[ALTSVC, 0], &[0; 4], &payload].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_lower_case_and_has_no_usual_port_6454_6_2() {
        let of = |text: &str| origin(&text.parse().expect("an authority"));
        assert_eq!(of("A.Example:443").as_deref(), Some("https://a.example"));
        assert_eq!(of("a.example:8443").as_deref(), Some("https://a.example:8443"));
        assert_eq!(of("[::1]:443").as_deref(), Some("https://[::1]"));
        assert_eq!(of("user@a.example"), None);
    }
}
