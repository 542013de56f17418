//! The reading side of an HTTP/2 connection. It reads a few bytes in each turn, so that other connections have theirs, and so that its
//! requests are counted before the library decodes more. A client whose heads have many fields, which are expensive, gets fewer turns.

use super::activity::now;
use super::frames::Frames;
use super::write_order::WriteOrder;
use crate::limits::{
    FREE_FIELDS, HEAD_TURN_BYTES, LONGEST_REST, REFUSED_BYTES, TURN_BYTES, UNFINISHED_BYTE_BYTES,
    UNFINISHED_HEAD_BYTES,
};
use crate::passes_on::passes_on;
use h2::Reason;
use parking_lot::Mutex;
use server::Options;
use server::account::{Account, Charge, Share};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};
use tokio::time::{Sleep, sleep};

/// The bytes that were read, as far as they are charged.
pub(super) struct Intake {
    account: Account,
    options: Arc<Options>,
    order: Arc<WriteOrder>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    frames: Frames,
    /// Bytes of this turn.
    bytes: usize,
    /// The library has decoded all bytes and wants more.
    wants_more: bool,
    /// For an incomplete head, the number of its bytes that are charged.
    unfinished: Option<(usize, Share)>,
    /// The client has used up its allowance: the connection must end.
    is_spent: bool,
    /// Fields for which the client has not yet been charged.
    owed_fields: usize,
    /// Until it has, nothing is read.
    rest: Option<Pin<Box<Sleep>>>,
}

impl Intake {
    /// Creates an intake. The client's signals about order go to `order`.
    pub(super) fn new(
        account: Account,
        options: &Arc<Options>,
        order: &Arc<WriteOrder>,
    ) -> Arc<Self> {
        let (options, order) = (Arc::clone(options), Arc::clone(order));
        Arc::new(Self { account, options, order, state: Mutex::default() })
    }

    /// The library has passed on a request with `fields` fields.
    pub(super) fn accepted(&self, stream: u32, fields: usize) {
        let mut state = self.state.lock();
        state.frames.accepted(stream);
        state.owed_fields += fields.saturating_sub(FREE_FIELDS);
    }

    /// All received requests are in progress. Returns the charge for heads that the library rejected. `None`: an incomplete head takes more
    /// memory than is available, or the client has sent more fields than its allowance. Wakes the task when the connection may read again.
    pub(super) fn end_turn(&self, context: &mut Context<'_>) -> Option<u64> {
        let mut state = self.state.lock();
        let refused = if state.wants_more { state.frames.refused() } else { 0 };
        let refused_bytes = usize::try_from(refused).map_or(usize::MAX, |it| it * REFUSED_BYTES);
        state.owed_fields = state.owed_fields.saturating_add(refused_bytes);
        if state.rest.is_none() && state.owed_fields > 0 {
            let fields = std::mem::take(&mut state.owed_fields) as u64;
            let (charge, limits) = (Charge::FurtherFields, &self.options.limits);
            let rest = self.account.borrow(charge, fields, LONGEST_REST, limits, now());
            state.is_spent |= rest.is_none();
            state.rest = rest.filter(|it| !it.is_zero()).map(|it| Box::pin(sleep(it)));
        }
        if state.is_rested(context) && std::mem::take(&mut state.bytes) >= HEAD_TURN_BYTES {
            context.waker().wake_by_ref();
        }
        (!state.is_spent).then_some(refused)
    }

    /// Why the connection must end: the client violates the rules for order frames, which the library does not check.
    pub(super) fn error(&self) -> Option<Reason> {
        self.state.lock().frames.error()
    }

    fn came(&self, bytes: &[u8]) {
        let mut state = self.state.lock();
        state.bytes += bytes.len();
        state.wants_more = false;
        state.frames.take(bytes);
        state.frames.signals().for_each(|it| self.order.signalled(it));
        let unfinished = state.frames.unfinished_bytes();
        if state.unfinished.as_ref().map_or(0, |it| it.0) == unfinished {
            return;
        }
        state.unfinished = None;
        if unfinished > 0 {
            let bytes = (unfinished * UNFINISHED_BYTE_BYTES).min(UNFINISHED_HEAD_BYTES);
            let share = self.account.hold(Charge::DecodedHeads, bytes);
            state.is_spent |= share.is_none();
            state.unfinished = share.map(|it| (unfinished, it));
        }
    }
}

impl State {
    /// The number of bytes that may be read in this turn.
    fn left_bytes(&self) -> usize {
        let most = self.frames.payload_bytes().clamp(HEAD_TURN_BYTES, TURN_BYTES);
        most.saturating_sub(self.bytes)
    }

