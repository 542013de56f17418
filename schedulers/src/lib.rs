//! The order in which a server sends the bytes of a web page: schemes, and the tree they place streams in.
//!
//! The caller says what happened ([`Scheduler::open`], [`Scheduler::signal`], [`Scheduler::set_ready`],
//! [`Scheduler::sent`], [`Scheduler::close`]) and asks who is next ([`Scheduler::pick`], which changes
//! nothing). A scheduler is a pure function of the calls made to it: no I/O, no clock, no randomness.

mod resource;
mod scheduler;
mod scheme;
mod signal;

pub use resource::{Kind, Resource};
pub use scheduler::Scheduler;
pub use scheme::{Scheme, SchemeError, find_scheme};
pub use signal::{Signal, StreamId};
