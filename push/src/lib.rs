//! Pushes, hints and announcements ahead of requests: which, and when. Pure: no sockets, no clocks.
//!
//! A [`Graph`] says which resources a page needs; a [`Policy`] picks from it what is pushed and what is hinted, within
//! a [`Budget`]; the [`guard`] forbids what could be wrong; [`digest`]s and [`visits`] say what the client already
//! has; a [`Gate`] says when pushed bytes may go. [`link`] reads what an upstream asks for, [`scan`] what a page's files
//! refer to.
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
