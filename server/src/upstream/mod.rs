//! A site whose responses another server makes, over HTTP/1.1.
//!
//! A request becomes an [`Exchange`]: what the connection and one of the backend's workers have in common. The
//! worker (`backend`, which has the threads and sockets) brings the response's head and body, the connection brings
//! the request's body and takes what its client has room for. Both sides wait for the other where a buffer is full,
//! so that neither a fast backend nor a fast client costs memory.

mod backend;
mod exchange;
mod fields;
mod interim;
mod site;
mod troubles;

pub(crate) use exchange::Piece;
pub use exchange::{Exchange, Later, Trouble};
pub use site::{Address, AddressError, UpstreamSite};
pub use troubles::Report;
