//! What a study leaves in its folder: `manifest.json` (how to make it again), `study.json` (everything),
//! `runs.csv`, `summary.csv` and `pages.csv`, one ribbon figure and one curve a page (SVG and PNG), and `report.html`.

use super::statistics::Interval;
use super::{Plan, Study, file_name};
use qlog_tools::figures::png::{PngError, Rasterizer};
use qlog_tools::metrics::{BySet, METRICS, Measured, Set};
use qlog_tools::report::{Comparison, comparison_report};
use std::path::{Path, PathBuf};

/// A folder that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file cannot be written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A table cannot be written.
    #[error("{path}: {source}")]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        source: csv::Error,
    },
    /// A study has numbers that JSON has not.
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A figure cannot be drawn.
    #[error("figure: {0}")]
    Figure(#[from] PngError),
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The report.
    pub report: PathBuf,
    /// Why there are no PNG files, if there are none.
    pub without_png: Option<String>,
}

/// Writes the study into `folder`, which is made where it is missing.
pub fn write(plan: &Plan, study: &Study, folder: &Path) -> Result<Written, FolderError> {
    let figures = folder.join("figures");
    std::fs::create_dir_all(&figures)
        .and_then(|()| remove_old_figures(&figures))
        .map_err(|source| FolderError::File { path: figures.clone(), source })?;
    write_file(
        &folder.join(super::manifest::FILE),
        serde_json::to_string_pretty(&study.provenance)?.as_bytes(),
    )?;
    write_file(&folder.join("study.json"), serde_json::to_string_pretty(study)?.as_bytes())?;
    write_runs(study, &folder.join("runs.csv"))?;
    write_summary(study, &folder.join("summary.csv"))?;
    write_pages(study, &folder.join("pages.csv"))?;
    let comparison = super::report::comparison(plan, study);
    // Without a font on the machine there are no PNG files; the SVG files are there all the same.
    let (rasterizer, without_png) = match Rasterizer::new() {
        Ok(it) => (Some(it), None),
        Err(error) => (None, Some(error.to_string())),
    };
    for (name, svg) in drawings(&comparison) {
        write_file(&figures.join(format!("{name}.svg")), svg.as_bytes())?;
        if let Some(rasterizer) = &rasterizer {
            write_file(&figures.join(format!("{name}.png")), &rasterizer.png(svg, PNG_SCALE)?)?;
        }
    }
    let report = folder.join("report.html");
    write_file(&report, comparison_report(&comparison).as_bytes())?;
    Ok(Written { report, without_png })
}

/// Pixels for each unit of a figure.
const PNG_SCALE: f32 = 2.0;

/// The figures' file names and drawings.
fn drawings(comparison: &Comparison) -> Vec<(String, &str)> {
    let mut drawings: Vec<(String, &str)> = comparison
        .figures
        .iter()
        .map(|it| (format!("{}{OVERALL}", it.name), &*it.figure.svg))
        .collect();
    for page in &comparison.pages {
        let name = file_name(&page.name);
        drawings.extend(page.ribbons.as_ref().map(|it| (format!("{name}-ribbons"), &*it.svg)));
        drawings.extend(page.curve.as_ref().map(|it| (format!("{name}-curve"), &*it.svg)));
    }
    drawings
}

/// What the names of figures over all pages end with.
const OVERALL: &str = "-overall";

/// Figures of an earlier study in the same folder, which the manifest would not know of.
fn remove_old_figures(figures: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(figures)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        let drawn = path.extension().is_some_and(|it| it == "svg" || it == "png");
        if drawn && ["-ribbons", "-curve", OVERALL].iter().any(|it| stem.ends_with(it)) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    std::fs::write(path, bytes)
        .map_err(|source| FolderError::File { path: path.to_owned(), source })
}

fn cell(value: Option<f64>) -> String {
    value.map(|it| it.to_string()).unwrap_or_default()
}

/// Both values, or none.
fn cells(values: BySet) -> [String; 2] {
    Set::BOTH.map(|set| cell(values.get(set)))
}

/// The ends of both intervals.
fn ends(intervals: BySet<Interval>) -> Vec<String> {
    let of = |it: Option<Interval>| it.map_or([None, None], |it| it.map(Some));
    Set::BOTH.iter().flat_map(|set| of(intervals.get(*set))).map(cell).collect()
}

/// The columns of all metrics: `byte_index_all_ms`, after `prefix`.
fn metric_columns(prefix: &str) -> Vec<String> {
    let columns = METRICS.iter().flat_map(|it| Set::BOTH.map(|set| it.column(set)));
    columns.map(|it| format!("{prefix}{it}")).collect()
}

