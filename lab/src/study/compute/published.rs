//! Published results, and how well a study agrees with their ranking of the schemes.

use crate::study::statistics::{SAMPLE_MIN, spearman};
use crate::study::{Setting, SummaryRow};
use serde::{Deserialize, Serialize};

/// A row of Table 2 (Marx et al. 2019, page 140): mean speedups over `rr`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Table2Row {
    /// The scheme.
    pub scheme: &'static str,
    /// All resources.
    pub all: f64,
    /// Resources above the fold.
    pub atf: f64,
    /// Resources above the fold, with a send buffer of 1000 KB.
    pub atf_1000k: f64,
}

/// Table 2, page 140.
pub const TABLE_2: [Table2Row; 10] = [
    row("wrr", 1.05, 1.49, 1.28),
    row("fifo", 1.27, 1.93, 1.57),
    row("dfifo", 1.27, 2.30, 1.72),
    row("firefox", 1.07, 1.22, 1.25),
    row("p+", 1.17, 2.20, 1.64),
    row("s+", 1.14, 1.45, 1.56),
    row("spdyrr", 1.14, 1.96, 1.57),
    row("bucket", 1.20, 2.13, 1.82),
    row("bucket-html", 1.20, 2.49, 1.83),
    row("zeroweight", 1.15, 2.8, 1.9),
];

const fn row(scheme: &'static str, all: f64, atf: f64, atf_1000k: f64) -> Table2Row {
    Table2Row { scheme, all, atf, atf_1000k }
}

/// With fewer common schemes, a rank correlation is meaningless: chance orders four perfectly in one case of 24.
const SCHEMES_MIN: usize = 5;

/// The send buffer of its last column.
const LARGE_BUFFER_BYTES: u64 = 1_000_000;

/// How similarly a study and a publication rank their common schemes. The baseline does not count, because its speedup is
/// always 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankCorrelation {
    /// The study's network, its send buffer, and its other varied dimensions.
    #[serde(flatten)]
    pub setting: Setting,
    /// The published column.
    pub published: String,
    /// How many schemes both have.
    pub schemes: usize,
    /// Spearman's rank correlation of the mean speedups.
    pub spearman: f64,
}

/// A published column, and the summary's value for comparison.
type Column = (&'static str, fn(&Table2Row) -> f64, fn(&SummaryRow) -> Option<f64>);

const ALL: Column = ("Marx et al. 2019, Table 2, All", |it| it.all, |it| it.mean_speedup.all);
const ATF: Column = ("Marx et al. 2019, Table 2, ATF", |it| it.atf, |it| it.mean_speedup.atf);
const ATF_LARGE: Column =
    ("Marx et al. 2019, Table 2, 1000K", |it| it.atf_1000k, |it| it.mean_speedup.atf);

/// For each setting of a summary, and each published column for its send buffer. Omits settings with fewer than five
/// common schemes, or whose pages come from too few sites for an interval, because the published means are over 43 pages.
pub fn rank_correlations(summary: &[SummaryRow]) -> Vec<RankCorrelation> {
    let mut settings: Vec<&Setting> = Vec::new();
    for row in summary {
        if !settings.contains(&&row.setting) {
            settings.push(&row.setting);
        }
    }
    let mut correlations = Vec::new();
    for setting in settings {
        let columns: &[Column] = match setting.send_buffer_bytes {
            0 => &[ALL, ATF],
            LARGE_BUFFER_BYTES => &[ATF_LARGE],
            _ => &[],
        };
        for (published, known, of) in columns {
            let rows = summary.iter().filter(|it| it.setting == *setting && it.sites >= SAMPLE_MIN);
            let pairs = rows.filter_map(|row| {
                let published = TABLE_2.iter().find(|it| it.scheme == row.scheme)?;
                Some((of(row)?, known(published)))
            });
            let pairs: Vec<(f64, f64)> = pairs.collect();
            let spearman = spearman(&pairs).filter(|_| pairs.len() >= SCHEMES_MIN);
            correlations.extend(spearman.map(|spearman| RankCorrelation {
                setting: setting.clone(),
                published: (*published).to_owned(),
                schemes: pairs.len(),
                spearman,
            }));
        }
    }
    correlations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{RunRecord, summarise};
    use qlog_tools::metrics::{BySet, byte_index};

    #[test]
    fn a_study_that_ranks_as_the_paper_did_correlates_and_one_without_its_schemes_says_nothing() {
        let on_page = |page: &str, scheme: &str, index| RunRecord {
            page: page.into(),
            scheme: scheme.into(),
            completed: true,
            metrics: [("byte_index", BySet { all: Some(index), atf: Some(index) })]
                .into_iter()
                .collect(),
            ..RunRecord::default()
        };
        let indices = [
            ("rr", 300.0),
            ("wrr", 290.0),
            ("firefox", 270.0),
            ("spdyrr", 250.0),
            ("bucket", 200.0),
            ("fifo", 100.0),
        ];
        let runs = |pages: &[&str], schemes: usize| -> Vec<RunRecord> {
            let indices = &indices[..schemes];
            let every = pages.iter().flat_map(|page| indices.iter().map(move |it| (page, it)));
            every.map(|(page, (scheme, index))| on_page(page, scheme, *index)).collect()
        };
        let of = |pages: &[&str], schemes| {
            rank_correlations(&summarise(&runs(pages, schemes), byte_index(), |it| it))
        };
        let six = ["a", "b", "c", "d", "e", "f"];
        let found = of(&six, 6);
        let correlations: Vec<String> =
            found.iter().map(|it| format!("{:.3}", it.spearman)).collect();
        // Above the fold, the paper ranks fifo below spdyrr and bucket, and firefox below wrr.
        assert_eq!(correlations, ["1.000", "0.600"]);
        assert!(found.iter().all(|it| it.schemes == 5));
        assert_eq!(of(&six, 5), [], "four schemes beside the baseline");
        assert_eq!(of(&six[..5], 6), [], "five sites");
    }
}
