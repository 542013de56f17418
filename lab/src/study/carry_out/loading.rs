//! Carries out the loads of a plan, and turns each into a row of results.

use crate::browsing::FilmFrame;
use crate::network::Network;
use crate::study::carry_out::journal::{Entry, Format};
use crate::study::carry_out::texts::Texts;
use crate::study::plan::Cell;
use crate::study::plan::dimension::SEND_BUFFER;
use crate::study::plan::engine::{Clock, Loads, Task};
use crate::study::{OnlyAtf, Plan, Pushes, RunRecord, Setting, StudyError, Unfinished};
use crate::{Contender, CrossTraffic, FileError, Load, Loaded, bounds, file_name, write_file};
use client::profile::Profile;
use corpus::Page;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most pages (on each network, with each buffer) that are drawn; if there are more, those that gain most from a scheme.
pub(crate) const DRAWN_MAX: usize = 6;

/// The state that all loads of a plan share.
pub(crate) struct Loader<'a> {
    plan: &'a Plan,
    engine: Box<dyn Loads + 'a>,
    /// Lower bounds by page and [`Setting::pace`].
    bounds: BTreeMap<(&'a str, Setting), f64>,
    texts: Texts,
    pool: rayon::ThreadPool,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Result<Self, StudyError> {
        let mut bounds = BTreeMap::new();
        let settings = plan.settings.each().into_iter();
        let paces: BTreeMap<Setting, &Network> =
            settings.map(|(network, it)| (it.pace(), network)).collect();
        for (pace, network) in paces {
            let network = pace.network_of(network)?;
            for page in &plan.pages {
                let bound = plan.engine.lower_bound_ms(page, &network);
                bounds.extend(bound.map(|it| ((page.name.as_str(), pace.clone()), it)));
            }
        }
        // There is only one browser, with one port.
        let jobs = if plan.engine.has_browser() { 1 } else { plan.jobs.max(1) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
        let (engine, texts) = (plan.engine.open(plan)?, Texts::default());
        Ok(Self { plan, engine, bounds, texts, pool })
    }

    /// Carries out `cells` and calls `done` after each, from any thread. The first failure ends it.
    pub(crate) fn carry_out(
        &self,
        cells: &[Cell<'_>],
        done: impl Fn(&Entry) -> Result<(), StudyError> + Sync,
    ) -> Result<Vec<Entry>, StudyError> {
        let mut cells: Vec<&Cell<'_>> = cells.iter().collect();
        if self.plan.engine.has_browser() {
            in_random_order(&mut cells);
        }
        let entries = cells.into_par_iter().map(|cell| {
            let entry = self.run(cell)?;
            done(&entry)?;
            Ok(entry)
        });
        self.pool.install(|| entries.collect())
    }

    /// The arrivals of the loads at these indices, for figures: stored ones, or repeated loads.
    pub(crate) fn again(
        &self,
        runs: &[RunRecord],
        loads: &[Option<Load>],
        places: &[usize],
    ) -> Result<BTreeMap<usize, Load>, StudyError> {
        let cells = self.plan.cells();
        let keyed =
            cells.iter().map(|it| ((&*it.page.name, it.scheme.name(), &*it.setting, it.seed), it));
        let cells: BTreeMap<_, &Cell<'_>> = keyed.collect();
        let loads = places.par_iter().map(|&place| {
            let run = &runs[place];
            let cell = cells.get(&(&*run.page, &*run.scheme, &run.setting, run.seed));
            match (loads[place].clone(), cell) {
                (Some(kept), _) => Ok(Some((place, kept))),
                (None, Some(cell)) if self.plan.engine.repeats() => {
                    Ok(Some((place, self.load(cell, None)?.load)))
                }
                _ => Ok(None),
            }
        });
        let loads: Result<Vec<_>, StudyError> = self.pool.install(|| loads.collect());
        Ok(loads?.into_iter().flatten().collect())
    }

    /// Whether to keep the arrivals of a load: if it cannot be repeated, or if figures show it anyway.
    fn keeps(&self, cell: &Cell<'_>) -> bool {
        let Plan { engine, seeds, pages, settings, .. } = self.plan;
        let all_drawn = seeds.len() == 1 && pages.len() * settings.each().len() <= DRAWN_MAX;
        match engine.facts().clock {
            Clock::Packets => false,
            Clock::Virtual => all_drawn,
            Clock::Real => seeds.first() == Some(&cell.seed),
        }
    }

    /// Carries out `cells`, and keeps the arrivals of each. Calls `go_on` after each load, from any thread.
    pub(crate) fn carry_out_and_keep(
        &self,
        cells: &[Cell<'_>],
        go_on: &(dyn Fn() -> Result<(), StudyError> + Sync),
    ) -> Result<Vec<(RunRecord, Load)>, StudyError> {
        let loads = cells.par_iter().map(|cell| {
            let loaded = self.measured(cell)?;
            go_on()?;
            Ok(loaded)
        });
        self.pool.install(|| loads.collect())
    }

    fn run(&self, cell: &Cell<'_>) -> Result<Entry, StudyError> {
        let (run, load) = self.measured(cell)?;
        let run = self.texts.shared_by(run);
        let load = Some(load).filter(|_| self.keeps(cell));
        Ok(Entry { format: Format::default(), place: cell.place, run, load })
    }

    fn measured(&self, cell: &Cell<'_>) -> Result<(RunRecord, Load), StudyError> {
        let logs = LogFolder::new(self.plan, cell)?;
        let loaded = self.load(cell, logs.as_ref().map(|it| &*it.path))?;
        if let Some(folder) = self.plan.film_dir.as_ref().filter(|_| self.keeps(cell)) {
            write_film(&folder.join(place_of(self.plan, cell)), &loaded.film)?;
        }
        let mut run = self.record(cell, &loaded);
        let load = loaded.load;
        if !load.completed {
            let problem = loaded.problems.into_iter().next();
            let problem = problem.unwrap_or_else(|| "nothing more came".to_owned());
            let qlog = logs.map(|it| it.keep(self.plan, cell)).transpose()?.flatten();
            run.unfinished = Some(Unfinished { problem, qlog, of_scheme: false });
        }
        if let Some(problem) = loaded.scheme_failure {
            let qlog = run.unfinished.and_then(|it| it.qlog);
            run.completed = false;
            run.unfinished = Some(Unfinished { problem, qlog, of_scheme: true });
        }
        Ok((run, load))
    }

    fn load(&self, cell: &Cell<'_>, logs: Option<&Path>) -> Result<Loaded, StudyError> {
        let opened = self.plan.profile.as_ref().map(|it| Arc::new(opened(it, cell)));
        let cell = &Cell { page: opened.as_ref().unwrap_or(cell.page), ..cell.clone() };
        let network = &cell.setting.network_of(cell.network)?;
        let Some(scheme) = cell.scheme.scheme() else {
            return load_bracket(cell, network);
        };
        let scheme = &scheme.clone().for_page(&cell.page.graph()).watched();
        let loaded = self.engine.load(&Task { plan: self.plan, cell, scheme, network, logs })?;
        let scheme_failure = scheme.failure.cause().map(str::to_owned);
        Ok(Loaded { scheme_failure, ..loaded })
    }

    fn record(&self, cell: &Cell<'_>, loaded: &Loaded) -> RunRecord {
        let Loaded { load, outcome, .. } = loaded;
        let run = RunRecord::of_load(cell.page, load).with_outcome(outcome);
        let bound = self.bounds.get(&(cell.page.name.as_str(), cell.setting.pace()));
        // Otherwise it would be the bound of a page without cross traffic.
        let is_alone = cell.setting.cross.unwrap_or_default() == CrossTraffic::None;
        let bound = bound.copied().filter(|_| is_alone);
        RunRecord {
            page: cell.page.name.clone(),
            scheme: cell.scheme.name().to_owned(),
            engine: self.plan.engine,
            setting: Setting::clone(&cell.setting),
            seed: cell.seed,
            lower_bound: OnlyAtf { atf: bound },
            proven: loaded.proven,
            pushes: cell.setting.push.map(|_| Pushes::of(cell.page, load, outcome)),
            ..run
        }
    }
}

/// Shuffles the loads of one page with one seed, which run one after another, so that changes on the machine during a study
/// affect all schemes alike.
fn in_random_order(cells: &mut [&Cell<'_>]) {
    let mut random = ChaCha8Rng::seed_from_u64(cells.len() as u64);
    cells.sort_by_cached_key(|it| (it.seed, it.page.name.clone(), random.next_u32()));
}

/// The page of a cell in this browser. Loads with the same seed take equally long until the browser reads the document.
fn opened(profile: &Profile, cell: &Cell<'_>) -> Page {
    let chance = ChaCha8Rng::seed_from_u64(cell.seed).random();
    profile.opened(Page::clone(cell.page), chance)
}

fn load_bracket(cell: &Cell<'_>, network: &Network) -> Result<Loaded, StudyError> {
    let search = match cell.scheme {
        Contender::AntiOracle => bounds::anti_oracle,
        _ => bounds::oracle,
    };
    let name = cell.scheme.name();
    let bracket = search(cell.page, network, bounds::Effort::default());
    let bracket = bracket.ok_or_else(|| {
        let page = &cell.page.name;
        StudyError::Impossible(format!(
            "`{name}` has nothing above the fold to order on page {page}"
        ))
    })?;
    let load = bounds::replay(cell.page, network, &bracket.schedule, name);
    Ok(Loaded { proven: Some(bracket.proven), ..load.into() })
}

struct LogFolder {
    path: PathBuf,
    /// Deleted after the load.
    temporary: Option<tempfile::TempDir>,
}

impl LogFolder {
    /// `None` for a load without a transport.
    fn new(plan: &Plan, cell: &Cell<'_>) -> Result<Option<Self>, StudyError> {
        if !plan.engine.has_transport() {
            return Ok(None);
        }
        if let Some(folder) = &plan.qlog_dir {
            let path = made(folder.join(place_of(plan, cell)))?;
            return Ok(Some(Self { path, temporary: None }));
        }
        let folder = tempfile::tempdir().map_err(FileError::at(&std::env::temp_dir()))?;
        Ok(Some(Self { path: folder.path().to_owned(), temporary: Some(folder) }))
    }

    /// Keeps the logs of an unfinished load, if the plan names a folder. Returns the place relative to the study's folder.
    fn keep(self, plan: &Plan, cell: &Cell<'_>) -> Result<Option<String>, StudyError> {
        let kept_in = if self.temporary.is_some() { &plan.unfinished_dir } else { &plan.qlog_dir };
        let Some(folder) = kept_in else { return Ok(None) };
        let place = place_of(plan, cell);
        if self.temporary.is_some() {
            let to = made(folder.join(&place))?;
            copy_files(&self.path, &to).map_err(FileError::at(&to))?;
        }
        let last = folder.file_name().unwrap_or_default();
        Ok(Some(Path::new(last).join(place).display().to_string()))
    }
}

/// Writes each picture as `MS.jpg`; the name gives its time.
fn write_film(folder: &Path, film: &[FilmFrame]) -> Result<(), FileError> {
    let folder = made(folder.to_owned())?;
    film.iter().try_for_each(|frame| {
        let name = format!("{:06.0}.jpg", frame.time_ms.max(0.0));
        write_file(&folder.join(name), &frame.jpeg)
    })
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn made(path: PathBuf) -> Result<PathBuf, FileError> {
    std::fs::create_dir_all(&path).map_err(FileError::at(&path))?;
    Ok(path)
}

/// The folder of a load's logs: `PAGE/SCHEME-BUFFER`, with the other varied dimensions, and the seed if there are several.
pub(crate) fn place_of(plan: &Plan, cell: &Cell<'_>) -> PathBuf {
    let bytes = cell.setting.send_buffer_bytes;
    let mut name = format!("{}-{bytes}", file_name(cell.scheme.name()));
    for dimension in plan.settings.varied() {
        let part = dimension.file_part(&cell.setting);
        if !part.is_empty() && dimension.column != SEND_BUFFER {
            name = format!("{name}-{part}");
        }
    }
    if plan.seeds.len() > 1 {
        name = format!("{name}-{}", cell.seed);
    }
    Path::new(&cell.page.name).join(name)
}
