//! Means over pages in a setting, their intervals, and the best scheme, as far as the loads show it.

use super::{Compared, PageSpeedups, View};
use crate::Contender;
use crate::study::compute::comparisons::{are_behind, log_ratios};
use crate::study::compute::summary::Paired;
use crate::study::statistics::{Interval, Weighted, weighted_mean};
use crate::study::{PageWeights, Pages, RunRecord, SummaryRow, Unit};
use figures::Standing;

impl View<'_> {
    /// The report's main mean of the ratios of a scheme in a setting: geometric, or arithmetic if the paper's study is
    /// repeated; and its interval.
    pub(crate) fn leading_mean(&self, row: &SummaryRow) -> (Option<f64>, Option<Interval>) {
        if self.plan.repeats_the_paper() {
            (row.mean_speedup.get(self.set), row.mean_speedup_interval.get(self.set))
        } else {
            let interval = row.geometric_mean_speedup_interval.get(self.set);
            (row.geometric_mean_speedup.get(self.set), interval)
        }
    }

    /// The name of the mean.
    pub(crate) fn mean_name(&self) -> &'static str {
        if self.plan.repeats_the_paper() { "mean" } else { "geometric mean" }
    }

    /// The same mean of the pages' `speedups`, where the summary has no row.
    pub(crate) fn mean_speedup(
        &self,
        speedups: &PageSpeedups<'_>,
        scheme: &str,
        setting: &Compared,
    ) -> Option<f64> {
        let values = self.plan.pages.iter().filter_map(|page| {
            let speedup = speedups.get(&setting.group(&page.name, scheme))?.get(self.set)?;
            Some((speedup, self.weight_of(&page.name)))
        });
        let values: Vec<Weighted> = values.collect();
        if self.plan.repeats_the_paper() {
            return weighted_mean(&values);
        }
        let logarithms = values.into_iter().map(|(ratio, weight)| (ratio.ln(), weight));
        weighted_mean(&logarithms.collect::<Vec<_>>()).map(f64::exp)
    }

    pub(crate) fn summary_of(&self, scheme: &str, setting: &Compared) -> Option<&SummaryRow> {
        let told = setting.setting.told(&self.varied);
        self.study.summary.iter().find(|it| it.scheme == scheme && it.setting == told)
    }

    /// Whether speedups are exact: for a single page without randomness.
    pub(crate) fn is_exact(&self) -> bool {
        self.plan.pages.len() == 1 && !self.plan.has_chance()
    }

    fn weight_of(&self, page: &str) -> f64 {
        PageWeights::weight_of(self.study.weights.as_ref(), page)
    }

    /// The standings of `schemes` in a setting, whatever the baseline; those with an unknown `mean` do not compete. The best
    /// one has the best geometric mean over pages. Each other one is compared with it as in the study's `pairs`: by loads over the
    /// same links, with p-values adjusted for all pairs of the setting.
    pub(crate) fn standings(
        &self,
        setting: &Compared,
        schemes: &[&str],
        means: &[Option<f64>],
    ) -> Vec<Standing> {
        if self.is_exact() {
            return Standing::of_exact(means);
        }
        if self.is_partial(setting) {
            // The loads that did not finish could make another one the best.
            return vec![Standing::Unknown; means.len()];
        }
        let twins = &self.study.twins;
        let mut known: Vec<usize> = (0..means.len()).collect();
        known.retain(|it| means[*it].is_some() && !twins.contains_key(schemes[*it]));
        let mut standings = vec![Standing::Unknown; means.len()];
        let mut family: Vec<&str> = known.iter().map(|it| schemes[*it]).collect();
        let others = self.plan.schemes.iter().map(Contender::name);
        let others = others.filter(|it| !twins.contains_key(*it) && !family.contains(it));
        family.extend(others.collect::<Vec<_>>());
        let loads: Vec<Paired<'_>> = family.iter().map(|it| self.paired(it, setting)).collect();
        let ratios = |one: usize, over: usize| self.log_ratios(&loads[over], family[one], setting);
        // The best one does not depend on the scheme with which all are compared.
        let log_means = (0..known.len())
            .map(|it| weighted_mean(&ratios(it, 0).concat()).unwrap_or(f64::NEG_INFINITY));
        let best = log_means.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((best, _)) = best else { return standings };
        let mut behind = are_behind(best, family.len(), ratios);
        behind.truncate(known.len() - 1);
        let of_known = Standing::of_measured(best, behind);
        known.iter().zip(of_known).for_each(|(place, it)| standings[*place] = it);
        for (place, scheme) in schemes.iter().enumerate() {
            let twin = twins.get(*scheme).and_then(|twin| schemes.iter().position(|it| it == twin));
            let Some(twin) = twin.filter(|_| means[place].is_some()) else { continue };
            if standings[twin] == Standing::Best {
                standings[twin] = Standing::Tied;
            }
            standings[place] = standings[twin];
        }
        standings
    }

    /// The loads of `scheme` in a setting, for comparing others with them.
    fn paired<'b>(&'b self, scheme: &'b str, setting: &'b Compared) -> Paired<'b> {
        let pages = self.plan.pages.iter();
        let places = pages.flat_map(|it| self.places(&it.name, scheme, setting));
        Paired::of(places.map(|it| &self.study.runs[*it]), scheme, self.plan.metric)
    }

    /// The logarithms of the ratios of `scheme` over other loads: grouped by site; for a single page, by load.
    fn log_ratios(
        &self,
        over: &Paired<'_>,
        scheme: &str,
        setting: &Compared,
    ) -> Vec<Vec<Weighted>> {
        let pages = self.plan.pages.iter();
        let places = pages.flat_map(|it| self.places(&it.name, scheme, setting));
        let runs: Vec<&RunRecord> = places.map(|it| &self.study.runs[*it]).collect();
        let of = Pages::new(|page| self.plan.site_of(page), |page| self.weight_of(page));
        let pairs_of = if self.plan.pages.len() == 1 { Unit::Loads } else { Unit::Sites };
        let has_chance = !self.certain.contains(&setting.setting);
        log_ratios(&over.speedups_by_page(&runs, &of), self.set, pairs_of, has_chance, &of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::study::{Plan, Study, engines};
    use corpus::Page;
    use figures::FigureStyle;
    use qlog_tools::metrics::BySet;
    use std::sync::Arc;

    const SCHEMES: [&str; 3] = ["rr", "fifo", "dfifo"];

    fn plan(pages: usize) -> Plan {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let named = |place| Arc::new(Page { name: format!("page{place}"), ..page.clone() });
        let schemes = SCHEMES.map(|it| Contender::find(it).expect("a scheme"));
        let network = Network::find("paper").expect("built in");
        Plan::new((0..pages).map(named).collect(), schemes.into(), engines::IDEAL, network)
    }

    /// `fifo` takes half as long as `rr` on each page, and `dfifo` takes `ratios` times as long as `fifo`.
    fn study(ratios: &[f64], baseline: &str) -> (Plan, Study) {
        let plan = Plan { baseline: baseline.to_owned(), ..plan(ratios.len()) };
        let setting = plan.settings.each()[0].1.clone();
        let runs = plan.pages.iter().zip(ratios).flat_map(|(page, ratio)| {
            let times = [200.0, 100.0, 100.0 * ratio];
            SCHEMES.iter().zip(times).map(|(scheme, time_ms)| RunRecord {
                page: page.name.clone(),
                scheme: (*scheme).to_owned(),
                setting: setting.clone(),
                completed: true,
                metrics: [("byte_index", BySet { all: None, atf: Some(time_ms) })]
                    .into_iter()
                    .collect(),
                ..RunRecord::default()
            })
        });
        let runs = runs.collect();
        let study = Study::new(&plan, serde_json::Value::Null, runs, Vec::new());
        (plan, study)
    }

    /// How `rr`, `fifo` and `dfifo` stand.
    fn standings(ratios: &[f64]) -> Vec<Standing> {
        let (plan, study) = study(ratios, "rr");
        let view = View::new(&plan, &study, FigureStyle::Screen);
        let speedups = view.speedups_over("rr");
        let mean = |it: &&str| view.mean_speedup(&speedups, it, &view.settings[0]);
        let means: Vec<Option<f64>> = SCHEMES.iter().map(mean).collect();
        view.standings(&view.settings[0], &SCHEMES, &means)
    }

    #[test]
    fn a_winner_is_marked_only_if_it_is_better_than_each_other_by_the_adjusted_test() {
        use Standing::{Behind, Best, Tied, Unknown};
        assert_eq!(standings(&[1.1, 1.2, 1.1, 1.3, 1.1, 1.2, 1.1]), [Behind, Best, Behind]);
        assert_eq!(standings(&[0.8, 1.3, 0.9, 1.2, 1.0, 1.1, 0.9]), [Behind, Tied, Tied]);
        // p is 1/32 for each of two: adjusted, more than 5 %, although both intervals lie below 1.
        assert_eq!(standings(&[1.1, 1.2, 1.1, 1.3, 1.1, 1.2]), [Tied; 3]);
        assert_eq!(standings(&[1.0; 7]), [Behind, Tied, Tied], "what is equal is not behind");
        assert_eq!(standings(&[1.1; 5]), [Unknown; 3], "five sites have no interval");
    }

    #[test]
    fn the_best_of_several_that_beat_the_baseline_is_named_as_far_as_tests_go() {
        let best = |ratios: &[f64]| {
            let (plan, study) = study(ratios, "rr");
            View::new(&plan, &study, FigureStyle::Screen).best()
        };
        assert_eq!(
            best(&[1.1, 1.2, 1.1, 1.3, 1.1, 1.2, 1.1]),
            ["On paper, fifo is the best: it is better than each other scheme."]
        );
        assert_eq!(
            best(&[0.8, 1.3, 0.9, 1.2, 1.0, 1.1, 0.9]),
            ["On paper, fifo has the highest ratio, and is not shown to be better than dfifo."]
        );
        assert_eq!(best(&[1.1; 5]), [""; 0], "five sites");
    }

    #[test]
    fn stars_are_the_same_whatever_the_baseline() {
        // Over `rr`, one page raises the mean of `dfifo` above the other; page by page, `fifo` is better as often.
        let ratios = [0.2, 1.3, 1.2, 1.4, 1.3, 1.2, 1.3, 1.1];
        let over = |baseline: &str| {
            let (plan, study) = study(&ratios, baseline);
            let view = View::new(&plan, &study, FigureStyle::Screen);
            let known = [Some(1.0); 3];
            view.standings(&view.settings[0], &SCHEMES, &known)
        };
        assert_eq!(over("rr"), [Standing::Behind, Standing::Tied, Standing::Tied]);
        assert_eq!(over("rr"), over("fifo"));
        assert_eq!(over("rr"), over("dfifo"));
    }

    #[test]
    fn nothing_is_the_best_where_a_load_finished_under_some_schemes_only() {
        let (plan, study) = study(&[1.1, 1.2, 1.1, 1.3, 1.1, 1.2, 1.1], "rr");
        let mut runs = study.runs;
        runs.last_mut().expect("a load").completed = false;
        let study = Study::new(&plan, serde_json::Value::Null, runs, Vec::new());
        let view = View::new(&plan, &study, FigureStyle::Screen);
        let known = [Some(1.0); 3];
        assert_eq!(view.standings(&view.settings[0], &SCHEMES, &known), [Standing::Unknown; 3]);
        assert_eq!(view.best(), [""; 0]);
    }

    #[test]
    fn one_page_without_chance_has_exact_values() {
        use Standing::{Behind, Best};
        assert_eq!(standings(&[1.0]), [Behind, Best, Best]);
        assert_eq!(standings(&[1.001]), [Behind, Best, Behind]);
    }
}
