//! Engines, networks and studies: a page loaded under a scheme, on a network, many times.
//!
//! [`ideal`] loads a page without a transport, [`stack`] with the real cores of server and client in a
//! simulated [`World`](simulator::World), [`wire`] with the real programs over UDP sockets. All give a
//! [`Load`], and metrics are computed from its timeline alone. A [`study`] is every page under every scheme.
//! A [`scenario`] is pure scheduling without a page.

pub mod adversary;
pub mod bounds;
mod contender;
mod delivery_order;
pub mod ideal;
mod limits;
mod metadata;
pub mod network;
pub mod probe;
pub mod provenance;
pub mod relay;
pub mod scenario;
pub mod several;
pub mod stack;
pub mod study;
pub mod wire;

pub use contender::Contender;
pub use delivery_order::DeliveryOrder;
pub use metadata::Metadata;

use corpus::Page;
use qlog_tools::figures::PageResource;
use qlog_tools::timeline::Timeline;
use schedulers::Kind;
use serde::{Deserialize, Serialize};

/// One page load, as its client saw it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Load {
    /// Whether every resource was requested and came.
    pub completed: bool,
    /// The requests, and what came when.
    pub timeline: Timeline,
}

/// The URL that a request for a resource of `page` has in logs.
pub fn resource_url(page: &Page, resource: usize) -> String {
    page.url(resource)
}

/// The resources of `page` as figures show them.
pub fn figure_resources(page: &Page) -> Vec<PageResource> {
    let resource = |it: &corpus::PageResource| PageResource {
        url: resource_url(page, it.id),
        kind: Kind::of_mime(&it.mime),
        above_fold: it.above_fold,
        body_bytes: Some(it.bytes),
        streams: Vec::new(),
    };
    page.resources.iter().map(resource).collect()
}
