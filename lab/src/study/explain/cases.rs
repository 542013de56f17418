//! The cases of a study: each page in each setting, with the facts of both and the gain of each scheme.

use super::facts::{Fact, Unit};
use crate::Contender;
use crate::study::compute::summary::Paired;
use crate::study::plan::dimension::NETWORK;
use crate::study::statistics::mean;
use crate::study::{Dimension, PageFacts, Plan, RunRecord, Setting, varied};
use corpus::facts::NUMBERS;
use qlog_tools::metrics::Set;
use std::collections::{BTreeMap, BTreeSet};

/// With at most this many networks, each is a fact by itself; with more, their rates and round trips are facts.
const NAMED_NETWORKS_MAX: usize = 3;

/// Everything in a study about gains.
#[derive(Debug)]
pub(super) struct Cases {
    /// The baseline first.
    pub(super) schemes: Vec<String>,
    /// Facts of pages first.
    pub(super) facts: Vec<Fact>,
    pub(super) pages: Vec<CasePage>,
    /// By setting, the groups of the link facts, which follow the pages' facts.
    pub(super) links: Vec<Vec<u8>>,
    pub(super) all: Vec<Case>,
    pub(super) sites: usize,
    /// Pages in settings in which a scheme has no value.
    pub(super) left_out: usize,
}

#[derive(Debug)]
pub(super) struct CasePage {
    /// Its site's number.
    pub(super) site: usize,
    /// The groups of its facts.
    pub(super) groups: Vec<u8>,
    /// The values of [`NUMBERS`].
    pub(super) values: Vec<f64>,
}

#[derive(Debug)]
pub(super) struct Case {
    pub(super) page: usize,
    pub(super) link: usize,
    /// By scheme, the logarithm of its speedup over the baseline.
    pub(super) gains: Vec<f64>,
}

/// A page in a setting, by name.
type Place<'a> = (&'a str, &'a Setting);

impl Cases {
    /// The cases of finished loads, without failed and duplicate schemes.
    pub(super) fn of(plan: &Plan, runs: &[RunRecord]) -> Result<Self, String> {
        let schemes = schemes(plan, runs)?;
        if schemes.len() < 2 {
            return Err("explain compares schemes, and the study has only one that counts: of others no load finished, or they are the same".into());
        }
        let gains = gains(plan, runs, &schemes);
        let all: BTreeSet<Place<'_>> = runs.iter().map(|it| (&*it.page, &it.setting)).collect();
        let pages = plan.pages.iter().filter(|page| gains.keys().any(|it| it.0 == page.name));
        let pages: Vec<PageFacts> = pages.map(|it| PageFacts::of(it)).collect();
        let settings = gains.keys().map(|it| it.1).collect::<BTreeSet<_>>();
        let settings: Vec<&Setting> = settings.into_iter().collect();
        let links = link_facts(plan, &settings);
        let cases = gains.iter().filter_map(|((name, setting), gains)| {
            Some(Case {
                page: pages.iter().position(|it| it.page == *name)?,
                link: settings.iter().position(|it| it == setting)?,
                gains: gains.clone(),
            })
        });
        let left_out = all.len() - gains.len();
        Ok(Self { left_out, ..Self::new(schemes, &pages, &links, settings.len(), cases.collect()) })
    }

    /// Cases of pages and settings with these facts; facts of `links` have a value for each setting.
    pub(super) fn new(
        schemes: Vec<String>,
        pages: &[PageFacts],
        links: &[(Fact, Vec<f64>)],
        settings: usize,
        cases: Vec<Case>,
    ) -> Self {
        let values = |place: usize| pages.iter().map(|it| it.numbers[place]).collect::<Vec<_>>();
        let facts = NUMBERS.iter().enumerate();
        let facts = facts.map(|(at, it)| (at, Fact::of_pages(it, &values(at))));
        let facts: Vec<(usize, Fact)> = facts.filter_map(|it| Some((it.0, it.1?))).collect();
        let sites: BTreeSet<&str> = pages.iter().map(|it| &*it.site).collect();
        let sites: Vec<&str> = sites.into_iter().collect();
        let pages = pages.iter().map(|page| CasePage {
            site: sites.iter().position(|it| *it == page.site).unwrap_or_default(),
            groups: facts.iter().map(|(at, fact)| fact.group(page.numbers[*at])).collect(),
            values: page.numbers.to_vec(),
        });
        let of_link = |at: usize| links.iter().map(move |(fact, values)| fact.group(values[at]));
        let of_links = links.iter().map(|it| it.0.clone());
        Self {
            schemes,
            pages: pages.collect(),
            links: (0..settings).map(|it| of_link(it).collect()).collect(),
            all: cases,
            sites: sites.len(),
            left_out: 0,
            facts: facts.into_iter().map(|it| it.1).chain(of_links).collect(),
        }
    }

    pub(super) fn page_facts(&self) -> usize {
        self.facts.len() - self.links.first().map_or(0, Vec::len)
    }

    pub(super) fn site(&self, case: usize) -> usize {
        self.pages[self.all[case].page].site
    }

    /// By fact and case, the group of its value.
    pub(super) fn groups(&self) -> Vec<Vec<u8>> {
        let of_pages = (0..self.page_facts()).map(|fact| {
            self.all.iter().map(|it| self.pages[it.page].groups[fact]).collect::<Vec<_>>()
        });
        let of_links = (0..self.facts.len() - self.page_facts())
            .map(|fact| self.all.iter().map(|it| self.links[it.link][fact]).collect());
        of_pages.chain(of_links).collect()
    }

    /// The weight of each case; a site counts 1.
    pub(super) fn weights(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.sites];
        for case in 0..self.all.len() {
            counts[self.site(case)] += 1.0;
        }
        (0..self.all.len()).map(|case| 1.0 / counts[self.site(case)]).collect()
    }
}

