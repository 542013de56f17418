//! Stage 2: a page under the finalists and in the present order on the engine `stack`, with the same seeds.

use super::moved::moved;
use super::seen::Noticed;
use super::trial::{BATCH, Indices, Trial};
use super::{BaselineServer, Goal, Moved, OBEYING, Question, Step};
use crate::network::Network;
use crate::push_and_hints::Hints;
use crate::study::{BASELINE, Engine, Plan, RunRecord, Settings, Study, StudyError, engines, run};
use crate::{Contender, Metadata};
use corpus::Page;
use schedulers::Scheme;
use serde_json::Value;
use server::SignalUse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A page on a network after its loads.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) page: Arc<Page>,
    pub(super) network: String,
    goal: Goal,
    /// The candidates of the trial.
    pub(super) names: Vec<String>,
    pub(super) trial: Trial,
    /// A lower bound on the index above the fold for any order, in ms.
    pub(super) bound_ms: Option<f64>,
    /// The resources that the leader moves.
    pub(super) moved: Vec<Moved>,
    /// The leader's visible effects.
    pub(super) noticed: Noticed,
    pub(super) present_scheme: &'static str,
    pub(super) unfinished: usize,
    present: Vec<RunRecord>,
    others: Vec<RunRecord>,
}

/// Loads `page` under the named schemes until each network has enough loads, a batch at a time.
pub(super) fn load(
    question: &Question,
    page: &Arc<Page>,
    names: &[String],
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<Case>, StudyError> {
    let mut schemes: Vec<Contender> = Vec::new();
    for name in names {
        schemes.extend(question.schemes.iter().find(|it| it.name() == name).cloned());
    }
    let names: Vec<String> = schemes.iter().map(|it| it.name().to_owned()).collect();
    let networks = question.networks.iter();
    let mut cases: Vec<Case> =
        networks.map(|it| Case::new(question, page, &it.name, &names)).collect();
    // Unfinished networks are all at the same seed.
    while let Some(seeds) = cases.iter().find_map(|case| case.trial.next_seeds()) {
        let open = open_networks(question, &cases);
        let networks = open.values().flatten().cloned().collect();
        let of_all = Batch::on_stack(question, page, networks, 0, progress);
        let of_all = Batch { seeds: seeds.clone(), ..of_all };
        let present = of_all.present()?.runs;
        let mut others = Vec::new();
        for (places, networks) in open {
            let schemes: Vec<Contender> = places.iter().map(|it| schemes[*it].clone()).collect();
            let batch = Batch { networks, ..of_all.clone() };
            others.extend(batch.others(&schemes)?.runs);
        }
        let loaded = cases.iter_mut().filter(|it| it.trial.next_seeds().is_some());
        loaded.for_each(|it| it.add(&seeds, &present, &others));
    }
    Ok(cases.into_iter().map(Case::finished).collect())
}

/// The networks that need more loads, by the indices of the candidates to load there.
fn open_networks(question: &Question, cases: &[Case]) -> BTreeMap<Vec<usize>, Vec<Network>> {
    let mut open: BTreeMap<Vec<usize>, Vec<Network>> = BTreeMap::new();
    for (network, case) in question.networks.iter().zip(cases) {
        if case.trial.next_seeds().is_some() {
            open.entry(case.trial.open()).or_default().push(network.clone());
        }
    }
    open
}

/// Loads of a page with the same seeds.
#[derive(Clone)]
pub(super) struct Batch<'a> {
    pub(super) question: &'a Question,
    pub(super) page: &'a Arc<Page>,
    /// `stack`, or `wire` in real time.
    pub(super) engine: &'static dyn Engine,
    /// At least one.
    pub(super) networks: Vec<Network>,
    pub(super) seeds: Range<u64>,
    pub(super) progress: &'a (dyn Fn(Step) + Sync),
}

impl<'a> Batch<'a> {
    /// A whole batch of seeds on `stack`, although a trial uses its first seed alone.
    pub(super) fn on_stack(
        question: &'a Question,
        page: &'a Arc<Page>,
        networks: Vec<Network>,
        from: u64,
        progress: &'a (dyn Fn(Step) + Sync),
    ) -> Self {
        let seeds = from..from + BATCH as u64;
        Self { question, page, engine: engines::STACK, networks, seeds, progress }
    }

