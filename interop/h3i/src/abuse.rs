//! Priority frames that no client may send, each with the error that the RFCs name for it.

use h3i::actions::h3::{Action, send_headers_frame};
use h3i::client::sync_client::connect;
use h3i::quiche::h3::Header;

use crate::{AnyError, CONTROL, Options, bytes, close, open_control, wait_ms};

const FRAME_UNEXPECTED: u64 = 0x105;
const FRAME_ERROR: u64 = 0x106;
const EXCESSIVE_LOAD: u64 = 0x107;
const ID_ERROR: u64 = 0x108;
const GENERAL_PROTOCOL_ERROR: u64 = 0x101;

/// PRIORITY_UPDATE of a request: type 0xf0700; of a push: 0xf0701 (RFC 9218, 7.2).
const OF_REQUEST: [u8; 4] = [0x80, 0x0f, 0x07, 0x00];
const OF_PUSH: [u8; 4] = [0x80, 0x0f, 0x07, 0x01];

struct Case {
    name: &'static str,
    code: u64,
    stream: u64,
    bytes: fn() -> Vec<u8>,
}

const CASES: [Case; 11] = [
    Case {
        name: "on a request stream",
        code: FRAME_UNEXPECTED,
        stream: 0,
        bytes: || frame(OF_REQUEST, b"\x00u=0"),
    },
    Case {
        name: "push on a request stream",
        code: FRAME_UNEXPECTED,
        stream: 0,
        bytes: || frame(OF_PUSH, b"\x00u=0"),
    },
    Case {
        name: "of a server's stream",
        code: ID_ERROR,
        stream: CONTROL,
        bytes: || frame(OF_REQUEST, b"\x01u=0"),
    },
    Case {
        name: "of a control stream",
        code: ID_ERROR,
        stream: CONTROL,
        bytes: || frame(OF_REQUEST, b"\x02u=0"),
    },
    Case {
        name: "of a server's push stream",
        code: ID_ERROR,
        stream: CONTROL,
        bytes: || frame(OF_REQUEST, b"\x03u=0"),
    },
    // Stream ID 2^62 - 4, as eight bytes.
    Case {
        name: "beyond the stream limit",
        code: ID_ERROR,
        stream: CONTROL,
        bytes: || frame(OF_REQUEST, b"\xff\xff\xff\xff\xff\xff\xff\xfcu=0"),
    },
    Case {
        name: "push ID above the maximum",
        code: ID_ERROR,
        stream: CONTROL,
        bytes: || [&[0x0d, 1, 3][..], &frame(OF_PUSH, b"\x09u=0")].concat(),
    },
    Case {
        name: "push never promised",
        code: ID_ERROR,
        stream: CONTROL,
        bytes: || [&[0x0d, 1, 3][..], &frame(OF_PUSH, b"\x02u=0")].concat(),
    },
    Case {
        name: "without an ID",
        code: FRAME_ERROR,
        stream: CONTROL,
        bytes: || frame(OF_REQUEST, b""),
    },
    Case {
        name: "not a structured field",
        code: GENERAL_PROTOCOL_ERROR,
        stream: CONTROL,
        bytes: || frame(OF_REQUEST, b"\x00u=;;("),
    },
    // Its length is 2^30 - 1; of the payload comes only the ID.
    Case {
        name: "over-long",
        code: EXCESSIVE_LOAD,
        stream: CONTROL,
        bytes: || [&OF_REQUEST[..], b"\xbf\xff\xff\xff\x00"].concat(),
    },
];

/// Sends one case and prints the code that the connection was closed with, in hexadecimal.
pub(crate) fn abuse(options: &Options) -> Result<(), AnyError> {
    if options.get("--list").is_ok() {
        for case in &CASES {
            println!("{:#x} {}", case.code, case.name);
        }
        return Ok(());
    }
    let name = options.get("--case")?;
    let case = CASES.iter().find(|it| it.name == name).ok_or(format!("no case `{name}`"))?;
    let summary =
        connect(options.config()?, actions(case), None).map_err(|error| format!("{error:?}"))?;
    let error =
        summary.conn_close_details.peer_error().ok_or("the server did not close the connection")?;
    println!("{:#x} {}", error.error_code, String::from_utf8_lossy(&error.reason));
    Ok(())
}

/// A request is under way when the frame comes.
fn actions(case: &Case) -> Vec<Action> {
    let headers = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "localhost"),
        (":path", "/1m.bin"),
    ];
    let headers = headers.map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
    let mut actions: Vec<Action> = open_control().into();
    actions.push(send_headers_frame(0, false, headers.to_vec()));
    actions.push(bytes(case.stream, (case.bytes)()));
    actions.extend([wait_ms(1000), close()]);
    actions
}

/// A frame whose payload is shorter than 64 bytes.
fn frame(kind: [u8; 4], payload: &[u8]) -> Vec<u8> {
    [&kind[..], &[payload.len() as u8], payload].concat()
}
