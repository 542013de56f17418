//! From captures to a page: a pure and deterministic function.

mod causes;
mod replay;
mod roles;
mod table;

use crate::capture::Capture;
use crate::error::RecordError;
use crate::site::HOST;
use causes::Search;
pub use corpus::import::{Imported, Label};
use corpus::page::{Event, Origin, Page, Recording, Source, SourceKind, Spread};
use corpus::{PageResource, check};
use replay::{Moments, replay};
use schedulers::Kind;
use std::sync::Arc;
use table::Table;
pub(crate) use table::without_numbers;

/// A resource's error under a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// The setting.
    pub setting: String,
    /// The resource's ID in the page.
    pub resource: usize,
    /// When it was discovered.
    pub seen_ms: f64,
    /// When playback discovers it; `None` if never.
    pub predicted_ms: Option<f64>,
}

impl Miss {
    /// The error in milliseconds. For a resource that is never discovered, the error is its whole time.
    pub fn error_ms(&self) -> f64 {
        self.predicted_ms.map_or(self.seen_ms, |it| (it - self.seen_ms).abs())
    }
}

/// Derives the page from `captures`, and records in it how well it predicts them.
pub fn derive(captures: &[Capture], label: &Label) -> Result<Imported, RecordError> {
    let first = captures.first().ok_or_else(|| RecordError::Source("no captures".into()))?;
    if captures.iter().any(|load| load.fetches.is_empty() || load.document_arrivals.is_empty()) {
        return Err(RecordError::Page("a load without a document; record again".into()));
    }
    if let Some(other) = captures.iter().find(|one| one.fetches[0].path != first.fetches[0].path) {
        return Err(RecordError::Source(format!(
            "captures of two pages, {} and {}; derive each separately",
            first.fetches[0].path, other.fetches[0].path
        )));
    }
    let table = Table::new(captures);
    let mut page = fitted(captures, &table, label);
    let problems = check(&page);
    if let Some(problem) = problems.first() {
        return Err(RecordError::Page(format!("its trace is inconsistent: {problem}")));
    }
    page.source.recording = Some(Recording {
        browser: first.browser.clone(),
        settings: table.columns.iter().map(|it| it.setting.clone()).collect(),
        loads: captures.len(),
        left_out_ms: spread(&leave_one_out(captures, &table, label)),
        unseen_settings: Vec::new(),
        unseen_ms: None,
    });
    page.source.assumptions = assumptions(captures);
    Ok(Imported { page, notes: notes(captures, &table) })
}

/// The errors of each setting, predicted from the others.
fn leave_one_out(captures: &[Capture], table: &Table, label: &Label) -> Vec<Miss> {
    (0..table.columns.len())
        .flat_map(|left_out| {
            let page = fitted(captures, &table.without(left_out), label);
            misses(page, &table.columns[left_out])
        })
        .collect()
}

/// The errors of the page's playback with the arrivals of `captures`.
pub fn judge(page: &Page, captures: &[Capture]) -> Vec<Miss> {
    let table = Table::new(captures);
    let rows: Vec<Option<usize>> = page
        .resources
        .iter()
        .map(|it| table.keys.iter().position(|key| roles::url(key) == it.url))
        .collect();
    let in_page_order = table.columns.iter().map(|column| table::Column {
        times: rows.iter().map(|row| row.and_then(|row| column.times[row])).collect(),
        ..column.clone()
    });
    in_page_order.flat_map(|column| misses(page.clone(), &column)).collect()
}

fn misses(page: Page, column: &table::Column) -> Vec<Miss> {
    let predicted = replay(&Arc::new(page), column);
    let missed = (1..column.times.len()).filter_map(|resource| {
        Some(Miss {
            setting: column.setting.clone(),
            resource,
            seen_ms: column.times[resource]?.discovered_ms,
            predicted_ms: predicted[resource],
        })
    });
    missed.collect()
}

