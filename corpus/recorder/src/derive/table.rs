//! Several captures side by side: one row for each resource, one column for each setting, with
//! medians over its loads.

use crate::capture::{Capture, Fetch};
use lab::study::statistics::median;
use std::collections::BTreeMap;

/// Identifies a request across loads, by its path and its number among the requests for that path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Path with query. Long numbers in the query, which change from load to load, become zeros.
    pub(crate) path: String,
    pub(crate) number: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Times {
    pub(crate) discovered_ms: f64,
    pub(crate) finished_ms: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) setting: String,
    /// (when, decoded bytes of the document).
    pub(crate) document: Vec<(f64, u64)>,
    /// By row; `None` if it was not requested under this setting.
    pub(crate) times: Vec<Option<Times>>,
    pub(crate) dom_ready_ms: Option<f64>,
    pub(crate) load_ms: Option<f64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) keys: Vec<Key>,
    pub(crate) columns: Vec<Column>,
    /// Paths that most loads did not request; they are omitted.
    pub(crate) rare: Vec<String>,
}

pub(crate) fn keys(capture: &Capture) -> Vec<Key> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let keys = capture.fetches.iter().map(|fetch| {
        let path = without_numbers(&fetch.path);
        let next = numbers.entry(path.clone()).or_default();
        *next += 1;
        Key { path, number: *next - 1 }
    });
    keys.collect()
}

/// Replaces a query's long numbers, which are times of day against caching.
pub(crate) fn without_numbers(path: &str) -> String {
    let Some((plain, query)) = path.split_once('?') else { return path.to_owned() };
    let mut kept = format!("{plain}?");
    let mut digits = String::new();
    for letter in query.chars().chain(['\0']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        let long = digits.len() >= 8;
        kept.push_str(if long { "0" } else { &digits });
        digits.clear();
        kept.extend(Some(letter).filter(|&it| it != '\0'));
    }
    kept
}

impl Table {
    /// Builds rows in order of discovery under the first setting. Omits requests that most loads did
    /// not make.
    pub(crate) fn new(captures: &[Capture]) -> Self {
        let mut count: BTreeMap<Key, usize> = BTreeMap::new();
        for key in captures.iter().flat_map(keys) {
            *count.entry(key).or_default() += 1;
        }
        let mut order: Vec<Key> = Vec::new();
        for key in captures.iter().flat_map(keys) {
            if count[&key] * 2 > captures.len() && !order.contains(&key) {
                order.push(key);
            }
        }
        let rare =
            count.keys().filter(|it| !order.contains(it)).map(|it| it.path.clone()).collect();
        let mut settings: Vec<&str> = Vec::new();
        for capture in captures {
            if !settings.contains(&capture.setting.as_str()) {
                settings.push(&capture.setting);
            }
        }
        let columns = settings
            .into_iter()
            .map(|setting| {
                let loads = captures.iter().filter(|it| it.setting == setting).collect();
                column(setting, loads, &order)
            })
            .collect();
        Self { keys: order, columns, rare }
    }

    pub(crate) fn without(&self, column: usize) -> Self {
        let mut rest = self.clone();
        rest.columns.remove(column);
        rest
    }
}

/// Medians over the loads of one setting. Shifts loads so that the document begins to arrive at the
/// same time, because the browser's start is not part of the page.
fn column(setting: &str, mut loads: Vec<&Capture>, order: &[Key]) -> Column {
    loads.sort_by(|a, b| begin_ms(a).total_cmp(&begin_ms(b)));
    let middle = loads[loads.len() / 2];
    let shifts: Vec<f64> = loads.iter().map(|it| begin_ms(middle) - begin_ms(it)).collect();
    let rows: Vec<BTreeMap<Key, &Fetch>> =
        loads.iter().map(|it| keys(it).into_iter().zip(&it.fetches).collect()).collect();
    let times = order.iter().enumerate().map(|(row, key)| {
        let fetches: Vec<Option<&&Fetch>> = rows.iter().map(|it| it.get(key)).collect();
        let discovered = fetches.iter().map(|it| it.map(|it| it.discovered_ms));
        let finished = fetches.iter().map(|it| it.map(|it| it.finished_ms));
        let discovered_ms = if row == 0 { 0.0 } else { shifted_median(discovered, &shifts)? };
        Some(Times { discovered_ms, finished_ms: shifted_median(finished, &shifts)? })
    });
    Column {
        setting: setting.to_owned(),
        document: middle.document_arrivals.clone(),
        times: times.collect(),
        dom_ready_ms: shifted_median(loads.iter().map(|it| it.dom_ready_ms), &shifts),
        load_ms: shifted_median(loads.iter().map(|it| it.load_ms), &shifts),
    }
}

/// The median of the loads' times, each shifted.
fn shifted_median(values: impl Iterator<Item = Option<f64>>, shifts: &[f64]) -> Option<f64> {
    let known = values.zip(shifts).filter_map(|(value, shift)| Some(value? + shift));
    median(&known.collect::<Vec<_>>())
}

fn begin_ms(capture: &Capture) -> f64 {
    capture.document_arrivals.first().map_or(0.0, |&(at_ms, _)| at_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_in_queries_do_not_make_another_resource() {
        assert_eq!(without_numbers("/a.json?_=1795243635064&v=12"), "/a.json?_=0&v=12");
        assert_eq!(without_numbers("/12345678.js"), "/12345678.js");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 9.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 9.0, 2.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }
}
