//! A site whose responses another server makes, over HTTP/1.1 or HTTP/2.
//!
//! A request becomes an [`Exchange`], which a connection shares with a task of the backend's thread (`carrier`). The task
//! brings the response's head and body. The connection brings the request's body and takes as much of the response as its
//! client has room for. Each side waits while the other's buffer is full, so that neither a fast backend nor a fast client
//! costs memory.

mod address;
mod backend;
mod carrier;
mod connections;
mod exchange;
mod fields;
mod handshake;
mod http2;
mod patience;
mod places;
mod queue;
mod site;
mod stream;
mod trailers;
mod trouble;
mod troubles;
mod upload;

pub use address::{Address, AddressError};
pub use connections::StartError;
pub(crate) use exchange::Piece;
pub use exchange::{Exchange, Later};
pub(crate) use fields::HOP_BY_HOP;
pub(crate) use handshake::{WEBSOCKET, accept, has_member};
pub use site::UpstreamSite;
pub(crate) use trailers::{from_http3, to_http3};
pub use trouble::Trouble;
pub use troubles::Report;

/// Readers of what clients and backends say, without I/O, for the fuzzers.
#[doc(hidden)]
pub mod readers {
    pub use super::handshake::{Handshake, WEBSOCKET, accept, has_member};
    pub use super::trailers::{from_http3, of_request, of_response, to_http3};
}