/// Median, 90th percentile and largest error.
pub fn spread(misses: &[Miss]) -> Spread {
    let mut errors: Vec<f64> = misses.iter().map(Miss::error_ms).collect();
    errors.sort_by(f64::total_cmp);
    let percentile = |percent: usize| {
        let index = (errors.len() * percent).div_ceil(100).saturating_sub(1);
        errors.get(index).map_or(0.0, |it| (it * 10.0).round() / 10.0)
    };
    Spread { p50: percentile(50), p90: percentile(90), max: percentile(100) }
}

/// The page whose triggers fit a table best.
fn fitted(captures: &[Capture], table: &Table, label: &Label) -> Page {
    let first = &captures[0];
    let (resources, fetches) = roles::resources(captures, table);
    let source = Source {
        sha256: label.sha256.clone(),
        ..Source::new(SourceKind::Recorded, label.from.clone(), &label.licence)
    };
    // The delays of the document's resources count from when the browser reads it.
    let mut page = Page {
        viewport: first.viewport,
        ..Page::new(label.name.clone(), source, vec![Origin::own(HOST)], resources)
    };
    let moments: Vec<Moments> =
        table.columns.iter().map(|column| Moments::new(&page, column)).collect();
    let search =
        Search { resources: &page.resources, fetches: &fetches, table, moments: &moments, first };
    let triggers: Vec<_> = (1..page.resources.len()).map(|id| search.trigger(id)).collect();
    for (resource, trigger) in page.resources.iter_mut().skip(1).zip(triggers) {
        resource.trigger = trigger;
    }
    break_circles(&mut page);
    mark_critical_path(&mut page.resources);
    page
}

/// Breaks cycles. Each hypothesis is judged on its own, so together they may wait for each other. The later resource
/// of a cycle then waits only for its event, and if that does not suffice, for the document.
fn break_circles(page: &mut Page) {
    for id in (1..page.resources.len()).rev() {
        for step in 0..2 {
            let mut causes = check(page).into_iter().map(|it| it.cause);
            let Some(cause) = causes.find(|it| it.starts_with("waits for itself")) else { return };
            if ![format!("resource {id} for"), format!(" for {id} ")]
                .iter()
                .any(|it| cause.contains(it))
            {
                break;
            }
            let trigger = &mut page.resources[id].trigger;
            trigger.needs.clear();
            if step == 1 {
                (trigger.on, trigger.of, trigger.byte) = (Event::Complete, 0, None);
            }
        }
    }
}

/// Marks the resources that lead to a visible image as above the fold: the stylesheets and scripts it waits for.
fn mark_critical_path(resources: &mut [PageResource]) {
    let visible = resources.iter().filter(|it| it.kind == Kind::Image && it.above_fold);
    let mut open: Vec<usize> = visible.map(|it| it.id).collect();
    let mut seen = vec![false; resources.len()];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id], true) {
            continue;
        }
        if resources[id].is_executed() {
            resources[id].above_fold = true;
        }
        let trigger = &resources[id].trigger;
        open.extend(trigger.needs.iter().copied().chain([trigger.of]));
    }
}

fn notes(captures: &[Capture], table: &Table) -> Vec<String> {
    let mut notes = vec!["wait_ms is 0: the recording's server was on the same machine".to_owned()];
    for path in &table.rare {
        notes.push(format!("{path} is left out: most loads did without it"));
    }
    for host in other_hosts(captures) {
        notes.push(format!("{host} could not be reached; what it serves is left out"));
    }
    notes
}

/// The assumptions to store with the page; they do not name hosts.
fn assumptions(captures: &[Capture]) -> Vec<String> {
    let count = other_hosts(captures).len();
    let left_out = format!("what other hosts ({count}) serve is left out");
    Some(left_out).filter(|_| count > 0).into_iter().collect()
}

fn other_hosts(captures: &[Capture]) -> Vec<&String> {
    let mut hosts: Vec<&String> = captures.iter().flat_map(|it| &it.other_hosts).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}
