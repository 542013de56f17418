//! Bounds on how good or bad an order can be, for the ATF `ByteIndex` of a page on the engine `ideal`, without
//! a send buffer. `docs/bounds.md` has the proofs.
//!
//! - [`lower_bound_ms`]: no order at all has a lower index; fast.
//! - [`oracle`], [`anti_oracle`]: the best and the worst order found, and whether they are proven to be the
//!   best and the worst.
//! - [`priorities`]: priorities of RFC 9218 for each resource that come near the best order.

mod busy_time;
mod earliest;
mod exact;
mod local;
mod lower;
mod priorities;
mod schedule_scheme;
mod search;
mod segments;
mod task;

use crate::ideal::{Conditions, Simulation};
use crate::network::Network;
use crate::{Load, ideal};
use corpus::Page;
pub use priorities::{Found, Priorities, priorities, usual};
pub(crate) use priorities::{LATER_MAX, SEEN_LATER_MAX, is_visible_image, largest_image};
pub use schedule_scheme::schedule_scheme;
use schedulers::SCHEMES;
use simulator::link::Rate;
use std::collections::BTreeMap;
use std::sync::Arc;
use task::Task;

/// Incremented when the searches find other orders.
pub const REVISION: u32 = 1;

/// The best or the worst order.
#[derive(Debug, Clone, PartialEq)]
pub struct Bracket {
    /// The order: the resource of each packet.
    pub schedule: Vec<usize>,
    /// Its ATF `ByteIndex` in milliseconds.
    pub index_ms: f64,
    /// Whether it is proven that no work-conserving order is better (worse); `docs/bounds.md` states when
    /// idling cannot help either. Otherwise it is the best (worst) found.
    pub proven: bool,
}

/// The search effort, counted in loads, not in time, so that results can be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Partial loads that branch and bound examines.
    pub nodes: u64,
    /// Whole loads that the preceding local search examines.
    pub steps: u64,
}

impl Default for Effort {
    /// Takes some seconds for a page of fifty resources.
    fn default() -> Self {
        Self { nodes: 20_000, steps: 4000 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Best,
    Worst,
}

impl Side {
    fn prefers(self, cost: u128, to: u128) -> bool {
        match self {
            Self::Best => cost < to,
            Self::Worst => cost > to,
        }
    }
}

/// A lower bound in milliseconds on the ATF `ByteIndex` of every order of `page` on `network`; `None` if the
/// page has no bytes above the fold. The page must be valid.
pub fn lower_bound_ms(page: &Arc<Page>, network: &Network) -> Option<f64> {
    let task = Task::new(page, network);
    let cost = lower::least_cost(&task, &Simulation::of_task(&task));
    // Sums of positive terms: the floating-point error is far below this share.
    task.index_ms(cost * (1.0 - 1e-12))
}

/// The same for engines with a transport, `stack` and `wire`. It bounds every order on a link of the network's
/// rate and delays: it counts only the bodies' bytes, one after another, without headers or loss, and with a
/// window that is never full. `None` if the page has no bytes above the fold, or if the network's rate changes
/// or its server paces, because a paced packet arrives at the beginning of its tick.
pub fn transport_lower_bound_ms(page: &Arc<Page>, network: &Network) -> Option<f64> {
    if network.server_pace || !matches!(network.down.rate, Rate::Constant(_)) {
        return None;
    }
    let task = Task::in_slots(page, network, 1);
    let cost = lower::least_cost(&task, &Simulation::of_task(&task));
    // Each discovery is rounded to a microsecond.
    let rounding_ms = page.resources.len() as f64 / 1000.0;
    task.index_ms(cost * (1.0 - 1e-12)).map(|it| (it - rounding_ms).max(0.0))
}

/// The order with the lowest ATF index; `None` if the page has no bytes above the fold.
pub fn oracle(page: &Arc<Page>, network: &Network, effort: Effort) -> Option<Bracket> {
    bracket(page, network, Side::Best, effort)
}

/// The work-conserving order with the highest ATF index; `None` if the page has no bytes above the fold.
pub fn anti_oracle(page: &Arc<Page>, network: &Network, effort: Effort) -> Option<Bracket> {
    bracket(page, network, Side::Worst, effort)
}

/// Whether an earlier arrival can never delay anything on `page`. Then an empty slot never helps, and a proven
/// [`oracle`] is the best of all orders.
pub fn is_monotone(page: &Arc<Page>, network: &Network) -> bool {
    Task::new(page, network).is_monotone()
}

/// Loads `page` in the order of `schedule`, as engine `ideal` does without a send buffer. If the schedule names
/// no ready resource, the one that was requested first is sent.
pub fn replay(page: &Arc<Page>, network: &Network, schedule: &[usize], name: &str) -> Load {
    follow(&Task::new(page, network), schedule).into_load(name)
}

fn follow(task: &Task, order: &[usize]) -> Simulation {
    let mut next = order.iter();
    Simulation::of_task(task)
        .finish(|_, ready| next.next().copied().filter(|it| ready.contains(it)).unwrap_or(ready[0]))
}

fn bracket(page: &Arc<Page>, network: &Network, side: Side, effort: Effort) -> Option<Bracket> {
    let task = Task::new(page, network);
    task.index_ms(0.0)?;
    let (mut cost, mut order) = start(&task, network, side)?;
    let least = lower::least_cost(&task, &Simulation::of_task(&task));
    let mut proven = side == Side::Best && cost as f64 <= least;
    if !proven {
        if let Some(better) = local::search(&task, side, &order, cost, effort.steps) {
            (cost, order) = better;
        }
        let (better, is_all) = exact::search(&task, side, cost, effort.nodes);
        if let Some(better) = better {
            (cost, order) = better;
        }
        proven = is_all;
    }
    let index_ms = task.index_ms(cost as f64)?;
    Some(Bracket { schedule: order, index_ms, proven })
}

/// The best scheme for `side`, as an order.
fn start(task: &Task, network: &Network, side: Side) -> Option<(u128, Vec<usize>)> {
    let mut best: Option<(u128, Vec<usize>)> = None;
    for scheme in SCHEMES.iter() {
        let load = ideal::load(&task.page, scheme, network, Conditions::default());
        let order = packets_of(&task.page, &load);
        let Some(cost) = follow(task, &order).cost(task) else { continue };
        if best.as_ref().is_none_or(|(before, _)| side.prefers(cost, *before)) {
            best = Some((cost, order));
        }
    }
    best
}

/// The resource of each packet of a load.
pub fn packets_of(page: &Page, load: &Load) -> Vec<usize> {
    let ids: BTreeMap<String, usize> =
        page.resources.iter().map(|it| (page.url(it.id), it.id)).collect();
    let transfers = &load.timeline.transfers;
    let streams: BTreeMap<u64, usize> =
        transfers.iter().filter_map(|it| Some((it.stream, *ids.get(&it.url)?))).collect();
    load.timeline.frames.iter().filter_map(|it| streams.get(&it.stream).copied()).collect()
}

impl Task {
    /// A cost in byte-microseconds as an index; `None` without bytes above the fold.
    fn index_ms(&self, cost: f64) -> Option<f64> {
        let bytes: u64 = self.weights.iter().sum();
        (bytes > 0).then(|| cost / bytes as f64 / 1000.0)
    }
}
