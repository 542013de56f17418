//! The rules of the RFCs, seen from outside: bytes in, events and errors out.

mod control;
mod messages;
#[cfg(test)]
mod peer;
mod priorities;
mod splits;
mod streams;
