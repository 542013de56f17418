//! Priorities of RFC 9218, resource by resource, that come near the best order on the engine `ideal`.
//!
//! A greedy search moves one resource at a time: a resource above the fold, or one that leads there, goes up to [`RAISED`]; then the others
//! go last. There is only one target urgency, so that recordings do not differ by equivalent urgencies. Each line must gain [`LINE_GAIN`]
//! over all networks and recordings, and something in each recording. So there are few lines, and another recording of the page gives the
//! same. A line that qualifies in only some recordings is doubtful. No line delays a visible image beyond [`LATER_MAX`] times its time in
//! the usual order, nor the first rendering or the largest image beyond [`SEEN_LATER_MAX`] times: the index weights all bytes above the
//! fold equally, but a visitor does not prefer a logo that waits for a hero. Resources of another party have no line, because the site's
//! owner does not send them.

use super::task::Task;
use crate::ideal::Simulation;
use crate::network::Network;
use corpus::Page;
use corpus::page::{BrowserPriority, Party};
use schedulers::{Kind, URGENCY_MAX, usual_priority};
use std::sync::Arc;

/// The minimum gain of a line: the logarithm of the index, averaged over networks and recordings.
const LINE_GAIN: f64 = 0.01;

/// A line qualifies in another recording if it gains this share of [`LINE_GAIN`].
const DOUBTFUL_SHARE: f64 = 0.5;

/// The place of raised resources: after stylesheets and fonts, which are not incremental, and before scripts.
const RAISED: BrowserPriority = BrowserPriority { urgency: 0, incremental: true };

const LAST: BrowserPriority = BrowserPriority { urgency: URGENCY_MAX, incremental: false };

/// How many times as late as in the usual order a visible image may be.
pub(crate) const LATER_MAX: f64 = 1.1;

/// How many times as late the first rendering and the largest image may be.
pub(crate) const SEEN_LATER_MAX: f64 = 1.02;

/// A priority for each resource of a page.
pub type Priorities = Vec<BrowserPriority>;

/// The priorities that a page's resources should get.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The browser's signals, changed by the lines that gain.
    pub priorities: Priorities,
    /// The resources with a line that would gain in only some recordings.
    pub doubtful: Vec<usize>,
}

/// The browser's signals for each resource.
pub fn usual(page: &Page) -> Priorities {
    let said = page.resources.iter().map(|it| usual_priority(&it.for_scheduler()));
    said.map(|(urgency, incremental)| BrowserPriority { urgency, incremental }).collect()
}

/// Whether a visitor sees this image at once.
pub(crate) fn is_visible_image(page: &Page, id: usize) -> bool {
    let resource = &page.resources[id];
    resource.kind == Kind::Image && resource.above_fold
}

/// The image that a visitor sees as the page's largest: a hero, or otherwise the visible image with the most bytes.
pub(crate) fn largest_image(page: &Page) -> Option<usize> {
    let images = (0..page.resources.len()).filter(|it| is_visible_image(page, *it));
    images.max_by_key(|it| (page.resources[*it].hero, page.resources[*it].bytes))
}

/// Searches priorities for a page that give a low ATF index: the geometric mean over `networks`, which engine `ideal` must support, and
/// over `recordings` of the page, which have the same resources. Calls `go_on` before trying each order; after the first false, returns the
/// result so far. `None` if the page has no bytes above the fold.
pub fn priorities(
    recordings: &[Arc<Page>],
    networks: &[Network],
    go_on: &dyn Fn() -> bool,
) -> Option<Found> {
    let page = recordings.first()?;
    let usual = usual(page);
    let mut search = Search { recordings: Vec::new(), doubtful: Vec::new(), go_on };
    for page in recordings {
        let played = networks.iter().map(|it| Played::new(page, it, &usual));
        search.recordings.push(played.collect::<Option<Vec<Played>>>()?);
    }
    let priorities = search.lines(usual.clone(), Search::raised);
    let priorities = search.lines(priorities, Search::lowered);
    search.doubtful.retain(|it| priorities[*it] == usual[*it]);
    Some(Found { doubtful: search.doubtful, priorities })
}

struct Played {
    task: Task,
    /// The logarithm of its cost in the usual order.
    usual_cost: f64,
    /// The visible images, and the deadline of each.
    due_us: Vec<(usize, f64)>,
    /// When the first rendering must be.
    first_render_due_us: f64,
}

impl Played {
    fn new(page: &Arc<Page>, network: &Network, usual: &Priorities) -> Option<Self> {
        let task = Task::new(page, network);
        let mut load = obeyed(&task, usual);
        let cost = load.cost(&task).filter(|it| *it > 0)?;
        let largest = largest_image(page);
        let mut due_us = Vec::new();
        for id in (0..task.len()).filter(|id| is_visible_image(page, *id)) {
            let most = if Some(id) == largest { SEEN_LATER_MAX } else { LATER_MAX };
            due_us.extend(load.complete_us[id].map(|it| (id, it as f64 * most)));
        }
        let first_render_us = load.renders().first_render_us.map(|it| it as f64);
        Some(Self {
            task,
            usual_cost: (cost as f64).ln(),
            due_us,
            first_render_due_us: first_render_us.map_or(f64::INFINITY, |it| it * SEEN_LATER_MAX),
        })
    }
}

