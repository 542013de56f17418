//! Means over pages in a setting, their intervals, and which scheme is best, as far as the loads tell.

use super::{Compared, PageSpeedups, View};
use crate::study::SummaryRow;
use crate::study::bootstrap::bootstrap_weighted_mean;
use crate::study::comparisons::load_clusters;
use crate::study::statistics::{Interval, Weighted, mean, weighted_mean};
use crate::study::summary::{Paired, by_site};
use corpus::Page;
use qlog_tools::figures::Standing;

impl View<'_> {
    /// The mean of the pages' speedups above the fold, as the study weighs its pages.
    pub(super) fn mean_speedup(
        &self,
        speedups: &PageSpeedups<'_>,
        scheme: &str,
        setting: &Compared,
    ) -> Option<f64> {
        let speedup = |page: &Page| speedups.get(&setting.group(&page.name, scheme))?.atf;
        let pages = self.plan.pages.iter();
        let values = pages.filter_map(|it| Some((speedup(it)?, self.weight_of(&it.name))));
        weighted_mean(&values.collect::<Vec<Weighted>>())
    }

    /// The row of the study's summary.
    pub(super) fn summary_of(&self, scheme: &str, setting: &Compared) -> Option<&SummaryRow> {
        let told = setting.setting.told(&self.varied);
        self.study.summary.iter().find(|it| it.scheme == scheme && it.setting == told)
    }

    fn weight_of(&self, page: &str) -> f64 {
        let weights = self.study.weights.as_ref();
        weights.map_or(1.0, |it| it.pages.get(page).copied().unwrap_or_default())
    }

    /// How the `means` of `schemes` stand in a setting. Each is compared with the best one by the loads that met the same
    /// links, because most of what differs between pages is the same under both.
    pub(super) fn standings(
        &self,
        setting: &Compared,
        schemes: &[&str],
        means: &[Option<f64>],
    ) -> Vec<Standing> {
        if self.plan.pages.len() == 1 && !self.plan.has_chance() {
            return Standing::of_exact(means);
        }
        let known: Vec<(usize, f64)> =
            means.iter().enumerate().filter_map(|(place, it)| Some((place, (*it)?))).collect();
        let mut standings = vec![Standing::Unknown; means.len()];
        let places = 0..known.len();
        let Some(best) = places.max_by(|one, other| known[*one].1.total_cmp(&known[*other].1))
        else {
            return standings;
        };
        let over_best = Paired::of(&self.study.runs, schemes[known[best].0], self.plan.metric);
        let is_behind = |place: usize| {
            let interval = self.interval_over(&over_best, schemes[known[place].0], setting)?;
            Some(interval[1] < 1.0)
        };
        let of_known = Standing::of_measured(known.len(), best, is_behind);
        known.iter().zip(of_known).for_each(|((place, _), it)| standings[*place] = it);
        standings
    }

    /// The interval of the mean speedup of `scheme` over other loads, above the fold: sites are drawn, of a single page its
    /// loads.
    fn interval_over(
        &self,
        over: &Paired<'_>,
        scheme: &str,
        setting: &Compared,
    ) -> Option<Interval> {
        let loads = |page: &str| -> Vec<f64> {
            let places = self.places(page, scheme, setting).iter();
            places.filter_map(|it| over.speedup(&self.study.runs[*it])?.atf).collect()
        };
        if let [page] = &self.plan.pages[..] {
            return bootstrap_weighted_mean(&load_clusters(&loads(&page.name)));
        }
        let weight = |page: &str| Some(self.weight_of(page)).filter(|it| *it > 0.0);
        let of_page = |page: &'_ str| Some((mean(&loads(page))?, weight(page)?));
        let pages = self.plan.pages.iter();
        let pages: Vec<(&str, Weighted)> =
            pages.filter_map(|it| Some((&*it.name, of_page(&it.name)?))).collect();
        bootstrap_weighted_mean(&by_site(&pages, |page| self.plan.site_of(page)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::network::Network;
    use crate::study::{Engine, Plan, RunRecord, Study};
    use qlog_tools::figures::FigureStyle;
    use qlog_tools::metrics::BySet;
    use std::sync::Arc;

    const SCHEMES: [&str; 3] = ["rr", "fifo", "dfifo"];

    fn plan(pages: usize) -> Plan {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let named = |place| Arc::new(Page { name: format!("page{place}"), ..page.clone() });
        let schemes = SCHEMES.map(|it| Contender::find(it).expect("a scheme"));
        let network = Network::find("paper").expect("built in");
        Plan::new((0..pages).map(named).collect(), schemes.into(), Engine::Ideal, network)
    }

    /// How `rr`, `fifo` and `dfifo` stand if `fifo` takes half as long as `rr` on each page, and `dfifo` as many times as long as `fifo`
    /// as `ratios` say.
    fn standings(ratios: &[f64]) -> Vec<Standing> {
        let plan = plan(ratios.len());
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
        let study = Study::new(&plan, serde_json::Value::Null, runs.collect(), Vec::new());
        let view = View::new(&plan, &study, FigureStyle::Screen);
        let speedups = view.speedups_over("rr");
        let mean = |it: &&str| view.mean_speedup(&speedups, it, &view.settings[0]);
        let means: Vec<Option<f64>> = SCHEMES.iter().map(mean).collect();
        view.standings(&view.settings[0], &SCHEMES, &means)
    }

    #[test]
    fn a_winner_is_marked_only_if_the_interval_of_its_ratio_to_each_other_lies_beside_1() {
        use Standing::{Behind, Best, Tied, Unknown};
        assert_eq!(standings(&[1.1, 1.2, 1.1, 1.3, 1.1, 1.2, 1.1]), [Behind, Best, Behind]);
        assert_eq!(standings(&[0.8, 1.3, 0.9, 1.2, 1.0, 1.1, 0.9]), [Behind, Tied, Tied]);
        assert_eq!(standings(&[1.0; 7]), [Behind, Tied, Tied], "what is equal is not behind");
        assert_eq!(standings(&[1.1; 5]), [Unknown; 3], "five sites have no interval");
    }

    #[test]
    fn one_page_without_chance_has_exact_values() {
        use Standing::{Behind, Best};
        assert_eq!(standings(&[1.0]), [Behind, Best, Best]);
        assert_eq!(standings(&[1.001]), [Behind, Best, Behind]);
    }
}
