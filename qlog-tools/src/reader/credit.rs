//! Facts about the connection in a log: its side, its names, its flow control, the end of its handshake, and what held our
//! server back.

use std::borrow::Cow;

use schedulers::Restraint;
use serde::Deserialize;

use super::collect::Collector;
use super::event::body;
use super::http3::kept;
use super::quic::{Direction, Frame, Packet};
use super::tolerant::Whole;
use crate::flow_control::raise;
use crate::limits;
use crate::packet::Space;
use crate::trace::{Detail, Validation, Vantage};

/// `parameters_set`.
#[derive(Deserialize)]
struct Parameters<'a> {
    #[serde(borrow)]
    original_destination_connection_id: Option<Cow<'a, str>>,
    /// After a Retry, the server's log may identify the connection only by the Retry's ID (RFC 9000, 7.3).
    #[serde(borrow)]
    retry_source_connection_id: Option<Cow<'a, str>>,
    /// The end that set them, from the log's point of view: `remote` for the other end.
    #[serde(borrow, alias = "initiator")]
    owner: Option<Cow<'a, str>>,
    ack_delay_exponent: Option<Whole>,
    max_ack_delay: Option<Whole>,
    initial_max_data: Option<Whole>,
    initial_max_stream_data_bidi_local: Option<Whole>,
    initial_max_stream_data_bidi_remote: Option<Whole>,
    initial_max_stream_data_uni: Option<Whole>,
}

/// [`Restraint::EVENT`].
#[derive(Deserialize)]
struct RestraintEvent<'a> {
    #[serde(borrow)]
    by: Cow<'a, str>,
}

impl Collector {
    pub(super) fn parameters(&mut self, time_us: u64, data: &[u8]) -> serde_json::Result<()> {
        let parameters: Parameters<'_> = body(data)?;
        if self.detail >= Detail::Full && parameters.owner.as_deref() == Some("remote") {
            self.initial_credit(time_us, &parameters);
            let events = &mut self.trace.recovery_events;
            // No larger exponent is valid (RFC 9000, section 18.2).
            let exponent = parameters.ack_delay_exponent.and_then(|it| u32::try_from(it.0).ok());
            events.ack_delay_exponent =
                exponent.filter(|it| *it <= 20).or(events.ack_delay_exponent);
            let max_ms = parameters.max_ack_delay.map(|it| it.0 as f64);
            events.max_ack_delay_ms = max_ms.or(events.max_ack_delay_ms);
        }
        if let Some(id) = parameters.original_destination_connection_id.filter(|id| is_id(id)) {
            self.connection = Some(kept(&id).to_ascii_lowercase());
            self.connection_name(&id);
        }
        if let Some(id) = parameters.retry_source_connection_id.filter(|id| is_id(id)) {
            self.connection_name(&id);
        }
        Ok(())
    }

    fn initial_credit(&mut self, time_us: u64, parameters: &Parameters<'_>) {
        let limits = [
            parameters.initial_max_data,
            parameters.initial_max_stream_data_bidi_local,
            parameters.initial_max_stream_data_bidi_remote,
            parameters.initial_max_stream_data_uni,
        ];
        if limits.iter().all(Option::is_none) {
            return;
        }
        let flow_control = self.trace.flow_control.get_or_insert_default();
        if let Some(bytes) = limits[0] {
            raise(&mut flow_control.connection, time_us, bytes.0);
            self.moments_kept += 1;
        }
        for (limit, now) in flow_control.initial.iter_mut().zip(&limits[1..]) {
            *limit = now.map(|it| it.0).or(*limit);
        }
    }

    /// A frame that arrived and may raise a limit ([`Detail::Full`]).
    pub(super) fn credit(&mut self, time_us: u64, frame: &Frame<'_>) {
        let Some((stream, bytes)) = frame.limit() else { return };
        let flow_control = self.trace.flow_control.get_or_insert_default();
        let limits = match stream {
            Some(stream) => flow_control.streams.entry(stream).or_default(),
            None => &mut flow_control.connection,
        };
        self.moments_kept += usize::from(raise(limits, time_us, bytes));
    }

