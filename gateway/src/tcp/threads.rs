//! The threads of the connections over TCP. A connection stays on the thread that had the fewest when it arrived. So a client
//! with many connections is on all threads, and can use all of them; but it has one account, whichever thread serves it.

use super::event_loop::{News, Phase};
use crate::limits::TURN_TASKS;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use tokio::runtime::{Builder as RuntimeBuilder, Handle, Runtime};

/// The threads, for distributing connections.
#[derive(Clone)]
pub(super) struct Threads(Arc<[Arc<Thread>]>);

struct Thread {
    runtime: Handle,
    /// Its connections.
    open: AtomicUsize,
}

impl Threads {
    pub(super) fn of<'a>(runtimes: impl Iterator<Item = &'a Runtime>) -> Self {
        let threads = runtimes.map(|it| Thread { runtime: it.handle().clone(), open: 0.into() });
        Self(threads.map(Arc::new).collect())
    }

    pub(super) fn open(&self) -> usize {
        self.0.iter().map(|it| it.open.load(Ordering::SeqCst)).sum()
    }

    /// Serves a connection on the thread with the fewest.
    pub(super) fn serve(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let fewest = self.0.iter().min_by_key(|it| it.open.load(Ordering::SeqCst));
        let Some(thread) = fewest else { return };
        let open = Open::on(thread);
        thread.runtime.spawn(async move {
            connection.await;
            drop(open);
        });
    }
}

/// Counts a connection of a thread.
struct Open(Arc<Thread>);

impl Open {
    fn on(thread: &Arc<Thread>) -> Self {
        thread.open.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(thread))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) fn runtime() -> io::Result<Runtime> {
    RuntimeBuilder::new_current_thread().event_interval(TURN_TASKS).enable_all().build()
}

pub(super) fn start(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name("tcp".to_owned()).spawn(work)
}

/// Starts a thread that serves its connections until the server ends.
pub(super) fn start_further(runtime: Runtime, mut news: News) -> io::Result<JoinHandle<()>> {
    start(move || runtime.block_on(news.reached(Phase::Over)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    #[test]
    fn a_connection_goes_to_the_thread_that_has_the_fewest() {
        let runtimes = [runtime(), runtime()].map(|it| it.expect("a runtime"));
        let threads = Threads::of(runtimes.iter());
        let open = || threads.0.iter().map(|it| it.open.load(Ordering::SeqCst)).collect::<Vec<_>>();
        threads.serve(pending());
        threads.serve(async {});
        threads.serve(pending());
        assert_eq!(open(), [2, 1]);
        runtimes[1].block_on(tokio::task::yield_now());
        assert_eq!(open(), [2, 0]);
        threads.serve(pending());
        threads.serve(pending());
        assert_eq!((open(), threads.open()), (vec![2, 2], 4));
        drop(runtimes);
        assert_eq!(threads.open(), 0);
    }
}
