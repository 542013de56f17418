//! Questions to the workbench: one page under several orders, on one link.

use super::super::dropped_pages::DroppedPages;
use crate::limits::{WORKBENCH_BODY_BYTES_MAX, WORKBENCH_ROWS_MAX};
use crate::values;
use ::corpus::Page;
use ::serve::Failure;
use lab::finder::ByHand;
use lab::network::Network;
use lab::study::{DIMENSIONS, Engine, Plan, Settings, Sweep, engines};
use lab::{Contender, file_name};
use schedulers::Catalogue;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A question, in the form that the page sends.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    /// The name of a bundled or dropped page.
    page: String,
    /// Facts of the page that its source lacks; they apply to every order.
    #[serde(default)]
    facts: ByHand,
    /// The orders; the first is the present one.
    pub(super) rows: Vec<Row>,
    /// The name of a built-in network.
    network: String,
    /// `rtt_ms`, `rate` and `loss` in place of the network's own.
    #[serde(default)]
    set: BTreeMap<String, String>,
    /// Values of dimensions, by their columns.
    #[serde(default)]
    listed: BTreeMap<String, String>,
    pub(super) engine: &'static dyn Engine,
    #[serde(default)]
    seed: u64,
    /// The text of a scheme file; empty if there is none.
    #[serde(default)]
    scheme_file: String,
    /// The name of a metric.
    pub(super) metric: String,
}

/// One order.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) scheme: String,
    /// The name of an order made by hand. Without changes by hand, the row has its scheme's name.
    #[serde(default)]
    label: String,
    #[serde(default)]
    pub(super) by_hand: Option<ByHand>,
}

impl Row {
    pub(super) fn label(&self) -> &str {
        if self.by_hand.is_some() { &self.label } else { &self.scheme }
    }
}

/// A question whose names and values are valid.
pub(super) struct Asked {
    pub(super) question: Question,
    /// The page with its facts.
    pub(super) page: Arc<Page>,
    /// Whether the page is bundled, so that commands find it by name.
    pub(super) is_bundled: bool,
    /// The page of each row.
    pub(super) pages: Vec<Arc<Page>>,
    catalogue: Catalogue,
    /// Flags of the link and the server, as for `compare`, and the settings that engine ideal lacks.
    pub(super) flags: Vec<String>,
    pub(super) left_out: Vec<&'static str>,
    settings: Settings,
}

/// The only dimension, besides the link, that engine ideal supports.
const SEND_BUFFER: &str = "send_buffer_bytes";

/// The most characters of a row's label in the name of its page.
const LABEL_CHARACTERS_MAX: usize = 20;

/// The loads of one page.
pub(super) struct Case {
    pub(super) plan: Plan,
    /// The indices of its schemes among the rows.
    pub(super) rows: Vec<Vec<usize>>,
}

impl Asked {
    /// Refuses whatever is not known.
    pub(super) fn new(question: Question, dropped: &DroppedPages) -> Result<Self, Failure> {
        check(&question)?;
        let mut page = dropped.find(&question.page)?;
        let bytes = page.body_bytes();
        if bytes > WORKBENCH_BODY_BYTES_MAX {
            let most = WORKBENCH_BODY_BYTES_MAX >> 20;
            let name = &page.name;
            return bad(format!("{name}: {bytes} bytes, more than {most} MiB; use utmost compare"));
        }
        let has_facts = question.facts != ByHand::default();
        if has_facts {
            page = changed(&page, &question.facts, "marked")?;
        }
        let pages = question.rows.iter().map(|row| match &row.by_hand {
            Some(by_hand) => changed(&page, by_hand, &row.label),
            None => Ok(Arc::clone(&page)),
        });
        let mut asked = Self {
            pages: pages.collect::<Result<_, _>>()?,
            is_bundled: !has_facts && ::corpus::bundled(&question.page).is_some(),
            settings: settings(&question)?,
            catalogue: catalogue(&question.scheme_file)?,
            page,
            question,
            flags: Vec::new(),
            left_out: Vec::new(),
        };
        asked.set_link().map_err(Failure::BadInput)?;
        Ok(asked)
    }

