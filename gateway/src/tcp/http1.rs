//! HTTP/1.1 and 1.0 on one connection.

use super::activity::{Activity, now};
use super::answer::{Answer, Guest, Upload, answer};
use super::event_loop::{News, Phase};
use super::linger::Lingering;
use super::response_report::ResponseReport;
use super::source::{Broken, Source};
use super::tunnel::{Entrance, Tunnel};
use super::versions::OneVersion;
use crate::limits::{PIECE_BYTES, WHOLE_BODY_WITHIN};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderMap, HeaderValue};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use server::limits::{BUFFER_BYTES, HEAD_FIELDS};
use server::{Event, Options};
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

/// The smallest buffer that the library accepts.
const LEAST_BUFFER_BYTES: usize = 8 << 10;

/// The body of a request. A connection lingers if one is not read to its end.
struct Arriving {
    body: Incoming,
    has_ended: Arc<AtomicBool>,
    activity: Arc<Activity>,
}

impl Arriving {
    fn new(body: Incoming, activity: &Arc<Activity>) -> Self {
        let has_ended = Arc::new(AtomicBool::new(body.is_end_stream()));
        Self { body, has_ended, activity: Arc::clone(activity) }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if !self.has_ended.load(Ordering::Relaxed) {
            self.activity.left_unread();
        }
    }
}

impl Upload for Arriving {
    async fn next(&mut self) -> Result<Option<Frame<Bytes>>, ()> {
        let frame = self.body.frame().await.transpose().map_err(drop)?;
        if frame.as_ref().is_none_or(Frame::is_trailers) {
            self.has_ended.store(true, Ordering::Relaxed);
        }
        Ok(frame)
    }

    /// Reads a small, complete body, so that the connection can continue. Reading would ask a client to send a withheld body.
    async fn leave(mut self, activity: &Arc<Activity>, is_withheld: bool) {
        let mut read_bytes = 0;
        let reading = async {
            while read_bytes < BUFFER_BYTES
                && let Ok(Some(frame)) = self.next().await
            {
                let count = frame.data_ref().map_or(0, Bytes::len);
                activity.used(count);
                read_bytes += count;
            }
        };
        if !is_withheld {
            timeout(WHOLE_BODY_WITHIN, reading).await.ok();
        }
    }
}

/// The library's settings, within these limits.
pub(super) fn builder(options: &Options) -> Builder {
    let head_bytes = options.limits.http3.field_section_bytes;
    let head_bytes = usize::try_from(head_bytes).unwrap_or(usize::MAX);
    let mut builder = Builder::new();
    builder
        // The host field is one of them.
        .max_headers(HEAD_FIELDS + 1)
        .max_buf_size(head_bytes.max(LEAST_BUFFER_BYTES))
        // Some responses lack it, such as the library's answers to unreadable requests.
        .auto_date_header(options.wall_clock.is_some());
    builder
}

/// Answers the requests of a connection, one after another. A WebSocket is the last one.
pub(super) async fn speak<S>(stream: S, guest: &Guest, mut news: News) -> Result<(), hyper::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let tunnel = Mutex::default();
    let service = service_fn(async |request: hyper::Request<Incoming>| {
        Ok::<_, Infallible>(respond(request, guest, &tunnel).await)
    });
    let builder = builder(&guest.options);
    let stream = Lingering::new(OneVersion::new(stream, &guest.activity), &guest.activity);
    let stream = TokioIo::new(stream);
    let mut connection = pin!(builder.serve_connection(stream, service).with_upgrades());
    let mut is_ending = false;
    loop {
        tokio::select! {
            end = connection.as_mut() => {
                end?;
                break;
            }
            () = news.reached(Phase::Draining), if !is_ending => {
                is_ending = true;
                guest.activity.drain(now());
                connection.as_mut().graceful_shutdown();
            }
        }
    }
    let opened = tunnel.lock().take();
    if let Some(opened) = opened {
        Tunnel::run(opened, guest, news).await;
    }
    Ok(())
}

