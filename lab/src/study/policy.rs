//! The best scheme, pushes and hints for each page of a study, as a server's configuration.
//!
//! A policy must not do harm. So the site keeps the default order, `rfc9218`, which obeys browsers' signals. A page gets
//! another order only if that is better than the default on every network of the study ([`trial`]).

mod configuration;
mod facts;
mod trial;

use super::plan::dimension::{GATE, HINTS, NETWORK, PUSH, SIGNALS};
use super::statistics::{Interval, geometric_mean};
use super::{Plan, StudyError};
use crate::Contender;
use crate::push_and_hints::PushAndHints;
pub use configuration::{Configuration, page_argument};
pub(crate) use configuration::{facts_key, hint_keys, list_key, pages_key, quoted};
use server::SignalUse;
pub use trial::choose;

/// The site's scheme: the default for a directory or a backend.
pub const OF_SITE: &str = "rfc9218";

/// The candidates for a page, and the order that they must beat.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The scheme to beat. It is judged with an obeying server, without pushes and hints.
    pub to_beat: &'a str,
    /// Whether schemes are also candidates with an obeying server. Then only those whose clients signal in RFC 9218's terms
    /// are, because browsers send no other signals.
    pub obeying: bool,
}

/// The choice of an order, pushes and hints for one page.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The page.
    pub page: String,
    /// The candidate with the best values of the plan's metric, above the fold if the page has such resources.
    pub scheme: String,
    /// How the server uses signals under it.
    pub signals: SignalUse,
    /// Its pushes and hints.
    pub push_and_hints: PushAndHints,
    /// The scheme, and the other varied dimensions.
    pub name: String,
    /// Its result on each network of the study, in order. Loads that contributed to the choice do not count.
    pub found: Vec<Found>,
}

/// A candidate's result on a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The network.
    pub network: String,
    /// How many times better than the scheme to beat it is, load by load: Hodges and Lehmann's estimate.
    pub ratio: f64,
    /// Its 95 % interval; `None` for fewer than six loads.
    pub interval: Option<Interval>,
    /// Loads under each of the two.
    pub loads: usize,
}

impl Found {
    /// `0.995 to 1.012`; too few loads have no interval.
    pub fn interval_text(&self) -> String {
        let interval = self.interval.map(|[low, high]| format!("{low:.3} to {high:.3}"));
        interval.unwrap_or_else(|| format!("n = {}", self.loads))
    }
}

impl Choice {
    /// Whether the candidate is better than the scheme to beat: its interval lies above 1 on every network, and it gains
    /// enough to be worth a line in a configuration.
    pub fn differs(&self) -> bool {
        let mut intervals = self.found.iter().map(|it| it.interval);
        intervals.all(|it| it.is_some_and(|[low, _]| low > 1.0)) && self.gain() >= WORTHWHILE
    }

    /// The geometric mean of the ratios over networks.
    fn gain(&self) -> f64 {
        gain(&self.found)
    }
}

fn gain(found: &[Found]) -> f64 {
    let ratios: Vec<f64> = found.iter().map(|it| it.ratio).collect();
    geometric_mean(&ratios).unwrap_or(1.0)
}

/// Smaller gains are not worth a change, because a study's pages and networks differ more from a visitor's.
pub(crate) const WORTHWHILE: f64 = 1.01;

/// Adds the settings that a policy compares: candidates with a server that ignores signals, and the scheme to beat with one
/// that obeys them.
pub fn prepare(plan: &mut Plan) {
    let signals = &mut plan.settings.signals;
    for use_of in [SignalUse::Ignore, SignalUse::Obey] {
        if !signals.contains(&use_of) {
            signals.push(use_of);
        }
    }
}

/// Rejects plans that cannot lead to a policy, before anything is loaded.
pub fn check(plan: &Plan, terms: Terms<'_>) -> Result<(), StudyError> {
    let free = [NETWORK, PUSH, GATE, HINTS, SIGNALS];
    let varied = plan.settings.varied().into_iter().find(|it| !free.contains(&it.column));
    let settings = plan.settings.each();
    let to_beat = terms.to_beat;
    let mut schemes = plan.schemes.iter().filter_map(Contender::scheme);
    let problem = if !plan.engine.has_transport() {
        "on engine ideal, clients send no signals, but a site's visitors do: use --engine stack --seeds 9"
            .to_owned()
    } else if let Some(dimension) = varied {
        format!("name one {}, the site's", dimension.name)
    } else if let Some(name) = plan.looking_ahead() {
        format!("`{name}` looks ahead in the page, which a server of files cannot: leave it out")
    } else if !settings.iter().any(|(_, it)| it.push_and_hints().is_nothing()) {
        "pushes and hints need loads without them to compare with: add none to --push and to --hints"
            .to_owned()
    } else if plan.shard.is_some() {
        "a shard does not have all loads: make the shards with --signals ignore,obey, merge them, and name the merged \
         folder with --from and --out"
            .to_owned()
    } else if plan.seeds.len() < LOADS_MIN {
        format!(
            "a third of the loads chooses, and the others judge, so it takes at least {LOADS_MIN} loads: use --seeds \
             {LOADS_MIN}"
        )
    } else if schemes.all(|scheme| scheme.name != to_beat) {
        format!("the scheme to beat, `{to_beat}`, is not among the schemes: add it")
    } else {
        return Ok(());
    };
    Err(StudyError::Impossible(format!("a policy cannot be made: {problem}")))
}

/// Three loads choose and six judge, because fewer have no 95 % interval.
const LOADS_MIN: usize = 9;
