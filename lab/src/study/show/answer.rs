//! A study's answer in sentences. They come first wherever it is shown, and claim no more than its tests support.

mod interactions;
#[cfg(test)]
mod tests;

pub(crate) use interactions::no_interaction;

use crate::study::compute::Verdict;
use crate::study::compute::unfinished::unfinished;
use crate::study::compute::verdict::EQUIVALENT_PAIRS_MIN;
use crate::study::plan::dimension::NETWORK;
use crate::study::statistics::SAMPLE_MIN;
use crate::study::{
    ComparisonRow, Dimension, PageWeights, Plan, RunRecord, Setting, Study, Unit, varied,
};
use figures::number_texts::ratio_number;
use qlog_tools::metrics::Set;
use std::collections::{BTreeMap, BTreeSet};

/// The most settings that are named; more are only counted.
const NAMED_SETTINGS_MAX: usize = 4;
/// The most schemes that are named; more are only counted.
const NAMED_SCHEMES_MAX: usize = 6;

/// The sentences: which schemes failed, which are better than the baseline and where, which are not, and where no test decides.
pub(crate) fn answer(plan: &Plan, study: &Study) -> Vec<String> {
    let mut sentences = of_shard(plan);
    sentences.extend(study.failures());
    let view = Comparisons::of(plan, study);
    sentences.extend(view.unfinished());
    if study.comparisons.is_empty() {
        sentences.push(view.nothing_compared());
        return sentences;
    }
    if view.is_untested() {
        sentences.extend(view.without_tests());
        return sentences;
    }
    sentences.extend(view.without_a_winner());
    sentences.extend(view.groups().iter().map(|it| view.sentence(it)));
    sentences.extend(view.interactions());
    sentences.extend(view.too_few_pairs());
    sentences.extend(view.too_few_to_be_equal());
    sentences
}

/// That the loads are only a part of the study.
pub(crate) fn of_shard(plan: &Plan) -> Vec<String> {
    let said = plan.said_of_shard().map(|it| {
        format!(
            "T{}. What follows is about these alone; `utmost merge` joins the shards.",
            &it[1..]
        )
    });
    said.into_iter().collect()
}

/// The comparisons of a study, by scheme and by setting.
struct Comparisons<'a> {
    plan: &'a Plan,
    study: &'a Study,
    set: Set,
    settings: Vec<&'a Setting>,
    varied: Vec<&'static Dimension>,
    schemes: Vec<(&'a str, Vec<&'a ComparisonRow>)>,
}

/// Schemes with the same test results in every setting.
struct Group<'a> {
    verdicts: Vec<Verdict>,
    schemes: Vec<(&'a str, Vec<&'a ComparisonRow>)>,
}

impl<'a> Comparisons<'a> {
    fn of(plan: &'a Plan, study: &'a Study) -> Self {
        let rows = &study.comparisons;
        let mut settings: Vec<&Setting> = Vec::new();
        let mut schemes: Vec<(&str, Vec<&ComparisonRow>)> = Vec::new();
        for row in rows {
            if !settings.contains(&&row.setting) {
                settings.push(&row.setting);
            }
            match schemes.iter_mut().find(|it| it.0 == row.scheme) {
                Some((_, of_scheme)) => of_scheme.push(row),
                None => schemes.push((&row.scheme, vec![row])),
            }
        }
        let varied = varied(rows.iter().map(|it| &it.setting));
        Self { plan, study, set: study.main_set(), settings, varied, schemes }
    }

    /// `ByteIndex above the fold`.
    fn metric(&self) -> String {
        format!("{}{}", self.plan.metric.heading, self.plan.place(self.set))
    }

    fn ratio(&self, row: &ComparisonRow) -> Option<f64> {
        row.geometric_mean_ratio.get(self.set)
    }

    /// How many loads did not finish, and that the answer is about the others; nothing if none of them did.
    fn unfinished(&self) -> Option<String> {
        let runs = &self.study.runs;
        let said = unfinished(runs).filter(|_| runs.iter().any(|it| it.completed))?;
        Some(format!(
            "{said}: what follows is about the others, and compares two schemes over the loads that finished under both."
        ))
    }

