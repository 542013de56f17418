//! One connection, from its first byte to its last.

use super::activity::{Activity, Noted, now};
use super::answer::Guest;
use super::event_loop::{Current, News, Phase};
use super::sending::Gathering;
use super::waiting::Waiting;
use super::{http1, http2, redirect};
use crate::limits::UNSENT_BYTES;
use server::Event;
use server::account::Account;
use server::population::Place;
use socket2::SockRef;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_boring::SslStream;

/// Serves a client that has connected.
pub(super) async fn serve(
    stream: TcpStream,
    client: SocketAddr,
    current: Arc<Current>,
    mut news: News,
    account: Account,
    _place: Place,
) {
    prepare(&stream);
    let options = &current.options;
    let Ok(local) = stream.local_addr() else { return };
    let activity = Arc::new(Activity::new(&options.limits, now()));
    let entering = async {
        if is_plain(&stream).await {
            return Entered::Plainly(stream);
        }
        let stream = Gathering::new(Noted::new(stream, &activity));
        tokio_boring::accept(&current.acceptor, stream).await.map_or(Entered::Not, Entered::Safely)
    };
    let entered = tokio::select! {
        entered = timeout(options.limits.handshake, entering) => entered,
        () = news.reached(Phase::Draining) => return,
    };
    let stream = match entered {
        Ok(Entered::Safely(stream)) => stream,
        Ok(Entered::Plainly(stream)) => {
            options.observers.notice(&Event::NotEntered);
            return redirect::refuse(stream, &current, news).await;
        }
        Ok(Entered::Not) => return options.observers.notice(&Event::NotEntered),
        Err(_) => return options.observers.notice(&Event::HandshakeGivenUp),
    };
    options.observers.notice(&Event::Accepted);
    let (site, options) = (Arc::clone(&current.site), Arc::clone(options));
    let address = client.ip().to_canonical();
    let waiting = Arc::new(Waiting::new(account.clone()));
    let guest = Guest { site, options, address, local, activity, waiting, account };
    let by = speak(stream, &guest, news).await;
    guest.options.observers.notice(&Event::Closed { by, code: "none" });
}

/// A connection in TLS.
type Secure = SslStream<Gathering<Noted<TcpStream>>>;

/// How a client begins.
enum Entered {
    Safely(Secure),
    /// It takes the port for one of plain HTTP.
    Plainly(TcpStream),
    Not,
}

/// Whether a client begins with a letter, as requests do, and no handshake (RFC 8446, 5.1).
async fn is_plain(stream: &TcpStream) -> bool {
    let mut first = [0];
    stream.peek(&mut first).await.is_ok() && first[0].is_ascii_alphabetic()
}

/// Speaks the protocol that was negotiated. Returns which end closed the connection.
async fn speak(stream: Secure, guest: &Guest, mut news: News) -> &'static str {
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
        // A failure affects only the client, which is gone.
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
