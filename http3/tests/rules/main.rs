//! The rules of the RFCs, seen from outside: bytes in, events and errors out.

mod control;
#[cfg(test)]
mod extensions;
mod messages;
#[cfg(test)]
mod peer;
#[cfg(test)]
mod priorities;
#[cfg(test)]
mod pushes;
mod splits;
mod streams;
#[cfg(test)]
mod trees;
