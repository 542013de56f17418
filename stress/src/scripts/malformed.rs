//! Connections each of which violates a rule of RFC 9114. The server must close them with that rule's
//! code.

use super::Script;
use crate::client_connection::ClientConnection;
use http3::whole_frame as frame;
use std::fmt::Write;
use std::time::Duration;

/// The bytes on each stream, and the expected code.
struct Case {
    name: &'static str,
    stream: u64,
    bytes: fn() -> Vec<u8>,
    fin: bool,
    code: u64,
}

const CASES: [Case; 8] = [
    case("DATA before HEADERS (4.1)", 0, || frame(0x00, b"x"), false, 0x105),
    case("SETTINGS on a request stream (7.2.4)", 0, || frame(0x04, b""), false, 0x105),
    case("a second SETTINGS frame (7.2.4)", 2, || frame(0x04, b""), false, 0x105),
    case("DATA on the control stream (7.2.1)", 2, || frame(0x00, b"x"), false, 0x105),
    case("the control stream ends (6.2.1)", 2, Vec::new, true, 0x104),
    case(
        "a second control stream (6.2.1)",
        14,
        || [vec![0x00], frame(0x04, b"")].concat(),
        false,
        0x103,
    ),
    case(
        "a head that QPACK cannot decode (RFC 9204, 2.2)",
        0,
        || frame(0x01, &[0x02, 0x00, 0x80]),
        true,
        0x200,
    ),
    case(
        "MAX_PUSH_ID goes down (7.2.7)",
        2,
        || [frame(0x0d, &[9]), frame(0x0d, &[8])].concat(),
        false,
        0x108,
    ),
];

const fn case(
    name: &'static str,
    stream: u64,
    bytes: fn() -> Vec<u8>,
    fin: bool,
    code: u64,
) -> Case {
    Case { name, stream, bytes, fin, code }
}

pub(crate) const CODES: &[u64] = &[0x103, 0x104, 0x105, 0x108, 0x200];

#[derive(Default)]
pub(crate) struct Malformed {
    has_sent: [bool; CASES.len()],
}

impl Script for Malformed {
    fn connections(&self) -> usize {
        CASES.len()
    }

    fn act(&mut self, number: usize, client: &mut ClientConnection, at: Duration) {
        // The attacker's own SETTINGS are sent first.
        if self.has_sent[number] || at < Duration::from_millis(200) {
            return;
        }
        self.has_sent[number] = true;
        let case = &CASES[number];
        client.connection.quic.stream_send(case.stream, &(case.bytes)(), case.fin).ok();
    }

    fn comes_back(&self) -> bool {
        false
    }

    fn complaint(&self, parties: &[&ClientConnection]) -> Option<String> {
        let mut complaint = String::new();
        for (case, client) in CASES.iter().zip(parties) {
            let code = client.closed_with();
            if code != Some(case.code) {
                // Writing to a String cannot fail.
                write!(complaint, "{}: {code:x?}, not {:#x}; ", case.name, case.code).ok();
            }
        }
        (!complaint.is_empty()).then_some(complaint)
    }
}
