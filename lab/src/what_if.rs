//! How a recorded load would have gone under other schemes.
//!
//! A page and a link are derived from logs of one page ([`derive`]) and loaded on the engine `stack` under every scheme. The
//! scheme whose completions are closest to the log's shows in which order the server sent, and how well the derived page
//! repeats the load.

mod causes;
mod derived;
mod link;
mod replay;
mod visits;

pub use derived::{Derived, Recorded, Repeated, Sender, WhatIfError, derive};
pub use replay::{Order, Replay, fitted, fitted_to_links, replay};
