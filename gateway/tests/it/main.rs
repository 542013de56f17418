//! Tests of sites behind the whole server core, against a client over a simulated link, in virtual time.

mod files;
mod headers;
mod pages;
#[path = "../../../server/tests/it/peers.rs"]
#[allow(dead_code, reason = "tests of the server use the rest")]
mod peers;
mod rfc9218;
#[path = "../../../server/tests/it/simulation.rs"]
#[allow(dead_code, reason = "tests of the server use the rest")]
mod simulation;
