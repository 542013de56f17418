//! The ends in a log: closes of its connection, and streams that an end gave up.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::collect::Collector;
use super::event::{body, text};
use super::http3::kept;
use super::quic::{Direction, Frame, number_in};
use crate::closing::{Closing, Closings, ErrorCode, GivenUp, How};
use crate::limits;

/// `connection_closed`, with the names of all drafts and of Chromium.
#[derive(Deserialize)]
struct Closed<'a> {
    #[serde(borrow, alias = "initiator")]
    owner: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "connection_error")]
    connection_code: Option<&'a RawValue>,
    #[serde(borrow, alias = "application_error")]
    application_code: Option<&'a RawValue>,
    #[serde(borrow)]
    error_code: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    trigger: Option<Cow<'a, str>>,
}

/// An error code that is a number in one of these places, or a name in the second.
fn error(
    is_application: Option<bool>,
    number: Option<&RawValue>,
    name: Option<&RawValue>,
) -> ErrorCode {
    let code = number.and_then(number_in).or_else(|| name.and_then(number_in));
    let texts = [name, number].into_iter().flatten();
    let text = texts.filter_map(text).find(|it| it.parse::<u64>().is_err());
    ErrorCode::new(is_application, code, text.as_deref())
}

fn said(reason: Option<&str>) -> Option<String> {
    reason.filter(|it| !it.is_empty()).map(kept)
}

impl Collector {
    /// A frame of a packet that may end the connection or a stream.
    pub(super) fn ends(&mut self, time_us: u64, frame: &Frame<'_>, direction: Direction) {
        let is_own = direction == Direction::Sent;
        if frame.is("connection_close") {
            let reason = said(frame.reason.and_then(text).as_deref());
            let error = error(frame.is_of_application(), frame.error_code, frame.error);
            self.text_bytes += reason.as_ref().map_or(0, String::len);
            let (is_own, how) = (Some(is_own), How::Closed);
            let closing = Closing { time_us, is_own, how, error, reason };
            self.closings().frame.get_or_insert(closing);
            return;
        }
        let is_stop = frame.is("stop_sending");
        let is_reset = frame.is("reset_stream") || frame.is("rst_stream");
        let Some(stream) = frame.stream_id().filter(|_| is_stop || is_reset) else { return };
        let streams = &mut self.closings().streams;
        let error = error(Some(true), frame.error_code, frame.error);
        let is_first = streams.get(&stream).is_none_or(|it| !it.error.is_error());
        if is_first && streams.len() < limits::SIGNALS {
            streams.insert(stream, GivenUp { time_us, is_own, is_stop, error });
            self.moments_kept += 1;
        }
    }

    /// The connection ended. Events with an unreadable body are ignored, because stacks have other contents.
    pub(super) fn connection_closed(&mut self, time_us: u64, data: &[u8]) {
        let Ok(closed) = body::<Closed<'_>>(data) else { return };
        let how = closed.trigger.and_then(|it| How::named(&it.to_ascii_lowercase()));
        let is_own = closed.owner.map(|it| it == "local");
        let is_application = match (closed.connection_code, closed.application_code) {
            (Some(_), _) => Some(false),
            (None, Some(_)) => Some(true),
            (None, None) => None,
        };
        let name = closed.connection_code.or(closed.application_code);
        let error = error(is_application, closed.error_code, name);
        let reason = said(closed.reason.as_deref());
        self.text_bytes += reason.as_ref().map_or(0, String::len);
        let closing = Closing { time_us, is_own, how: how.unwrap_or_default(), error, reason };
        self.closings().event.get_or_insert(closing);
    }

    /// A packet that ends the connection because the other end has lost its state.
    pub(super) fn stateless_reset(&mut self, time_us: u64) {
        let (is_own, how) = (Some(false), How::StatelessReset);
        let closing = Closing { time_us, is_own, how, ..Closing::default() };
        self.closings().event.get_or_insert(closing);
    }

    fn closings(&mut self) -> &mut Closings {
        &mut self.trace.closings
    }
}
