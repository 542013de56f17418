//! The film strips of a study in a browser.

use crate::study::carry_out::loading::place_of;
use crate::study::{Plan, RunRecord, Study, conditions};
use crate::{FileError, figure_resources};
use qlog_tools::metrics::find;
use report::comparison::{Film, Scene, Strip};
use std::path::Path;

/// The film strips of the loads with pictures in the plan's folder; `encode` makes base64. `None` if there are none.
pub fn film(
    plan: &Plan,
    study: &Study,
    encode: impl Fn(&[u8]) -> String,
) -> Result<Option<Film>, FileError> {
    let Some(folder) = &plan.film_dir else { return Ok(None) };
    let mut scenes: Vec<Scene> = Vec::new();
    // A study has its loads in the order of its plan.
    for (cell, (run, load)) in plan.cells().iter().zip(study.runs.iter().zip(&study.loads)) {
        let Some(load) = load else { continue };
        let pictures = pictures(&folder.join(place_of(plan, cell)), &encode)?;
        if pictures.is_empty() {
            continue;
        }
        let heading = format!("{}, {}", cell.page.name, cell.setting.sentence());
        if scenes.last().is_none_or(|scene| scene.heading != heading) {
            let resources = figure_resources(cell.page);
            scenes.push(Scene { heading, resources, strips: Vec::new() });
        }
        let strip = Strip {
            label: cell.scheme.name().to_owned(),
            notes: notes(run),
            timeline: load.timeline.clone(),
            pictures,
        };
        if let Some(scene) = scenes.last_mut() {
            scene.strips.push(strip);
        }
    }
    let title = "What a visitor saw when".to_owned();
    Ok((!scenes.is_empty()).then(|| Film { title, what: conditions(plan), scenes }))
}

/// The pictures in a folder, by their names.
fn pictures(
    folder: &Path,
    encode: &impl Fn(&[u8]) -> String,
) -> Result<Vec<(f64, String)>, FileError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|it| it.path()).collect();
    files.sort();
    let mut pictures = Vec::new();
    for file in &files {
        let stem = file.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        if let Ok(time_ms) = stem.parse() {
            let jpeg = std::fs::read(file).map_err(FileError::at(file))?;
            pictures.push((time_ms, encode(&jpeg)));
        }
    }
    Ok(pictures)
}

/// The text at the right of a strip.
fn notes(run: &RunRecord) -> Vec<(String, String)> {
    let metrics = ["first_render", "speed_index", "byte_index", "load"];
    let notes = metrics.into_iter().filter_map(find).map(|metric| {
        let value = run.value(metric).map_or("-".to_owned(), |it| format!("{it:.0}"));
        (format!("{} {}", metric.heading, metric.unit), value)
    });
    notes.collect()
}
