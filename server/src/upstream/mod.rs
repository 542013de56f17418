//! A site whose responses another server makes, over HTTP/1.1.
//!
//! A request becomes an [`Exchange`], which a connection shares with a worker thread (`backend`). The worker brings the
//! response's head and body. The connection brings the request's body and takes as much of the response as its client
//! has room for. Each side waits while the other's buffer is full, so that neither a fast backend nor a fast client
//! costs memory.

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
