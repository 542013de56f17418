//! A session of `WebDriver` `BiDi` (W3C): commands and events as JSON over a WebSocket.

use super::requests::Progress;
use crate::browser::Trouble;
use crate::limits::{LOAD_MAX, LOG_EVENTS_MAX, STEP, TRACE_BYTES_MAX};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

const EVENTS: [&str; 4] = [
    "network.beforeRequestSent",
    "network.responseCompleted",
    "network.fetchError",
    "browsingContext.load",
];

pub(super) struct Session {
    socket: WebSocket<TcpStream>,
    next: u64,
    events: Vec<Value>,
}

impl Session {
    /// Begins a session with the browser that listens on this port of this machine.
    pub(super) fn begin(port: u16) -> Result<Self, Trouble> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(TRACE_BYTES_MAX))
            .max_frame_size(Some(TRACE_BYTES_MAX));
        let url = format!("ws://127.0.0.1:{port}/session");
        let (socket, _) = tungstenite::client::client_with_config(url, stream, Some(config))
            .map_err(|error| error.to_string())?;
        socket.get_ref().set_read_timeout(Some(STEP))?;
        let mut session = Self { socket, next: 0, events: Vec::new() };
        let wanted = json!({"capabilities": {"alwaysMatch": {"acceptInsecureCerts": true}}});
        session.call("session.new", &wanted)?;
        session.call("session.subscribe", &json!({"events": EVENTS}))?;
        Ok(session)
    }

    /// Executes a command, and returns its result. Keeps events that arrive before the result.
    pub(super) fn call(&mut self, method: &str, parameters: &Value) -> Result<Value, Trouble> {
        self.next += 1;
        let command = json!({"id": self.next, "method": method, "params": parameters});
        self.socket.send(Message::text(command.to_string()))?;
        let mut waited = Duration::ZERO;
        while waited < LOAD_MAX {
            let Some(mut message) = self.read()? else {
                waited += STEP;
                continue;
            };
            if message["id"] != self.next {
                self.keep(message);
            } else if message["type"] == "success" {
                return Ok(message["result"].take());
            } else {
                return Err(format!("{method}: {}", message["message"]).into());
            }
        }
        Err(format!("{method}: no answer within {} s", LOAD_MAX.as_secs()).into())
    }

    /// Waits until the load event has fired and nothing has been in progress for this time, or until the deadline.
    pub(super) fn listen(&mut self, silence: Duration) -> Result<(), Trouble> {
        let (mut waited, mut calm) = (Duration::ZERO, Duration::ZERO);
        let mut progress = Progress::default();
        let mut seen = 0;
        while waited < LOAD_MAX && self.events.len() < LOG_EVENTS_MAX {
            for event in &self.events[seen..] {
                progress.take(event);
            }
            seen = self.events.len();
            if let Some(message) = self.read()? {
                calm = Duration::ZERO;
                self.keep(message);
            } else {
                waited += STEP;
                calm = if progress.is_idle() { calm + STEP } else { Duration::ZERO };
            }
            if calm >= silence {
                break;
            }
        }
        Ok(())
    }

    /// The events since [`Self::forget`].
    pub(super) fn events(&self) -> &[Value] {
        &self.events
    }

    pub(super) fn forget(&mut self) {
        self.events.clear();
    }

    fn keep(&mut self, message: Value) {
        if self.events.len() < LOG_EVENTS_MAX {
            self.events.push(message);
        }
    }

    /// The next message; `None` if none arrives within [`STEP`].
    fn read(&mut self) -> Result<Option<Value>, Trouble> {
        match self.socket.read() {
            Ok(Message::Text(text)) => Ok(Some(serde_json::from_str(&text)?)),
            Ok(_) => Ok(None),
            Err(Error::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
