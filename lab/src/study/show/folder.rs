//! The files of a study's folder, beside the journal of its loads: `manifest.json` (how to repeat it), `runs.csv`,
//! `summary.csv`, `comparisons.csv`, `pairs.csv`, `interactions.csv` and `pages.csv`, `report.html`, the figures, and on request `study.json`, which repeats
//! everything, including the loads.

mod figures;

use super::report;
use crate::study::carry_out::loading::Loader;
use crate::study::carry_out::manifest::{self, write_json};
use crate::study::plan::dimension::{self, File};
use crate::study::statistics::Interval;
use crate::study::{
    ComparisonRow, Dimension, InteractionRow, PageRow, Plan, Pushes, RunRecord, Setting, Study,
    StudyError, SummaryRow,
};
use crate::{FileError, write_file};
use ::figures::FigureStyle;
use ::figures::png::{PngError, Rasterizer};
use ::report::comparison::comparison_report;
use corpus::facts::NUMBERS;
use qlog_tools::csv_cell::inert;
use qlog_tools::metrics::{BySet, METRICS, Measured, Set};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;

/// The report's file.
pub const REPORT: &str = "report.html";

/// Writes the study into `folder`, which it creates if missing. Writes `study.json` only with `with_json`, or to replace an
/// outdated one. Returns why PNG or PDF files are missing, if they are.
pub fn write(
    plan: &Plan,
    study: &Study,
    folder: &Path,
    style: FigureStyle,
    with_json: bool,
) -> Result<Option<PngError>, StudyError> {
    let in_figures = folder.join("figures");
    std::fs::create_dir_all(&in_figures)
        .and_then(|()| figures::remove_old(&in_figures))
        .map_err(FileError::at(&in_figures))?;
    manifest::write(&study.provenance, folder)?;
    let everything = folder.join("study.json");
    if with_json || everything.exists() {
        write_json(&everything, study)?;
    }
    write_tables(study, folder)?;
    let loader = Loader::new(plan)?;
    let comparison = report::comparison(plan, study, style, |places| {
        loader.again(&study.runs, &study.loads, places)
    })?;
    write_file(&folder.join(REPORT), comparison_report(&comparison))?;
    figures::write(&in_figures, &comparison, style)
}

fn write_tables(study: &Study, folder: &Path) -> Result<(), FileError> {
    let columns = Columns::new(study, File::Runs, study.runs.iter().map(|it| &it.setting));
    let rows = study.runs.iter().map(|it| run_cells(it, &columns));
    write_table(study, &folder.join("runs.csv"), rows)?;
    let settings = study.summary.iter().map(|it| &it.setting);
    let columns = Columns::new(study, File::Summary, settings);
    let rows = study.summary.iter().map(|it| summary_cells(it, &columns));
    write_table(study, &folder.join("summary.csv"), rows)?;
    for (file, rows) in [("comparisons.csv", &study.comparisons), ("pairs.csv", &study.pairs)] {
        let rows = rows.iter().map(|it| comparison_cells(it, &columns));
        write_table(study, &folder.join(file), rows)?;
    }
    if !study.interactions.is_empty() {
        let rows = study.interactions.iter().map(|it| interaction_cells(it, &columns));
        write_table(study, &folder.join("interactions.csv"), rows)?;
    }
    let rows = study.page_summary.iter().map(|it| page_cells(study, it, &columns));
    write_table(study, &folder.join("pages.csv"), rows)
}

/// The columns of a file that not every study has.
struct Columns {
    dimensions: Vec<&'static Dimension>,
    has_brackets: bool,
    has_pushes: bool,
}

impl Columns {
    fn new<'a>(study: &Study, file: File, settings: impl Iterator<Item = &'a Setting>) -> Self {
        Self {
            dimensions: dimension::columns(file, &settings.collect::<Vec<_>>()),
            has_brackets: study.runs.iter().any(|run| run.proven.is_some()),
            has_pushes: study.runs.iter().any(|run| run.pushes.is_some()),
        }
    }
}

/// Pixels for each unit of a figure.
pub const PNG_SCALE: f32 = 2.0;