/// The baseline, followed by the schemes to compare with it, if a load of them finished. A load of a scheme that failed did not.
fn schemes(plan: &Plan, runs: &[RunRecord]) -> Result<Vec<String>, String> {
    let twins = plan.twins_among(runs);
    let finished: BTreeSet<&str> =
        runs.iter().filter(|it| it.completed).map(|it| &*it.scheme).collect();
    let baseline = &*plan.baseline;
    if !finished.contains(baseline) {
        return Err(format!(
            "no load of {baseline}, the baseline, finished; name another one with `utmost compare --from` and --baseline"
        ));
    }
    let others = plan.schemes.iter().filter(|it| it.scheme().is_some()).map(Contender::name);
    let others =
        others.filter(|it| *it != baseline && !twins.contains_key(*it) && finished.contains(it));
    Ok([baseline].into_iter().chain(others).map(str::to_owned).collect())
}

/// The quantity of gains: `ByteIndex above the fold`.
pub(super) fn measure(plan: &Plan, runs: &[RunRecord]) -> String {
    let values = || runs.iter().map(|it| it.metrics.get(plan.metric));
    let has_atf = values().any(|it| it.atf.is_some());
    let some_lack_it = values().any(|it| it.atf.is_none() && it.all.is_some());
    let measure = plan.measure(if has_atf { Set::Atf } else { Set::All });
    let others = if has_atf && some_lack_it {
        ", or of all resources where a page has nothing there"
    } else {
        ""
    };
    format!("{measure}{others}")
}

/// For each page and setting in which every scheme has a value, the mean gain of each over loads on the same link.
fn gains<'a>(
    plan: &Plan,
    runs: &'a [RunRecord],
    schemes: &[String],
) -> BTreeMap<Place<'a>, Vec<f64>> {
    let baselines = Paired::of(runs, &plan.baseline, plan.metric);
    let mut loads: BTreeMap<Place<'a>, Vec<Vec<f64>>> = BTreeMap::new();
    for run in runs {
        let scheme = schemes.iter().position(|it| *it == run.scheme);
        let speedup = baselines.speedup(run).and_then(|it| it.atf.or(it.all));
        if let Some((scheme, speedup)) = scheme.zip(speedup) {
            let empty = || vec![Vec::new(); schemes.len()];
            let of_case = loads.entry((&run.page, &run.setting)).or_insert_with(empty);
            of_case[scheme].push(speedup.ln());
        }
    }
    let means = loads.into_iter().map(|(place, loads)| {
        Some((place, loads.iter().map(|it| mean(it)).collect::<Option<Vec<f64>>>()?))
    });
    means.flatten().collect()
}

/// The facts in which settings differ, with a value for each.
fn link_facts(plan: &Plan, settings: &[&Setting]) -> Vec<(Fact, Vec<f64>)> {
    let mut facts = Vec::new();
    for dimension in varied(settings.iter().copied()) {
        let numbers = match dimension.column {
            NETWORK if plan.settings.networks.len() > NAMED_NETWORKS_MAX => {
                of_networks(plan, settings)
            }
            _ => on_an_axis(dimension, settings),
        };
        let is_named = numbers.is_empty();
        facts.extend(if is_named { by_name(dimension, settings) } else { numbers });
    }
    facts
}

/// A fact for each value of a dimension; for two values, a single one is enough.
fn by_name(dimension: &Dimension, settings: &[&Setting]) -> Vec<(Fact, Vec<f64>)> {
    let cells: Vec<String> = settings.iter().map(|it| dimension.cell(it)).collect();
    let names: BTreeSet<&String> = cells.iter().collect();
    let kept = if names.len() == 2 { 1 } else { names.len() };
    let facts = names.into_iter().take(kept).filter_map(|name| {
        let values: Vec<f64> = cells.iter().map(|it| f64::from(u8::from(it == name))).collect();
        let shown = if name.is_empty() { "none" } else { name };
        let about = format!("{} {shown}", dimension.name);
        let fact = Fact::new(&format!("{}={shown}", dimension.column), &about, Unit::Is, &values)?;
        Some((fact, values))
    });
    facts.collect()
}

/// A dimension as a number, if every setting has one in the same unit.
fn on_an_axis(dimension: &Dimension, settings: &[&Setting]) -> Vec<(Fact, Vec<f64>)> {
    let axes = dimension.axes.iter().filter_map(|axis| {
        let values: Vec<f64> = settings.iter().map(|it| (axis.at)(it)).collect::<Option<_>>()?;
        let fact = Fact::new(dimension.column, axis.title, Unit::Number, &values)?;
        Some((fact, values))
    });
    axes.take(1).collect()
}

/// The numeric properties of a network: name and unit.
const OF_NETWORKS: [(&str, &str); 2] =
    [("rate", "the rate to the client, Mbit/s"), ("rtt_ms", "the round trip, ms")];

fn of_networks(plan: &Plan, settings: &[&Setting]) -> Vec<(Fact, Vec<f64>)> {
    let numbers = settings.iter().map(|setting| {
        let network = plan.settings.networks.iter().find(|it| it.name == setting.network)?;
        let network = setting.network_of(network).ok()?;
        Some([network.down.rate.mean() / 1e6, network.round_trip_ms()])
    });
    let Some(numbers) = numbers.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let facts = OF_NETWORKS.iter().enumerate().filter_map(|(at, (name, about))| {
        let values: Vec<f64> = numbers.iter().map(|it| it[at]).collect();
        Some((Fact::new(name, about, Unit::Number, &values)?, values))
    });
    facts.collect()
}
