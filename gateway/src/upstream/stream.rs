//! A connection to a backend that can still be read after writing fails.
//!
//! A backend may answer before the end of a request, and close. Bytes written after that are useless, but its answer is
//! not. The HTTP library stops reading after a failed write, so no write fails: reading detects that the backend has
//! disconnected.

use crate::passes_on::passes_on;
use std::io::{ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub(super) struct Stream(pub(super) TcpStream);

/// Pretends that a disconnected backend has taken everything.
fn taken(written: Poll<Result<usize>>, bytes: usize) -> Poll<Result<usize>> {
    match written {
        Poll::Ready(Err(error))
            if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
        {
            Poll::Ready(Ok(bytes))
        }
        written => written,
    }
}

impl AsyncRead for Stream {
    passes_on!(it => it.0; poll_read);
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        taken(Pin::new(&mut self.0).poll_write(context, bytes), bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let bytes = parts.iter().map(|it| it.len()).sum();
        taken(Pin::new(&mut self.0).poll_write_vectored(context, parts), bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    passes_on!(it => it.0; poll_flush, poll_shutdown);
}
