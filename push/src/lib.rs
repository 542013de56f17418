//! Pushes, hints and announcements ahead of requests: which ones, and when. Pure: no sockets, no clocks.
//!
//! A [`Graph`] contains the resources that a page needs; a [`Policy`] selects pushes and hints from it, within a
//! [`Budget`]; the [`guard`] forbids unsafe ones; [`digest`]s and [`visits`] show what the client already has; a
//! [`Gate`] decides when pushed bytes may be sent. [`link`] parses an upstream's requests, and [`scan`] finds references
//! in a page's files.
//!
//! Sources: *Rules of Thumb for HTTP/2 Push* (Bergan, Pelchat, Buettner, 2016), *Introducing HTTP/2 Server Push with
//! NGINX 1.13.9* (Garrett, 2018).

mod access_log;
pub mod digest;
pub mod freshness;
mod gate;
mod graph;
pub mod guard;
mod learner;
mod limits;
pub mod link;
mod policy;
pub mod scan;
pub mod visits;

pub use access_log::{AccessLog, Counts};
pub use gate::{Gate, GateError, Pending};
pub use graph::{Edge, FORMAT as GRAPH_FORMAT, Graph, GraphError, Node, Place, is_host};
pub use learner::{Asked, Learner};
pub use policy::{Budget, Choice, PathState, Plan, Policy, UnknownPolicy};
