//! Priorities of RFC 9218, resource by resource, that come near the best order on the engine `ideal`.
//!
//! Eight urgencies cannot express every order: within one, responses go in the order of their requests. The search begins with the
//! oracle's order, cut into urgencies where it departs from the order of requests, and with what browsers signal. Then a local
//! search changes a resource at a time, and gives those back what browsers signal that do not need anything else.

use super::task::Task;
use super::{Bracket, Effort, Side, bracket};
use crate::ideal::Simulation;
use crate::network::Network;
use corpus::Page;
use corpus::page::BrowserPriority;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schedulers::{URGENCY_MAX, usual_priority};
use std::sync::Arc;

/// The search is the same from run to run.
const SEED: u64 = 1;

/// What a line in a configuration must gain, as a share of the index: one that gains less is left out.
const LINE_GAIN: f64 = 0.0005;

/// A priority for each resource of a page.
pub type Priorities = Vec<BrowserPriority>;

/// What a page's resources should be sent with.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The best that was found, with as few resources as possible that differ from what browsers signal.
    pub sparing: Priorities,
    /// The oracle's order cut into urgencies, the network's on which that is best.
    pub cut: Priorities,
    /// The oracle of each network.
    pub oracles: Vec<Bracket>,
}

/// What browsers signal for each resource.
pub fn usual(page: &Page) -> Priorities {
    let said = page.resources.iter().map(|it| usual_priority(&it.for_scheduler()));
    said.map(|(urgency, incremental)| BrowserPriority { urgency, incremental }).collect()
}

/// Searches priorities for `page` whose ATF index is low, the geometric mean over `networks`, which must be as the engine `ideal`
/// honours them. `steps`: loads of each network that the local search looks at. None when the page has no bytes above the fold.
pub fn priorities(
    page: &Arc<Page>,
    networks: &[Network],
    effort: Effort,
    steps: u64,
) -> Option<Found> {
    let tasks: Vec<Task> = networks.iter().map(|it| Task::new(page, it)).collect();
    let oracles: Option<Vec<Bracket>> =
        networks.iter().map(|it| bracket(page, it, Side::Best, effort)).collect();
    let oracles = oracles.filter(|it| !it.is_empty())?;
    let usual = usual(page);
    let cuts = tasks.iter().zip(&oracles).map(|(task, it)| cut(task, &it.schedule, &usual));
    let rated = cuts.filter_map(|it| Some((cost(&tasks, &it)?, it)));
    let (cut_cost, cut) = rated.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let start = match cost(&tasks, &usual) {
        Some(of_usual) if of_usual <= cut_cost => (of_usual, usual.clone()),
        _ => (cut_cost, cut.clone()),
    };
    let best = improved(&tasks, start, steps);
    Some(Found { sparing: sparing(&tasks, best, &usual), cut, oracles })
}

/// The order of completion in `schedule`, in urgencies: a new one begins where a response was requested before the one that it
/// follows. What is left after the last one shares it.
fn cut(task: &Task, schedule: &[usize], usual: &Priorities) -> Priorities {
    let end = super::follow(task, schedule);
    let known = |id: &usize| Some((end.complete_us[*id]?, end.requested_us[*id]?, *id));
    let mut order: Vec<(u64, u64, usize)> = (0..task.len()).filter_map(|it| known(&it)).collect();
    order.sort_unstable();
    let mut priorities = usual.clone();
    let (mut urgency, mut last_us) = (0, 0);
    for (_, requested_us, id) in order {
        if requested_us < last_us {
            urgency = (urgency + 1).min(URGENCY_MAX);
        }
        last_us = requested_us;
        priorities[id] = BrowserPriority { urgency, incremental: false };
    }
    priorities
}

/// The sum over networks of the logarithm of the cost; none if a load does not end.
fn cost(tasks: &[Task], priorities: &Priorities) -> Option<f64> {
    let costs = tasks.iter().map(|it| Some((obeyed(it, priorities).cost(it)? as f64).ln()));
    costs.sum()
}