    /// A packet that may end the handshake: a 1-RTT packet that arrived, or one with `HANDSHAKE_DONE`.
    pub(super) fn handshake(&mut self, time_us: u64, packet: &Packet<'_>, direction: Direction) {
        if self.detail < Detail::Full || self.trace.handshake_us().is_some() {
            return;
        }
        let ends = match direction {
            Direction::Received => packet.is("1RTT") || packet.is("onertt"),
            Direction::Sent => packet.frames().iter().any(|it| it.is("handshake_done")),
        };
        if ends {
            self.trace.packets.get_or_insert_default().handshake_us = Some(time_us);
        }
    }

    /// A packet that may begin or end the validation of the peer's address ([`Detail::Full`]).
    pub(super) fn validation(&mut self, time_us: u64, packet: &Packet<'_>, direction: Direction) {
        let has = |kind| packet.frames().iter().any(|it| it.is(kind));
        let step = match direction {
            Direction::Sent if packet.is("retry") => Validation::Ends,
            Direction::Sent if has("path_challenge") => Validation::Begins,
            Direction::Received if has("path_response") => Validation::Ends,
            _ => return,
        };
        self.trace.packets.get_or_insert_default().validations.push((time_us, step));
        self.moments_kept += 1;
    }

    /// A packet that may be an Initial or a Retry, which may reveal the side and names of the connection.
    pub(super) fn first_packets(&mut self, packet: &Packet<'_>, direction: Direction) {
        // The destination of the client's packets after a Retry is its source.
        if let Some(id) = packet.header.scid.as_deref().filter(|it| !it.is_empty())
            && packet.is("retry")
        {
            self.connection_name(id);
        }
        if packet.space() != Space::Initial {
            return;
        }
        let is_first = self.trace.counts.packets_sent + self.trace.counts.packets_received == 0;
        // The client's first packet has no acknowledgement; without its frames it may be a server's.
        let frames = packet.frames();
        let is_clients = !frames.is_empty() && !frames.iter().any(|it| it.is("ack"));
        let side = if direction == Direction::Sent { Vantage::Client } else { Vantage::Server };
        // A log without its writer's packets can begin with a server's second packet, so only packet 0 overrides the log's
        // statement.
        let is_believed =
            [Vantage::Unknown, side].contains(&self.trace.vantage) || packet.number() == Some(0);
        if is_first && is_clients && is_believed && self.first_initial.is_none() {
            self.side = Some(side);
        }
        if *self.first_initial.get_or_insert(direction) == direction
            && let Some(id) = packet.header.dcid.as_deref().filter(|it| !it.is_empty())
        {
            self.connection.get_or_insert_with(|| kept(id).to_ascii_lowercase());
            self.connection_name(id);
        }
    }

    /// A name by which the other end's log may identify the connection.
    pub(super) fn connection_name(&mut self, id: &str) {
        let names = &mut self.trace.names;
        let has_room = names.len() < limits::CONNECTION_NAMES
            && id.len() <= limits::CONNECTION_NAME_CHARACTERS;
        let id = id.to_ascii_lowercase();
        if has_room && !names.contains(&id) {
            names.push(id);
        }
    }

    pub(super) fn restraint(&mut self, time_us: u64, data: &[u8]) -> serde_json::Result<()> {
        let event: RestraintEvent<'_> = body(data)?;
        if let Some(by) = Restraint::named(&event.by).filter(|_| self.detail >= Detail::Full) {
            self.trace.own_server.get_or_insert_default().restraints.push((time_us, by));
            self.moments_kept += 1;
        }
        Ok(())
    }
}

/// Excludes `None`, which tquic writes for parameters that the client does not have.
fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_hexdigit())
}
