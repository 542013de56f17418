//! The log of a load over TCP: a qlog with the events that a timeline needs.

use super::now;
use crate::options::log_title;
use crate::play_error::PlayError;
use crate::visit::Visit;
use crate::{HttpVersion, Options};
use corpus::Page;
use http3::log::{Piece, VantagePointType, begin_over_tcp};
use http3::{Header, StreamId};
use qlog::streamer::QlogStreamer;
use std::time::Instant;

/// A log, or none.
pub(super) struct Log {
    streamer: Option<QlogStreamer>,
    created: &'static str,
    parsed: &'static str,
}

impl Log {
    pub(super) fn new(page: &Page, options: &Options) -> Result<Self, PlayError> {
        let title = format!("{}, HTTP/{}", log_title(page), options.http);
        let file = options.create_log()?;
        let streamer = file.map(|it| begin_over_tcp(&title, VantagePointType::Client, now(), it));
        let [created, parsed] = match options.http {
            HttpVersion::Http1 => ["http1:frame_created", "http1:frame_parsed"],
            _ => ["http2:frame_created", "http2:frame_parsed"],
        };
        Ok(Self { streamer, created, parsed })
    }

    /// A request was handed to the transport.
    pub(super) fn asked(&mut self, id: StreamId, fields: &[Header]) {
        http3::log::tcp_head(self.streamer.as_mut(), self.created, id, fields);
    }

    pub(super) fn head(&mut self, id: StreamId, fields: &[Header]) {
        http3::log::tcp_head(self.streamer.as_mut(), self.parsed, id, fields);
    }

    pub(super) fn data(&mut self, id: StreamId, offset: u64, bytes: usize, ends: bool) {
        let piece = Piece { offset, bytes: bytes as u64, ends };
        http3::log::tcp_data(self.streamer.as_mut(), self.parsed, id, piece);
    }

    pub(super) fn navigation(&mut self, page: &Page) {
        http3::log::navigation(self.streamer.as_mut(), &page.name);
    }

    pub(super) fn milestones(&mut self, visit: &mut Visit, now: Instant) {
        visit.log_milestones(self.streamer.as_mut(), now);
    }
}