    /// Sets the link and the server as requested, as far as the engine allows.
    fn set_link(&mut self) -> Result<(), String> {
        let Question { engine, listed, .. } = &self.question;
        let mut set = self.question.set.clone();
        let is_ideal = !engine.has_transport();
        let network = &self.settings.networks[0];
        self.flags.extend(["--network".to_owned(), network.name.clone()]);
        let own_loss = network.down.loss.is_some();
        let is_lossy = set.get("loss").map_or(own_loss, |it| it != "0");
        if is_ideal && is_lossy {
            self.left_out.push("loss");
            set.insert("loss".to_owned(), "0".to_owned());
        }
        let is_announced = |row: &Row| {
            let by_hand = row.by_hand.as_ref();
            by_hand.is_some_and(|it| !it.pushes.is_empty() || !it.early_hints.is_empty())
        };
        if is_ideal && self.question.rows.iter().any(is_announced) {
            self.left_out.push("push and early hints by hand");
        }
        for (key, value) in &set {
            let text = format!("{key}={}", plain(value)?);
            self.settings.sweep(&[Sweep::parse(&text)?])?;
            self.flags.extend(["--set".to_owned(), text]);
        }
        for (column, value) in listed {
            let dimension = DIMENSIONS.iter().find(|it| it.column == column && !it.help.is_empty());
            let dimension = dimension.ok_or_else(|| format!("no flag is about `{column}`"))?;
            if is_ideal && column != SEND_BUFFER {
                self.left_out.push(dimension.name);
                continue;
            }
            self.settings.list(dimension, &[plain(value)?.to_owned()])?;
            self.flags.extend([dimension.flag.to_owned(), value.clone()]);
        }
        Ok(())
    }

    /// Whether a scheme comes from the scheme file.
    pub(super) fn is_own(&self, scheme: &str) -> bool {
        self.catalogue.own().iter().any(|it| it.name == scheme)
    }

    /// Everything that determines the load of the row at `place`.
    pub(super) fn key(&self, place: usize) -> String {
        let Question { page, facts, rows, network, set, listed, engine, seed, .. } = &self.question;
        let Row { scheme, label, by_hand } = &rows[place];
        let scheme_file = self.is_own(scheme).then_some(&self.question.scheme_file);
        let by_hand = by_hand.as_ref().map(|it| (label, it));
        let page = (page, facts, by_hand);
        json!([page, scheme, scheme_file, network, set, listed, engine.name(), seed]).to_string()
    }

    /// The loads of the rows at `places`: one case for the unchanged page under all schemes, and one for each page changed by hand.
    pub(super) fn cases(&self, places: &[usize]) -> Result<Vec<Case>, Failure> {
        let mut cases: Vec<Case> = Vec::new();
        for &place in places {
            let row = &self.question.rows[place];
            let found = self.catalogue.find_for_page(&row.scheme).map_err(values::no_scheme)?;
            let page = &self.pages[place];
            let case = cases.iter_mut().find(|it| it.plan.pages[0].name == page.name);
            let Some(Case { plan, rows }) = case else {
                cases.push(Case { plan: self.plan(page, found.into()), rows: vec![vec![place]] });
                continue;
            };
            if let Some(known) = plan.schemes.iter().position(|it| it.name() == found.name) {
                rows[known].push(place);
            } else {
                plan.schemes.push(found.into());
                rows.push(vec![place]);
            }
        }
        Ok(cases)
    }

    fn plan(&self, page: &Arc<Page>, scheme: Contender) -> Plan {
        let Question { engine, seed, .. } = &self.question;
        let network = self.settings.networks[0].clone();
        Plan {
            settings: self.settings.clone(),
            seeds: vec![*seed],
            jobs: values::cores(),
            ..Plan::new(vec![Arc::clone(page)], vec![scheme], *engine, network)
        }
    }

