//! Engines, networks and studies: a page loaded under a scheme, on a network, many times.
//!
//! [`ideal`] loads a page without a transport, [`stack`] with the real cores of server and client through
//! [`link`]s in virtual time, [`wire`] with the real programs over UDP sockets. All give a [`Load`], whose timeline is all that metrics are computed from. A [`study`] is every page
//! under every scheme; [`scenario`] is pure scheduling without a page.

pub mod adversary;
mod bare;
pub mod bounds;
mod contender;
mod delivery_order;
pub mod ideal;
pub mod link;
mod metadata;
pub mod network;
pub mod probe;
pub mod provenance;
pub mod scenario;
pub mod several;
pub mod stack;
pub mod study;
pub mod wire;

pub use contender::Contender;
pub use delivery_order::DeliveryOrder;
pub use metadata::Metadata;

use corpus::Page;
use qlog_tools::timeline::Timeline;

/// One page load, as its client saw it.
#[derive(Debug, Clone)]
pub struct Load {
    /// Every resource was asked for and came.
    pub completed: bool,
    /// What was asked for, and what came when.
    pub timeline: Timeline,
}

/// The URL that a request for a resource of `page` has in logs.
pub fn resource_url(page: &Page, resource: usize) -> String {
    let known = &page.resources[resource];
    let host = page.origins.get(known.origin).map_or("localhost", |it| it.host.as_str());
    format!("https://{host}{}", known.url)
}