    /// Loads the page in the present order, which is the present server's.
    pub(super) fn present(&self) -> Result<Study, StudyError> {
        self.hinting(None)
    }

    /// The same with hints.
    pub(super) fn hinting(&self, hints: Option<Hints>) -> Result<Study, StudyError> {
        let BaselineServer { scheme, signals, .. } = *self.question.server;
        self.load(&[known(scheme)?], &[signals], Metadata::default(), hints)
    }

    /// Loads the page from a server that sends as its clients ask.
    pub(super) fn obeying(&self) -> Result<Study, StudyError> {
        self.load(&[known(OBEYING)?], &[SignalUse::Obey], Metadata::default(), None)
    }

    /// The same for clients that do not signal the page's priorities: the server itself knows them.
    pub(super) fn told(&self) -> Result<Study, StudyError> {
        self.others(&[known(OBEYING)?])
    }

    /// Loads the page under `schemes` from a server that ignores signals.
    pub(super) fn others(&self, schemes: &[Contender]) -> Result<Study, StudyError> {
        self.load(schemes, &[], Metadata::default(), None)
    }

    /// Loads the page under a scheme from a server that ignores signals and knows everything.
    pub(super) fn knowing(&self, scheme: Scheme) -> Result<Study, StudyError> {
        self.load(&[scheme.into()], &[], Metadata::Full, None)
    }

    fn load(
        &self,
        schemes: &[Contender],
        signals: &[SignalUse],
        metadata: Metadata,
        hints: Option<Hints>,
    ) -> Result<Study, StudyError> {
        let mut all: Option<Study> = None;
        for (page, seeds) in self.recordings() {
            let networks = self.networks.clone();
            let plan = self.question.plan(self.engine, networks, vec![page], schemes.to_vec());
            let plan = plan.ok_or_else(|| StudyError::Impossible("name a network".to_owned()))?;
            let hints = hints.into_iter().collect();
            let settings = Settings { signals: signals.to_vec(), hints, ..plan.settings };
            // A client, a relay and a server run at the same time.
            let is_real = !self.engine.repeats();
            let jobs = if is_real { (plan.jobs / 2).max(1) } else { plan.jobs };
            let plan = Plan { settings, metadata, seeds, jobs, ..plan };
            (self.progress)(Step::Planned(plan.loads()));
            let study = run(&plan, Value::Null, &|| (self.progress)(Step::Loaded))?;
            match &mut all {
                Some(all) => {
                    all.runs.extend(study.runs);
                    all.loads.extend(study.loads);
                }
                None => all = Some(study),
            }
        }
        all.ok_or_else(|| StudyError::Impossible("no load is asked for".to_owned()))
    }

    /// The recordings that the loads play, each with its seeds. In real time, randomness cannot be controlled.
    fn recordings(&self) -> Vec<(Arc<Page>, Vec<u64>)> {
        let mut recordings: Vec<(Arc<Page>, Vec<u64>)> = Vec::new();
        for seed in self.seeds.clone() {
            let page = if self.engine.repeats() {
                self.question.recording(self.page, seed)
            } else {
                Arc::clone(self.page)
            };
            match recordings.last_mut() {
                Some((last, seeds)) if Arc::ptr_eq(last, &page) => seeds.push(seed),
                _ => recordings.push((page, vec![seed])),
            }
        }
        recordings
    }
}

fn known(scheme: &str) -> Result<Contender, StudyError> {
    Contender::find(scheme).map_err(|it| StudyError::Impossible(it.to_string()))
}

/// A page on a network, in the present order and with one change.
pub(super) struct Pair {
    pub(super) network: Network,
    pub(super) trial: Trial,
    pub(super) present: Vec<RunRecord>,
    pub(super) changed: Vec<RunRecord>,
}

