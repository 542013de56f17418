//! Attackers over TCP: a thread for each connection.

use super::tcp_stream::{Stream, connect};
use super::{Target, now};
use crate::outcome::Attacked;
use crate::scripts::over_tcp::{Asked, GoAway, HTTP_2, MakeScript, TcpScript};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// Carries out an attack with this number of connections from `start` on.
pub(super) fn attack(
    target: &Target,
    make: MakeScript,
    connections: usize,
    start: Instant,
    length: Duration,
) -> Attacked {
    let end = start + length;
    std::thread::scope(|scope| {
        std::thread::sleep(start.saturating_duration_since(now()));
        let threads: Vec<_> = (0..target.sized(connections))
            .map(|_| scope.spawn(move || attack_once_and_again(target, make, end)))
            .collect();
        let mut memory_most = None;
        while now() < end {
            memory_most = memory_most.max(target.memory());
            std::thread::sleep(PAUSE);
        }
        let mut codes = BTreeMap::new();
        for code in threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()) {
            *codes.entry(code).or_default() += 1;
        }
        Attacked { codes, memory_most, ..Attacked::default() }
    })
}

/// One attacker. Returns the codes with which the server closed its connections.
fn attack_once_and_again(target: &Target, make: MakeScript, end: Instant) -> Vec<u64> {
    let mut codes = Vec::new();
    while now() < end {
        let mut script = make(Asked { authority: &target.authority, path: target.path() });
        match connect(target, script.protocol()) {
            Ok(stream) if script.stays() => {
                codes.extend(attack_on(stream, script.as_mut(), end));
            }
            Ok(_) => continue,
            // A server that does not accept it defends itself.
            Err(_) => {}
        }
        std::thread::sleep(PAUSE);
    }
    codes
}

/// Drives one connection until it or the attack ends.
fn attack_on(mut stream: Stream, script: &mut dyn TcpScript, end: Instant) -> Option<u64> {
    let (begin, mut goaway) = (now(), GoAway::default());
    let (mut unsent, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    stream.tcp().set_nonblocking(true).ok()?;
    while now() < end {
        if unsent.is_empty() {
            unsent = script.next(now() - begin);
        }
        let sent = if unsent.is_empty() { Ok(0) } else { stream.write(&unsent) };
        let came = if script.reads() {
            stream.read(&mut buffer)
        } else {
            Err(ErrorKind::WouldBlock.into())
        };
        let (sent, came) = (patient(sent), patient(came));
        if let Ok(Some(bytes)) = came
            && script.protocol() == Some(HTTP_2)
        {
            // The bytes before the end may show why.
            goaway.take(&buffer[..bytes]);
        }
        let (Ok(sent), Ok(came)) = (sent, came) else { break };
        if came == Some(0) {
            break;
        }
        unsent.drain(..sent.unwrap_or(0));
        std::thread::sleep(TURN);
    }
    goaway.code
}

/// The result of a non-blocking call; `None`: not now.
pub(super) fn patient(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(None)
        }
        done => done.map(Some),
    }
}

/// The pause between two connections of an attacker, and between two memory readings.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause between two turns of an attacker.
const TURN: Duration = Duration::from_millis(2);
