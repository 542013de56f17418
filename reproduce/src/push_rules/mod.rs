//! Every table of "Rules of Thumb for HTTP/2 Push", on engine `stack`: ours beside published beside a model.
//!
//! [`crate::model`] computes the time that a load takes in principle. A [`pair`] is a page without and with a push; [`pairs`] lists them,
//! table by table; the other files contain the other rules.

pub(super) mod caches;
mod cases;
mod gates;
mod if_match;
mod order;
mod pages;
mod pair;
mod pairs;
mod published;
mod setup;
pub(super) mod timelines;
mod traffic;

use crate::bench::Bench;
use crate::{Experiment, Findings, ReproduceError, Row, Setting};
use corpus::Page;
use figures::{Saving, Savings, SavingsGroup};
use pair::Pair;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "push-rules",
    about: "Every table of Rules of Thumb for HTTP/2 Push",
    source: "Bergan, Pelchat, Buettner, Rules of Thumb for HTTP/2 Push, version of 2016-08-03",
    engine: "stack",
    conditions: "engine stack, cubic, rate and round trip vary by up to 0.5 % from load to load; medians of RUNS loads (seeds 0 to LAST); networks and windows as the rows name them",
    run,
};

/// "All measurements are medians over at least 25 runs."
const RUNS: usize = 25;
/// "We consider a median stable if the inter-quartile range is at most 1% of the median."
const SPREAD: f64 = 0.01;
/// Rate and round trip differ from load to load by at most this share to either side.
const VARIATION: f64 = 0.005;

fn run(setting: &Setting) -> Result<Findings, ReproduceError> {
    let bench = Bench::new(setting.jobs, setting.runs.unwrap_or(RUNS), VARIATION)?;
    let mut stable = Stable::default();
    let pairs = pairs::all();
    let mut rows = pairs::formula_rows();
    rows.extend(pair_rows(&pairs, &bench, &mut stable)?);
    rows.push(pairs::first_flight_row(&bench)?);
    let mut warmed = Stable::default();
    rows.extend(pair_rows(&traffic::pairs(), &bench, &mut warmed)?);
    rows.extend(pair_rows(&traffic::reset_pairs(), &bench, &mut warmed)?);
    let connections = pairs::connection_rows(&rows);
    rows.extend(connections);
    let order = order::pairs();
    let order_rows = pair_rows(&order, &bench, &mut stable)?;
    let verdicts = order::verdicts(&order_rows);
    rows.extend(order_rows);
    rows.extend(verdicts);
    rows.extend(gates::rows(&bench, &mut stable)?);
    rows.extend(gates::default_rows(&bench)?);
    rows.push(gates::shuffle_row(&bench)?);
    rows.extend(cases::rows(&bench, &mut stable)?);
    rows.extend(pages::document_rows(&setting.pages));
    rows.extend(pages::rows(&bench, &setting.pages)?);
    rows.extend(if_match::rows(&bench)?);
    rows.push(stable.row("stable"));
    rows.push(warmed.row("stable-traffic"));
    let rows = by_table(&rows);
    let figure = figure(&rows);
    Ok(Findings {
        method: method(&bench),
        rows,
        schemes: vec!["fifo".to_owned(), "rfc9218".to_owned()],
        pages: [pages_of(pairs.iter().chain(&order)), setting.pages.clone()].concat(),
        tables: Vec::new(),
        svg: figure.draw(&EXPERIMENT.sheet_of(bench.runs)),
        caption: figure.caption(),
    })
}

fn pages_of<'a>(pairs: impl Iterator<Item = &'a Pair>) -> Vec<Arc<Page>> {
    let by_name = pairs.map(|it| (it.cases[0].page.name.clone(), Arc::clone(&it.cases[0].page)));
    by_name.collect::<BTreeMap<_, _>>().into_values().collect()
}

