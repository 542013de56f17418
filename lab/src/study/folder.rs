//! What a study leaves in its folder: `manifest.json` (how to make it again), `study.json` (everything),
//! `runs.csv` and `summary.csv`, one ribbon figure and one curve a page (SVG and PNG), and `report.html`.

use super::{Plan, Study, file_name};
use crate::network::queue_text;
use crate::resource_url;
use corpus::Page;
use qlog_tools::figures::PageResource;
use qlog_tools::figures::png::{PngError, Rasterizer};
use qlog_tools::report::{Comparison, PageComparison, Run, comparison_report};
use schedulers::Kind;
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
        &folder.join("manifest.json"),
        serde_json::to_string_pretty(&study.provenance)?.as_bytes(),
    )?;
    write_file(&folder.join("study.json"), serde_json::to_string_pretty(study)?.as_bytes())?;
    write_runs(study, &folder.join("runs.csv"))?;
    write_summary(study, &folder.join("summary.csv"))?;
    let comparison = comparison(plan, study);
    // Without a font on the machine there are no PNG files; the SVG files are there all the same.
    let (rasterizer, without_png) = match Rasterizer::new() {
        Ok(it) => (Some(it), None),
        Err(error) => (None, Some(error.to_string())),
    };
    for page in &comparison.pages {
        let drawn = [("ribbons", &page.ribbons), ("curve", &page.curve)];
        for (kind, figure) in
            drawn.into_iter().filter_map(|(kind, figure)| Some((kind, figure.as_ref()?)))
        {
            let name = format!("{}-{kind}", file_name(&page.name));
            write_file(&figures.join(format!("{name}.svg")), figure.svg.as_bytes())?;
            if let Some(rasterizer) = &rasterizer {
                write_file(
                    &figures.join(format!("{name}.png")),
                    &rasterizer.png(&figure.svg, PNG_SCALE)?,
                )?;
            }
        }
    }
    let report = folder.join("report.html");
    write_file(&report, comparison_report(&comparison).as_bytes())?;
    Ok(Written { report, without_png })
}

/// Pixels for each unit of a figure.
const PNG_SCALE: f32 = 2.0;

fn comparison(plan: &Plan, study: &Study) -> Comparison {
    let several_buffers = plan.send_buffers_bytes.len() > 1;
    let (mut pages, mut summary) = (Vec::new(), Vec::new());
    for send_buffer_bytes in &plan.send_buffers_bytes {
        let suffix = if several_buffers {
            format!(", send buffer {send_buffer_bytes} bytes")
        } else {
            String::new()
        };
        let compared: Vec<PageComparison> = plan
            .pages
            .iter()
            .map(|it| compared(plan, study, it, (*send_buffer_bytes, &suffix)))
            .collect();
        // Loads with different buffers are no more of the same: each buffer has its own means.
        let of_buffer = Comparison::new("", "rr", compared);
        summary.extend(of_buffer.summary.into_iter().map(|mut row| {
            row.scheme += &suffix;
            row
        }));
        pages.extend(of_buffer.pages);
    }
    let pages_text = if plan.pages.len() == 1 {
        "One page".to_owned()
    } else {
        format!("{} pages", plan.pages.len())
    };
    let title = format!("{pages_text} under {} schemes", plan.schemes.len());
    let buffers: Vec<String> = plan.send_buffers_bytes.iter().map(u64::to_string).collect();
    let what = format!(
        "engine {}, network {} ({} bit/s, {} ms one way, queue {}), send buffer {} bytes",
        plan.engine.name(),
        plan.network.name,
        plan.network.down.rate.mean(),
        plan.network.down.delay_ms,
        queue_text(plan.network.down.queue),
        buffers.join(", ")
    );
    let (baseline, provenance) = ("rr".to_owned(), study.provenance.clone());
    Comparison { title, what, baseline, provenance, summary, pages }
}

/// One page with one send buffer. Figures show the first seed.
fn compared(
    plan: &Plan,
    study: &Study,
    page: &Page,
    (send_buffer_bytes, suffix): (u64, &str),
) -> PageComparison {
    let runs: Vec<Run<'_>> = study
        .runs
        .iter()
        .zip(&study.loads)
        .filter(|(run, _)| {
            run.page == page.name
                && run.send_buffer_bytes == send_buffer_bytes
                && run.seed == plan.seeds[0]
        })
        .map(|(run, load)| Run { scheme: &run.scheme, timeline: &load.timeline })
        .collect();
    PageComparison::from_runs(&format!("{}{suffix}", page.name), &resources(page), &runs, "rr")
}

