//! The finished loads of a study, one line of JSON each, from which an interrupted study continues.

use crate::Load;
use crate::study::Engine;
use crate::study::carry_out::run::RunRecord;
use crate::study::carry_out::texts::Texts;
use crate::study::plan::Cell;
use qlog_tools::metrics::{METRICS, Set, byte_index};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

pub(crate) const FILE: &str = "runs.jsonl";

/// The format that a line names. Old lines do not name it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) enum Format {
    #[default]
    #[serde(rename = "utmost-run/1")]
    Run,
}

/// A finished load.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    #[serde(default)]
    pub(crate) format: Format,
    /// Its place in the whole plan.
    pub(crate) place: usize,
    pub(crate) run: RunRecord,
    /// Its arrivals, if a figure needs them and the load cannot be repeated exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<Load>,
}

pub(crate) struct Journal {
    file: File,
    /// Lines that may be lost in a crash of the machine: the journal syncs to disk after this many.
    lines_a_sync: usize,
    unsynced: usize,
}

/// The error for a second process in the same folder.
const BUSY: &str = "another process writes here; wait until it ends, or name another folder";

impl Journal {
    /// Opens or creates the journal of `folder`, and reads its entries. Drops an incomplete last line.
    pub(crate) fn open(folder: &Path, lines_a_sync: usize) -> io::Result<(Self, Vec<Entry>)> {
        let path = folder.join(FILE);
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        // Locked until the process ends, however it ends.
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other(BUSY),
            TryLockError::Error(error) => error,
        })?;
        let (entries, whole_bytes) = entries(BufReader::new(File::open(&path)?))?;
        file.set_len(whole_bytes)?;
        Ok((Self { file, lines_a_sync, unsynced: 0 }, entries))
    }

    pub(crate) fn add(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let before = self.file.metadata()?.len();
        if let Err(error) = self.file.write_all(&line) {
            // The disk is full: a partial line must not precede the next one.
            self.file.set_len(before).ok();
            return Err(error);
        }
        self.unsynced += 1;
        if self.unsynced >= self.lines_a_sync { self.sync() } else { Ok(()) }
    }

    /// Waits for the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.unsynced = 0;
        self.file.sync_data()
    }
}

/// Checks that the entries are loads of these cells of a plan with this engine, and that their numbers are possible, because the
/// journal may have been edited.
pub(crate) fn check(
    entries: &[Entry],
    cells: &[Cell<'_>],
    engine: &'static dyn Engine,
) -> io::Result<()> {
    let cells: BTreeMap<usize, &Cell<'_>> = cells.iter().map(|it| (it.place, it)).collect();
    for Entry { place, run, .. } in entries {
        let RunRecord { page, scheme, seed, setting, .. } = run;
        let cell = cells.get(place).map(|it| (&*it.page.name, it.scheme.name(), it.seed));
        let other = if cell != Some((page, scheme, *seed)) {
            format!("page {page}, scheme {scheme}, seed {seed}")
        } else if cells.get(place).is_none_or(|it| *it.setting != *setting) {
            format!("page {page}, scheme {scheme}, seed {seed}, {}", setting.sentence())
        } else if run.engine.name() != engine.name() {
            format!("engine {}", run.engine.name())
        } else if let Some(problem) = impossible(run) {
            return Err(invalid(format!(
                "load {place} (page {page}, scheme {scheme}, seed {seed}) {problem}; remove its line to repeat the load"
            )));
        } else {
            continue;
        };
        return Err(invalid(format!(
            "load {place} is not one of this study: {other}; remove its line to repeat the load"
        )));
    }
    Ok(())
}

/// The longest that a load can take, in ms: a year.
const LONGEST_MS: f64 = 366.0 * 24.0 * 3600.0 * 1000.0;

/// Why no load has these results.
fn impossible(run: &RunRecord) -> Option<String> {
    if run.completed != run.unfinished.is_none() {
        let not = if run.completed { "" } else { "not " };
        return Some(format!("is {not}`completed`, which contradicts its `unfinished`"));
    }
    let index = byte_index();
    let metrics = METRICS.iter().flat_map(|metric| {
        let values = run.metrics.get(metric);
        Set::ALL.into_iter().filter_map(move |set| Some((metric.name, values.get(set)?)))
    });
    let bound = run.lower_bound.atf.map(|it| ("lower_bound", it));
    let mut values = metrics.chain(bound).chain([("duration_ms", run.duration_ms)]);
    let wrong = values.find(|(name, value)| {
        !(0.0..=LONGEST_MS).contains(value) || (*name == index.name && *value <= 0.0)
    });
    wrong.map(|(name, value)| format!("has an impossible {name} of {value:?}"))
}

pub(crate) fn read(folder: &Path) -> io::Result<Vec<Entry>> {
    Ok(entries(BufReader::new(File::open(folder.join(FILE))?))?.0)
}

/// The entries, and their length in bytes: text after the last line feed is not an entry. A large journal does not fit in memory
/// beside them, so it is read line by line.
fn entries(mut journal: impl BufRead) -> io::Result<(Vec<Entry>, u64)> {
    let (texts, mut places, mut entries) = (Texts::default(), BTreeSet::new(), Vec::new());
    let (mut whole_bytes, mut line) = (0, Vec::new());
    for number in 1.. {
        line.clear();
        let bytes = journal.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            break;
        }
        whole_bytes += bytes as u64;
        if line.is_empty() {
            continue;
        }
        let entry: Entry = serde_json::from_slice(&line).map_err(|error| {
            let said = error.to_string().replace(" at line 1 column", " in column");
            let cause = if error.is_eof() { "ends too early" } else { &*said };
            invalid(format!("line {number}: {cause}; remove that line to repeat its load"))
        })?;
        if !places.insert(entry.place) {
            return Err(invalid(format!(
                "line {number}: a load that is also in an earlier line; remove the line"
            )));
        }
        entries.push(Entry { run: texts.shared_by(entry.run), ..entry });
    }
    Ok((entries, whole_bytes))
}