/// Writes figures as `NAME.svg` and `NAME.png`, several at a time. Without a font on the machine, it writes no PNG files and returns
/// the reason.
pub fn write_figures(
    folder: &Path,
    figures: impl IntoIterator<Item = (String, impl AsRef<str> + Send)>,
) -> Result<Option<PngError>, StudyError> {
    let rasterizer = Rasterizer::new();
    let figures: Vec<_> = figures.into_iter().collect();
    figures.into_par_iter().try_for_each(|(name, svg)| -> Result<(), StudyError> {
        let svg = svg.as_ref();
        write_file(&folder.join(format!("{name}.svg")), svg)?;
        if let Ok(rasterizer) = &rasterizer {
            write_file(&folder.join(format!("{name}.png")), rasterizer.png(svg, PNG_SCALE)?)?;
        }
        Ok(())
    })?;
    Ok(rasterizer.err())
}

/// A row of a CSV file: the name and the value of each column.
#[derive(Default)]
struct Cells(Vec<(String, String)>);

impl Cells {
    fn text(mut self, column: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.0.push((column.to_owned(), inert(&value.to_string()).into_owned()));
        self
    }

    /// The dimensions of a setting, after `prefix`.
    fn setting(self, prefix: &str, columns: &Columns, setting: &Setting) -> Self {
        columns.dimensions.iter().fold(self, |cells, it| {
            cells.text(&format!("{prefix}{}", it.column), &it.cell(setting))
        })
    }

    fn number(self, column: &str, value: Option<f64>) -> Self {
        self.text(column, &value.map(|it| it.to_string()).unwrap_or_default())
    }

    /// All metrics: `byte_index_all_ms`, `first_render_ms`, after `prefix`.
    fn metrics(mut self, prefix: &str, values: &Measured) -> Self {
        for metric in &METRICS {
            for set in metric.sets() {
                let column = format!("{prefix}{}", metric.column(*set));
                self = self.number(&column, values.get(metric).get(*set));
            }
        }
        self
    }

    /// The results of pushes, after `prefix`, in studies that vary them.
    fn pushes<T: Copy + Default + ToString>(
        mut self,
        prefix: &str,
        columns: &Columns,
        pushes: Option<Pushes<T>>,
    ) -> Self {
        if !columns.has_pushes {
            return self;
        }
        for (name, value) in pushes.unwrap_or_default().columns() {
            let text = pushes.map(|_| value.to_string()).unwrap_or_default();
            self = self.text(&format!("{prefix}{name}"), &text);
        }
        self
    }

    /// Whether a bracket is proven, in studies that have one.
    fn proven<T: ToString>(self, column: &str, columns: &Columns, proven: Option<T>) -> Self {
        if !columns.has_brackets {
            return self;
        }
        self.text(column, &proven.map(|it| it.to_string()).unwrap_or_default())
    }

    /// `mean_speedup_all` and `mean_speedup_atf`.
    fn by_set<T: Clone + ToString>(mut self, stem: &str, values: &BySet<T>) -> Self {
        for set in Set::ALL {
            let value = values.get(set).map(|it| it.to_string()).unwrap_or_default();
            self = self.text(&format!("{stem}_{}", set.name()), &value);
        }
        self
    }

    /// `mean_speedup_all_low`, `mean_speedup_all_high`, and the same for `atf`.
    fn interval(mut self, stem: &str, values: BySet<Interval>) -> Self {
        for set in Set::ALL {
            let stem = format!("{stem}_{}", set.name());
            let [low, high] = values.get(set).map_or([None, None], |it| it.map(Some));
            self = self.number(&format!("{stem}_low"), low).number(&format!("{stem}_high"), high);
        }
        self
    }
}

/// Writes a CSV file. Its first lines, which begin with `#`, state its origin.
fn write_table(
    study: &Study,
    path: &Path,
    rows: impl Iterator<Item = Cells>,
) -> Result<(), FileError> {
    let text = table(study, rows).map_err(|error| FileError::at(path)(error.into()))?;
    write_file(path, text)
}