/// Figures of an earlier study in the same folder, which the manifest would not know of.
fn remove_old_figures(figures: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(figures)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        let drawn = path.extension().is_some_and(|it| it == "svg" || it == "png");
        if drawn && (stem.ends_with("-ribbons") || stem.ends_with("-curve")) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn resources(page: &Page) -> Vec<PageResource> {
    let resource = |it: &corpus::PageResource| PageResource {
        url: resource_url(page, it.id),
        kind: Kind::of_mime(&it.mime),
        above_fold: it.above_fold,
        body_bytes: Some(it.bytes),
    };
    page.resources.iter().map(resource).collect()
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    std::fs::write(path, bytes)
        .map_err(|source| FolderError::File { path: path.to_owned(), source })
}

fn cell(value: Option<f64>) -> String {
    value.map(|it| it.to_string()).unwrap_or_default()
}

/// A CSV file whose first lines, each with a `#`, say where it comes from.
fn table(
    study: &Study,
    path: &Path,
    rows: impl FnOnce(&mut csv::Writer<&mut Vec<u8>>) -> csv::Result<()>,
) -> Result<(), FolderError> {
    let mut text = format!("# {}\n", serde_json::to_string(&study.provenance)?).into_bytes();
    let mut writer = csv::Writer::from_writer(&mut text);
    let written = rows(&mut writer).and_then(|()| writer.flush().map_err(csv::Error::from));
    drop(writer);
    written.map_err(|source| FolderError::Table { path: path.to_owned(), source })?;
    write_file(path, &text)
}

fn write_runs(study: &Study, path: &Path) -> Result<(), FolderError> {
    table(study, path, |writer| {
        writer.write_record([
            "page",
            "scheme",
            "engine",
            "network",
            "send_buffer_bytes",
            "cc",
            "seed",
            "completed",
            "duration_ms",
            "byte_index_all_ms",
            "byte_index_atf_ms",
            "byte_index_sampled_all_ms",
            "byte_index_sampled_atf_ms",
            "byte_index_progressive_all_ms",
            "byte_index_progressive_atf_ms",
            "lower_bound_atf_ms",
            "regret_atf",
        ])?;
        for run in &study.runs {
            let indices = [run.byte_index, run.byte_index_sampled, run.byte_index_progressive];
            let mut record = vec![
                run.page.clone(),
                run.scheme.clone(),
                run.engine.to_owned(),
                run.network.clone(),
                run.send_buffer_bytes.to_string(),
                run.cc.unwrap_or_default().to_owned(),
                run.seed.to_string(),
                run.completed.to_string(),
                run.duration_ms.to_string(),
            ];
            record.extend(indices.iter().flat_map(|it| [cell(it.all), cell(it.atf)]));
            record.extend([cell(run.lower_bound.atf), cell(run.regret())]);
            writer.write_record(record)?;
        }
        Ok(())
    })
}

fn write_summary(study: &Study, path: &Path) -> Result<(), FolderError> {
    table(study, path, |writer| {
        writer.write_record([
            "scheme",
            "network",
            "send_buffer_bytes",
            "pages",
            "mean_speedup_all",
            "mean_speedup_atf",
            "median_speedup_all",
            "median_speedup_atf",
            "best_page_speedup_all",
            "best_page_speedup_atf",
            "worst_page_speedup_all",
            "worst_page_speedup_atf",
            "mean_regret_atf",
        ])?;
        for row in &study.summary {
            let speedups = [
                row.mean_speedup,
                row.median_speedup,
                row.best_page_speedup,
                row.worst_page_speedup,
            ];
            let mut record = vec![
                row.scheme.clone(),
                row.network.clone(),
                row.send_buffer_bytes.to_string(),
                row.pages.to_string(),
            ];
            record.extend(speedups.iter().flat_map(|it| [cell(it.all), cell(it.atf)]));
            record.push(cell(row.mean_regret.atf));
            writer.write_record(record)?;
        }
        Ok(())
    })
}