/// Loads of all recordings on all networks with the same priorities.
struct Outcome {
    /// The logarithm of each recording's cost, averaged over networks, minus its value in the usual order.
    costs: Vec<f64>,
    /// The visible images that are late in some load.
    late: Vec<usize>,
    /// Whether the first rendering is late in some load.
    is_shown_late: bool,
}

impl Outcome {
    fn cost(&self) -> f64 {
        self.costs.iter().sum::<f64>() / self.costs.len() as f64
    }

    fn is_better_everywhere(&self, than: &Self) -> bool {
        self.costs.iter().zip(&than.costs).all(|(one, other)| one < other)
    }
}

struct Search<'a> {
    /// By recording, then by network.
    recordings: Vec<Vec<Played>>,
    doubtful: Vec<usize>,
    go_on: &'a dyn Fn() -> bool,
}

/// Priorities with one more line, including lines for the visible images that it would delay.
struct Move {
    id: usize,
    priorities: Priorities,
    outcome: Outcome,
}

impl Search<'_> {
    /// Adds the line that gains most, as long as one gains enough.
    fn lines(
        &mut self,
        mut priorities: Priorities,
        moves: fn(&Self, &Priorities, usize) -> Option<Move>,
    ) -> Priorities {
        while let Some(now) = self.outcome(&priorities) {
            let own = (1..priorities.len()).filter(|it| self.can_be_moved(*it));
            let moves = own.filter_map(|it| moves(self, &priorities, it));
            let mut gains: Vec<(f64, Move)> =
                moves.map(|it| (now.cost() - it.outcome.cost(), it)).collect();
            gains.retain(|it| it.0 >= LINE_GAIN * DOUBTFUL_SHARE && !it.1.outcome.is_shown_late);
            // The first of equals.
            gains.sort_by(|one, other| other.0.total_cmp(&one.0));
            let line = gains.iter().position(|(gain, moved)| {
                *gain >= LINE_GAIN
                    && moved.outcome.late.is_empty()
                    && moved.outcome.is_better_everywhere(&now)
            });
            let Some(place) = line else {
                self.doubtful.extend(gains.iter().map(|it| it.1.id));
                break;
            };
            priorities = gains.swap_remove(place).1.priorities;
        }
        priorities
    }

    /// Raises a resource that is above the fold or leads there.
    fn raised(&self, priorities: &Priorities, id: usize) -> Option<Move> {
        let can_rise = self.is_useful(id) && priorities[id].urgency > RAISED.urgency;
        can_rise.then(|| self.tried(priorities, id, RAISED)).flatten()
    }

    /// Puts a resource last that is not above the fold and does not lead there.
    fn lowered(&self, priorities: &Priorities, id: usize) -> Option<Move> {
        let can_wait = !self.is_useful(id) && priorities[id].urgency < LAST.urgency;
        can_wait.then(|| self.tried(priorities, id, LAST)).flatten()
    }

    /// Whether the site's owner controls how it is sent, and it came: a failure has to be corrected, not moved.
    fn can_be_moved(&self, id: usize) -> bool {
        self.recordings.iter().flatten().all(|played| {
            let page = &played.task.page;
            let resource = &page.resources[id];
            page.origins[resource.origin].party == Party::First && resource.status < 400
        })
    }

    fn is_useful(&self, id: usize) -> bool {
        self.recordings.iter().flatten().any(|it| it.task.useful_bytes[id] > 0)
    }

    /// The result of moving a resource. Visible images that would be late are raised, too.
    fn tried(&self, priorities: &Priorities, id: usize, place: BrowserPriority) -> Option<Move> {
        let mut priorities = priorities.clone();
        priorities[id] = place;
        loop {
            let outcome = self.outcome(&priorities)?;
            let mut late = outcome.late.iter();
            match late.find(|late| priorities[**late].urgency > RAISED.urgency) {
                Some(&late) if self.can_be_moved(late) => priorities[late] = RAISED,
                _ => return Some(Move { id, priorities, outcome }),
            }
        }
    }

    /// `None` if a load does not end, or the search must end.
    fn outcome(&self, priorities: &Priorities) -> Option<Outcome> {
        (self.go_on)().then_some(())?;
        let (mut late, mut is_shown_late) = (Vec::new(), false);
        let mut costs = Vec::new();
        for recording in &self.recordings {
            let mut cost = 0.0;
            for played in recording {
                let mut load = obeyed(&played.task, priorities);
                let first_render_us = load.renders().first_render_us;
                is_shown_late |=
                    first_render_us.is_some_and(|it| it as f64 > played.first_render_due_us);
                cost += (load.cost(&played.task)? as f64).ln() - played.usual_cost;
                for &(id, due_us) in &played.due_us {
                    if load.complete_us[id].is_none_or(|us| us as f64 > due_us) {
                        late.push(id);
                    }
                }
            }
            costs.push(cost / recording.len() as f64);
        }
        late.sort_unstable();
        late.dedup();
        Some(Outcome { costs, late, is_shown_late })
    }
}