    /// The commands that give the same numbers, one a line and page, and the files that they read.
    pub(super) fn commands(&self) -> (String, Vec<String>) {
        let Question { rows, engine, seed, scheme_file, metric, .. } = &self.question;
        let mut pages: Vec<(&Page, Vec<&str>)> = Vec::new();
        for (row, page) in rows.iter().zip(&self.pages) {
            match pages.iter_mut().find(|it| it.0.name == page.name) {
                Some((_, schemes)) if schemes.contains(&&*row.scheme) => {}
                Some((_, schemes)) => schemes.push(&row.scheme),
                None => pages.push((page, vec![&row.scheme])),
            }
        }
        let mut files = Vec::new();
        let mut further = Vec::new();
        for own in self.catalogue.own().iter().filter(|_| !scheme_file.trim().is_empty()) {
            let file = format!("{}.toml", own.name);
            further.push(format!("--scheme-file {file}"));
            files.push(file);
        }
        further.push(format!("--engine {}", engine.name()));
        further.extend(self.flags.iter().cloned());
        further.push(format!("--metric {metric} --seeds 1 --first-seed {seed}"));
        let further = further.join(" ");
        let lines = pages.into_iter().map(|(page, schemes)| {
            let is_bundled = self.is_bundled && page.name == self.page.name;
            let file = format!("{}.json", page.name);
            let name = if is_bundled { page.name.clone() } else { format!("./{file}") };
            files.extend(Some(file).filter(|_| !is_bundled));
            let (listed, baseline) = (schemes.join(","), schemes[0]);
            format!("utmost compare {name} --schemes {listed} --baseline {baseline} {further}")
        });
        let lines: Vec<String> = lines.collect();
        (lines.join("\n"), files)
    }
}

fn check(question: &Question) -> Result<(), Failure> {
    let rows = question.rows.len();
    if !(1..=WORKBENCH_ROWS_MAX).contains(&rows) {
        return bad(format!("{rows} orders: choose from one to {WORKBENCH_ROWS_MAX}"));
    }
    if question.engine != engines::IDEAL && question.engine != engines::STACK {
        return bad("the workbench has engines ideal and stack; use utmost compare for others");
    }
    Ok(())
}

/// The page with changes; its name includes the label.
fn changed(page: &Page, by_hand: &ByHand, label: &str) -> Result<Arc<Page>, Failure> {
    let label: String = label.chars().take(LABEL_CHARACTERS_MAX).collect();
    let name = format!("{}-{}", page.name, file_name(&label.replace(' ', "-")));
    by_hand.page(page, &name).map_err(Failure::bad_input)
}

/// A built-in network, so far without changes. Does not look for files of that name.
fn settings(question: &Question) -> Result<Settings, Failure> {
    if !Network::names().contains(&&*question.network) {
        return bad(format!("no network is named {:?}", question.network));
    }
    let network = Network::find(&question.network).map_err(Failure::bad_input)?;
    Ok(Settings::on(network, question.engine))
}

/// The built-in schemes, and the scheme of the text. Errors name the text's line.
fn catalogue(text: &str) -> Result<Catalogue, Failure> {
    if text.trim().is_empty() {
        return Ok(Catalogue::default());
    }
    let read = scheme_files::parse(text, "scheme.toml", Arc::new(|_| ()));
    let file = read.map_err(Failure::bad_input)?;
    Ok(Catalogue::with(vec![file.scheme]))
}

/// A value that needs no quotes in a command.
fn plain(value: &str) -> Result<&str, String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || ".:-%".contains(it);
    if value.chars().all(is_plain) {
        return Ok(value);
    }
    Err(format!("{value:?} is not a value; use letters and digits, such as 64k"))
}

fn bad<T>(cause: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::BadInput(cause.into()))
}
