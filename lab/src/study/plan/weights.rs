//! The weight of each page of a study in means over pages.

use crate::study::Plan;
use corpus::Page;
use corpus::weights;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The weights of pages in means over pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// Each the same.
    #[default]
    Equal,
    /// By the number of the web's pages that they represent: see [`corpus::weights`].
    Web,
}

impl Weights {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(crate) fn are_equal(&self) -> bool {
        *self == Self::Equal
    }
}

/// The weights of a study's pages, and how well they represent the population.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageWeights {
    /// The population: `web`.
    pub population: Weights,
    /// The share of the population whose strata of requests have a page in the study.
    pub covered: f64,
    /// The number of equally weighted sites with the same information.
    pub effective_sites: f64,
    /// By page, the share of the population that it represents. A page with 0 counts in no summary.
    pub pages: BTreeMap<String, f64>,
}

impl PageWeights {
    /// The weights of the plan's pages; `None` if all are equal.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        if plan.weights.are_equal() {
            return None;
        }
        let pages: Vec<&Page> = plan.pages.iter().map(AsRef::as_ref).collect();
        let weights = weights::web(&pages);
        let by_page = pages.iter().zip(&weights.pages);
        Some(Self {
            population: plan.weights,
            covered: weights.covered,
            effective_sites: weights.effective_sites(&pages),
            pages: by_page.map(|(page, weight)| (page.name.clone(), *weight)).collect(),
        })
    }

    /// The weight of a page; `None` means equal weights.
    pub(crate) fn weight_of(weights: Option<&Self>, page: &str) -> f64 {
        weights.map_or(1.0, |it| it.pages.get(page).copied().unwrap_or_default())
    }

    /// How well the pages represent the population, in a sentence.
    pub fn sentence(&self) -> String {
        format!(
            "means over pages count each page as it stands for the web's pages: {:.0} % of these have as many resources as \
             some of the study's pages; the weights carry as much information as {:.1} sites of equal weight",
            self.covered * 100.0,
            self.effective_sites
        )
    }
}
