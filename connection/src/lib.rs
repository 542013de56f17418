//! An HTTP/3 connection over QUIC: what servers, clients, probes and tests have in common.

mod endpoint;

pub use endpoint::{Endpoint, Transmit};
