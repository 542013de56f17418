//! Engines, networks and studies: a page loaded under a scheme, on a network, many times.
//!
//! [`ideal`] loads a page without a transport, [`stack`] with the real cores of server and client in a simulated
//! [`World`](simulator::World), [`wire`] with the real programs over UDP sockets, and [`browsing`] in a browser. All give a [`Load`], whose
//! timeline alone determines the metrics. A [`study`] loads every page under every scheme. [`finder`] searches the best order for a site's
//! pages, and [`export`] writes the part that other servers can use. A [`scenario`] is pure scheduling without a page.

pub mod bounds;
pub mod browsing;
mod contender;
mod cross_traffic;
mod delivery_order;
pub mod export;
mod file_error;
mod file_name;
pub mod finder;
pub mod ideal;
mod limits;
mod metadata;
mod navigation;
pub mod network;
pub mod probe;
pub mod push_and_hints;
pub mod relay;
pub mod scenario;
pub mod stack;
mod stream_migration;
pub mod study;
mod warm_up;
pub mod what_if;
pub mod wire;

pub use contender::Contender;
pub use cross_traffic::CrossTraffic;
pub use delivery_order::DeliveryOrder;
pub use file_error::{FileError, write_file};
pub use file_name::file_name;
pub use metadata::Metadata;
pub use navigation::Navigation;
pub use stream_migration::StreamMigration;

use browsing::FilmFrame;
use client::playback::Playback;
use client::{NextPage, Outcome};
use connection::experiments::SendOrder;
use corpus::Page;
use delivery_order::in_order_of_transmission;
use qlog_tools::page_resources::PageResource;
use qlog_tools::timeline::{RenderTimes, Timeline};
use schedulers::Kind;
use serde::{Deserialize, Serialize};
use simulator::TIME_MAX;
use std::collections::BTreeSet;
use std::sync::Arc;

/// One page load, as its client saw it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Load {
    /// Whether every resource was requested and arrived.
    pub completed: bool,
    /// The requests and arrivals.
    pub timeline: Timeline,
}

/// A load, and what its engine reports.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The load.
    pub load: Load,
    /// Differences from the page.
    pub problems: Vec<String>,
    /// Its end, according to the client.
    pub outcome: Outcome,
    /// Pictures of it, if requested, with times from the first request.
    pub film: Vec<FilmFrame>,
    /// For a bracket, whether it is proven that no order is better (worse).
    pub proven: Option<bool>,
    /// Why its scheme failed, if it did.
    pub scheme_failure: Option<String>,
}

/// A load without a transport.
impl From<Load> for Loaded {
    fn from(load: Load) -> Self {
        Self { load, ..Self::default() }
    }
}

impl Loaded {
    /// A load over the transport.
    fn over_transport(
        outcome: Outcome,
        mut timeline: Timeline,
        scheme: &str,
        send_order: Option<SendOrder>,
    ) -> Self {
        if let Some(order) = send_order {
            timeline = in_order_of_transmission(timeline, &order.runs());
        }
        scheme.clone_into(&mut timeline.name);
        let all = outcome.earlier.iter().chain([&outcome]);
        let problems: Vec<String> = all.flat_map(problems).collect();
        let load = Load { completed: outcome.completed && problems.is_empty(), timeline };
        Self { problems, outcome, ..load.into() }
    }

    /// The last page of the connection, or why the client did not reach it.
    fn last(self, first: &Arc<Page>, then: &[NextPage]) -> Self {
        let Self { load, problems, outcome, .. } = self;
        let mut pages = Navigation::all(first, then, &load.timeline, outcome);
        match pages.pop() {
            Some(Navigation { load, problems, outcome, .. }) if pages.len() == then.len() => {
                Self { problems, outcome, ..Self::from(load) }
            }
            _ => Self { problems, ..Self::from(load) },
        }
    }
}

/// The differences from the page.
fn problems(outcome: &Outcome) -> Vec<String> {
    let mut problems: Vec<String> = outcome.problems.iter().map(ToString::to_string).collect();
    if !outcome.completed && !outcome.left && problems.is_empty() {
        problems.push(format!("not over after {} s", TIME_MAX.as_secs()));
    }
    problems
}

/// The moments that the user of a load saw; `playback` must be at its end.
pub fn render_times(playback: &mut Playback) -> RenderTimes {
    if playback.is_done() {
        playback.run_on();
    }
    let mut times = RenderTimes::default();
    for (time_us, milestone) in playback.milestones() {
        times.reached(time_us, milestone);
    }
    times
}

/// The URLs of the resources of `page` above the fold.
pub fn above_fold(page: &Page) -> BTreeSet<String> {
    page.resources.iter().filter(|it| it.above_fold).map(|it| page.url(it.id)).collect()
}

/// The resources of `page` in the form for figures.
pub fn figure_resources(page: &Page) -> Vec<PageResource> {
    let resources = page.resources.iter().map(|resource| PageResource {
        url: page.url(resource.id),
        kind: Kind::of_mime(&resource.mime),
        above_fold: resource.above_fold,
        body_bytes: Some(resource.bytes),
        streams: Vec::new(),
    });
    resources.collect()
}