    fn nothing_compared(&self) -> String {
        let baseline = &self.plan.baseline;
        if self.plan.schemes.len() == 1 {
            return format!(
                "Only {baseline} ran, so nothing is compared: name others in --schemes."
            );
        }
        format!("{baseline} is the baseline, so nothing is compared: name another with --baseline.")
    }

    /// Why no load of any scheme can be compared.
    fn nothing_finished(&self) -> Option<String> {
        let (runs, baseline) = (&self.study.runs, &self.plan.baseline);
        let mut finished = runs.iter().filter(|it| it.completed).peekable();
        let first = runs.iter().find_map(|it| Some((it, it.unfinished.as_ref()?)));
        if finished.peek().is_none() {
            let cause = first.map(|(run, why)| {
                let RunRecord { page, scheme, .. } = run;
                format!(" (page {page} under {scheme}: {})", why.problem)
            });
            let cause = cause.unwrap_or_default();
            return Some(format!("No load finished, so nothing is known{cause}."));
        }
        if finished.all(|it| it.scheme != *baseline) {
            return Some(format!(
                "No load of {baseline}, the baseline, finished, so nothing is compared: name another with --baseline."
            ));
        }
        let mut rows = self.study.comparisons.iter();
        rows.all(|it| it.pages == 0)
            .then(|| format!("No load finished under both {baseline} and another scheme."))
    }

    fn is_untested(&self) -> bool {
        let mut rows = self.study.comparisons.iter();
        rows.all(|it| matches!(it.verdict(self.set), Verdict::Untested | Verdict::Unfinished))
    }

    /// Why there is no test, and what these loads show.
    fn without_tests(&self) -> Vec<String> {
        if let Some(why) = self.nothing_finished() {
            return vec![why];
        }
        let rows = &self.study.comparisons;
        let pairs = rows.iter().filter_map(|it| it.pairs.get(self.set)).max().unwrap_or_default();
        let page = self.plan.pages.first().map_or("", |it| &*it.name);
        let few = match (rows[0].pairs_of, pairs) {
            (_, 0) => format!("No page has a value of {} to compare.", self.metric()),
            (Unit::Sites, 1) => {
                "One site is too few for a conclusion: a test needs pages of at least six."
                    .to_owned()
            }
            (Unit::Sites, few) => {
                format!("{few} sites are too few for a conclusion: a test needs at least six.")
            }
            (Unit::Loads, 1) if self.loads() > 1 => format!(
                "The {} loads of page {page} have the same ratios, so they count as one: for a conclusion, a test needs pages of at \
                 least six sites.",
                self.loads()
            ),
            (Unit::Loads, 1) => format!(
                "This is page {page} alone: for a conclusion, a test needs pages of at least six sites, or at least six seeds \
                 where chance decides."
            ),
            (Unit::Loads, few) => format!(
                "{few} loads are too few for a conclusion about page {page}: a test needs --seeds {SAMPLE_MIN} or more."
            ),
        };
        let ends = self.settings.iter().take(NAMED_SETTINGS_MAX).filter_map(|it| self.ends(it));
        [few].into_iter().chain(self.extremes()).chain(ends).collect()
    }

    /// The most loads of a page under a scheme that completed.
    fn loads(&self) -> usize {
        self.study.page_summary.iter().map(|it| it.loads).max().unwrap_or_default()
    }

    /// How far the order alone moves the study's metric in one setting without randomness.
    fn extremes(&self) -> Option<String> {
        if self.settings.len() > 1 || self.plan.has_chance() {
            return None;
        }
        let metric = self.plan.metric;
        let rows = self.study.summary.iter();
        let means = rows.filter_map(|it| Some((it.side_by_side.mean.get(self.set)?, &it.scheme)));
        let mut means: Vec<(f64, &String)> = means.collect();
        means.sort_by(|one, other| one.0.total_cmp(&other.0));
        let [(least, first), .., (most, last)] = means[..] else { return None };
        let factor = (least > 0.0).then(|| most / least)?;
        let unit = metric.unit;
        Some(format!(
            "The send order alone changes the {} by a factor of {factor:.1}: {least:.0} {unit} under {first}, {most:.0} {unit} \
             under {last}.",
            self.metric()
        ))
    }

