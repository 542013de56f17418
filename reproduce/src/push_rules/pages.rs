//! The case studies' policies on every bundled page, judged by `SpeedIndex`, the source's own measure.
//!
//! The source's six pages are gone. The pages here are others, so how many gain is shown beside the source's count, and
//! judged is what the source says of all of them: its policies harm no page, and pushing everything does.

use super::cases::{MARGIN, QUEUE, WINDOW_PACKETS};
use super::pair::saved_percent;
use super::published::{G3, STUDIED_PAGES};
use super::setup::network_of;
use crate::bench::{Bench, Case};
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

fn policy_rows(policy: Policy, saved: &[(f64, &Page)]) -> [Row; 3] {
    let name = policy.name();
    let mut sorted: Vec<f64> = saved.iter().map(|it| it.0).collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied();
    let metric = format!("SpeedIndex saved by {name}, median page, in percent");
    let middle = Row::shown(format!("pages-{name}-median"), metric, median).in_table(TABLE);
    let metric = format!("share of pages that gain more than 3 % by {name}");
    let gain = share_of_gains(sorted.iter().copied());
    let gain = Row::shown(format!("pages-{name}-gain"), metric, gain);
    let worst = saved.iter().min_by(|one, other| one.0.total_cmp(&other.0));
    let metric = format!("SpeedIndex saved by {name} on the page that gains least, in percent");
    let least = Row::shown(format!("pages-{name}-least"), metric, worst.map(|it| it.0));
    let least = least.in_table(TABLE);
    let least = least.note(worst.map_or_else(String::new, |it| format!("On {}.", it.1.name)));
    let why = if policy.pushes() { LAST_PUSH } else { EARLY };
    let studied = STUDIED_PAGES.iter().filter_map(|it| it.with(policy));
    let theirs: Vec<f64> = studied.map(saved_percent).collect();
    if theirs.is_empty() {
        let least = least.required().at_least(-MARGIN).because(why);
        return [middle, gain.in_table(TABLE), least];
    }
    let gain = gain.in_table(TABLE).published(rounded(share_of_gains(theirs.iter().copied())));
    let their_least = theirs.iter().copied().reduce(f64::min).map(|it| (it * 10.0).round() / 10.0);
    let least = least.published(their_least.unwrap_or(f64::NAN));
    let least = match policy {
        Policy::PushStaticWithHtml => least.at_most(HARM),
        _ => least.at_least(-MARGIN),
    };
    [middle, gain, least.because(why)]
}

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
        let verdict = |policy: Policy| {
            let [_, gain, least] = policy_rows(policy, &saved);
            let source = least.verdicts.source.map(|it| (it.condition, it.holds));
            (gain.published, source)
        };
        assert_eq!(verdict(POLICIES[0]), (Some(0.5), Some(("at least -3".into(), false))));
        assert_eq!(verdict(POLICIES[4]), (Some(0.17), Some(("at most -20".into(), false))));
        assert_eq!(verdict(POLICIES[5]), (None, None));
    }
}
