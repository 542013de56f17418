//! HTTP/2 and HTTP/1.1 over TLS at the same port number, for clients that do not use HTTP/3: a browser's first visit (`Alt-Svc`
//! leads it to HTTP/3), command lines, crawlers, and networks without UDP.
//!
//! These connections have as many threads as there are shards, each with an asynchronous runtime. They use the same
//! [`server::site::Site`] as the shards. Over HTTP/2, the same schemes order a connection's responses (`write_order.rs`); the system
//! provides the transport, so a choice is only as late as its socket allows.

mod activity;
mod announcement;
mod answer;
mod connection;
mod event_loop;
mod frames;
mod handshakes;
mod http1;
mod http2;
mod intake;
mod linger;
mod malformed;
mod outlet;
mod proxy_header;
mod redirect;
mod request;
mod response_report;
mod sending;
mod source;
mod threads;
mod tunnel;
mod versions;
mod waiting;
mod write_order;

pub use event_loop::{Listeners, Sending, StartError, serve_tcp};