/// Answers a request, which may open a tunnel.
async fn respond(
    request: hyper::Request<Incoming>,
    guest: &Guest,
    tunnel: &Mutex<Option<Tunnel>>,
) -> hyper::Response<Outgoing> {
    let (mut head, upload) = request.into_parts();
    let entrance = if guest.options.websockets { Entrance::of(&mut head) } else { None };
    let held = guest.admit(&head.headers);
    // The library has no interim responses.
    let Some((entrance, inbound)) = entrance else {
        let upload = Arriving::new(upload, &guest.activity);
        let has_ended = Arc::clone(&upload.has_ended);
        let mut answer = answer(guest, head, held, upload, |_| {}).await;
        if !has_ended.load(Ordering::Relaxed) {
            // A further request could not be distinguished from the rest of this one (RFC 9112, 9.3).
            answer.head.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        return response(answer, guest);
    };
    let answer = answer(guest, head, held, inbound, |_| {}).await;
    if !answer.report.is_tunnel {
        return response(answer, guest);
    }
    let (head, opened) = entrance.open(answer);
    *tunnel.lock() = Some(opened);
    head.map(|()| Outgoing { pieces: None, report: None })
}

/// The response in the library's form.
fn response(answer: Answer, guest: &Guest) -> hyper::Response<Outgoing> {
    let Answer { head, source, mut report, .. } = answer;
    let pieces = if source.is_over() {
        report.completed();
        None
    } else {
        let (sender, receiver) = channel(1);
        tokio::spawn(send(source, sender, guest.clone()));
        Some(receiver)
    };
    head.map(|()| Outgoing { pieces, report: Some(report) })
}

/// The body of a response. The library takes it at the client's pace.
struct Outgoing {
    /// The next piece; `None`: nothing more.
    pieces: Option<Receiver<Piece>>,
    /// `None`: a tunnel has it.
    report: Option<ResponseReport>,
}

enum Piece {
    Bytes(Bytes),
    /// The last bytes, if the source knows that they are the last.
    Last(Bytes),
    /// The end, with trailer fields if there are any. The library sends trailers only after chunks, only to clients that accept
    /// them, and only if the head has named them.
    End(HeaderMap),
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let Some(pieces) = &mut self.pieces else { return Poll::Ready(None) };
        let piece = ready!(pieces.poll_recv(context));
        if let Some(Piece::Last(_) | Piece::End(_)) = piece {
            self.pieces = None;
            self.report.iter_mut().for_each(ResponseReport::completed);
        }
        let frame = match piece {
            Some(Piece::Bytes(bytes) | Piece::Last(bytes)) => Frame::data(bytes),
            Some(Piece::End(trailers)) if trailers.is_empty() => return Poll::Ready(None),
            Some(Piece::End(trailers)) => Frame::trailers(trailers),
            // A part must not look complete.
            None => return Poll::Ready(Some(Err(Broken))),
        };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        self.report.iter_mut().for_each(|it| it.took(bytes));
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.pieces.is_none() { SizeHint::with_exact(0) } else { SizeHint::default() }
    }
}

/// Passes the pieces of a body to the library. Abandons a client that takes none within the stalled-response deadline.
async fn send(mut source: Source, sender: Sender<Piece>, guest: Guest) {
    loop {
        let ready = tokio::select! {
            ready = source.ready() => ready,
            // The client is gone.
            () = sender.closed() => return,
        };
        let Ok(count) = ready else { return flushed(&sender, &guest).await };
        match timeout(guest.options.limits.stalled, send_piece(&mut source, count, &sender, &guest))
            .await
        {
            Ok(Some(Sent::More)) => {}
            Ok(Some(Sent::All)) => return,
            Ok(None) => return flushed(&sender, &guest).await,
            Err(_) => return guest.options.observers.notice(&Event::Overdue),
        }
    }
}

/// The rest will not arrive. The bytes so far are sent before the library learns of it and closes.
async fn flushed(sender: &Sender<Piece>, guest: &Guest) {
    tokio::select! {
        // A client that takes nothing does not get them.
        _ = timeout(guest.options.limits.stalled, guest.activity.flushed()) => {}
        () = sender.closed() => {}
    }
}

enum Sent {
    More,
    All,
}

/// Sends a piece of the `count` bytes that are ready, once the library takes some. `None`: the client has disconnected, or the rest will
/// not arrive.
async fn send_piece(
    source: &mut Source,
    count: usize,
    sender: &Sender<Piece>,
    guest: &Guest,
) -> Option<Sent> {
    let place = sender.reserve().await.ok()?;
    if count == 0 {
        place.send(Piece::End(source.trailers()));
        return Some(Sent::All);
    }
    let bytes = source.take(count.min(PIECE_BYTES), &guest.waiting).await.ok()?;
    if source.is_over() {
        place.send(Piece::Last(bytes));
        return Some(Sent::All);
    }
    place.send(Piece::Bytes(bytes));
    Some(Sent::More)
}
