//! The rules of the RFCs, seen from outside: bytes in, events and errors out.

mod control;
mod messages;
mod peer;
mod priorities;
mod splits;
mod streams;
