//! The case studies' policies on every bundled page, judged by `SpeedIndex`, the source's own measure.
//!
//! The source's six pages no longer exist. The pages here are others, so the number that gain is shown beside the source's
//! count, and only the source's statements about all of them are judged: its policies harm no page, and pushing everything
//! does. The number of their documents that are small enough for a push is shown, too.

use super::cases::{MARGIN, QUEUE, WINDOW_PACKETS};
use super::pair::saved_percent;
use super::published::{DOCUMENTS, G3, STUDIED_PAGES};
use super::setup::network_of;
use crate::bench::{Bench, Case};
use crate::sketch::KB;
use crate::{ReproduceError, Row};
use corpus::Page;
use lab::push_and_hints::PushAndHints;
use lab::stack::StackLoad;
use push::Policy;
use qlog_tools::metrics::{self, Set};
use server::SignalUse;
use std::sync::Arc;

const TABLE: &str = "The policies of the case studies on the bundled pages";
/// The least harm on some page that the source found by pushing everything.
const HARM: f64 = -20.0;
/// Points by which a difference may lie from a published one, as in the other tables.
pub(super) const POINTS: f64 = 4.0;
/// Points by which the share of documents may lie from that of another corpus.
const DOCUMENT_POINTS: f64 = 10.0;

const POLICIES: [Policy; 6] = [
    Policy::Push,
    Policy::Preload,
    Policy::PushAndPreload,
    Policy::PushStaticWithHtmlOneBdp,
    Policy::PushStaticWithHtml,
    Policy::PushInEvaluationOrder,
];

/// Clients signal urgencies and the server obeys, as in the case studies.
fn case(page: &Arc<Page>, policy: Option<Policy>) -> Case {
    Case {
        scheme: "rfc9218",
        signals: SignalUse::Obey,
        runs: Some(1),
        push_and_hints: PushAndHints { policy, ..PushAndHints::default() },
        ..Case::new(Arc::clone(page), network_of(G3, QUEUE), WINDOW_PACKETS)
    }
}

fn speed_index_ms(page: &Page, load: StackLoad) -> Result<f64, ReproduceError> {
    let StackLoad { load, problems, .. } = load;
    let speed_index = metrics::find("speed_index");
    let found = speed_index.map(|it| it.of(&load.timeline, None, None).get(Set::All));
    found.flatten().filter(|_| load.completed).ok_or_else(|| {
        let problems = problems.join("; ");
        ReproduceError::Unusable(format!("page {} did not load: {problems}", page.name))
    })
}

/// The shares of documents that the source has of httparchive, of our pages.
pub(super) fn document_rows(pages: &[Arc<Page>]) -> [Row; 2] {
    let percent = |holds: &dyn Fn(u64) -> bool| {
        let documents = pages.iter().filter(|it| holds(it.resources[0].bytes)).count();
        Some(100.0 * documents as f64 / pages.len().max(1) as f64)
    };
    let [(small_kb, larger), (fits_kb, up_to)] = DOCUMENTS;
    let [small, fits] = [small_kb, fits_kb].map(|it| it * KB);
    let rows = [
        (
            "documents-above-5k",
            format!("documents larger than {small_kb} KB"),
            percent(&|it| it > small),
            larger,
        ),
        (
            "documents-up-to-20k",
            format!("documents of up to {fits_kb} KB"),
            percent(&|it| it <= fits),
            up_to,
        ),
    ];
    rows.map(|(id, what, ours, published)| {
        Row::shown(id, format!("{what}, in percent of all"), ours)
            .in_table("Documents by size")
            .published(published)
            .must(format!("within {DOCUMENT_POINTS} points"), |it| {
                (it - published).abs() <= DOCUMENT_POINTS
            })
            .note("Ours: the documents of `@first-60`. Published: those of httparchive in 2016.")
    })
}

pub(super) fn rows(bench: &Bench, pages: &[Arc<Page>]) -> Result<Vec<Row>, ReproduceError> {
    let mut cases: Vec<Case> = Vec::new();
    for page in pages {
        cases.push(case(page, None));
        cases.extend(POLICIES.map(|policy| case(page, Some(policy))));
    }
    let loads = bench.loads(&cases, speed_index_ms)?;
    let rows = POLICIES.into_iter().enumerate().map(|(place, policy)| {
        let of_page = loads.chunks_exact(POLICIES.len() + 1);
        let saved = of_page.map(|it| saved_percent([it[0][0], it[place + 1][0]]));
        let saved: Vec<(f64, &Page)> = saved.zip(pages.iter().map(AsRef::as_ref)).collect();
        policy_rows(policy, &saved)
    });
    Ok(rows.flatten().collect())
}

