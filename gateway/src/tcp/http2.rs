//! HTTP/2 on one connection. hyper does not send interim responses, so this uses its underlying library directly.
//!
//! The library alternates between responses with pending bytes, so it gets the bytes of one response at a time, in the scheme's order
//! (`write_order.rs`).

use super::activity::{Activity, now};
use super::announcement::{Announcement, OfBrowser, page_loaded};
use super::answer::{Ahead, Answer, Guest, Interim, Upload, answer};
use super::event_loop::{News, Phase};
use super::intake::{ByTurns, Intake};
use super::linger::read_on;
use super::malformed::Answering;
use super::outlet::Outlet;
use super::response_report::ResponseReport;
use super::sending::Joining;
use super::source::{Broken, Source};
use super::write_order::{WriteOrder, Writer};
use crate::limits::{GATHERED_BYTES, HTTP2_STREAMS};
use bytes::Bytes;
use h2::server::{Builder, Connection, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use hyper::body::Frame;
use hyper::header::{ALT_SVC, HeaderMap, HeaderValue, LINK};
use parking_lot::Mutex;
use qlog::streamer::QlogStreamer;
use schedulers::StreamId;
use server::account::{Charge, Held};
use server::limits::LOAD_NUISANCES;
use server::{Event, Options};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::timeout;

impl Upload for RecvStream {
    async fn next(&mut self) -> Result<Option<Frame<Bytes>>, ()> {
        let Some(bytes) = self.data().await else {
            return Ok(self.trailers().await.map_err(drop)?.map(Frame::trailers));
        };
        let bytes = bytes.map_err(drop)?;
        self.flow_control().release_capacity(bytes.len()).map_err(drop)?;
        Ok(Some(Frame::data(bytes)))
    }

    /// If this is dropped after the response was sent, its stream is reset (`NO_ERROR`; RFC 9113, 8.1).
    async fn leave(self, activity: &Arc<Activity>, _: bool) {
        if !self.is_end_stream() {
            tokio::spawn(read_on(self, Arc::clone(activity)));
        }
    }
}

/// Answers the requests of a connection.
pub(super) async fn speak<S>(
    stream: S,
    outlet: &Outlet,
    guest: &Guest,
    log: Option<QlogStreamer>,
    mut news: News,
) -> Result<(), h2::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let order = WriteOrder::new(&guest.options, log);
    let intake = Intake::new(guest.account.clone(), &guest.options, &order);
    let stream = Answering::new(ByTurns::new(stream, &intake), guest.options.wall_clock);
    let announcement = Arc::<Announcement>::default();
    let stream = Joining::new(stream, &announcement);
    let mut connection = builder(&guest.options).handshake(stream).await?;
    let nuisances = Arc::new(Nuisances::new(guest));
    let (mut pings, silence) = (connection.ping_pong(), guest.options.alt_svc_silence);
    let (mut is_ending, mut has_browser) = (false, false);
    loop {
        tokio::select! {
            next = next_request(&mut connection, &intake, &nuisances, &order, outlet) => {
                let Some(next) = next else { return Ok(()) };
                let (request, respond) = next?;
                intake.accepted(respond.stream_id().into(), request.headers().len());
                let writer = order.begin(StreamId(u32::from(respond.stream_id()).into()));
                let browser = OfBrowser::new(&announcement, &request);
                has_browser |= browser.is_some();
                begin(guest, &nuisances, news.clone(), request, respond, writer, browser);
            }
            () = nuisances.too_many.notified() => connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM),
            () = page_loaded(&order, &guest.activity, &announcement, pings.as_mut(), silence),
                if has_browser =>
            {
                has_browser = false;
                announcement.fall_due();
            }
            () = news.reached(Phase::Draining), if !is_ending => {
                is_ending = true;
                guest.activity.drain(now());
                connection.graceful_shutdown();
            }
        }
    }
}

/// Waits for the next request. The connection reads more once all received requests are in progress.
async fn next_request<S>(
    connection: &mut Connection<S, Bytes>,
    intake: &Intake,
    nuisances: &Nuisances,
    order: &WriteOrder,
    outlet: &Outlet,
) -> Option<Result<(hyper::Request<RecvStream>, SendResponse<Bytes>), h2::Error>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|context| {
        let next = pin!(connection.accept()).poll(context);
        if next.is_pending() {
            if let Some(error) = intake.error() {
                connection.abrupt_shutdown(error);
                return connection.poll_closed(context).map(|it| it.err().map(Err));
            }
            order.make_room(outlet, context);
            match intake.end_turn(context) {
                Some(refused) => nuisances.charge(Charge::RefusedHeads, refused),
                None => nuisances.too_many.notify_one(),
            }
        }
        next
    })
    .await
}