fn method(bench: &Bench) -> String {
    format!(
        "The source's synthetic pages on engine `stack`: our server and client over quiche, in virtual time; medians of \
         {} loads each (of the case studies {}). From load to load the rate and the round trip of the link vary by up to \
         {} % to either side. Without a word to the contrary: 2G is 113 kbit/s and 1420 ms, 3G 1360 kbit/s and 209 ms, \
         as the source measured them; the way up takes only the delay; first come, first served; CUBIC. A warm \
         connection is one with a window of {} packets, so that it is never the limit, timed from the request; a cold \
         one has the window that is said, timed with its handshake and three round trips before it for DNS and TCP. \
         What the head names is discovered with the first packet, what the end of a document or a script names with \
         its last byte; nothing takes time to evaluate. A KB is 1024 bytes. The model is whole packets on such a link \
         and nothing else. {} The rows `pages-*`: scheme rfc9218, clients' signals obeyed, 3G, a window of 26 packets, a queue of 100, and one load \
         of each page of `@first-60` (42 sites).",
        bench.runs,
        bench.runs * cases::TIMES,
        VARIATION * 100.0,
        setup::OPEN_WINDOW_PACKETS,
        traffic::method(),
    )
}

fn pair_rows(
    pairs: &[Pair],
    bench: &Bench,
    stable: &mut Stable,
) -> Result<Vec<Row>, ReproduceError> {
    let cases: Vec<_> = pairs.iter().flat_map(|it| it.cases.clone()).collect();
    let samples = bench.measure(&cases)?;
    let mut rows = Vec::new();
    for (pair, samples) in pairs.iter().zip(samples.chunks_exact(2)) {
        for sample in samples {
            stable.note(&pair.id, sample.spread(|it| pair.time_ms(it)));
        }
        rows.extend(pair.rows([0, 1].map(|it| samples[it].median_ms(|it| pair.time_ms(it)))));
    }
    Ok(rows)
}

/// Groups the rows by table, in the order in which tables first appear.
fn by_table(rows: &[Row]) -> Vec<Row> {
    let mut tables: Vec<Option<&'static str>> = Vec::new();
    for row in rows {
        if !tables.contains(&row.table) {
            tables.push(row.table);
        }
    }
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|row| tables.iter().position(|it| *it == row.table));
    sorted
}

/// All published savings by push, by table, without the case studies, whose magnitudes differ.
fn figure(rows: &[Row]) -> Savings {
    let mut groups: Vec<SavingsGroup> = Vec::new();
    let published = rows.iter().filter(|it| it.published.is_some());
    let saved = published.filter(|it| it.id.ends_with("-saved"));
    for row in saved.filter(|row| row.table != Some(cases::TABLE)) {
        let title = row.table.unwrap_or_default();
        if groups.last().is_none_or(|group| group.title != title) {
            groups.push(SavingsGroup { title: title.to_owned(), rows: Vec::new() });
        }
        let Some(group) = groups.last_mut() else { continue };
        group.rows.push(Saving {
            label: row.id.trim_end_matches("-saved").to_owned(),
            ours: row.ours,
            published: row.published,
            model: row.model,
        });
    }
    Savings {
        title: "What push saves: ours beside Bergan, Pelchat, Buettner 2016".to_owned(),
        groups,
    }
}

#[derive(Debug, Default)]
struct Stable {
    worst: f64,
    whose: String,
}

impl Stable {
    fn note(&mut self, id: &str, spread: f64) {
        if spread > self.worst || spread.is_nan() {
            (self.worst, self.whose) = (spread, id.to_owned());
        }
    }

    fn row(&self, id: &str) -> Row {
        let metric = "largest distance between the quartiles of any case, in percent of its median";
        Row::shown(id, metric, Some(self.worst * 100.0))
            .in_table("All tables")
            .must("at most 1, as in the source".into(), |it| it <= SPREAD * 100.0)
            .note(format!("Of {}.", self.whose))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_table_come_together() {
        let row = |id: &str, table| Row::shown(id, "m", None).in_table(table);
        let rows = by_table(&[row("a", "x"), row("b", "y"), row("c", "x")]);
        let ids: Vec<&str> = rows.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["a", "c", "b"]);
    }

    #[test]
    fn one_median_that_is_not_stable_is_told() {
        let mut stable = Stable::default();
        stable.note("a", 0.002);
        stable.note("b", 0.02);
        stable.note("c", 0.001);
        let row = stable.row("stable");
        assert_eq!(
            (row.ours, row.verdicts.hold(), row.note.as_str()),
            (Some(2.0), Some(false), "Of b.")
        );
    }
}
