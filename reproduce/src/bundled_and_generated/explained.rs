//! How much of the gap between two sets of pages closes when one gets the other's mix of some properties.

use super::measured::{Measured, interval_of_means, mean};
use super::{EXPLAINED, PERCENTILES};
use crate::Row;
use corpus::weights::{Border, Strata, rake};
use lab::study::statistics::bootstrap::bootstrap;
use lab::study::statistics::{Interval, Weighted, weighted_mean};
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) of: fn(&Measured) -> f64,
}

const RESOURCES: Property = Property { name: "number of resources", of: |it| it.resources };
const KILOBYTES: Property = Property { name: "bytes", of: |it| it.kilobytes };
const ABOVE_FOLD: Property =
    Property { name: "share of bytes above the fold", of: |it| it.above_fold };
/// Every generated page has a hero: weighted to their mix, bundled pages without one count nothing.
const NO_HERO: Property = Property { name: "having no hero image", of: |it| 1.0 - it.hero };
const CHANCE: Property = Property { name: "digest of the name", of: |it| it.chance };

/// The properties of the table of mixes.
pub(super) const SHOWN: [Property; 6] = [
    RESOURCES,
    Property { name: "kilobytes", of: |it| it.kilobytes },
    ABOVE_FOLD,
    Property { name: "share of late resources", of: |it| it.late },
    Property { name: "depth of discoveries", of: |it| it.depth },
    Property { name: "having a hero image", of: |it| it.hero },
];

/// The explanations that were judged first.
const EXPLANATIONS: [Explanation; 5] = [
    Explanation { id: "resources", properties: &[RESOURCES], judged: false },
    Explanation { id: "bytes", properties: &[KILOBYTES], judged: false },
    Explanation { id: "size", properties: &[RESOURCES, KILOBYTES], judged: false },
    Explanation { id: "above-fold", properties: &[ABOVE_FOLD], judged: true },
    Explanation { id: "all", properties: &[RESOURCES, KILOBYTES, ABOVE_FOLD], judged: true },
];

/// An explanation: the sets differ because of these properties.
struct Explanation {
    id: &'static str,
    properties: &'static [Property],
    judged: bool,
}

impl Explanation {
    fn judged(&self, row: Row) -> Row {
        if self.judged { row.required().at_least(HALF) } else { row }
    }
}

/// An explanation holds if at least this share of the gap closes.
pub(super) const HALF: f64 = 0.5;
/// The share that a meaningless property may close.
const NOTHING: f64 = 0.2;
const ROUNDS: usize = 30;

/// The explanations, tested by weighting: bundled pages to the generated ones' mix, and the other way round.
pub(super) fn reweighted(bundled: &[Measured], generated: &[Measured]) -> Vec<Row> {
    let mut rows = Vec::new();
    for explanation in &EXPLANATIONS {
        let Explanation { id, properties, .. } = explanation;
        rows.push(explanation.judged(bundled_by(id, properties, bundled, generated)));
    }
    let chance = bundled_by("chance", &[CHANCE], bundled, generated);
    rows.push(chance.required().between(-NOTHING, NOTHING));
    for explanation in &EXPLANATIONS {
        let id = format!("generated-by-{}", explanation.id);
        let row = row(id, "the bundled pages'", generated, bundled, explanation.properties);
        rows.push(explanation.judged(row));
    }
    rows
}

/// The explanation by hero images, tested by weighting.
pub(super) fn by_heroes(bundled: &[Measured], generated: &[Measured]) -> [Row; 2] {
    [
        bundled_by("hero", &[NO_HERO], bundled, generated).required().at_least(HALF),
        bundled_by("hero-and-above-fold", &[NO_HERO, ABOVE_FOLD], bundled, generated),
    ]
}

fn bundled_by(
    id: &str,
    properties: &[Property],
    bundled: &[Measured],
    generated: &[Measured],
) -> Row {
    row(format!("bundled-by-{id}"), "the generated pages'", bundled, generated, properties)
}

/// How much of the gap closes if the first pages get the mix of the second.
fn row(id: String, whose: &str, pages: &[Measured], target: &[Measured], of: &[Property]) -> Row {
    let names: Vec<&str> = of.iter().map(|it| it.name).collect();
    let closed = Closed::new(pages, target, of);
    let metric = format!("share of the gap that closes with {whose} mix of {}", names.join(", "));
    Row::shown(id, metric, closed.of_all()).interval(closed.interval()).note(closed.told())
}

/// A set of pages that is weighted to the mix of another.
struct Closed<'a> {
    sites: Vec<Vec<&'a Measured>>,
    properties: &'a [Property],
    borders: Vec<Vec<Border>>,
    target_mean: f64,
}

impl<'a> Closed<'a> {
    fn new(pages: &'a [Measured], target: &[Measured], properties: &'a [Property]) -> Self {
        let mut sites: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
        for page in pages {
            sites.entry(&page.site).or_default().push(page);
        }
        let borders =
            properties.iter().map(|property| borders(target.iter().map(property.of).collect()));
        Self {
            sites: sites.into_values().collect(),
            properties,
            borders: borders.collect(),
            target_mean: mean(target, EXPLAINED).unwrap_or(f64::NAN),
        }
    }

    /// The share of the gap that closes.
    fn of_all(&self) -> Option<f64> {
        self.of(&(0..self.sites.len()).collect::<Vec<_>>())
    }

    /// Its 95 % interval: sites are drawn.
    fn interval(&self) -> Option<Interval> {
        bootstrap(self.sites.len(), |drawn| self.of(drawn))
    }