/// Starts a task that answers a request. A rejected request leaves nothing behind.
fn begin(
    guest: &Guest,
    nuisances: &Arc<Nuisances>,
    news: News,
    mut request: hyper::Request<RecvStream>,
    respond: SendResponse<Bytes>,
    writer: Writer,
    browser: Option<OfBrowser>,
) {
    let held = guest.admit(request.headers());
    if held.is_none() {
        *request.headers_mut() = HeaderMap::new();
        nuisances.charge(Charge::RefusedHeads, LOAD_NUISANCES);
    }
    let (guest, nuisances) = (guest.clone(), Arc::clone(nuisances));
    // In a box: a task is moved several times, and this one takes kilobytes.
    tokio::spawn(Box::pin(async move {
        if answer_one(&guest, request, held, respond, &writer, news, browser).await
            == End::TakenBack
        {
            nuisances.charge(Charge::Nuisances, 1);
        }
    }));
}

fn builder(options: &Options) -> Builder {
    let limits = &options.limits;
    let window = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX).min(MOST_WINDOW);
    let head_bytes = limits.http3.field_section_bytes;
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(
            u32::try_from(limits.streams).unwrap_or(u32::MAX).min(HTTP2_STREAMS),
        )
        .max_header_list_size(u32::try_from(head_bytes).unwrap_or(u32::MAX))
        .initial_window_size(window(limits.stream_receive_bytes))
        .initial_connection_window_size(window(limits.receive_bytes))
        // A browser that leaves a page cancels as many at once.
        .max_pending_accept_reset_streams(usize::try_from(limits.streams).unwrap_or(usize::MAX))
        .max_send_buffer_size(GATHERED_BYTES);
    if options.websockets {
        builder.enable_connect_protocol();
    }
    builder
}

/// The largest window (RFC 9113, 6.9.1).
const MOST_WINDOW: u32 = (1 << 31) - 1;

#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The connection has all of it, or will not get it.
    Over,
    /// The client took its request back.
    TakenBack,
}

async fn answer_one(
    guest: &Guest,
    request: hyper::Request<RecvStream>,
    held: Option<Held>,
    respond: SendResponse<Bytes>,
    writer: &Writer,
    mut news: News,
    browser: Option<OfBrowser>,
) -> End {
    let (head, upload) = request.into_parts();
    let respond = Mutex::new(respond);
    let ahead = |ahead: Ahead<'_>| match ahead {
        Ahead::Placed(request, response) => writer.place(request, response),
        // It fails only if the client has cancelled the request.
        Ahead::Interim(it) => drop(respond.lock().send_informational(interim(&it))),
    };
    let answer = tokio::select! {
        answer = answer(guest, head, held, upload, ahead) => answer,
        _ = poll_fn(|it| respond.lock().poll_reset(it)) => return End::TakenBack,
    };
    let Answer { mut head, source, mut report } = answer;
    if browser.is_some_and(|it| it.is_withheld(head.status(), &guest.options)) {
        head.headers_mut().remove(ALT_SVC);
    }
    let is_tunnel = report.is_tunnel;
    let ends = source.is_over();
    writer.head(&head, ends);
    let stream = respond.lock().send_response(head, ends);
    let Ok(stream) = stream else { return End::TakenBack };
    if ends {
        report.completed();
        return End::Over;
    }
    tokio::select! {
        end = send(stream, source, &mut report, writer, guest) => end,
        // Dropped, its stream is reset (`CANCEL`).
        () = news.reached(Phase::Draining), if is_tunnel => End::Over,
    }
}

fn interim(interim: &Interim<'_>) -> hyper::Response<()> {
    let (status, links) = match interim {
        Interim::Continue => (hyper::StatusCode::CONTINUE, &[][..]),
        Interim::Hints(links) => (hyper::StatusCode::EARLY_HINTS, *links),
    };
    let mut response = hyper::Response::new(());
    *response.status_mut() = status;
    for link in links.iter().filter_map(|it| HeaderValue::from_str(it).ok()) {
        response.headers_mut().append(LINK, link);
    }
    response
}

