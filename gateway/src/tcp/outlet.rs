//! The socket of a connection, which can also report whether the system accepts more at the moment.

use crate::passes_on::passes_on;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::SockRef;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// The writing half of a socket, and the number of bytes that wait for it.
pub(super) struct Outlet {
    half: OwnedWriteHalf,
    unsent_bytes: Arc<AtomicUsize>,
}

impl Outlet {
    /// TLS bytes that the system does not have yet.
    pub(super) fn unsent_bytes(&self) -> usize {
        self.unsent_bytes.load(Ordering::Relaxed)
    }

    /// The counter that TLS updates.
    pub(super) fn count(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.unsent_bytes)
    }

    /// Ready if the system accepts more now. The runtime alone cannot tell, because it only remembers that the system
    /// accepted something earlier.
    pub(super) fn poll_writable(&self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            // The next write reports the failure.
            if ready!(self.socket().poll_write_ready(context)).is_err() {
                return Poll::Ready(());
            }
            match self.socket().try_io(Interest::WRITABLE, || is_writable(self.socket())) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                _ => return Poll::Ready(()),
            }
        }
    }

    fn socket(&self) -> &TcpStream {
        self.half.as_ref()
    }
}

fn is_writable(socket: &TcpStream) -> io::Result<()> {
    let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    match poll(&mut polled, PollTimeout::ZERO)? {
        0 => Err(ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}

pub(super) struct Socket {
    half: OwnedReadHalf,
    outlet: Arc<Outlet>,
}

impl Socket {
    pub(super) fn new(socket: TcpStream) -> Self {
        let (half, writing) = socket.into_split();
        let outlet = Outlet { half: writing, unsent_bytes: Arc::default() };
        Self { half, outlet: Arc::new(outlet) }
    }

    pub(super) fn outlet(&self) -> Arc<Outlet> {
        Arc::clone(&self.outlet)
    }
}

impl AsyncRead for Socket {
    passes_on!(it => it.half; poll_read);
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let socket = self.outlet.socket();
        loop {
            ready!(socket.poll_write_ready(context))?;
            match socket.try_write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(self.outlet.socket()).shutdown(Shutdown::Write))
    }
}