fn invalid(cause: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::network::Network;
    use crate::study::{Plan, Setting, engines};
    use qlog_tools::assembly::StreamFrame;
    use qlog_tools::metrics::BySet;
    use qlog_tools::timeline::{RenderTimes, Timeline, Transfer};
    use std::sync::Arc;

    fn entry(place: usize) -> Entry {
        let run = RunRecord { seed: 7, ..RunRecord::default() };
        Entry { format: Format::Run, place, run, load: None }
    }

    #[test]
    fn an_incomplete_last_line_is_dropped_and_the_journal_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, empty) = Journal::open(folder.path(), 1).expect("made");
        assert!(empty.is_empty());
        journal.add(&entry(0)).expect("written");
        journal.add(&entry(1)).expect("written");
        let path = folder.path().join(FILE);
        let whole = std::fs::read(&path).expect("read");
        drop(journal);
        for torn in [whole.len() - 1, whole.len() - 20, whole.len() / 2 + 1] {
            std::fs::write(&path, &whole[..torn]).expect("torn");
            let (mut journal, left) = Journal::open(folder.path(), 1).expect("opened");
            assert_eq!(left.iter().map(|it| it.place).collect::<Vec<_>>(), [0]);
            journal.add(&entry(5)).expect("written");
            let places: Vec<usize> =
                read(folder.path()).expect("read").iter().map(|it| it.place).collect();
            assert_eq!(places, [0, 5]);
        }
    }

    #[test]
    fn a_line_names_its_format_those_of_old_name_none_and_another_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, _) = Journal::open(folder.path(), 1).expect("made");
        journal.add(&entry(0)).expect("written");
        let path = folder.path().join(FILE);
        let text = std::fs::read_to_string(&path).expect("a journal");
        assert!(text.starts_with("{\"format\":\"utmost-run/1\",\"place\":0,"), "{text}");
        let of_old = text.replace("\"format\":\"utmost-run/1\",", "");
        assert_eq!(entries(of_old.as_bytes()).expect("read").0.len(), 1);
        let error = entries(text.replace("run/1", "run/2").as_bytes()).expect_err("another");
        let expected = "line 1: unknown variant `utmost-run/2`, expected `utmost-run/1`";
        assert!(error.to_string().starts_with(expected), "{error}");
    }

    fn plan() -> Plan {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("a scheme"));
        let network = Network::find("cable").expect("built in");
        Plan::new(vec![page], schemes.into(), engines::IDEAL, network)
    }

    fn load(cell: &Cell<'_>) -> RunRecord {
        RunRecord {
            page: "davies-meenan".to_owned(),
            scheme: "fifo".to_owned(),
            engine: engines::IDEAL,
            setting: Setting::clone(&cell.setting),
            completed: true,
            metrics: [("byte_index", BySet { all: Some(90.0), atf: Some(80.0) })]
                .into_iter()
                .collect(),
            lower_bound: crate::study::OnlyAtf { atf: Some(70.0) },
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_load_that_cannot_be_one_of_the_study_is_refused_with_its_place_and_what_to_do() {
        let plan = plan();
        let cells = plan.cells();
        let run = load(&cells[1]);
        let index = |ms: f64| {
            let values = BySet { all: Some(ms), atf: Some(ms) };
            RunRecord { metrics: [("byte_index", values)].into_iter().collect(), ..run.clone() }
        };
        let checked = |run: RunRecord| {
            let entry = Entry { format: Format::Run, place: 1, run, load: None };
            check(&[entry], &cells, plan.engine).map_err(|error| error.to_string())
        };
        assert_eq!(checked(run.clone()), Ok(()));
        let setting = |network: &str, send_buffer_bytes| {
            let setting =
                Setting { network: network.into(), send_buffer_bytes, ..Setting::default() };
            RunRecord { setting, ..run.clone() }
        };
        let other = "load 1 is not one of this study: ";
        let own = "load 1 (page davies-meenan, scheme fifo, seed 0) ";
        let cases = [
            (
                RunRecord { seed: 3, ..run.clone() },
                other,
                "page davies-meenan, scheme fifo, seed 3",
            ),
            (
                setting("3g", 0),
                other,
                "page davies-meenan, scheme fifo, seed 0, network 3g, send buffer 0 bytes",
            ),
            (
                setting("cable", 1000),
                other,
                "page davies-meenan, scheme fifo, seed 0, network cable, send buffer 1000 bytes",
            ),
            (RunRecord { engine: engines::STACK, ..run.clone() }, other, "engine stack"),
            (index(-5.0), own, "has an impossible byte_index of -5.0"),
            (index(0.0), own, "has an impossible byte_index of 0.0"),
            (index(1e308), own, "has an impossible byte_index of 1e308"),
            (index(f64::NAN), own, "has an impossible byte_index of NaN"),
            (
                RunRecord { completed: false, ..run.clone() },
                own,
                "is not `completed`, which contradicts its `unfinished`",
            ),
        ];
        for (wrong, which, why) in cases {
            let expected = format!("{which}{why}; remove its line to repeat the load");
            assert_eq!(checked(wrong), Err(expected));
        }
    }

    #[test]
    fn a_line_that_ends_too_early_is_named_once() {
        let error = entries(&b"{}\n"[..]).expect_err("nothing in it").to_string();
        assert!(error.starts_with("line 1: missing field `place` in column 2; remove"), "{error}");
        let error = entries(&b"{\"place\":0,\"run\":{\n"[..]).expect_err("torn").to_string();
        assert_eq!(error, "line 1: ends too early; remove that line to repeat its load");
    }

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Journal::open(folder.path(), 1).expect("made");
        let error = Journal::open(folder.path(), 1).err().expect("busy").to_string();
        assert_eq!(
            error,
            "another process writes here; wait until it ends, or name another folder"
        );
        drop(first);
        Journal::open(folder.path(), 1).expect("free again");
    }

    #[test]
    fn a_load_that_stands_twice_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, _) = Journal::open(folder.path(), 1).expect("made");
        for place in [0, 1, 0] {
            journal.add(&entry(place)).expect("written");
        }
        let error = read(folder.path()).expect_err("twice").to_string();
        assert_eq!(error, "line 3: a load that is also in an earlier line; remove the line");
    }

    #[test]
    fn a_line_that_is_not_a_load_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), "{\"place\":0}\n").expect("written");
        let error = read(folder.path()).expect_err("no run").to_string();
        assert!(error.starts_with("line 1: missing field `run`"), "{error}");
    }

    #[test]
    fn a_load_comes_back_as_it_was() {
        let transfer =
            Transfer { stream: 4, url: "/a".into(), requested_us: 3, ..Transfer::default() };
        let frame = StreamFrame { time_us: 9, stream: 4, offset: 0, bytes: 10 };
        let timeline = Timeline {
            name: "rr".into(),
            transfers: vec![transfer],
            frames: vec![frame],
            navigations_us: vec![3],
            renders: vec![RenderTimes { load_us: Some(9), ..RenderTimes::default() }],
        };
        let load = Load { completed: true, timeline: timeline.clone() };
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, _) = Journal::open(folder.path(), 1).expect("made");
        journal.add(&Entry { load: Some(load), ..entry(0) }).expect("written");
        let back = read(folder.path()).expect("read").remove(0).load;
        assert_eq!(back.map(|it| it.timeline), Some(timeline));
    }
}
