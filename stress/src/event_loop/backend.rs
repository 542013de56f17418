//! The backend behind the attacked server, on the attackers' side: a thread for each connection.

use super::over_tcp::patient;
use super::{StressError, now};
use crate::limits::{GARBAGE_EACH, HEAD_BYTES};
use crate::scripts::tunnels::{Talk, Then, garbage, reply};
use parking_lot::Mutex;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// A backend that listens until it is dropped.
#[derive(Debug)]
pub(super) struct Backend(Arc<State>);

#[derive(Debug, Default)]
struct State {
    talk: Mutex<Talk>,
    /// WebSockets that it was asked for.
    asked: AtomicUsize,
    is_over: AtomicBool,
}

/// The interval between checks whether it is over.
const TICK: Duration = Duration::from_millis(10);

impl Backend {
    pub(super) fn start(address: SocketAddr) -> Result<Self, StressError> {
        let listener = bound(address).map_err(|cause| StressError::Backend { address, cause })?;
        let state = Arc::<State>::default();
        let kept = Arc::clone(&state);
        std::thread::spawn(move || listen(&listener, &kept));
        Ok(Self(state))
    }

    /// Sets its treatment of WebSockets from now on.
    pub(super) fn talk(&self, talk: Talk) {
        *self.0.talk.lock() = talk;
    }

    /// The number of WebSocket requests.
    pub(super) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

impl State {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn reply(&self, head: &str) -> (Vec<u8>, Then) {
        let talk = *self.talk.lock();
        let (said, then, is_tunnel) = reply(head, talk);
        self.asked.fetch_add(usize::from(is_tunnel), Ordering::Relaxed);
        (said, then)
    }
}

fn listen(listener: &TcpListener, state: &Arc<State>) {
    while !state.is_over() {
        let Ok((stream, _)) = listener.accept() else {
            std::thread::sleep(TICK);
            continue;
        };
        let state = Arc::clone(state);
        // Connection failures are the server's concern.
        std::thread::spawn(move || serve(stream, &state).ok());
    }
}

fn serve(mut stream: TcpStream, state: &State) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GARBAGE_EACH))?;
    stream.set_write_timeout(Some(GARBAGE_EACH))?;
    let mut unread = Vec::new();
    while let Some(head) = head(&mut stream, &mut unread, state)? {
        let (said, then) = state.reply(&head);
        stream.write_all(&said)?;
        if then != Then::Next {
            return go_on(&mut stream, then, state);
        }
    }
    Ok(())
}

fn bound(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The next head; `None` if there is none.
fn head(stream: &mut TcpStream, unread: &mut Vec<u8>, state: &State) -> io::Result<Option<String>> {
    let mut buffer = [0; 4096];
    while !state.is_over() && unread.len() < HEAD_BYTES {
        if let Some(end) = unread.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = unread.drain(..end + 4).collect();
            return Ok(String::from_utf8(head).ok());
        }
        match patient(stream.read(&mut buffer))? {
            Some(0) => return Ok(None),
            count => unread.extend(&buffer[..count.unwrap_or(0)]),
        }
    }
    Ok(None)
}

/// Reads until the server closes, and sends garbage meanwhile if requested.
fn go_on(stream: &mut TcpStream, then: Then, state: &State) -> io::Result<()> {
    let (mut buffer, garbage, mut next) = ([0; 4096], garbage(), now());
    while !state.is_over() && patient(stream.read(&mut buffer))? != Some(0) {
        if then == Then::Babble && now() >= next {
            next = now() + GARBAGE_EACH;
            patient(stream.write(&garbage))?;
        }
    }
    Ok(())
}