    /// The highest and the lowest ratio of a setting without tests.
    fn ends(&self, setting: &Setting) -> Option<String> {
        let rows = self.study.comparisons.iter().filter(|it| it.setting == *setting);
        let mut ratios: Vec<(f64, &str)> =
            rows.filter_map(|it| Some((self.ratio(it)?, &*it.scheme))).collect();
        ratios.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (baseline, place) = (&self.plan.baseline, self.name(setting));
        match ratios[..] {
            [] => None,
            [(ratio, scheme)] => {
                let ratio = ratio_number(ratio);
                Some(format!("{place}, the ratio of {scheme} over {baseline} is {ratio}."))
            }
            [(most, best), .., (least, worst)] => {
                let [most, least] = [most, least].map(ratio_number);
                Some(format!(
                    "{place}, the highest ratio over {baseline} is that of {best}, {most}; the lowest is that of {worst}, {least}."
                ))
            }
        }
    }

    /// The main message if no scheme beats the baseline.
    fn without_a_winner(&self) -> Option<String> {
        let mut rows = self.study.comparisons.iter();
        let none = rows.all(|it| it.verdict(self.set) != Verdict::Better);
        let several = self.schemes.len() > 1;
        let places = if self.settings.len() > 1 {
            if self.is_by_network() { "any network" } else { "any setting" }.to_owned()
        } else {
            self.settings.first().map_or_else(String::new, |it| it.network.clone())
        };
        (none && several).then(|| {
            format!("No scheme is shown to be better than {} on {places}.", self.plan.baseline)
        })
    }

