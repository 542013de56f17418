//! The widest interval of a study, which can decide on its number of seeds.

use crate::study::{Plan, Setting, Study};
use serde_json::json;
use std::collections::BTreeSet;

impl Plan {
    /// Ends the round of which `study` has the loads, and adds the seeds of another one if the plan's rule asks for it. Returns
    /// whether it does; if not, the study records why.
    pub fn another_round(&mut self, study: &mut Study) -> bool {
        let goes_on = self.end_round(self.widest_percent(study));
        if let (false, Some(provenance)) =
            (self.rounds.is_empty(), study.provenance.as_object_mut())
        {
            provenance.insert("rounds".to_owned(), json!(self.rounds));
        }
        goes_on
    }

    /// How far the upper end of the widest interval of a ratio lies above its lower end, in percent, for the resources that the
    /// answer concerns. Only settings in which seeds matter count.
    fn widest_percent(&self, study: &Study) -> Option<f64> {
        let varied = self.settings.varied();
        let certain: BTreeSet<Setting> =
            self.certain_settings().iter().map(|it| it.told(&varied)).collect();
        let rows = study.comparisons.iter().filter(|it| !certain.contains(&it.setting));
        let set = study.main_set();
        let intervals = rows.filter_map(|it| it.geometric_mean_ratio_interval.get(set));
        intervals.map(|[low, high]| 100.0 * (high / low - 1.0)).max_by(f64::total_cmp)
    }
}
