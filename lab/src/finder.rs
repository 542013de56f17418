//! The finder: which order should a site's server send its pages in, and is it better than the present one?
//!
//! The question that every server can act on concerns priorities of single resources ([`by_resource`]); [`SiteAnswer`] is its answer.
//!
//! Whole schemes need a server that runs them ([`find`]). Stage 1 loads each page under every scheme on the engine `ideal`, in
//! milliseconds. Stage 2 loads it under the best of them and in the present order on the engine `stack`, paired by seed, until the
//! difference is known with the requested precision ([`trial`]). The loads that judge play other recordings of the page. The answer
//! names one order for each page and network, or states that none is better than the present one, and one order for all of them with the
//! best worst case.

mod advice;
mod answer;
mod baseline;
mod baseline_server;
mod by_hand;
mod by_resource;
mod configuration;
mod confirmation;
mod doubts;
mod goal;
mod hints;
mod hosts;
mod moved;
mod one_policy;
mod others;
mod paired_loads;
mod recordings;
mod report;
mod resource_words;
mod robust;
mod screening;
mod seen;
mod site_answer;
pub mod trial;
mod words;

pub use advice::advice;
pub use answer::{Answer, Index, Loads, PageAnswer, RankedOrder, RobustChoice, Verdict};
pub use baseline::{Baseline, Change, ChangeVerdict, changes};
pub use baseline_server::{BASELINE_SERVERS, BaselineServer};
pub use by_hand::ByHand;
pub use by_resource::{ByResource, Gain, ResourcePriority, by_resource};
pub use configuration::{PolicySite, policy, routes};
pub use confirmation::{Confirmation, confirm};
pub use goal::{Goal, GoalError};
pub use hints::{ByHints, HintsGain, by_hints};
pub use hosts::at_host;
pub use moved::Moved;
pub use report::{Findings, report};
pub use screening::Screened;
pub use seen::{Noticed, Seen, SeenImage, length_text};
pub use site_answer::SiteAnswer;
pub use words::WHAT_YOU_HAVE;

use crate::Contender;
use crate::browsing::Browser;
use crate::network::Network;
use crate::study::{Engine, Plan, Settings, StudyError, engines, manifest};
use client::profile::Profile;
use corpus::Page;
use paired_loads::Case;
use schedulers::{Catalogue, SCHEMES};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use trial::Rule;

/// The scheme of a server that obeys its clients' priority signals, like most HTTP/3 servers that prioritize.
pub const OBEYING: &str = "rfc9218";

/// The question of a search.
#[derive(Debug, Clone)]
pub struct Question {
    /// The pages. Among pages with the same name, the first is the page; the others are further recordings of it, and count if they have
    /// the same resources.
    pub pages: Vec<Arc<Page>>,
    /// Paths of the documents that a page represents, by its name: they share its template.
    pub alike: BTreeMap<String, Vec<String>>,
    /// The networks of the site's visitors, with unique names.
    pub networks: Vec<Network>,
    /// The schemes to choose from: [`candidates`].
    pub schemes: Vec<Contender>,
    /// The present server.
    pub server: &'static BaselineServer,
    /// The measure by which loads are judged.
    pub goal: Goal,
    /// Whether to compute how near priorities of single resources come to the best order, which takes long.
    pub oracle: bool,
    /// Loads end at this half-width of a 95 % interval, as a share of the ratio.
    pub width: f64,
    /// The maximum number of loads of a page on a network, in the present order and under the candidate.
    pub most_loads: usize,
    /// Loads at a time.
    pub jobs: usize,
    /// The browser that the playback imitates: its signals for pages without any, the requests it holds back, and its time to commit to
    /// a document.
    pub profile: Option<Profile>,
    /// The browser for [`confirm`]. `None`: engine `wire`.
    pub browser: Option<Arc<dyn Browser>>,
}

/// Progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// This number of further loads follows.
    Planned(usize),
    /// One load finished.
    Loaded,
    /// The search on `ideal`, which precedes the loads of a page, tried another order.
    Tried,
}

/// The schemes for a server that does not know the page's graph: the built-in ones, and the user's own.
pub fn candidates(catalogue: &Catalogue) -> Vec<Contender> {
    let all = SCHEMES.iter().chain(catalogue.own()).cloned().map(Contender::from);
    all.filter(|it| !it.looks_ahead()).collect()
}

/// Searches whole schemes; `progress` is called from any thread.
pub fn find(question: &Question, progress: &(dyn Fn(Step) + Sync)) -> Result<Answer, StudyError> {
    let screened = screening::screen(question, progress)?;
    if let Some(empty) = screened.iter().find(|screened| screened.schemes.is_empty()) {
        return Err(StudyError::Impossible(format!(
            "{} on {}: no load has a value of {}; choose another metric",
            empty.page,
            empty.network,
            question.goal.text()
        )));
    }
    let mut cases: Vec<Case> = Vec::new();
    for page in &question.pages() {
        let names = screening::finalists(&screened, &page.name);
        cases.extend(paired_loads::load(question, page, &names, progress)?);
    }
    Ok(Answer::of(question, &screened, &cases))
}

impl Question {
    /// A question about these pages and networks, with the precision of `utmost find`, and one concurrent load per core.
    pub fn new(pages: Vec<Arc<Page>>, networks: Vec<Network>) -> Self {
        Self {
            pages,
            alike: BTreeMap::new(),
            networks,
            schemes: candidates(&Catalogue::default()),
            server: &BASELINE_SERVERS[0],
            goal: Goal::default(),
            oracle: false,
            width: 0.05,
            most_loads: 30,
            jobs: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            profile: None,
            browser: None,
        }
    }

    /// The pages, without their further recordings.
    pub fn pages(&self) -> Vec<Arc<Page>> {
        let mut pages: Vec<Arc<Page>> = Vec::new();
        for page in &self.pages {
            if pages.iter().all(|before| before.name != page.name) {
                pages.push(Arc::clone(page));
            }
        }
        pages
    }

    /// The rule for when a page has enough loads on a network.
    fn rule(&self) -> Rule {
        let tests = self.pages().len() * self.networks.len();
        Rule { width: self.width, most_loads: self.most_loads, tests }
    }

    /// The manifest of a study with all loads of stage 2. `program` describes this program.
    pub fn provenance(&self, program: Value) -> Value {
        let networks = self.networks.clone();
        let plan = self.plan(engines::STACK, networks, self.pages(), self.schemes.clone());
        let seeds = (0..self.most_loads as u64).collect();
        plan.map_or(program.clone(), |plan| manifest::provenance(&Plan { seeds, ..plan }, program))
    }

    /// A plan for either stage, with one seed; `None` without a network.
    fn plan(
        &self,
        engine: &'static dyn Engine,
        networks: Vec<Network>,
        pages: Vec<Arc<Page>>,
        schemes: Vec<Contender>,
    ) -> Option<Plan> {
        let first = networks.first()?.clone();
        let settings = Settings { networks, ..Settings::on(first.clone(), engine) };
        let browser = self.browser.clone().filter(|_| engine.has_browser());
        let plan = Plan::new(pages, schemes, engine, first);
        Some(Plan { settings, jobs: self.jobs, profile: self.profile.clone(), browser, ..plan })
    }
}
