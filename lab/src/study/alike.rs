//! Schemes of a plan that place alike: the same loads under two names would be counted as two.

use super::Plan;
use crate::{Contender, Metadata};
use schedulers::{Given, Scheme};
use server::SignalUse;
use std::collections::BTreeMap;

impl Plan {
    /// Leaves out each scheme that is not `named`, and that places as another one of the plan does.
    pub fn leave_out_twins(&mut self, named: impl Fn(&str) -> bool) {
        let twins = self.twins().into_iter().filter(|(scheme, _)| !named(scheme));
        self.left_out = twins.collect();
        self.schemes.retain(|it| !self.left_out.contains_key(it.name()));
    }

    /// Which schemes were left out, and which place alike, in words.
    pub(super) fn said_of_twins(&self) -> Vec<String> {
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

    /// The schemes that place as another one of the plan does in every setting, each with that one.
    fn twins(&self) -> BTreeMap<String, String> {
        let has = |name: &str| self.schemes.iter().any(|it| it.name() == name);
        let twin = |scheme: &Scheme| {
            let same = scheme.same_as.iter().find(|it| self.is_given(it.0) && has(it.1))?;
            Some((scheme.name.clone(), same.1.to_owned()))
        };
        self.schemes.iter().filter_map(Contender::scheme).filter_map(twin).collect()
    }

    fn is_given(&self, given: Given) -> bool {
        let signals = &self.settings.signals;
        let is_ignored = |it: &SignalUse| *it == SignalUse::Ignore;
        match given {
            Given::Always => true,
            Given::Ignored => signals.iter().all(is_ignored),
            Given::Heard => !signals.is_empty() && !signals.iter().any(is_ignored),
            Given::NoBrowserPriorities => {
                let mut resources = self.pages.iter().flat_map(|it| &it.resources);
                self.metadata == Metadata::None
                    || resources.all(|it| it.for_scheduler().browser.is_none())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::study::{Engine, conditions};
    use std::sync::Arc;

    fn plan(signals: &[SignalUse]) -> Plan {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let schemes = schedulers::SCHEMES.iter().cloned().map(Contender::from).collect();
        let network = Network::find("cable").expect("built in");
        let mut plan = Plan::new(vec![page], schemes, Engine::Stack, network);
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
