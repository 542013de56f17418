//! The body of a request on its way to the backend.

use super::patience::Patience;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use server::site::{BackendFailure, Exchange, UploadPiece};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The body of a request, for the HTTP library. A client that is too slow ends the exchange, until the backend answers: from then
/// on both ends may take turns, and the code that passes the response on monitors whether bytes still move.
pub(super) struct Upload {
    exchange: Arc<Exchange>,
    /// The remaining bytes, if known.
    length: Option<u64>,
    patience: Patience,
    waiting: Option<Waiting>,
}

struct Waiting {
    since: Instant,
    until: Pin<Box<Sleep>>,
}

impl Upload {
    /// A body of this length. A client may pause for `idle`.
    pub(super) fn new(exchange: &Arc<Exchange>, length: Option<u64>, idle: Duration) -> Self {
        let (exchange, patience) = (Arc::clone(exchange), Patience::new(idle));
        Self { exchange, length, patience, waiting: None }
    }

    /// Waits for the client; ready when it was too slow.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let left = self.patience.left();
        let begin = || Waiting { since: Instant::now(), until: Box::pin(sleep(left)) };
        self.waiting.get_or_insert_with(begin).until.as_mut().poll(context)
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BackendFailure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BackendFailure>>> {
        let Poll::Ready(piece) = self.exchange.poll_upload(context) else {
            if self.exchange.is_over() {
                // The connection to the backend ends with it.
                return Poll::Ready(Some(Err(BackendFailure::ClientGone)));
            }
            if self.exchange.is_answered() {
                return Poll::Pending;
            }
            ready!(self.poll_patience(context));
            self.exchange.stop(BackendFailure::ClientSlow);
            return Poll::Ready(Some(Err(BackendFailure::ClientSlow)));
        };
        if let Some(waiting) = self.waiting.take() {
            self.patience.waited(waiting.since.elapsed());
        }
        let Some(piece) = piece else {
            self.length = Some(0);
            return Poll::Ready(None);
        };
        let frame = match piece {
            UploadPiece::Bytes(bytes) => Frame::data(bytes),
            UploadPiece::Trailers(fields) => Frame::trailers(fields),
        };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        self.patience.moved(bytes);
        self.length = self.length.map(|it| it.saturating_sub(bytes as u64));
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.length == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::site::Response;
    use std::future::poll_fn;

    /// The body of a client that sends nothing although it may not pause.
    fn of_silent_client(happened: impl FnOnce(&Exchange)) -> Upload {
        let exchange = Exchange::new(false, u64::MAX);
        happened(&exchange);
        Upload::new(&exchange, None, Duration::ZERO)
    }

    async fn end(mut upload: Upload) -> Option<BackendFailure> {
        poll_fn(|it| Pin::new(&mut upload).poll_frame(it)).await?.err()
    }

    #[tokio::test]
    async fn a_client_that_sends_nothing_is_too_slow_only_until_the_backend_answers() {
        assert_eq!(end(of_silent_client(|_| {})).await, Some(BackendFailure::ClientSlow));
        let mut answered = of_silent_client(|it| it.answer(Response::empty(200)));
        let next = poll_fn(|it| Poll::Ready(Pin::new(&mut answered).poll_frame(it).is_ready()));
        assert!(!next.await);
        assert!(answered.waiting.is_none(), "its time runs");
    }

    #[tokio::test]
    async fn a_body_without_an_end_ends_with_its_response() {
        let answered = of_silent_client(|exchange| {
            exchange.answer(Response::empty(200));
            exchange.finish(Ok(hyper::HeaderMap::new()));
        });
        assert_eq!(end(answered).await, Some(BackendFailure::ClientGone));
    }
}