/// A load from a server that obeys these priorities: lower urgencies first; within an urgency, whole responses in the order of requests,
/// then the incremental ones in turn.
fn obeyed(task: &Task, priorities: &Priorities) -> Simulation {
    let (mut turns, mut turn) = (vec![0_u64; task.len()], 0);
    Simulation::of_task(task).finish(|_, ready| {
        let first = ready.iter().copied().min_by_key(|&id| {
            let BrowserPriority { urgency, incremental } = priorities[id];
            (urgency, incremental, if incremental { turns[id] } else { 0 })
        });
        let chosen = first.unwrap_or(ready[0]);
        turn += 1;
        turns[chosen] = turn;
        chosen
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{Effort, oracle};
    use crate::ideal::{self, Conditions};
    use schedulers::find_scheme;

    fn found(name: &str, networks: &[&str]) -> (Arc<Page>, Vec<Network>, Found) {
        let page = Arc::new(corpus::bundled(name).expect("bundled").clone());
        let network = |it: &&str| Network::find(it).expect("built in").for_ideal();
        let networks: Vec<Network> = networks.iter().map(network).collect();
        let found = priorities(std::slice::from_ref(&page), &networks, &|| true);
        let found = found.expect("something above the fold");
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
        let [now, then] = [&usual, &found.priorities].map(|it| index(&task, it));
        let effort = Effort { nodes: 2000, steps: 500 };
        let best = oracle(&page, &networks[0], effort).expect("something above the fold").index_ms;
        assert!((now - then) / (now - best) > 0.95, "{now} {then} {best}");
        let changed: Vec<&str> = (0..usual.len())
            .filter(|it| usual[*it] != found.priorities[*it])
            .map(|it| &*page.resources[it].url)
            .collect();
        assert!(changed.contains(&"/hero.jpg") && changed.len() <= 3, "{changed:?}");
    }

    #[test]
    fn a_visible_logo_does_not_wait_for_the_hero_and_what_nobody_sees_does() {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        // The background becomes a logo that a visitor sees at once.
        (page.resources[5].bytes, page.resources[5].above_fold) = (8000, true);
        let page = Arc::new(page);
        let network = Network::find("3g").expect("built in").for_ideal();
        let found = priorities(&[Arc::clone(&page)], std::slice::from_ref(&network), &|| true);
        let found = found.expect("something above the fold").priorities;
        let task = Task::new(&page, &network);
        let complete =
            |it: &Priorities, id: usize| obeyed(&task, it).complete_us[id].expect("whole");
        let usual = usual(&page);
        for (id, is_sooner) in [(5, false), (7, true)] {
            let [now, then] = [&usual, &found].map(|it| complete(it, id) as f64);
            assert!(then <= now * LATER_MAX, "{id}: {now} {then}");
            assert!(!is_sooner || then < 0.5 * now, "{id}: {now} {then}");
            assert!(found[id].urgency <= usual[id].urgency, "{:?}", found[id]);
        }
    }

    #[test]
    fn no_line_shows_the_page_later_or_is_for_the_server_of_another() {
        // A stylesheet that waits for the hero image would show the page later.
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        let network = Network::find("3g").expect("built in").for_ideal();
        let first_render = |page: &Arc<Page>, priorities: &Priorities| {
            obeyed(&Task::new(page, &network), priorities).renders().first_render_us
        };
        let all = |page: &Arc<Page>| {
            let found =
                priorities(std::slice::from_ref(page), std::slice::from_ref(&network), &|| true);
            found.expect("something above the fold").priorities
        };
        let own = Arc::new(page.clone());
        let [now, then] = [usual(&own), all(&own)].map(|it| first_render(&own, &it));
        let [now, then] = [now, then].map(|it| it.expect("it is shown") as f64);
        assert!(then <= SEEN_LATER_MAX * now, "{now} {then}");
        let other = corpus::page::Origin { host: "cdn.example".into(), party: Party::Third };
        page.origins.push(other);
        page.resources[7].origin = page.origins.len() - 1;
        let page = Arc::new(page);
        assert_eq!(all(&page)[7], usual(&page)[7], "the hero comes from another party");
    }

    #[test]
    fn a_response_that_failed_gets_no_line() {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        let network = Network::find("3g").expect("built in").for_ideal();
        let mut hero_of = |status| {
            page.resources[7].status = status;
            let page = Arc::new(page.clone());
            let found = priorities(&[Arc::clone(&page)], std::slice::from_ref(&network), &|| true);
            (found.expect("something above the fold").priorities[7], usual(&page)[7])
        };
        assert_eq!(hero_of(200).0, RAISED);
        let (found, usual) = hero_of(500);
        assert_eq!(found, usual);
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