/// The values below them.
fn metric_cells(values: &Measured) -> Vec<String> {
    METRICS.iter().flat_map(|it| cells(values.get(it))).collect()
}

/// A line of headings: some before those of all metrics, some after.
fn headings(before: &[&str], metrics: Vec<String>, after: &[&str]) -> Vec<String> {
    let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    [owned(before), metrics, owned(after)].concat()
}

/// A CSV file whose first lines, each with a `#`, say where it comes from.
fn table(
    study: &Study,
    path: &Path,
    rows: impl FnOnce(&mut csv::Writer<&mut Vec<u8>>) -> csv::Result<()>,
) -> Result<(), FolderError> {
    let mut text = format!("# {}\n", serde_json::to_string(&study.provenance)?).into_bytes();
    for it in &study.rank_correlations {
        text.extend(format!("# {}\n", serde_json::to_string(it)?).into_bytes());
    }
    let mut writer = csv::Writer::from_writer(&mut text);
    let written = rows(&mut writer).and_then(|()| writer.flush().map_err(csv::Error::from));
    drop(writer);
    written.map_err(|source| FolderError::Table { path: path.to_owned(), source })?;
    write_file(path, &text)
}

fn write_runs(study: &Study, path: &Path) -> Result<(), FolderError> {
    table(study, path, |writer| {
        let before = [
            "page",
            "scheme",
            "engine",
            "network",
            "send_buffer_bytes",
            "cc",
            "seed",
            "completed",
            "unfinished",
            "duration_ms",
        ];
        let after = ["lower_bound_atf_ms", "regret_atf"];
        writer.write_record(headings(&before, metric_columns(""), &after))?;
        for run in &study.runs {
            let mut record = vec![
                run.page.clone(),
                run.scheme.clone(),
                run.engine.name().to_owned(),
                run.network.clone(),
                run.send_buffer_bytes.to_string(),
                run.cc.clone().unwrap_or_default(),
                run.seed.to_string(),
                run.completed.to_string(),
                run.unfinished.as_ref().map(|it| it.problem.clone()).unwrap_or_default(),
                run.duration_ms.to_string(),
            ];
            record.extend(metric_cells(&run.metrics));
            record.extend([cell(run.lower_bound.atf), cell(run.regret())]);
            writer.write_record(record)?;
        }
        Ok(())
    })
}

fn write_summary(study: &Study, path: &Path) -> Result<(), FolderError> {
    table(study, path, |writer| {
        let before = ["scheme", "network", "send_buffer_bytes", "pages", "unfinished"];
        let after = [
            "mean_speedup_all",
            "mean_speedup_atf",
            "mean_speedup_all_low",
            "mean_speedup_all_high",
            "mean_speedup_atf_low",
            "mean_speedup_atf_high",
            "median_speedup_all",
            "median_speedup_atf",
            "best_page_speedup_all",
            "best_page_speedup_atf",
            "worst_page_speedup_all",
            "worst_page_speedup_atf",
            "mean_regret_atf",
        ];
        writer.write_record(headings(&before, metric_columns("mean_"), &after))?;
        for row in &study.summary {
            let more = [row.median_speedup, row.best_page_speedup, row.worst_page_speedup];
            let mut record = vec![
                row.scheme.clone(),
                row.network.clone(),
                row.send_buffer_bytes.to_string(),
                row.pages.to_string(),
                row.unfinished.to_string(),
            ];
            record.extend(metric_cells(&row.mean));
            record.extend(cells(row.mean_speedup));
            record.extend(ends(row.mean_speedup_interval));
            record.extend(more.into_iter().flat_map(cells));
            record.push(cell(row.mean_regret.atf));
            writer.write_record(record)?;
        }
        Ok(())
    })
}

fn write_pages(study: &Study, path: &Path) -> Result<(), FolderError> {
    table(study, path, |writer| {
        let before = ["page", "scheme", "network", "send_buffer_bytes", "loads", "unfinished"];
        let after = [
            "speedup_all",
            "speedup_atf",
            "speedup_all_low",
            "speedup_all_high",
            "speedup_atf_low",
            "speedup_atf_high",
        ];
        writer.write_record(headings(&before, metric_columns("median_"), &after))?;
        for row in &study.page_summary {
            let mut record = vec![
                row.page.clone(),
                row.scheme.clone(),
                row.network.clone(),
                row.send_buffer_bytes.to_string(),
                row.loads.to_string(),
                row.unfinished.to_string(),
            ];
            record.extend(metric_cells(&row.median));
            record.extend(cells(row.speedup));
            record.extend(ends(row.speedup_interval));
            writer.write_record(record)?;
        }
        Ok(())
    })
}
