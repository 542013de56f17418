//! Which scheme is the best of all, if several are better than the baseline.

use super::{Compared, View};
use crate::Contender;
use crate::study::compute::Verdict;
use crate::study::show::and;
use figures::Standing;

/// With more settings than this, there is a figure instead of a sentence for each.
const SETTINGS_MAX: usize = 4;

impl View<'_> {
    /// A sentence for each setting in which at least two schemes are better than the baseline.
    pub(crate) fn best(&self) -> Vec<String> {
        let mut said: Vec<(String, Vec<String>)> = Vec::new();
        for setting in self.settings.iter().take(SETTINGS_MAX) {
            let Some(words) = self.best_in(setting) else { continue };
            let name = self.setting_name(setting);
            match said.iter_mut().find(|it| it.0 == words) {
                Some((_, names)) => names.push(name),
                None => said.push((words, vec![name])),
            }
        }
        let sentences = said.into_iter();
        sentences.map(|(words, names)| format!("On {}, {words}.", and(&names))).collect()
    }

    fn best_in(&self, setting: &Compared) -> Option<String> {
        let told = setting.setting.told(&self.varied);
        let rows = self.study.comparisons.iter().filter(|it| it.setting == told);
        let better = rows.filter(|it| it.verdict(self.set) == Verdict::Better);
        if better.count() < 2 {
            return None;
        }
        let contenders = self.plan.schemes.iter().filter(|it| matches!(it, Contender::Scheme(_)));
        let names: Vec<&str> = contenders.map(Contender::name).collect();
        let ratio = |it: &&str| self.summary_of(it, setting)?.geometric_mean_speedup.get(self.set);
        let ratios: Vec<Option<f64>> = names.iter().map(ratio).collect();
        let standings = self.standings(setting, &names, &ratios);
        let mut leading: Vec<(f64, &str)> = Vec::new();
        for ((name, ratio), standing) in names.iter().zip(ratios).zip(&standings) {
            if matches!(standing, Standing::Best | Standing::Tied) {
                leading.extend(ratio.map(|it| (it, *name)));
            }
        }
        leading.sort_by(|one, other| other.0.total_cmp(&one.0));
        let names: Vec<String> = leading.iter().map(|it| it.1.to_owned()).collect();
        match &names[..] {
            [] => None,
            [best] => {
                let schemes = self.plan.schemes.iter();
                let all_are = schemes.clone().all(|it| matches!(it, Contender::Scheme(_)));
                let of = if all_are { "" } else { " that a server can run" };
                Some(format!("{best} is the best{of}: it is better than each other scheme"))
            }
            [first, others @ ..] => Some(format!(
                "{first} has the highest ratio, and is not shown to be better than {}",
                and(others)
            )),
        }
    }
}
