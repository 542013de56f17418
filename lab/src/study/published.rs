//! What others published, and how well a study ranks the schemes as they did.

use super::statistics::spearman;
use super::summary::SummaryRow;
use serde::{Deserialize, Serialize};

/// Marx et al. 2019, Table 2: mean speedups over `rr` of all resources, of those above the fold, and of those above
/// the fold with a send buffer of 1000 KB.
pub const MARX_TABLE_2: [(&str, [f64; 3]); 11] = [
    ("rr", [1.0, 1.0, 1.0]),
    ("wrr", [1.05, 1.49, 1.28]),
    ("fifo", [1.27, 1.93, 1.57]),
    ("dfifo", [1.27, 2.30, 1.72]),
    ("firefox", [1.07, 1.22, 1.25]),
    ("p+", [1.17, 2.20, 1.64]),
    ("s+", [1.14, 1.45, 1.56]),
    ("spdyrr", [1.14, 1.96, 1.57]),
    ("bucket", [1.20, 2.13, 1.82]),
    ("bucket-html", [1.20, 2.49, 1.83]),
    ("zeroweight", [1.15, 2.8, 1.9]),
];

/// The send buffer of its last column.
const LARGE_BUFFER_BYTES: u64 = 1_000_000;

/// How alike a study and a publication rank the schemes that both have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankCorrelation {
    /// The study's network.
    pub network: String,
    /// Its send buffer.
    pub send_buffer_bytes: u64,
    /// The published column.
    pub published: String,
    /// How many schemes both have.
    pub schemes: usize,
    /// Spearman's rank correlation of the mean speedups.
    pub spearman: f64,
}

/// A column, and what it is of a summary's row.
type Column = (&'static str, usize, fn(&SummaryRow) -> Option<f64>);

const ALL: Column = ("Marx et al. 2019, Table 2, All", 0, |it| it.mean_speedup.all);
const ATF: Column = ("Marx et al. 2019, Table 2, ATF", 1, |it| it.mean_speedup.atf);
const ATF_LARGE: Column = ("Marx et al. 2019, Table 2, 1000K", 2, |it| it.mean_speedup.atf);

/// For each network and send buffer of a summary, and each published column that is about such a buffer; none
/// with fewer than three schemes in common.
pub fn rank_correlations(summary: &[SummaryRow]) -> Vec<RankCorrelation> {
    let mut settings: Vec<(&str, u64)> = Vec::new();
    for row in summary {
        let setting = (row.network.as_str(), row.send_buffer_bytes);
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let mut correlations = Vec::new();
    for (network, send_buffer_bytes) in settings {
        let columns: &[Column] = match send_buffer_bytes {
            0 => &[ALL, ATF],
            LARGE_BUFFER_BYTES => &[ATF_LARGE],
            _ => &[],
        };
        for (published, place, of) in columns {
            let rows = summary
                .iter()
                .filter(|it| it.network == network && it.send_buffer_bytes == send_buffer_bytes);
            let pairs: Vec<(f64, f64)> = rows
                .filter_map(|row| {
                    let known = MARX_TABLE_2.iter().find(|it| it.0 == row.scheme)?;
                    Some((of(row)?, known.1[*place]))
                })
                .collect();
            if let Some(spearman) = spearman(&pairs) {
                correlations.push(RankCorrelation {
                    network: network.to_owned(),
                    send_buffer_bytes,
                    published: (*published).to_owned(),
                    schemes: pairs.len(),
                    spearman,
                });
            }
        }
    }
    correlations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Indices, RunRecord, summarise};

    #[test]
    fn a_study_that_ranks_as_the_paper_did_correlates_and_one_without_its_schemes_says_nothing() {
        let index = |scheme: &str, index| RunRecord {
            page: "a".into(),
            scheme: scheme.into(),
            completed: true,
            byte_index: Indices { all: Some(index), atf: Some(index) },
            ..RunRecord::default()
        };
        let runs = [index("rr", 300.0), index("wrr", 200.0), index("fifo", 100.0)];
        let found = rank_correlations(&summarise(&runs));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|it| it.schemes == 3 && (it.spearman - 1.0).abs() < 1e-12));
        assert_eq!(rank_correlations(&summarise(&runs[..2])), []);
    }
}