    fn of(&self, sites: &[usize]) -> Option<f64> {
        let before = weighted_mean(&speedups(&self.equal(sites)))?;
        let after = weighted_mean(&speedups(&self.weighted(sites)))?;
        Some((before - after) / (before - self.target_mean)).filter(|it| it.is_finite())
    }

    fn equal(&self, sites: &[usize]) -> Vec<(&'a Measured, f64)> {
        sites.iter().flat_map(|it| &self.sites[*it]).map(|it| (*it, 1.0)).collect()
    }

    fn weighted(&self, sites: &[usize]) -> Vec<(&'a Measured, f64)> {
        let pages = self.equal(sites);
        let strata = self.properties.iter().zip(&self.borders).map(|(property, borders)| {
            Strata::new(pages.iter().map(|it| (property.of)(it.0)), borders)
        });
        let mut weights = vec![1.0; pages.len()];
        rake(&mut weights, &strata.collect::<Vec<_>>(), ROUNDS);
        pages.into_iter().zip(weights).map(|(page, weight)| (page.0, weight)).collect()
    }

    /// The mean after weighting, and how many pages of equal weight would tell as much.
    fn told(&self) -> String {
        let pages = self.weighted(&(0..self.sites.len()).collect::<Vec<_>>());
        let mean = weighted_mean(&speedups(&pages)).unwrap_or(f64::NAN);
        let sum: f64 = pages.iter().map(|it| it.1).sum();
        let squares: f64 = pages.iter().map(|it| it.1 * it.1).sum();
        format!(
            "The weighted mean is \u{d7}{mean:.2}; the weights of {} pages tell as much as {:.1} of equal weight.",
            pages.len(),
            sum * sum / squares
        )
    }
}

fn speedups(pages: &[(&Measured, f64)]) -> Vec<Weighted> {
    let pages = pages.iter();
    pages.filter_map(|(page, weight)| Some((*page.speedups.get(EXPLAINED)?, *weight))).collect()
}

/// Strata with borders at percentiles of these values, each with the share of values up to it.
fn borders(mut values: Vec<f64>) -> Vec<Border> {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let mut borders: Vec<f64> = Vec::new();
    for percent in PERCENTILES {
        borders.extend(values.get((count * percent).div_ceil(100).max(1) - 1));
    }
    borders.dedup();
    let with_shares = borders.into_iter().map(|border| {
        let up_to = values.partition_point(|it| *it <= border);
        (border, up_to as f64 / count.max(1) as f64)
    });
    with_shares.collect()
}

/// The explanations, tested by generating: how much of the gap closes if pages have something of the bundled ones.
pub(super) fn by_generating(
    id: &str,
    what: &str,
    bundled: &[Measured],
    generated: &[Measured],
    alike: &[Measured],
) -> Row {
    let sets = [bundled, generated, alike];
    let means = sets.map(|it| mean(it, EXPLAINED));
    let of_alike = means[2].unwrap_or(f64::NAN);
    let closed = match means {
        [Some(bundled), Some(generated), Some(alike)] => {
            Some(closed_gap([bundled, generated, alike]))
        }
        _ => None,
    };
    let metric = format!("share of the gap that closes if generated pages have {what}");
    Row::shown(id, metric, closed)
        .interval(interval_of_means(sets, EXPLAINED, closed_gap))
        .note(format!("Their mean is \u{d7}{of_alike:.2}; {} pages.", alike.len()))
}

fn closed_gap([bundled, generated, alike]: [f64; 3]) -> f64 {
    (alike - generated) / (bundled - generated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of which a share are of a kind that gains 4 and not 1, and says so by its share above the fold.
    fn planted(fast: usize, of: usize) -> Vec<Measured> {
        let page = |place: usize| {
            let is_fast = place < fast;
            Measured {
                site: format!("{place}"),
                resources: (place % 7) as f64,
                kilobytes: 1.0,
                above_fold: if is_fast { 0.1 } else { 0.9 },
                hero: 0.0,
                late: 0.0,
                depth: 1.0,
                chance: (place * 37 % of) as f64 / of as f64,
                speedups: [(EXPLAINED.to_owned(), if is_fast { 4.0 } else { 1.0 })].into(),
            }
        };
        (0..of).map(page).collect()
    }

    #[test]
    fn the_property_that_makes_the_gap_closes_it_and_chance_does_not() {
        let (bundled, generated) = (planted(40, 60), planted(100, 1000));
        let closed =
            |of: &[Property]| Closed::new(&bundled, &generated, of).of_all().expect("known");
        assert!((closed(&[ABOVE_FOLD]) - 1.0).abs() < 1e-9, "{}", closed(&[ABOVE_FOLD]));
        assert!(closed(&[CHANCE]).abs() < NOTHING, "{}", closed(&[CHANCE]));
        assert!(closed(&[RESOURCES]).abs() < NOTHING, "{}", closed(&[RESOURCES]));
        let back = Closed::new(&generated, &bundled, &[ABOVE_FOLD]).of_all().expect("known");
        assert!((back - 1.0).abs() < 1e-9, "{back}");
    }

    #[test]
    fn borders_have_the_share_of_values_up_to_them() {
        let ten = borders((1..=10).map(f64::from).collect());
        assert_eq!(ten, [(1.0, 0.1), (3.0, 0.3), (5.0, 0.5), (8.0, 0.8), (9.0, 0.9)]);
        assert_eq!(borders(vec![0.0, 0.0, 0.0, 1.0]), [(0.0, 0.75), (1.0, 1.0)]);
    }
}
