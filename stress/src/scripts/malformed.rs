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
    Case {
        name: "DATA before HEADERS (4.1)",
        stream: 0,
        bytes: || frame(0x00, b"x"),
        fin: false,
        code: 0x105,
    },
    Case {
        name: "SETTINGS on a request stream (7.2.4)",
        stream: 0,
        bytes: || frame(0x04, b""),
        fin: false,
        code: 0x105,
    },
    Case {
        name: "a second SETTINGS frame (7.2.4)",
        stream: 2,
        bytes: || frame(0x04, b""),
        fin: false,
        code: 0x105,
    },
    Case {
        name: "DATA on the control stream (7.2.1)",
        stream: 2,
        bytes: || frame(0x00, b"x"),
        fin: false,
        code: 0x105,
    },
    Case {
        name: "the control stream ends (6.2.1)",
        stream: 2,
        bytes: Vec::new,
        fin: true,
        code: 0x104,
    },
    Case {
        name: "a second control stream (6.2.1)",
        stream: 14,
        bytes: || [vec![0x00], frame(0x04, b"")].concat(),
        fin: false,
        code: 0x103,
    },
    Case {
        name: "a head that QPACK cannot decode (RFC 9204, 2.2)",
        stream: 0,
        bytes: || frame(0x01, &[0x02, 0x00, 0x80]),
        fin: true,
        code: 0x200,
    },
    Case {
        name: "MAX_PUSH_ID goes down (7.2.7)",
        stream: 2,
        bytes: || [frame(0x0d, &[9]), frame(0x0d, &[8])].concat(),
        fin: false,
        code: 0x108,
    },
];

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
