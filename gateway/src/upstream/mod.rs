//! A site whose responses come from another server, over HTTP/1.1 or HTTP/2.
//!
//! A request becomes an [`Exchange`](crate::site::Exchange), which a connection shares with a task on the backend's thread (`carrier`).
//! The task delivers the response's head and body. The connection delivers the request's body and takes as much of the response as its
//! client has room for. Each side waits while the other's buffer is full, so that neither a fast backend nor a fast client costs memory.

mod address;
mod backend;
mod carrier;
mod connections;
mod encoding;
mod fields;
mod handshake;
mod http2;
mod patience;
mod queue;
mod reports;
mod site;
mod slots;
mod stream;
mod unanswered;
mod upload;

pub use address::{Address, AddressError};
pub use connections::StartError;
pub(crate) use handshake::{WEBSOCKET, accept, has_member};
pub use reports::Report;
pub use site::UpstreamSite;

/// Parsers for input from clients and backends, without I/O, for the fuzzers.
#[doc(hidden)]
pub mod readers {
    pub use super::handshake::{Handshake, WEBSOCKET, accept, has_member};
    pub use server::site::fields::{from_http3, to_http3};
    pub use server::site::trailers::{of_request, of_response};
}
