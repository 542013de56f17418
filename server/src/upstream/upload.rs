//! The body of a request on its way to the backend.

use super::exchange::Exchange;
use super::patience::Patience;
use super::trouble::Trouble;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The body of a request as the HTTP library reads it. A client that is too slow ends the exchange.
pub(super) struct Upload {
    exchange: Arc<Exchange>,
    /// The bytes to come, if that is known.
    length: Option<u64>,
    patience: Patience,
    waiting: Option<Waiting>,
}

struct Waiting {
    since: Instant,
    until: Pin<Box<Sleep>>,
}

impl Upload {
    /// A body of this length. A client may stand still for `idle`.
    pub(super) fn new(exchange: &Arc<Exchange>, length: Option<u64>, idle: Duration) -> Self {
        let (exchange, patience) = (Arc::clone(exchange), Patience::new(idle));
        Self { exchange, length, patience, waiting: None }
    }

    /// Waits for the client; ready when it has been too slow.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let left = self.patience.left();
        let begin = || Waiting { since: Instant::now(), until: Box::pin(sleep(left)) };
        self.waiting.get_or_insert_with(begin).until.as_mut().poll(context)
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Trouble;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Trouble>>> {
        let Poll::Ready(frame) = self.exchange.poll_upload(context) else {
            ready!(self.poll_patience(context));
            self.exchange.stop(Trouble::ClientSlow);
            return Poll::Ready(Some(Err(Trouble::ClientSlow)));
        };
        if let Some(waiting) = self.waiting.take() {
            self.patience.waited(waiting.since.elapsed());
        }
        let Some(frame) = frame else {
            self.length = Some(0);
            return Poll::Ready(None);
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
