//! The findings of visits: numbers and words for people, and the sums with which a server continues after a
//! restart.

use super::evidence::{Evidence, Speedup};
use super::{Exploration, LeftOut, Page};
use crate::limits::{EXPLORED_PAGES, EXPLORED_STRATA};
use serde::{Deserialize, Serialize};

/// The form of the report, and its version.
const FORMAT: &str = "utmost-exploration/1";

/// The findings about all pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplorationReport {
    /// The form and its version: `utmost-exploration/1`.
    pub format: String,
    /// The share of connections that try another order.
    pub share: f64,
    /// The names of the orders: the present one and the candidates.
    pub orders: Vec<String>,
    /// The pages, by host and path.
    pub pages: Vec<PageReport>,
    /// Loads of unknown pages: there was no room, or their client had used up its share.
    pub loads_of_other_pages: u64,
}

/// The findings about a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageReport {
    /// Host and path.
    pub page: String,
    /// The answer in words.
    pub found: String,
    /// The order for visitors who try nothing.
    pub favourite: String,
    /// The orders, the present one first.
    pub orders: Vec<OrderReport>,
    /// Loads that do not count.
    pub left_out: LeftOut,
    /// Body bytes of all loads that count.
    pub body_bytes: f64,
    /// Sums of the logarithms, by stratum and order.
    sums: Evidence,
}

/// The findings about an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderReport {
    /// Its name.
    pub order: String,
    /// Loads that count.
    pub visits: u64,
    /// The geometric mean of their ByteIndex as sent, in milliseconds.
    pub byte_index_ms: Option<f64>,
    /// How many times better than the present order it is.
    pub speedup: Option<f64>,
    /// The 95 % interval of the speedup, valid at any time.
    pub interval: Option<[f64; 2]>,
}

/// Why a server cannot continue from an earlier report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// It has another form.
    #[error("format {0} is not utmost-exploration/1; delete the file, or name another one")]
    Format(String),
    /// It describes other orders.
    #[error("it is about {0}; delete the file, or name another one, to start again")]
    Orders(String),
    /// Its sums do not fit.
    #[error("page {0}: its sums do not fit the orders; delete the file, or name another one")]
    Sums(String),
}

impl Exploration {
    /// The findings so far.
    pub fn report(&self) -> ExplorationReport {
        let state = self.state.lock();
        ExplorationReport {
            format: FORMAT.to_owned(),
            share: self.share,
            orders: (0..=self.candidates.len()).map(|it| self.name(it).to_owned()).collect(),
            pages: state.pages.iter().map(|(name, page)| self.page_report(name, page)).collect(),
            loads_of_other_pages: state.beyond,
        }
    }

    /// Continues from an earlier report.
    pub fn remember(&self, report: ExplorationReport) -> Result<(), MemoryError> {
        let orders: Vec<&str> = (0..=self.candidates.len()).map(|it| self.name(it)).collect();
        if report.format != FORMAT {
            return Err(MemoryError::Format(report.format));
        }
        if report.orders != orders {
            return Err(MemoryError::Orders(report.orders.join(", ")));
        }
        let mut state = self.state.lock();
        for page in report.pages.into_iter().take(EXPLORED_PAGES) {
            let favourite = orders.iter().position(|it| *it == page.favourite);
            let fits = page.sums.fits(orders.len()) && page.sums.strata() <= EXPLORED_STRATA;
            let (Some(favourite), true) = (favourite, fits) else {
                return Err(MemoryError::Sums(page.page));
            };
            let PageReport { page: name, sums: evidence, left_out, body_bytes, .. } = page;
            state.pages.insert(name, Page { favourite, evidence, left_out, body_bytes });
        }
        state.beyond = report.loads_of_other_pages;
        Ok(())
    }

    pub(super) fn page_report(&self, name: &str, page: &Page) -> PageReport {
        PageReport {
            page: name.to_owned(),
            found: self.found(page),
            favourite: self.name(page.favourite).to_owned(),
            orders: (0..page.evidence.orders()).map(|it| self.order_report(it, page)).collect(),
            left_out: page.left_out,
            body_bytes: page.body_bytes,
            sums: page.evidence.clone(),
        }
    }

    fn order_report(&self, order: usize, page: &Page) -> OrderReport {
        let speedup = page.evidence.speedup(order);
        OrderReport {
            order: self.name(order).to_owned(),
            visits: page.evidence.total(order).visits,
            byte_index_ms: page.evidence.geometric_mean(order),
            speedup: speedup.map(|it| it.ratio),
            interval: speedup.map(|it| it.interval),
        }
    }

    fn found(&self, page: &Page) -> String {
        let visits = |order: usize| page.evidence.total(order).visits;
        let words = |order: usize, speedup: Speedup| {
            let ([low, high], ratio) = (speedup.interval, speedup.ratio);
            format!(
                "{} is {ratio:.3} times as fast as what you have (95 % interval {low:.3} to {high:.3}; {} and {} visits)",
                self.name(order),
                visits(order),
                visits(0),
            )
        };
        let known = (1..page.evidence.orders())
            .filter_map(|it| Some((it, page.evidence.speedup(it)?)))
            .max_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
        match (page.evidence.best(), known) {
            (Some(best), _) => page.evidence.speedup(best).map(|it| words(best, it)),
            (None, Some((order, it))) => Some(format!(
                "no order is significantly better than what you have: {}",
                words(order, it)
            )),
            (None, None) => None,
        }
        .unwrap_or_else(|| "too few visits for a result".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SignalUse;
    use crate::exploration::{Candidate, Outcome};
    use schedulers::find_scheme;

    fn exploration(name: &str) -> Exploration {
        let scheme = find_scheme(name).unwrap();
        let candidate = Candidate { name: name.to_owned(), scheme, signals: SignalUse::Ignore };
        Exploration::new(vec![candidate], 0.5, 3)
    }

    fn visited() -> Exploration {
        let it = exploration("dfifo");
        for visit in 0..40 {
            let begun = it.begin("a.test/", None, it.draw()).unwrap();
            let byte_index_ms = [900.0, 600.0][begun.order] + f64::from(visit % 7);
            it.end("a.test/", begun, Outcome::Complete { byte_index_ms, body_bytes: 1000 });
        }
        it
    }

    #[test]
    fn a_report_says_in_words_what_was_found() {
        let report = visited().report();
        let page = &report.pages[0];
        assert!(page.found.starts_with("dfifo is 1.4"), "{}", page.found);
        assert_eq!(page.favourite, "dfifo");
        assert_eq!(page.orders.iter().map(|it| it.visits).sum::<u64>(), 40);
    }

    #[test]
    fn a_server_goes_on_with_what_it_knew() {
        let (before, after) = (visited(), exploration("dfifo"));
        let text = serde_json::to_string(&before.report()).unwrap();
        after.remember(serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(after.report(), before.report());
    }

    #[test]
    fn a_report_about_other_orders_is_refused() {
        let error = exploration("bucket").remember(visited().report()).unwrap_err();
        let text = "it is about what you have, dfifo; delete the file, or name another one, to start again";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        let mut report = visited().report();
        report.pages[0].sums = Evidence::of(3);
        assert_eq!(exploration("dfifo").remember(report), Err(MemoryError::Sums("a.test/".into())));
    }
}
