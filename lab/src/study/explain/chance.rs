//! How good a split is by chance: a permutation test over sites. The facts by themselves have the same shuffles.

use super::cases::Cases;
use super::tree::{EQUAL, Sample};
use qlog_tools::saturating_cast::to_usize;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The number of shuffles: the smallest p is 0.002.
const SHUFFLES: u64 = 499;

/// The seed of all shuffles, so that the same study gives the same answer.
const SEED: u64 = 1;

/// The randomness of a shuffle.
pub(super) fn random(shuffle: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    random.set_stream(shuffle);
    random
}

/// The improvements of the best splits of some cases, with shuffled facts, ascending.
pub(super) struct Chance(Vec<f64>);

impl Chance {
    /// Gives each site the facts of another site's pages, and permutes the settings within each site. Common facts of a site's
    /// pages, and a setting's effect on all sites, stay together. Gains are not moved.
    pub(super) fn of(cases: &Cases, sample: &Sample, among: &[usize]) -> Self {
        let shuffler = Shuffler::new(cases, among);
        let improvements = (0..SHUFFLES).into_par_iter().map(|shuffle| {
            let groups = shuffler.groups(&mut random(shuffle));
            sample.best_split(&groups, among).map_or(0.0, |it| it.improvement)
        });
        let mut improvements: Vec<f64> = improvements.collect();
        improvements.sort_by(f64::total_cmp);
        Self(improvements)
    }

    /// The share of shuffles, including the study itself, with an equally good or better split.
    pub(super) fn p(&self, improvement: f64) -> f64 {
        let worse = self.0.partition_point(|it| *it < improvement - EQUAL);
        (self.0.len() - worse + 1) as f64 / (self.0.len() + 1) as f64
    }

    /// The improvement that chance exceeds with probability `p`.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        let place = to_usize(((1.0 - p) * self.0.len() as f64).ceil());
        self.0[place.clamp(1, self.0.len()) - 1]
    }
}

/// The sites that may exchange facts.
pub(super) struct Shuffler<'a> {
    cases: &'a Cases,
    among: &'a [usize],
    /// By site, its pages among the cases.
    pages: Vec<Vec<usize>>,
    /// The settings of the cases.
    links: Vec<usize>,
}

/// A shuffle, by page: the page whose facts it gets, and the order of its site's settings.
pub(super) struct Shuffled {
    pub(super) page_of: Vec<usize>,
    link_of: Vec<Vec<usize>>,
}

impl<'a> Shuffler<'a> {
    pub(super) fn new(cases: &'a Cases, among: &'a [usize]) -> Self {
        let mut pages: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &case in among {
            pages.entry(cases.site(case)).or_default().insert(cases.all[case].page);
        }
        let links: BTreeSet<usize> = among.iter().map(|it| cases.all[*it].link).collect();
        let pages = pages.into_values().map(|it| it.into_iter().collect()).collect();
        Self { cases, among, pages, links: links.into_iter().collect() }
    }

    pub(super) fn shuffled(&self, random: &mut impl Rng) -> Shuffled {
        let count = self.cases.pages.len();
        let mut shuffled = Shuffled { page_of: vec![0; count], link_of: vec![Vec::new(); count] };
        let mut donors: Vec<&Vec<usize>> = self.pages.iter().collect();
        donors.shuffle(random);
        for (own, donor) in self.pages.iter().zip(donors) {
            let mut donor = donor.clone();
            donor.shuffle(random);
            let mut order = self.links.clone();
            order.shuffle(random);
            for (place, &page) in own.iter().enumerate() {
                shuffled.page_of[page] = donor[place % donor.len()];
                shuffled.link_of[page].clone_from(&order);
            }
        }
        shuffled
    }

    /// By fact and case, the groups of the facts after a shuffle.
    fn groups(&self, random: &mut impl Rng) -> Vec<Vec<u8>> {
        let Cases { all: cases, pages, links, .. } = self.cases;
        let Shuffled { page_of, link_of } = self.shuffled(random);
        let mut groups = vec![vec![0; cases.len()]; self.cases.facts.len()];
        for &case in self.among {
            let page = cases[case].page;
            let place = self.links.binary_search(&cases[case].link).unwrap_or_default();
            let of_link = &links[link_of[page][place]];
            let of_case = pages[page_of[page]].groups.iter().chain(of_link);
            for (of_fact, group) in groups.iter_mut().zip(of_case) {
                of_fact[case] = *group;
            }
        }
        groups
    }
}