/// Sends a body piece by piece. Abandons a client that has no room for a piece within the stalled-response deadline.
async fn send(
    mut stream: SendStream<Bytes>,
    mut source: Source,
    report: &mut ResponseReport,
    writer: &Writer,
    guest: &Guest,
) -> End {
    loop {
        let ready = tokio::select! {
            ready = writer.resting(source.ready()) => ready,
            _ = poll_fn(|it| stream.poll_reset(it)) => return End::TakenBack,
        };
        let sent = match ready {
            Ok(count) => send_piece(&mut stream, &mut source, count, report, writer, guest).await,
            Err(Broken) => return break_off(&mut stream, guest).await,
        };
        match sent {
            Ok(Sent::More) => {}
            Ok(Sent::All) => break report.completed(),
            Ok(Sent::Broken) => return break_off(&mut stream, guest).await,
            Ok(Sent::Overdue) => {
                report.observers.notice(&Event::Overdue);
                return reset(&mut stream, Reason::CANCEL);
            }
            Err(_) => return End::TakenBack,
        }
    }
    End::Over
}

fn reset(stream: &mut SendStream<Bytes>, reason: Reason) -> End {
    stream.send_reset(reason);
    End::Over
}

/// The rest will not arrive. The bytes so far are sent first, because the library would drop them with the reset.
async fn break_off(stream: &mut SendStream<Bytes>, guest: &Guest) -> End {
    // A client that takes nothing does not get them.
    timeout(guest.options.limits.stalled, guest.activity.flushed()).await.ok();
    reset(stream, Reason::INTERNAL_ERROR)
}

/// The progress of a body.
enum Sent {
    More,
    All,
    /// The rest will not arrive.
    Broken,
    /// The client has had no room for too long.
    Overdue,
}

/// Sends `count` bytes when it is the response's turn and the client has room. It reads them only then, so that waiting responses take no
/// memory.
async fn send_piece(
    stream: &mut SendStream<Bytes>,
    source: &mut Source,
    mut count: usize,
    report: &mut ResponseReport,
    writer: &Writer,
    guest: &Guest,
) -> Result<Sent, h2::Error> {
    if count == 0 {
        let trailers = source.trailers();
        if trailers.is_empty() {
            stream.send_data(Bytes::new(), true)?;
        } else {
            stream.send_trailers(trailers)?;
        }
        return Ok(Sent::All);
    }
    while count > 0 {
        let most = tokio::select! {
            most = writer.turn(count) => most,
            reset = poll_fn(|it| stream.poll_reset(it)) => return Err(taken_back(reset)),
        };
        stream.reserve_capacity(most);
        let room = match stream.capacity() {
            0 => {
                writer.rest();
                let room =
                    timeout(guest.options.limits.stalled, poll_fn(|it| poll_room(stream, it)));
                match room.await {
                    Ok(room) => drop(room?),
                    Err(_) => return Ok(Sent::Overdue),
                }
                continue;
            }
            room => room.min(most),
        };
        let bytes = tokio::select! {
            bytes = writer.resting(source.take(room, &guest.waiting)) => bytes,
            reset = poll_fn(|it| stream.poll_reset(it)) => return Err(taken_back(reset)),
        };
        let Ok(bytes) = bytes else { return Ok(Sent::Broken) };
        count -= bytes.len();
        report.took(bytes.len());
        let ends = source.is_over();
        writer.wrote(bytes.len(), ends);
        stream.send_data(bytes, ends)?;
        if ends {
            return Ok(Sent::All);
        }
    }
    Ok(Sent::More)
}

/// The client has cancelled the response.
fn taken_back(reset: Result<Reason, h2::Error>) -> h2::Error {
    reset.map_or_else(|it| it, h2::Error::from)
}

/// Ready when some bytes can be sent, or the client has cancelled the response.
fn poll_room(
    stream: &mut SendStream<Bytes>,
    context: &mut Context<'_>,
) -> Poll<Result<usize, h2::Error>> {
    if let Poll::Ready(reset) = stream.poll_reset(context) {
        return Poll::Ready(Err(taken_back(reset)));
    }
    stream.poll_capacity(context).map(|it| it.unwrap_or_else(|| Err(Reason::CANCEL.into())))
}

/// Charges the client for requests that it cancels after they were passed on, because they cost the site an answer, and for heads that are
/// rejected after decoding.
struct Nuisances {
    guest: Guest,
    too_many: Notify,
}

impl Nuisances {
    fn new(guest: &Guest) -> Self {
        Self { guest: guest.clone(), too_many: Notify::new() }
    }

    fn charge(&self, charge: Charge, count: u64) {
        let Guest { account, options, .. } = &self.guest;
        if count > 0 && !account.spend(charge, count, &options.limits, now()) {
            self.too_many.notify_one();
        }
    }
}
