//! Whether the ratios of schemes differ between settings, in sentences.

use super::{Comparisons, and};
use crate::study::compute::InteractionRow;
use crate::study::{Plan, Setting, Study};
use figures::number_texts::ratio_number;

/// Pairs of settings with a sentence each; more are only counted.
const NAMED_PAIRS_MAX: usize = 2;

/// A ratio that is higher in one setting than in another.
struct Difference<'a> {
    scheme: &'a str,
    higher: &'a Setting,
    lower: &'a Setting,
    ratio: f64,
    interval: [f64; 2],
}

impl<'a> Comparisons<'a> {
    /// Which ratios are higher in one setting than in another, as far as tests show it; nothing if none is.
    pub(super) fn interactions(&self) -> Vec<String> {
        let rows = self.study.interactions.iter();
        let mut found: Vec<Difference<'a>> = rows.filter_map(|it| self.difference(it)).collect();
        found.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
        let mut pairs: Vec<Vec<&Difference<'a>>> = Vec::new();
        for one in &found {
            let is_same = |it: &&mut Vec<&Difference<'a>>| {
                it[0].higher == one.higher && it[0].lower == one.lower
            };
            match pairs.iter_mut().find(is_same) {
                Some(pair) => pair.push(one),
                None => pairs.push(vec![one]),
            }
        }
        let Some(most) = found.first().filter(|_| pairs.len() > NAMED_PAIRS_MAX) else {
            return pairs.iter().map(|it| self.higher(it)).collect();
        };
        let tests = self.tests().count();
        let count = found.len();
        let most = self.higher(&[most]);
        vec![format!(
            "Ratios differ between settings in {count} of {tests} tests (`interactions` of the JSON has each). {most}"
        )]
    }

    fn tests(&self) -> impl Iterator<Item = &'a InteractionRow> {
        let rows = self.study.interactions.iter();
        rows.filter(|it| it.holm_p.get(self.set).is_some())
    }

    fn difference(&self, row: &'a InteractionRow) -> Option<Difference<'a>> {
        let ratio = row.ratio_of_ratios.get(self.set)?;
        let [low, high] = row.ratio_of_ratios_interval.get(self.set)?;
        let (one, other, scheme) = (&row.setting, &row.other_setting, &*row.scheme);
        row.differs.get(self.set).filter(|it| *it).map(|_| {
            if low > 1.0 {
                Difference { scheme, higher: one, lower: other, ratio, interval: [low, high] }
            } else {
                let interval = [1.0 / high, 1.0 / low];
                Difference { scheme, higher: other, lower: one, ratio: 1.0 / ratio, interval }
            }
        })
    }

    /// `The ratio of dfifo is higher on 3g than on cable: 1.08 times (1.03 to 1.12).`
    fn higher(&self, differences: &[&Difference<'_>]) -> String {
        let first = differences[0];
        let on = self.preposition();
        let [higher, lower] = [first.higher, first.lower].map(|it| self.label(it));
        let ratio = ratio_number(first.ratio);
        let last = differences.last().map_or(first.ratio, |it| it.ratio);
        let names: Vec<String> = differences.iter().map(|it| it.scheme.to_owned()).collect();
        let (subject, size) = match differences {
            [only] => {
                let interval = only.interval.map(ratio_number).join(" to ");
                (format!("The ratio of {} is", only.scheme), format!("{ratio} times ({interval})"))
            }
            _ => (
                format!("The ratios of {} are", and(&names)),
                format!("{} to {ratio} times", ratio_number(last)),
            ),
        };
        format!("{subject} higher {on} {higher} than {on} {lower}: {size}.")
    }
}

/// That no ratio is shown to differ between settings; `None` if one is, or if nothing was tested.
pub(crate) fn no_interaction(plan: &Plan, study: &Study) -> Option<String> {
    let view = Comparisons::of(plan, study);
    let tests = view.tests().count();
    (tests > 0 && view.interactions().is_empty()).then(|| {
        format!("no ratio is shown to differ between settings ({tests} tests, adjusted by Holm for each dimension)")
    })
}