    /// Groups schemes with the same verdicts, the better ones first, without duplicates.
    fn groups(&self) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for (scheme, rows) in &self.schemes {
            if self.study.twins.contains_key(*scheme) {
                continue;
            }
            let verdicts: Vec<Verdict> = rows.iter().map(|it| it.verdict(self.set)).collect();
            match groups.iter_mut().find(|it| it.verdicts == verdicts) {
                Some(group) => group.schemes.push((scheme, rows.clone())),
                None => groups.push(Group { verdicts, schemes: vec![(scheme, rows.clone())] }),
            }
        }
        for group in &mut groups {
            group.schemes.sort_by(|one, other| self.gain(&other.1).total_cmp(&self.gain(&one.1)));
        }
        let better =
            |it: &Group<'_>| it.verdicts.iter().filter(|it| **it == Verdict::Better).count();
        groups.sort_by(|one, other| {
            let gains = [one, other].map(|it| self.gain(&it.schemes[0].1));
            better(other).cmp(&better(one)).then(gains[1].total_cmp(&gains[0]))
        });
        groups
    }

    /// The mean logarithm of a scheme's ratios over settings.
    fn gain(&self, rows: &[&ComparisonRow]) -> f64 {
        rows.iter().filter_map(|it| Some(self.ratio(it)?.ln())).sum()
    }

    /// The test results of these schemes: a clause for each verdict.
    fn sentence(&self, group: &Group<'_>) -> String {
        let mut by_verdict: BTreeMap<Verdict, Vec<usize>> = BTreeMap::new();
        for (place, verdict) in group.verdicts.iter().enumerate() {
            by_verdict.entry(*verdict).or_default().push(place);
        }
        let mut clauses = Vec::new();
        for (verdict, settings) in by_verdict {
            let subject = if clauses.is_empty() {
                subject(&group.schemes)
            } else {
                if group.schemes.len() == 1 { "it" } else { "they" }.to_owned()
            };
            clauses.push(self.clause(&subject, verdict, &settings, group));
        }
        clauses.extend(self.pairs(group));
        format!("{}.", clauses.join("; "))
    }

    fn clause(
        &self,
        subject: &str,
        verdict: Verdict,
        settings: &[usize],
        group: &Group<'_>,
    ) -> String {
        let is = if group.schemes.len() == 1 { "is" } else { "are" };
        let baseline = &self.plan.baseline;
        let place = self.places(settings, if verdict.is_known() { "every" } else { "any" });
        let verb = match verdict {
            Verdict::Better => format!("{is} better than {baseline}"),
            Verdict::Worse => format!("{is} worse than {baseline}"),
            Verdict::Equivalent => format!("{is} within 2 % of {baseline}"),
            Verdict::Open | Verdict::Doubtful => {
                format!("{is} not shown to be better or worse than {baseline}")
            }
            Verdict::Untested => format!("{is} not tested"),
            Verdict::Unfinished | Verdict::Failed => format!("{is} not compared"),
        };
        let others_are_tested = group.verdicts.iter().all(|it| it.is_tested());
        let is_part = settings.len() < group.verdicts.len();
        let only = verdict == Verdict::Better && is_part && others_are_tested;
        let only = if only { " only" } else { "" };
        let evidence = match verdict {
            Verdict::Unfinished | Verdict::Failed => String::new(),
            _ => format!(": {}", self.evidence(settings, group)),
        };
        let why = self.why(verdict, settings, group);
        format!("{subject} {verb} {place}{only}{why}{evidence}")
    }

    /// `, because ...`: the reason for a verdict that decides nothing.
    fn why(&self, verdict: Verdict, settings: &[usize], group: &Group<'_>) -> String {
        match verdict {
            Verdict::Doubtful => {
                ", because the loads that did not finish could turn the test".to_owned()
            }
            Verdict::Untested if self.is_one_load(settings, group) => {
                format!(", because its {} loads are alike and count as one", self.loads())
            }
            Verdict::Unfinished | Verdict::Failed => {
                format!(", because no load finished under both it and {}", self.plan.baseline)
            }
            _ => String::new(),
        }
    }

    /// Whether all loads of the only page count as one in these settings.
    fn is_one_load(&self, settings: &[usize], group: &Group<'_>) -> bool {
        let rows = group.schemes.iter().flat_map(|it| settings.iter().map(|place| it.1[*place]));
        let is_one = |it: &ComparisonRow| {
            it.pairs_of == Unit::Loads && it.pairs.get(self.set) == Some(1) && self.loads() > 1
        };
        rows.into_iter().all(is_one)
    }

    /// `on cable and 3g`, `on every network`, `in 7 of 12 settings`.
    fn places(&self, settings: &[usize], any: &str) -> String {
        let (named, all) = (settings.len(), self.settings.len());
        let names = settings.iter().map(|it| self.label(self.settings[*it]));
        match (self.is_by_network(), all) {
            (_, 1) => format!("on {}", self.settings[0].network),
            (true, _) if named == all => format!("on {any} network"),
            (false, _) if named == all => format!("in {any} setting"),
            (true, _) if named <= NAMED_SETTINGS_MAX => {
                format!("on {}", and(&names.collect::<Vec<_>>()))
            }
            _ if named <= NAMED_SETTINGS_MAX => {
                format!("with {}", and(&names.collect::<Vec<_>>()))
            }
            _ => format!("in {named} of {all} settings"),
        }
    }

    /// The ratios in these settings.
    fn evidence(&self, settings: &[usize], group: &Group<'_>) -> String {
        if let ([(_, rows)], true) = (&group.schemes[..], settings.len() <= NAMED_SETTINGS_MAX) {
            let ratios = settings.iter().map(|place| {
                let estimate = self.estimate(rows[*place]);
                match settings.len() {
                    1 => estimate,
                    _ => format!(
                        "{estimate} {} {}",
                        self.preposition(),
                        self.label(self.settings[*place])
                    ),
                }
            });
            return format!("the ratio is {}", and(&ratios.collect::<Vec<_>>()));
        }
        let rows = group.schemes.iter().flat_map(|it| settings.iter().map(|place| it.1[*place]));
        let mut ratios: Vec<f64> = rows.filter_map(|it| self.ratio(it)).collect();
        ratios.sort_by(f64::total_cmp);
        match (ratios.first(), ratios.last()) {
            (Some(low), Some(high)) => {
                format!("the ratios are {} to {}", ratio_number(*low), ratio_number(*high))
            }
            _ => "there is no ratio".to_owned(),
        }
    }

    /// `0.97 (0.88 to 1.01)`.
    fn estimate(&self, row: &ComparisonRow) -> String {
        let ratio = self.ratio(row).map_or("unknown".to_owned(), ratio_number);
        match row.geometric_mean_ratio_interval.get(self.set) {
            Some(ends) => format!("{ratio} ({})", ends.map(ratio_number).join(" to ")),
            None => ratio,
        }
    }

    /// `36 sites`, `22 to 36 sites`, `9 loads of page davies-meenan`; `None` without any.
    fn pairs(&self, group: &Group<'_>) -> Option<String> {
        let rows = group.schemes.iter().flat_map(|it| &it.1);
        let unit = rows.clone().next()?.pairs_of;
        let counts = rows.filter_map(|it| it.pairs.get(self.set));
        // Loads that are alike were said to count as one.
        let counts: BTreeSet<usize> = counts.filter(|it| unit == Unit::Sites || *it > 1).collect();
        let (least, most) = (counts.first()?, counts.last()?);
        let count = if least < most { format!("{least} to {most}") } else { most.to_string() };
        Some(match unit {
            Unit::Sites => format!("{count} {}", unit.name()),
            Unit::Loads => format!("{count} {} of {}", unit.name(), self.only_page()),
        })
    }

    /// `page davies-meenan`: the one that counts.
    fn only_page(&self) -> String {
        let mut pages = self.plan.pages.iter();
        let weights = self.study.weights.as_ref();
        let page = pages.find(|it| PageWeights::weight_of(weights, &it.name) > 0.0);
        page.map_or_else(|| "one page".to_owned(), |it| format!("page {}", it.name))
    }

    /// States where no difference could have been shown.
    fn too_few_pairs(&self) -> Option<String> {
        let rows = self.study.comparisons.iter();
        let needed = rows.filter_map(|it| Some((it, self.study.pairs_needed(it, self.set)?)));
        let needed: Vec<(&ComparisonRow, usize)> = needed.collect();
        let most = needed.iter().map(|it| it.1).max()?;
        let unit = self.study.comparisons[0].pairs_of.name();
        let (these, are) = if needed.len() == self.study.comparisons.len() {
            ("These".to_owned(), "are too few")
        } else {
            let names: BTreeSet<&String> = needed.iter().map(|it| &it.0.scheme).collect();
            let names: Vec<String> = names.into_iter().cloned().collect();
            (
                format!("{} {}", and(&names), if names.len() == 1 { "has" } else { "have" }),
                "too few",
            )
        };
        Some(format!(
            "{these} {are} {unit} to name a winner among that many schemes: the adjusted test needs at least {most}."
        ))
    }

    /// Which schemes look alike in too few pairs to say so.
    fn too_few_to_be_equal(&self) -> Option<String> {
        let rows = self.study.comparisons.iter();
        let rows = rows.filter(|it| {
            !self.study.twins.contains_key(&it.scheme)
                && it.verdict(self.set) == Verdict::Open
                && it.is_equal_in_too_few(self.set)
        });
        let names: BTreeSet<&String> = rows.clone().map(|it| &it.scheme).collect();
        let unit = rows.map(|it| it.pairs_of.name()).next()?;
        let (baseline, names) =
            (&self.plan.baseline, and(&names.into_iter().cloned().collect::<Vec<_>>()));
        Some(format!(
            "Whether {names} and {baseline} are alike cannot be told: that takes at least {EQUIVALENT_PAIRS_MIN} {unit} that are not all \
             equal."
        ))
    }

    fn is_by_network(&self) -> bool {
        self.varied.iter().all(|it| it.column == NETWORK)
    }

    fn label(&self, setting: &Setting) -> String {
        if self.varied.is_empty() { setting.network.clone() } else { setting.labels(&self.varied) }
    }

    fn preposition(&self) -> &'static str {
        if self.is_by_network() { "on" } else { "with" }
    }

    /// `On cable`, `With 10 ms`, at the beginning of a sentence.
    fn name(&self, setting: &Setting) -> String {
        let preposition = if self.is_by_network() { "On" } else { "With" };
        format!("{preposition} {}", self.label(setting))
    }
}

/// `dfifo`, `dfifo and srpt`, `dfifo, srpt and 5 more`.
fn subject(schemes: &[(&str, Vec<&ComparisonRow>)]) -> String {
    let mut names: Vec<String> = schemes.iter().map(|it| it.0.to_owned()).collect();
    let more = names.len().saturating_sub(NAMED_SCHEMES_MAX);
    if more > 1 {
        names.truncate(NAMED_SCHEMES_MAX);
        names.push(format!("{more} more"));
    }
    and(&names)
}

/// `one`, `one and two`, `one, two and three`.
pub(crate) fn and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
