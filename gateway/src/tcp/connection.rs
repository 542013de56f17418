//! One connection, from its first byte to its last.

use super::activity::{Activity, Noted, now};
use super::answer::Guest;
use super::event_loop::{Current, News, Phase};
use super::outlet::{Outlet, Socket};
use super::sending::Gathering;
use super::waiting::Waiting;
use super::{http1, http2, redirect, write_order};
use server::account::Account;
use server::{Event, QlogFolder};
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
) {
    let options = &current.options;
    let Ok(local) = stream.local_addr() else { return };
    let activity = Arc::new(Activity::new(&options.limits, now()));
    let entering = async {
        if is_plain(&stream).await {
            return Entered::Plainly(stream);
        }
        let socket = Socket::new(stream);
        let outlet = socket.outlet();
        let stream = Gathering::new(Noted::new(socket, &activity), outlet.count());
        let accepted = tokio_boring::accept(&current.acceptor, stream).await;
        accepted.map_or(Entered::Not, |it| Entered::Safely(it, outlet))
    };
    let entered = tokio::select! {
        entered = timeout(options.limits.handshake, entering) => entered,
        () = news.reached(Phase::Draining) => return,
    };
    let (stream, outlet) = match entered {
        Ok(Entered::Safely(stream, outlet)) => (stream, outlet),
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
    let by = speak(stream, &outlet, &guest, current.qlogs.as_ref(), news).await;
    guest.options.observers.notice(&Event::Closed { by, code: "none" });
}

type Secure = SslStream<Gathering<Noted<Socket>>>;

/// How a client begins.
enum Entered {
    Safely(Secure, Arc<Outlet>),
    /// A client that uses the port for plain HTTP.
    Plainly(TcpStream),
    Not,
}

/// Whether a client's first byte is a letter, as in plain requests but no handshake (RFC 8446,
/// 5.1).
async fn is_plain(stream: &TcpStream) -> bool {
    let mut first = [0];
    stream.peek(&mut first).await.is_ok() && first[0].is_ascii_alphabetic()
}

/// Serves the negotiated protocol. Returns which end closed the connection.
async fn speak(
    stream: Secure,
    outlet: &Outlet,
    guest: &Guest,
    qlogs: Option<&QlogFolder>,
    mut news: News,
) -> &'static str {
    let is_http2 = stream.ssl().selected_alpn_protocol() == Some(b"h2");
    guest.activity.begin(!is_http2, now());
    let speaking = async {
        if is_http2 {
            let log = qlogs.and_then(|it| write_order::log(it, &guest.options.observers));
            http2::speak(stream, outlet, guest, log, news.clone()).await.is_ok()
        } else {
            http1::speak(stream, guest, news.clone()).await.is_ok()
        }
    };
    tokio::select! {
        // A failure affects only the client, which has disconnected.
        _ = speaking => {}
        () = guest.activity.silence() => return "timeout",
    }
    if news.is_at(Phase::Draining) { "server" } else { "client" }
}
