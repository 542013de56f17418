//! The results of a load's pushes.

use crate::Load;
use crate::study::carry_out::run::RunRecord;
use crate::study::statistics::{mean, median};
use corpus::Page;
use qlog_tools::pushed::PushedBytes;
use serde::{Deserialize, Serialize};

/// The results of pushes: of one load, or on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pushes<T> {
    /// Promises whose responses the page used.
    pub taken: T,
    /// Promises that the client refused.
    pub refused: T,
    /// Pushes that arrived after the client had requested the resource.
    pub late: T,
    /// Pushed bytes that were not used.
    pub wasted_bytes: T,
}

impl Pushes<u64> {
    pub(crate) fn of(page: &Page, load: &Load, outcome: &client::Outcome) -> Self {
        let used = outcome.pushed.iter().filter(|(_, used)| *used);
        let urls: Vec<String> = used.map(|(id, _)| page.url(*id)).collect();
        let bytes = PushedBytes::of(&load.timeline, |url| urls.iter().any(|it| it == url));
        Self {
            taken: urls.len() as u64,
            refused: outcome.refused_pushes as u64,
            late: outcome.late_pushes as u64,
            wasted_bytes: bytes.wasted,
        }
    }
}

impl<T: Copy> Pushes<T> {
    /// The columns of tables, and their values.
    pub fn columns(&self) -> [(&'static str, T); 4] {
        [
            ("pushes_taken", self.taken),
            ("pushes_refused", self.refused),
            ("pushes_late", self.late),
            ("pushes_wasted_bytes", self.wasted_bytes),
        ]
    }
}

impl Pushes<f64> {
    /// The means over `runs`; `None` if the study has no pushes.
    pub(crate) fn means(runs: &[&RunRecord]) -> Option<Self> {
        Self::each(runs, mean)
    }

    pub(crate) fn medians(runs: &[&RunRecord]) -> Option<Self> {
        Self::each(runs, median)
    }

    fn each(runs: &[&RunRecord], of: fn(&[f64]) -> Option<f64>) -> Option<Self> {
        let all: Vec<Pushes<u64>> = runs.iter().filter_map(|it| it.pushes).collect();
        Some(Self {
            taken: of(&all.iter().map(|it| it.taken as f64).collect::<Vec<_>>())?,
            refused: of(&all.iter().map(|it| it.refused as f64).collect::<Vec<_>>())?,
            late: of(&all.iter().map(|it| it.late as f64).collect::<Vec<_>>())?,
            wasted_bytes: of(&all.iter().map(|it| it.wasted_bytes as f64).collect::<Vec<_>>())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_mean_and_the_median_of_its_loads_and_none_without_pushes() {
        let run = |pushes| RunRecord { pushes, ..RunRecord::default() };
        let of = |taken| Some(Pushes { taken, refused: 1, late: 0, wasted_bytes: 10 * taken });
        let runs = [run(of(1)), run(of(2)), run(of(6)), run(None)];
        let runs: Vec<&RunRecord> = runs.iter().collect();
        let expected = Pushes { taken: 3.0, refused: 1.0, late: 0.0, wasted_bytes: 30.0 };
        assert_eq!(Pushes::means(&runs), Some(expected));
        let middle = Pushes { taken: 2.0, wasted_bytes: 20.0, ..expected };
        assert_eq!(Pushes::medians(&runs), Some(middle));
        assert_eq!(Pushes::means(&runs[3..]), None);
    }
}
