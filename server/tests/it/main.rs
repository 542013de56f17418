//! Tests of the whole server core against a client over a simulated link, in virtual time.

mod bad_clients;
mod order;
mod peers;
mod simulation;
mod waiting;
mod window;
