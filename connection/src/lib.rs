//! An HTTP/3 connection over QUIC, without socket or clock: the one place that joins quiche and
//! [`http3::Session`], for servers, page loads, probes and tests.
//!
//! The owner hands a [`Connection`] the datagrams that arrive ([`Connection::receive`]) and sends those that it
//! writes ([`Connection::transmit`]). In between it calls [`Connection::open`], which opens our own streams once
//! the handshake allows it, reads the readable streams ([`Connection::readable`], [`Connection::read`]), and
//! handles the events ([`Connection::poll`]). [`Connection::end`] gives the reason for its end.
//!
//! The owner handles bodies: a server writes them to [`Connection::quic`] itself, in the order that it chooses.

mod buffers;
mod client;
mod connect_error;
mod connection;
mod destinations;
mod end;
mod endpoint;
pub mod experiments;
mod limits;
mod memory_log;
mod packet_keys;
mod pieces;

pub use buffers::{Buffers, Quic};
pub use client::{ClientConfig, Verify};
pub use connect_error::ConnectError;
pub use connection::{Arrival, Connection, ConnectionState, EarlyData, Turn};
pub use destinations::Destinations;
pub use end::End;
pub use endpoint::{Endpoint, Path, Transmit};
pub use memory_log::MemoryLog;
pub use packet_keys::{PacketKeys, expand_label};
pub use pieces::PIECE_BYTES;
