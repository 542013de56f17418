//! Schemes of a plan that place streams alike: the same loads under two names would count as two.

use crate::study::{Plan, RunRecord, Study};
use crate::{Contender, Metadata};
use schedulers::Given;
use server::SignalUse;
use std::collections::BTreeMap;

impl Plan {
    /// Leaves out each scheme that is not `named` and places streams as another one of the plan does.
    pub fn leave_out_twins(&mut self, named: impl Fn(&str) -> bool) {
        let twins = self.twins().into_iter().filter(|(scheme, _)| !named(scheme));
        self.left_out = twins.collect();
        self.schemes.retain(|it| !self.left_out.contains_key(it.name()));
    }

    /// Which schemes were left out, and which place streams alike, in words.
    pub(crate) fn said_of_twins(&self) -> Vec<String> {
        let left_out = self.left_out.iter();
        let left_out = left_out.map(|(scheme, twin)| {
            format!("`all` is without {scheme}, which places as {twin} does here")
        });
        let kept = self.twins().into_iter();
        let kept = kept.map(|(scheme, twin)| {
            format!("{scheme} and {twin} place alike here, so they are one scheme under two names")
        });
        left_out.chain(kept).collect()
    }

    /// The schemes that place streams as another one of the plan in every setting, each with that one.
    fn twins(&self) -> BTreeMap<String, String> {
        let mut twins = BTreeMap::new();
        for scheme in self.schemes.iter().filter_map(Contender::scheme) {
            let mut given = scheme.same_as.iter().filter(|it| self.is_given(it.0));
            let twin = given.find(|(_, name)| self.schemes.iter().any(|it| it.name() == *name));
            twins.extend(twin.map(|(_, name)| (scheme.name.clone(), (*name).to_owned())));
        }
        twins
    }

    /// The schemes of a study that are duplicates under two names, each with its representative: the baseline, or the first.
    /// They place streams alike, or each of their loads is the same.
    pub(crate) fn twins_among(&self, runs: &[RunRecord]) -> BTreeMap<String, String> {
        let placed = self.twins().into_iter().map(|(scheme, twin)| {
            if scheme == self.baseline { (twin, scheme) } else { (scheme, twin) }
        });
        let mut twins: BTreeMap<String, String> = placed.collect();
        let mut loads: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
        for run in runs.iter().filter(|run| !run.has_failed_scheme()) {
            loads.entry(&run.scheme).or_default().push(run);
        }
        let mut schemes: Vec<&str> = self.schemes.iter().map(Contender::name).collect();
        schemes.retain(|it| loads.contains_key(it));
        schemes.sort_by_key(|it| *it != self.baseline);
        for (place, scheme) in schemes.iter().enumerate() {
            let mut before = schemes[..place].iter();
            let same = before.find(|it| are_the_same(&loads[**it], &loads[scheme]));
            if let Some(first) = same {
                let twin = twins.get(*first).map_or(*first, |it| it).to_owned();
                twins.entry((*scheme).to_owned()).or_insert(twin);
            }
        }
        twins
    }

    fn is_given(&self, given: Given) -> bool {
        let signals = &self.settings.signals;
        match given {
            Given::Always => true,
            Given::Ignored => signals.iter().all(|it| *it == SignalUse::Ignore),
            Given::Heard => !signals.is_empty() && !signals.contains(&SignalUse::Ignore),
            Given::NoBrowserPriorities => {
                let mut resources = self.pages.iter().flat_map(|it| &it.resources);
                self.metadata == Metadata::None
                    || resources.all(|it| it.for_scheduler().browser.is_none())
            }
        }
    }
}

fn are_the_same(one: &[&RunRecord], other: &[&RunRecord]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            one.resources == other.resources
                && one.metrics == other.metrics
                && one.page == other.page
                && one.setting == other.setting
                && one.seed == other.seed
                && one.completed == other.completed
        })
}