fn policy_rows(policy: Policy, saved: &[(f64, &Page)]) -> Vec<Row> {
    let name = policy.name();
    let mut sorted: Vec<f64> = saved.iter().map(|it| it.0).collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied();
    let metric = format!("SpeedIndex saved by {name}, median page, in percent");
    let middle = Row::shown(format!("pages-{name}-median"), metric, median).in_table(TABLE);
    let metric = format!("share of pages that gain more than 3 % by {name}");
    let gain = share_of_gains(sorted.iter().copied());
    let gain = Row::shown(format!("pages-{name}-gain"), metric, gain).in_table(TABLE);
    let least = |id: &str, words: &str| {
        let worst = saved.iter().min_by(|one, other| one.0.total_cmp(&other.0));
        let metric = format!("SpeedIndex saved by {name} on the page that gains least, in percent");
        Row::shown(format!("pages-{name}-{id}"), metric, worst.map(|it| it.0))
            .in_table(TABLE)
            .note(worst.map_or_else(String::new, |it| format!("On {}.{words}", it.1.name)))
    };
    let why = if policy.pushes() { LAST_PUSH } else { EARLY };
    let studied = STUDIED_PAGES.iter().filter_map(|it| it.with(policy));
    let theirs: Vec<f64> = studied.map(saved_percent).collect();
    if theirs.is_empty() {
        return vec![middle, gain, least("least", "").required().at_least(-MARGIN).because(why)];
    }
    let gain = gain.published(rounded(share_of_gains(theirs.iter().copied())));
    let their_least = theirs.iter().copied().reduce(f64::min).map(|it| (it * 10.0).round() / 10.0);
    let their_least = their_least.unwrap_or(f64::NAN);
    if policy == Policy::PushStaticWithHtml {
        let number = least("least", "").published(their_least).within(POINTS);
        let harms = least("harms", &format!(" {ONE_SIDED} {HARMS}")).at_most(HARM);
        return vec![middle, gain, number, harms];
    }
    let number = least("least", &format!(" {ONE_SIDED} {NO_HARM}")).published(their_least);
    vec![middle, gain, number.at_least(-MARGIN).because(why)]
}

/// The text for a condition that has no other side, beside a published number.
pub(super) const ONE_SIDED: &str = "The source's words are one-sided:";
const NO_HARM: &str = "\"there are no cases where Push hurts performance\".";
const HARMS: &str = "\"For three pages, PushStaticWithHTML is worse than NoOpt.\"";
const LAST_PUSH: &str = "The rule bounds the bytes before the last push, but not the last push. On chrome-har-izettle, an image of 370 KB that a \
     stylesheet names first is pushed before the fonts that it names next.";
const EARLY: &str = "What is preloaded early takes bytes from what renders first.";

fn share_of_gains(saved: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let pages = saved.clone().count();
    (pages > 0).then(|| saved.filter(|it| *it > MARGIN).count() as f64 / pages as f64)
}

/// To two decimals, as the column has it.
fn rounded(share: Option<f64>) -> f64 {
    share.map_or(f64::NAN, |it| (it * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gains_beyond_the_margin_of_error() {
        assert_eq!(share_of_gains([3.0, 3.1, -5.0, 9.0].into_iter()), Some(0.5));
        assert_eq!(share_of_gains(std::iter::empty()), None);
    }

    #[test]
    fn the_sources_policies_must_harm_no_page_and_pushing_everything_must() {
        let page = corpus::bundled("agency-index").expect("bundled");
        let saved = [(-4.0, page), (10.0, page)];
        let verdicts = |policy: Policy| {
            let rows = policy_rows(policy, &saved);
            let gain = rows[1].published;
            let source = rows.into_iter().filter_map(|it| it.verdicts.source);
            (gain, source.map(|it| (it.condition, it.holds)).collect::<Vec<_>>())
        };
        assert_eq!(verdicts(POLICIES[0]), (Some(0.5), vec![("at least -3".into(), false)]));
        let both = vec![("within 4".into(), false), ("at most -20".into(), false)];
        assert_eq!(verdicts(POLICIES[4]), (Some(0.17), both));
        assert_eq!(verdicts(POLICIES[5]), (None, Vec::new()));
    }
}
