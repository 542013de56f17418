//! Attackers that let the server wait.

use super::{Script, open_requests};
use crate::client_connection::{ClientConnection, config};
use crate::files::File;
use connection::ClientConfig;
use http3::StreamId;
use std::time::Duration;

/// Unread responses, of all files in turn, each with credit for one byte.
pub(crate) struct UnreadResponses(pub(crate) Vec<File>);

impl Script for UnreadResponses {
    fn config(&self) -> ClientConfig {
        ClientConfig { stream_receive_bytes: 1, windows_grow: false, ..config() }
    }

    fn act(&mut self, _number: usize, client: &mut ClientConnection, _at: Duration) {
        client.reads = false;
        for file in self.0.iter().cycle().take(200) {
            let next = (client.opened + 1).min(200);
            let fields = client.get(&file.path, &[]);
            open_requests(client, next, &fields, true);
        }
    }
}

/// Heads that never end.
#[derive(Default)]
pub(crate) struct SlowHeads {
    /// When the next byte is sent.
    next: Duration,
}

/// The beginning of a HEADERS frame of 8,000 bytes.
const HEAD_BEGINS: [u8; 3] = [0x01, 0x5f, 0x40];

impl Script for SlowHeads {
    fn act(&mut self, number: usize, client: &mut ClientConnection, at: Duration) {
        while client.opened < 200 {
            let stream = client.opened * 4;
            if client.connection.quic.stream_send(stream, &HEAD_BEGINS, false).is_err() {
                break;
            }
            client.opened += 1;
        }
        if at >= self.next {
            for stream in 0..client.opened {
                client.connection.quic.stream_send(stream * 4, &[0], false).ok();
            }
            if number + 1 == self.connections() {
                self.next = at + Duration::from_millis(200);
            }
        }
    }
}

/// Bodies that never end.
pub(crate) struct EndlessUploads;

impl Script for EndlessUploads {
    fn act(&mut self, _number: usize, client: &mut ClientConnection, _at: Duration) {
        let fields = client.request("POST", "/", &[("content-length", "1000000")]);
        open_requests(client, 100, &fields, false);
        for stream in 0..client.opened {
            let stream = StreamId(stream * 4);
            if !client.has_begun.insert(stream) {
                continue;
            }
            let frame = http3::data_frame_header(1_000_000);
            client.connection.quic.stream_send(stream.0, &frame, false).ok();
        }
    }
}
