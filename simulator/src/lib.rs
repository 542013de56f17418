//! Endpoints, the links between them, and one virtual clock.
//!
//! [`link`] models one direction of a network as a function of its seed. A [`World`] joins a server, its clients and a pair of links:
//! it moves its thread's clock from event to event, so that nothing sleeps, and one seed gives one world. [`BareClient`] is a client
//! whose requests a study or a test determines. Tests of every crate use these, and so does the lab's engine `stack`.

mod bare_client;
mod limits;
pub mod link;
mod links;
mod world;

pub use bare_client::BareClient;
pub use limits::TIME_MAX;
pub use links::Links;
pub use world::World;