fn table(study: &Study, rows: impl Iterator<Item = Cells>) -> csv::Result<Vec<u8>> {
    let mut text = Vec::new();
    writeln!(text, "# {}", study.provenance)?;
    for correlation in &study.rank_correlations {
        writeln!(text, "# {}", json!(correlation))?;
    }
    let mut writer = csv::Writer::from_writer(&mut text);
    for (place, Cells(row)) in rows.enumerate() {
        if place == 0 {
            writer.write_record(row.iter().map(|(column, _)| column))?;
        }
        writer.write_record(row.iter().map(|(_, value)| value))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(text)
}

fn run_cells(run: &RunRecord, columns: &Columns) -> Cells {
    Cells::default()
        .text("page", &run.page)
        .text("scheme", &run.scheme)
        .text("engine", run.engine.name())
        .setting("", columns, &run.setting)
        .text("seed", &run.seed)
        .text("completed", &run.completed)
        .text("unfinished", run.unfinished.as_ref().map_or("", |it| &it.problem))
        .text("duration_ms", &run.duration_ms)
        .metrics("", &run.metrics)
        .number("lower_bound_atf_ms", run.lower_bound.atf)
        .number("regret_atf", run.regret())
        .proven("proven", columns, run.proven)
        .pushes("", columns, run.pushes)
}

fn summary_cells(row: &SummaryRow, columns: &Columns) -> Cells {
    let cells = Cells::default()
        .text("scheme", &row.scheme)
        .setting("", columns, &row.setting)
        .text("pages", &row.pages)
        .text("sites", &row.sites)
        .by_set("speedup_pages", &row.speedup_pages)
        .by_set("speedup_sites", &row.speedup_sites)
        .text("unfinished", &row.unfinished)
        .metrics("mean_", &row.mean);
    let cells = row.mean_pages.iter().fold(cells, |cells, (stem, it)| cells.by_set(stem, it));
    cells
        .by_set("mean_speedup", &row.mean_speedup)
        .interval("mean_speedup", row.mean_speedup_interval)
        .by_set("geometric_mean_speedup", &row.geometric_mean_speedup)
        .interval("geometric_mean_speedup", row.geometric_mean_speedup_interval)
        .by_set("median_speedup", &row.median_speedup)
        .by_set("best_page_speedup", &row.best_page_speedup)
        .by_set("worst_page_speedup", &row.worst_page_speedup)
        .number("mean_regret_atf", row.mean_regret.atf)
        .proven("proven_pages", columns, row.proven_pages)
        .pushes("mean_", columns, row.mean_pushes)
}

fn comparison_cells(row: &ComparisonRow, columns: &Columns) -> Cells {
    Cells::default()
        .text("scheme", &row.scheme)
        .text("baseline", &row.baseline)
        .setting("", columns, &row.setting)
        .text("pages", &row.pages)
        .text("sites", &row.sites)
        .by_set("ratio_pages", &row.ratio_pages)
        .text("pairs_of", row.pairs_of.name())
        .by_set("pairs", &row.pairs)
        .by_set("wins", &row.wins)
        .by_set("ties", &row.ties)
        .by_set("losses", &row.losses)
        .by_set("geometric_mean_ratio", &row.geometric_mean_ratio)
        .interval("geometric_mean_ratio", row.geometric_mean_ratio_interval)
        .by_set("hodges_lehmann_ratio", &row.hodges_lehmann_ratio)
        .by_set("rank_biserial", &row.rank_biserial)
        .by_set("wilcoxon_p", &row.wilcoxon_p)
        .by_set("wilcoxon_method", &row.wilcoxon_method.map(|it| Some(it.name())))
        .by_set("holm_p", &row.holm_p)
        .by_set("winner", &row.winner)
}

fn interaction_cells(row: &InteractionRow, columns: &Columns) -> Cells {
    Cells::default()
        .text("scheme", &row.scheme)
        .text("baseline", &row.baseline)
        .text("dimension", row.dimension)
        .setting("", columns, &row.setting)
        .setting("other_", columns, &row.other_setting)
        .by_set("sites", &row.sites)
        .by_set("ratio_of_ratios", &row.ratio_of_ratios)
        .interval("ratio_of_ratios", row.ratio_of_ratios_interval)
        .by_set("wilcoxon_p", &row.wilcoxon_p)
        .by_set("holm_p", &row.holm_p)
        .by_set("differs", &row.differs)
}

fn page_cells(study: &Study, row: &PageRow, columns: &Columns) -> Cells {
    let cells = Cells::default()
        .text("page", &row.page)
        .text("scheme", &row.scheme)
        .setting("", columns, &row.setting)
        .text("loads", &row.loads)
        .text("unfinished", &row.unfinished)
        .metrics("median_", &row.median)
        .by_set("speedup", &row.speedup)
        .interval("speedup", row.speedup_interval)
        .proven("proven", columns, row.proven)
        .pushes("median_", columns, row.median_pushes);
    let page = study.pages.iter().find(|it| it.page == row.page);
    page.into_iter().fold(cells, |cells, it| {
        let facts = NUMBERS.iter().zip(it.numbers);
        facts.fold(cells.text("site", &it.site), |cells, (fact, number)| {
            cells.text(fact.name, &number)
        })
    })
}
