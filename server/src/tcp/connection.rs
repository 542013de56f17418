//! One connection, from its first byte to its last.

use super::activity::{Activity, Noted, now};
use super::answer::Guest;
use super::event_loop::{Current, News, Phase};
use super::waiting::Waiting;
use super::{http1, http2};
use crate::Event;
use crate::account::Account;
use crate::admission::Place;
use crate::client::Allowances;
use crate::limits::UNSENT_BYTES;
use socket2::SockRef;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_boring::SslStream;

/// What clients have shares of.
#[derive(Clone)]
pub(super) struct Accounts {
    /// What waits for clients that take it slowly.
    pub(super) waiting: Arc<Account>,
    /// What decoded heads take.
    pub(super) decoded: Arc<Account>,
    /// Heads that are refused after they were decoded.
    pub(super) refusals: Arc<Allowances>,
}

/// Serves a client that has connected.
pub(super) async fn serve(
    stream: TcpStream,
    client: SocketAddr,
    current: Arc<Current>,
    mut news: News,
    accounts: Accounts,
    _place: Place,
) {
    prepare(&stream);
    let options = &current.options;
    let activity = Arc::new(Activity::new(&options.limits, now()));
    let stream = Noted::new(stream, &activity);
    let handshake = tokio_boring::accept(&current.acceptor, stream);
    let handshake = tokio::select! {
        handshake = timeout(options.limits.handshake, handshake) => handshake,
        () = news.reached(Phase::Draining) => return,
    };
    let stream = match handshake {
        Ok(Ok(stream)) => stream,
        Ok(Err(_)) => return options.observers.notice(&Event::NotEntered),
        Err(_) => return options.observers.notice(&Event::HandshakeGivenUp),
    };
    options.observers.notice(&Event::Accepted);
    let (site, options) = (Arc::clone(&current.site), Arc::clone(options));
    let address = client.ip().to_canonical();
    let Accounts { waiting, decoded, refusals } = accounts;
    let waiting = Arc::new(Waiting::new(&waiting, address));
    let guest = Guest { site, options, address, activity, waiting, decoded, refusals };
    let by = speak(stream, &guest, news).await;
    guest.options.observers.notice(&Event::Closed { by, code: "none" });
}

/// Speaks the protocol that was negotiated. Returns which end closed the connection.
async fn speak(stream: SslStream<Noted<TcpStream>>, guest: &Guest, mut news: News) -> &'static str {
    let is_http2 = stream.ssl().selected_alpn_protocol() == Some(b"h2");
    guest.activity.begin(!is_http2, now());
    let speaking = async {
        if is_http2 {
            http2::speak(stream, guest, news.clone()).await.is_ok()
        } else {
            http1::speak(stream, guest, news.clone()).await.is_ok()
        }
    };
    tokio::select! {
        // What is wrong with it costs the client, which is gone.
        _ = speaking => {}
        () = guest.activity.silence() => return "timeout",
    }
    if news.is_at(Phase::Draining) { "server" } else { "client" }
}

/// Bytes that wait unsent in the system would go before more urgent ones.
fn prepare(stream: &TcpStream) {
    // Without them it is slower, and serves.
    stream.set_nodelay(true).ok();
    #[cfg(target_os = "linux")]
    SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES).ok();
}