/// Loads `page` in the present order and, through `changed`, with a change, until each network has enough. `first`: the
/// change's result with the first seeds, if already loaded.
pub(super) fn pairs(
    question: &Question,
    page: &Arc<Page>,
    progress: &(dyn Fn(Step) + Sync),
    changed: impl Fn(&Batch<'_>) -> Result<Study, StudyError>,
    mut first: Option<Vec<RunRecord>>,
) -> Result<Vec<Pair>, StudyError> {
    let networks = question.networks.iter();
    let new = networks.map(|network| Pair {
        network: network.clone(),
        trial: Trial::new(question.rule(), 1, None),
        present: Vec::new(),
        changed: Vec::new(),
    });
    let mut pairs: Vec<Pair> = new.collect();
    while let Some(seeds) = pairs.iter().find_map(|pair| pair.next_seeds(page)) {
        let from = seeds.start;
        let open = pairs.iter_mut().filter(|it| it.next_seeds(page).is_some());
        let open: Vec<&mut Pair> = open.collect();
        let networks = open.iter().map(|it| it.network.clone()).collect();
        let batch = Batch::on_stack(question, page, networks, from, progress);
        let present = batch.present()?.runs;
        let changed = match first.take() {
            Some(loaded) => loaded,
            None => changed(&batch)?.runs,
        };
        for pair in open {
            pair.add(&question.goal, from, [&present, &changed]);
        }
    }
    Ok(pairs)
}

impl Pair {
    fn add(&mut self, goal: &Goal, from: u64, [present, changed]: [&[RunRecord]; 2]) {
        let [of_present, of_changed] =
            [present, changed].map(|it| goal.indices(it, &self.network, from));
        self.trial.add(&of_present, &[of_changed]);
        self.present.extend(on_network(present, &self.network.name));
        self.changed.extend(on_network(changed, &self.network.name));
    }

    /// The seeds of the next loads, until it is known what the ratio is and whether a visitor sees something later.
    fn next_seeds(&self, page: &Page) -> Option<Range<u64>> {
        self.trial.next_seeds().or_else(|| {
            let is_open = self.noticed(page).is_undecided();
            self.trial.further_seeds().filter(|_| is_open)
        })
    }

    pub(super) fn noticed(&self, page: &Page) -> Noticed {
        let [present, changed] = self.judging();
        Noticed::of(page, &present, &changed)
    }

    /// The loads that judge, in the present order and with the change.
    pub(super) fn judging(&self) -> [Vec<&RunRecord>; 2] {
        [&self.present, &self.changed].map(|runs| self.trial.judges(runs))
    }
}

impl Case {
    fn new(question: &Question, page: &Arc<Page>, network: &str, names: &[String]) -> Self {
        let reference = names.iter().position(|it| it == BASELINE);
        Self {
            page: Arc::clone(page),
            network: network.to_owned(),
            goal: question.goal.clone(),
            names: names.to_vec(),
            trial: Trial::new(question.rule(), names.len(), reference),
            bound_ms: None,
            moved: Vec::new(),
            noticed: Noticed::default(),
            present_scheme: question.server.scheme,
            unfinished: 0,
            present: Vec::new(),
            others: Vec::new(),
        }
    }

    fn add(&mut self, seeds: &Range<u64>, present: &[RunRecord], others: &[RunRecord]) {
        self.present.extend(on_network(present, &self.network));
        self.others.extend(on_network(others, &self.network));
        let open = self.trial.open();
        let of_others = self.names.iter().enumerate().map(|(place, name)| {
            if !open.contains(&place) {
                return Indices::new();
            }
            self.goal.indices_of_scheme(&self.others, name, seeds)
        });
        let of_present = self.goal.indices_of_scheme(&self.present, self.present_scheme, seeds);
        self.trial.add(&of_present, &of_others.collect::<Vec<_>>());
    }

    /// The case without its loads, which take the most memory.
    fn finished(mut self) -> Self {
        let mut all = self.present.iter().chain(&self.others);
        self.unfinished = all.clone().filter(|it| !it.completed).count();
        if self.goal.is_byte_index() {
            self.bound_ms = all.find_map(|it| it.lower_bound.atf);
        }
        if let Some(leader) = self.trial.leader() {
            let present = self.trial.judges(&self.present);
            let mut under = self.trial.judges(&self.others);
            under.retain(|it| it.scheme == self.names[leader]);
            self.moved = moved(&self.page, &present, &under);
            self.noticed = Noticed::of(&self.page, &present, &under);
        }
        self.present = Vec::new();
        self.others = Vec::new();
        self
    }
}

fn on_network(runs: &[RunRecord], network: &str) -> impl Iterator<Item = RunRecord> {
    runs.iter().filter(move |it| it.setting.network == network).cloned()
}