    /// Whether the connection need not pause. Otherwise its task is woken after the pause, and `bytes` is a whole turn until then.
    fn is_rested(&mut self, context: &mut Context<'_>) -> bool {
        let is_over = self.rest.as_mut().is_none_or(|it| it.as_mut().poll(context).is_ready());
        if is_over {
            self.rest = None;
        } else {
            self.bytes = TURN_BYTES;
        }
        is_over
    }
}

/// A stream that is read in turns.
pub(super) struct ByTurns<S> {
    stream: Take<S>,
    intake: Arc<Intake>,
}

impl<S: AsyncRead> ByTurns<S> {
    pub(super) fn new(stream: S, intake: &Arc<Intake>) -> Self {
        Self { stream: stream.take(0), intake: Arc::clone(intake) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ByTurns<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.intake.state.lock().left_bytes();
        let before = buffer.filled().len();
        let read = if left == 0 {
            Poll::Pending
        } else {
            self.stream.set_limit(left as u64);
            Pin::new(&mut self.stream).poll_read(context, buffer)
        };
        match read {
            Poll::Pending => self.intake.state.lock().wants_more = true,
            Poll::Ready(_) => self.intake.came(&buffer.filled()[before..]),
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ByTurns<S> {
    passes_on!(it => *it.stream.get_mut(); poll_write, poll_flush, poll_shutdown);
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::account::Ledger;
    use server::client::Client;
    use std::future::poll_fn;
    use std::task::Waker;

    fn intake() -> Arc<Intake> {
        intake_at(&Ledger::new(), 1)
    }

    fn intake_at(ledger: &Arc<Ledger>, last: u8) -> Arc<Intake> {
        let account = Account::new(ledger, Client::at(Some([192, 0, 2, last].into())));
        let scheme = schedulers::find_scheme("fifo").expect("a scheme");
        let options = Arc::new(Options::new(scheme));
        Intake::new(account, &options, &WriteOrder::new(&options, None))
    }

    #[test]
    fn a_head_owes_its_fields_beyond_the_first_100() {
        let owed = |fields| {
            let intake = intake();
            intake.accepted(1, fields);
            intake.state.lock().owed_fields
        };
        assert_eq!([0, 100, 101, 990].map(owed), [0, 0, 1, 890]);
    }

    #[test]
    fn a_turn_has_1_kib_of_heads_or_4_kib_of_a_body() {
        let turns = |frame: &[u8]| {
            let bytes = [&[0; 24], frame, &[0; 16_000]].concat();
            let intake = intake();
            let mut stream = ByTurns::new(&bytes[..], &intake);
            let mut context = Context::from_waker(Waker::noop());
            [(); 2].map(|()| {
                let mut memory = [0; 8192];
                let mut buffer = ReadBuf::new(&mut memory);
                let mut read = || Pin::new(&mut stream).poll_read(&mut context, &mut buffer);
                while read().is_ready() {}
                intake.end_turn(&mut context);
                buffer.filled().len()
            })
        };
        let [high, low] = 16_000_u16.to_be_bytes();
        assert_eq!(turns(&[0, high, low, 1, 4, 0, 0, 0, 1]), [1024, 1024], "HEADERS");
        assert_eq!(turns(&[0, high, low, 0, 0, 0, 0, 0, 1]), [4096, 4096], "DATA");
    }

    #[tokio::test]
    async fn all_connections_of_a_client_pay_for_their_fields_together() {
        let ledger = Ledger::new();
        let mut context = Context::from_waker(Waker::noop());
        let mut turn = |intake: &Intake, fields: usize| {
            intake.accepted(1, FREE_FIELDS + fields);
            let is_open = intake.end_turn(&mut context).is_some();
            (is_open, intake.state.lock().rest.is_some())
        };
        let all: Vec<_> = (0..4).map(|_| intake_at(&ledger, 1)).collect();
        let fields = [10_000, 890, 98_000, 2_000];
        let turns: Vec<_> = all.iter().zip(fields).map(|(it, fields)| turn(it, fields)).collect();
        assert_eq!(turns, [(true, false), (true, true), (true, true), (false, false)]);
        assert_eq!(turn(&intake_at(&ledger, 2), 890), (true, false));
    }

    #[tokio::test]
    async fn a_connection_that_rests_is_woken_to_read_again() {
        let intake = intake();
        intake.accepted(1, 30_100);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(intake.end_turn(&mut context), Some(0));
        assert_eq!(intake.state.lock().bytes, TURN_BYTES, "nothing is read");
        poll_fn(|context| {
            intake.end_turn(context);
            if intake.state.lock().bytes == 0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        assert!(intake.state.lock().rest.is_none());
    }
}
