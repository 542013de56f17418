//! HTTP/2 and HTTP/1.1 over TLS on the same port number, for clients that do not come over HTTP/3: a browser's first visit
//! (`Alt-Svc` brings it to HTTP/3), command lines, crawlers, networks without UDP.
//!
//! As many threads as there are shards have these connections, each with an asynchronous runtime. They ask the same
//! [`server::site::Site`] as the shards do. Over HTTP/2 the same schemes order the responses of a connection (`write_order.rs`); the
//! transport is the system's, so a choice is as late as its socket allows.

mod activity;
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