/// A sentence for each scheme with the same loads as another one, although they are not known to place streams alike.
pub fn same_loads(plan: &Plan, study: &Study) -> Vec<String> {
    let known = plan.twins();
    let found = study
        .twins
        .iter()
        .filter(|(one, other)| known.get(*one) != Some(*other) && known.get(*other) != Some(*one));
    let sentences = found.map(|(scheme, twin)| {
        format!("{scheme} gives the same loads as {twin}, so Holm's p counts both once")
    });
    sentences.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::study::{conditions, engines};
    use schedulers::Scheme;
    use std::sync::Arc;

    fn plan(signals: &[SignalUse]) -> Plan {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let schemes = schedulers::SCHEMES.iter().cloned().map(Contender::from).collect();
        let network = Network::find("cable").expect("built in");
        let mut plan = Plan::new(vec![page], schemes, engines::STACK, network);
        plan.settings.signals = signals.to_vec();
        plan
    }

    fn left_out(signals: &[SignalUse]) -> Vec<String> {
        let mut plan = plan(signals);
        plan.leave_out_twins(|_| false);
        plan.left_out.iter().map(|(scheme, twin)| format!("{scheme} as {twin}")).collect()
    }

    #[test]
    fn what_is_alike_follows_from_the_use_of_signals() {
        use SignalUse::{Ignore, Obey, Override};
        let ignored = ["strict as bucket", "tree as rr"];
        assert_eq!(left_out(&[]), ignored);
        assert_eq!(left_out(&[Ignore]), ignored);
        assert_eq!(left_out(&[Obey, Override]), ["strict as bucket", "tree as firefox"]);
        assert_eq!(left_out(&[Ignore, Obey]), ["strict as bucket"]);
    }

    #[test]
    fn eight_levels_are_five_classes_where_no_priority_of_a_browser_is_known() {
        let mut plan = Plan { metadata: Metadata::None, ..plan(&[]) };
        plan.leave_out_twins(|_| false);
        assert_eq!(plan.left_out.get("spdy").map(String::as_str), Some("dfifo"));
    }

    #[test]
    fn schemes_with_the_same_loads_and_those_that_place_alike_are_one_under_two_names() {
        let find = |name| schedulers::find_scheme(name).expect("a scheme");
        let own = Scheme { name: "mine".to_owned(), ..find("fifo") };
        let schemes = [find("rr"), own, find("bucket"), find("fifo"), find("strict")];
        let page = Arc::new(corpus::bundled("agency-index").expect("bundled").clone());
        let network = Network::find("paper").expect("built in");
        let schemes = schemes.map(Contender::from).into();
        let plan = Plan::new(vec![page], schemes, engines::IDEAL, network);
        let twins = |plan: &Plan| {
            let study = crate::study::run(plan, serde_json::json!({}), &|| ()).expect("a study");
            let twins = study.twins.iter().map(|(one, other)| format!("{one} as {other}"));
            (twins.collect::<Vec<_>>(), same_loads(plan, &study))
        };
        let said = "fifo gives the same loads as mine, so Holm's p counts both once".to_owned();
        let of_first = ["fifo as mine", "strict as bucket"].map(str::to_owned);
        assert_eq!(twins(&plan), (of_first.into(), vec![said]));
        let (of_baseline, _) = twins(&Plan { baseline: "strict".to_owned(), ..plan });
        assert_eq!(of_baseline, ["bucket as strict", "fifo as mine"]);
    }

    #[test]
    fn a_scheme_that_is_named_stays_and_the_conditions_say_that_it_is_the_same() {
        let mut plan = plan(&[]);
        plan.leave_out_twins(|it| it == "strict");
        assert!(plan.schemes.iter().any(|it| it.name() == "strict"));
        assert!(!plan.schemes.iter().any(|it| it.name() == "tree"));
        let words = conditions(&plan);
        assert!(words.contains("; strict and bucket place alike here"), "{words}");
        assert!(words.contains("; `all` is without tree, which places as rr does here"), "{words}");
    }
}
