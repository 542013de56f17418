//! The order in which a server sends the bytes of a web page: schemes, and the tree in which they place streams.
//!
//! The caller reports events ([`Scheduler::open`], [`Scheduler::signal`], [`Scheduler::set_ready`], [`Scheduler::sent`],
//! [`Scheduler::close`]) and asks for the next stream ([`Scheduler::pick`], which changes nothing). A scheduler is a pure function of its
//! calls: no I/O, no clock, no randomness.
//!
//! ```
//! use schedulers::{Kind, Resource, Scheduler, StreamId, find_scheme};
//!
//! let mut scheduler = Scheduler::new(&find_scheme("dfifo")?);
//! let (image, stylesheet) = (StreamId(4), StreamId(8));
//! scheduler.open(image, &Resource { kind: Kind::Image, ..Resource::default() });
//! scheduler.set_ready(image, true);
//! assert_eq!(scheduler.pick(), Some(image));
//! scheduler.sent(image, 1400);
//! scheduler.open(stylesheet, &Resource { kind: Kind::Css, ..Resource::default() });
//! scheduler.set_ready(stylesheet, true);
//! assert_eq!(scheduler.pick(), Some(stylesheet));
//! # Ok::<(), schedulers::SchemeError>(())
//! ```
//!
//! All schemes place streams in one [`Tree`]; [`schemes`] has one file for each scheme.
//!
//! # In a server
//!
//! Use one scheduler for each connection. [`Scheduler::open`] each response with the facts that the server knows about it, and pass on the
//! client's signals ([`Priority`] parses a `priority` field for [`Scheduler::signal`]). Then, for each packet, offer the transport one
//! packet's bytes of the stream from [`Scheduler::pick`] and report the accepted bytes with [`Scheduler::sent`]. A stream that waits for
//! its bytes or for flow control is not ready ([`Scheduler::set_ready`]). Bytes in a transport keep their order, so its send buffer limits
//! how late an urgent response can still go first. `interop/plug-in` in the repository does this with h3 over quinn and with tokio-quiche.

mod call;
mod catalogue;
pub mod conformance;
mod dictionary;
mod failure;
mod graph;
mod guard;
mod kind;
mod limits;
mod metadata;
mod milestone;
mod named;
mod priority;
mod random;
mod resource;
mod restraint;
mod scheduler;
mod scheme;
pub mod schemes;
mod signal;
mod tree;

pub use call::{Call, CallReader, Value};
pub use catalogue::{
    Catalogue, REGISTRY, SCHEMES, find_page_scheme, find_scheme, near_names, paper_schemes,
};
pub use failure::SchemeFailure;
pub use graph::{GraphResource, PageGraph};
pub use kind::Kind;
pub use limits::PLACEHOLDERS_MAX;
pub use metadata::{METADATA_FIELD, Metadata, metadata_field};
pub use milestone::Milestone;
pub use priority::{Priority, PriorityError, URGENCY_DEFAULT, URGENCY_MAX};
pub use random::SplitMix64;
pub use resource::{FACTS, Fact, Resource};
pub use restraint::Restraint;
pub use scheduler::Scheduler;
pub use scheme::{
    Args, Build, ClientHalf, Given, GroupName, Halves, Language, Needs, Scheme, SchemeError,
    ServerHalf,
};
pub use schemes::{
    ClientSignal, Condition, Declared, Group, Order, Rule, usual_priority, usual_urgency,
};
pub use signal::{Element, Signal, StreamId, UnknownElement};
pub use tree::{Place, Rank, Snapshot, SnapshotNode, Tree};