/// A load whose server obeys these priorities: a lower urgency first; within one, whole responses in the order of requests, then
/// the incremental ones in turn.
fn obeyed(task: &Task, priorities: &Priorities) -> Simulation {
    let (mut turns, mut turn) = (vec![0_u64; task.len()], 0);
    Simulation::of_task(task).finish(|_, ready| {
        let place = |id: &&usize| {
            let BrowserPriority { urgency, incremental } = priorities[**id];
            (urgency, incremental, if incremental { turns[**id] } else { 0 })
        };
        let chosen = ready.iter().min_by_key(place).copied().unwrap_or(ready[0]);
        turn += 1;
        turns[chosen] = turn;
        chosen
    })
}

/// Changes one resource at a time, and keeps each change that is at least as good.
fn improved(tasks: &[Task], start: (f64, Priorities), steps: u64) -> (f64, Priorities) {
    let (mut least, mut best) = start;
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for _ in 0..steps {
        let id = random.random_range(0..best.len());
        let urgency = random.random_range(0..=URGENCY_MAX);
        let incremental = random.random_range(0..4) == 0;
        let before = std::mem::replace(&mut best[id], BrowserPriority { urgency, incremental });
        match cost(tasks, &best).filter(|it| *it <= least) {
            Some(cost) => least = cost,
            None => best[id] = before,
        }
    }
    (least, best)
}

/// Gives each resource what browsers signal, where that costs next to nothing.
fn sparing(tasks: &[Task], (least, mut best): (f64, Priorities), usual: &Priorities) -> Priorities {
    let per_line = LINE_GAIN * tasks.len() as f64;
    let mut reached = least;
    for id in (0..best.len()).filter(|it| best[*it] != usual[*it]).collect::<Vec<_>>() {
        let before = std::mem::replace(&mut best[id], usual[id]);
        match cost(tasks, &best).filter(|it| *it <= reached + per_line) {
            Some(cost) => reached = reached.max(cost),
            None => best[id] = before,
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ideal::{self, Conditions};
    use schedulers::find_scheme;

    fn found(name: &str, networks: &[&str]) -> (Arc<Page>, Vec<Network>, Found) {
        let page = Arc::new(corpus::bundled(name).expect("bundled").clone());
        let network = |it: &&str| Network::find(it).expect("built in").for_ideal();
        let networks: Vec<Network> = networks.iter().map(network).collect();
        let effort = Effort { nodes: 2000, steps: 500 };
        let found = priorities(&page, &networks, effort, 300).expect("something above the fold");
        (page, networks, found)
    }

    fn index(task: &Task, priorities: &Priorities) -> f64 {
        task.index_ms(obeyed(task, priorities).cost(task).expect("a load") as f64).expect("bytes")
    }

    #[test]
    fn a_late_hero_image_needs_a_line_or_two_to_come_near_the_oracle() {
        let (page, networks, found) = found("davies-meenan", &["3g"]);
        let task = Task::new(&page, &networks[0]);
        let usual = usual(&page);
        let [now, then] = [&usual, &found.sparing].map(|it| index(&task, it));
        let share = (now - then) / (now - found.oracles[0].index_ms);
        assert!(share > 0.95, "{now} {then} {}", found.oracles[0].index_ms);
        let changed: Vec<&str> = (0..usual.len())
            .filter(|it| usual[*it] != found.sparing[*it])
            .map(|it| &*page.resources[it].url)
            .collect();
        assert!(changed.contains(&"/hero.jpg") && changed.len() <= 3, "{changed:?}");
    }

    #[test]
    fn the_load_that_obeys_is_that_of_the_scheme() {
        let (page, networks, _) = found("davies-meenan", &["3g"]);
        let task = Task::new(&page, &networks[0]);
        let scheme = find_scheme("rfc9218").expect("known");
        let mut signalled = Page::clone(&page);
        let urgencies = (0..=URGENCY_MAX).rev().cycle().zip([false, true].into_iter().cycle());
        let priorities: Priorities = urgencies
            .map(|(urgency, incremental)| BrowserPriority { urgency, incremental })
            .take(page.resources.len())
            .collect();
        for (resource, priority) in signalled.resources.iter_mut().zip(&priorities) {
            resource.browser = Some(*priority);
        }
        let load = ideal::load(&Arc::new(signalled), &scheme, &networks[0], Conditions::default());
        let order: Vec<usize> = crate::bounds::packets_of(&page, &load);
        assert_eq!(obeyed(&task, &priorities).order().collect::<Vec<_>>(), order);
    }
}
