//! A study as a table.

use crate::failure::Failure;
use crate::output;
use crate::output::number;
use lab::study::{Study, SummaryRow};
use qlog_tools::metrics::{self, Metric};

pub(super) fn show(study: &Study) -> Result<(), Failure> {
    let rows = &study.summary;
    let metric = metrics::find(study.metric).unwrap_or_else(metrics::byte_index);
    let several_networks = rows.iter().any(|it| it.network != rows[0].network);
    let several_buffers = rows.iter().any(|it| it.send_buffer_bytes != rows[0].send_buffer_bytes);
    let cells = rows.iter().map(|row| {
        let mut name = row.scheme.clone();
        if several_networks {
            name = format!("{name} {}", row.network);
        }
        if several_buffers {
            name = format!("{name} {}", row.send_buffer_bytes);
        }
        let mut cells = vec![name];
        cells.extend(numbers(row, metric));
        cells
    });
    let header = [
        "scheme",
        "pages",
        "index all ms",
        "index ATF ms",
        "speedup all",
        "speedup ATF",
        "95 % interval",
        "best ATF",
        "worst ATF",
        "regret ATF",
    ];
    output::line(&output::table(&header, &[], cells).to_string())?;
    if study.summary.iter().all(|it| it.mean_speedup_interval.atf.is_none()) {
        output::line("intervals need six pages, or six seeds of one page where chance is at work")?;
    }
    for it in &study.rank_correlations {
        let (network, buffer) = (&it.network, it.send_buffer_bytes);
        output::line(&format!(
            "rank correlation with {}: {:.2} ({} schemes; {network}, send buffer {buffer} bytes)",
            it.published, it.spearman, it.schemes
        ))?;
    }
    Ok(())
}

fn numbers(row: &SummaryRow, metric: &Metric) -> [String; 9] {
    let mean = row.mean.get(metric);
    let interval = row.mean_speedup_interval.atf;
    [
        row.pages.to_string(),
        number(mean.all, 0),
        number(mean.atf, 0),
        number(row.mean_speedup.all, 2),
        number(row.mean_speedup.atf, 2),
        interval.map_or("-".to_owned(), |[low, high]| format!("{low:.2} to {high:.2}")),
        number(row.best_page_speedup.atf, 2),
        number(row.worst_page_speedup.atf, 2),
        number(row.mean_regret.atf, 2),
    ]
}
