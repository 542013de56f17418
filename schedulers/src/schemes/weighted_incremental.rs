//! `weighted-incremental[:ALPHA[:RHO]]`: all responses share, and urgent ones get more.
//!
//! Source: Gupta and Bartos, 2024: response i of n gets a share `a/(u_i + r) + (1 - a)/n` of the connection, with
//! its urgency `u_i`. Here the first term is normalized over all n, so that the shares sum to 1. ALPHA = 0 is round
//! robin; RHO reduces the effect of urgencies. The paper's abstract does not give its values; the defaults are 0.8
//! and 1. Responses of one urgency share a group, so that a change of n changes the weights of only eight groups.
//! Order: `hcifhcIfshiIsiI`.

use super::halves::{ByWord, by_word};
use super::rfc9218;
use crate::{Element, Language, Place, Scheme, StreamId, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn scheme() -> Scheme {
    Scheme {
        group_name: Arc::new(|id| Some(format!("u={id}"))),
        parameters: "ALPHA from 0 to 1 (0.8), RHO from 0.01 to 1000 (1), as in weighted-incremental:0.5:1",
        signals: Language::Priority,
        ..Scheme::new(
            "weighted-incremental",
            "All share, with weights by urgency (Gupta and Bartos)",
            GUPTA_BARTOS,
            |args, _| {
                let takes = "takes ALPHA from 0 to 1 and RHO from 0.01 to 1000";
                args.at_most(2, takes)?;
                let alpha = args.number(0, Some(0.8), 0.0..=1.0);
                let rho = args.number(1, Some(1.0), 0.01..=1000.0);
                match (alpha, rho) {
                    (Some(alpha), Some(rho)) => {
                        Ok(by_word(rfc9218::priority, Weighted::new(alpha, rho)))
                    }
                    _ => args.refuse(takes),
                }
            },
        )
    }
}

/// Gupta and Bartos, the source of this scheme and `mixed`.
pub(super) const GUPTA_BARTOS: &str = "Gupta and Bartos, HTTP/3 and Extensible Prioritization, arXiv 2403.04074, 2404.13460, 2404.17439, 2024";

const URGENCIES: usize = 8;

struct Weighted {
    alpha: f64,
    rho: f64,
    urgencies: BTreeMap<StreamId, u8>,
    counts: [u32; URGENCIES],
}

impl Weighted {
    fn new(alpha: f64, rho: f64) -> Self {
        Self { alpha, rho, urgencies: BTreeMap::new(), counts: [0; URGENCIES] }
    }

    fn forget(&mut self, stream: StreamId) {
        if let Some(urgency) = self.urgencies.remove(&stream) {
            self.counts[usize::from(urgency)] -= 1;
        }
    }

    /// The shares of the groups, as weights of which the largest is 256.
    fn weigh(&self, tree: &mut Tree) {
        let counts = self.counts.iter().enumerate();
        let groups: Vec<(f64, f64)> = counts
            .map(|(urgency, count)| (f64::from(*count), 1.0 / (urgency as f64 + self.rho)))
            .collect();
        let sum: f64 = groups.iter().map(|(count, weight)| count * weight).sum();
        let all: f64 = groups.iter().map(|(count, _)| count).sum();
        let shares = groups
            .iter()
            .map(|(count, weight)| count * (self.alpha * weight / sum + (1.0 - self.alpha) / all));
        let largest = shares.clone().fold(0.0, f64::max);
        for (urgency, share) in shares.enumerate().filter(|(urgency, _)| self.counts[*urgency] > 0)
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 256"
            )]
            let weight = (256.0 * share / largest).round() as u16;
            tree.put(group(urgency), Place::DEFAULT.weight(weight));
        }
    }
}

fn group(urgency: usize) -> Element {
    Element::Placeholder(urgency as u64)
}

impl ByWord for Weighted {
    type Word = (u8, bool);

    fn put(&mut self, tree: &mut Tree, stream: StreamId, word: (u8, bool)) {
        let urgency = word.0.min(7);
        self.forget(stream);
        self.urgencies.insert(stream, urgency);
        self.counts[usize::from(urgency)] += 1;
        self.weigh(tree);
        tree.put(Element::Stream(stream), Place::below(group(usize::from(urgency))));
    }

    fn closed(&mut self, tree: &mut Tree, stream: StreamId) {
        self.forget(stream);
        self.weigh(tree);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use crate::{Resource, Scheduler, StreamId, find_scheme};

    #[test]
    fn all_share_and_the_urgent_get_more() {
        assert_eq!(sample::order("weighted-incremental"), "hcifhcIfshiIsiI");
    }

    #[test]
    fn without_alpha_it_is_round_robin_up_to_ties() {
        let mut letters: Vec<char> =
            sample::order("weighted-incremental:0").chars().take(6).collect();
        letters.sort_unstable();
        assert_eq!(letters.iter().collect::<String>(), "Icfhis");
    }

    #[test]
    fn shares_are_those_of_the_formula() {
        let mut scheduler = Scheduler::new(&find_scheme("weighted-incremental:0.5:1").unwrap());
        for (id, urgency) in [(0, 0), (4, 3)] {
            let browser = Some((urgency, true));
            scheduler.open(StreamId(id), &Resource { browser, ..Resource::default() });
            scheduler.set_ready(StreamId(id), true);
        }
        // Static weights 1 and 1/4: 0.5 x 0.8 + 0.25 and 0.5 x 0.2 + 0.25.
        let shares: Vec<String> = scheduler
            .tree()
            .nodes
            .iter()
            .filter(|it| it.ready)
            .map(|it| format!("{:.2}", it.share))
            .collect();
        assert_eq!(shares, ["0.65", "0.35"]);
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        for name in
            ["weighted-incremental:2", "weighted-incremental:0.5:0", "weighted-incremental:x"]
        {
            assert!(find_scheme(name).is_err(), "{name}");
        }
    }
}
