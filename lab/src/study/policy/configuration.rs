//! The choices for pages as a configuration that `utmost serve --config` takes.

use super::super::dimension::notable;
use super::super::{Plan, Study};
use super::Choice;
use crate::Contender;
use corpus::Page;
use push::Graph;
use server::SignalUse;
use server::site::Pushing;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// What a configuration is made of, beside its choices.
pub struct Configuration<'a> {
    /// The study's plan.
    pub plan: &'a Plan,
    /// Its results.
    pub study: &'a Study,
    /// The scheme of pages where no other is better.
    pub default: &'a str,
    /// How each page is named: bundled, or by its file.
    pub pages: &'a [String],
    /// What the names of graphs' files begin with.
    pub stem: &'a str,
}

impl Configuration<'_> {
    /// The text of the file.
    pub fn to_toml(&self, choices: &[Choice]) -> String {
        let routes = choices.iter().filter_map(|choice| {
            let page = self.plan.pages.iter().find(|it| it.name == choice.page)?;
            Some(format!("\n{}", self.route(page, choice)))
        });
        self.head(choices) + routes.collect::<String>().as_str()
    }

    /// The graphs that the file names, each with its file's name.
    pub fn graphs(&self, choices: &[Choice]) -> Vec<(String, Graph)> {
        let pages = choices.iter().filter(|it| it.differs()).filter_map(|choice| {
            let page = self.plan.pages.iter().find(|it| it.name == choice.page)?;
            let (_, pushing) = choice.ahead.pushing(page).into_iter().next()?;
            Some((self.graph_file(page), Graph::clone(pushing.graph.as_ref()?)))
        });
        pages.collect()
    }

    fn graph_file(&self, page: &Page) -> String {
        format!("{}-{}.json", self.stem, crate::file_name(&page.name))
    }

    /// The texts of the files of schemes that the file names and that are not built in, each with its file's name.
    pub fn scheme_files(&self, choices: &[Choice]) -> Vec<(String, Arc<str>)> {
        let chosen = choices.iter().filter(|it| it.differs()).map(|it| it.best.as_str());
        let named: BTreeSet<&str> = chosen.chain([self.default]).collect();
        let schemes = self.plan.schemes.iter().filter_map(Contender::scheme);
        let files = schemes.filter(|it| named.contains(it.name.as_str())).filter_map(|it| {
            let name = crate::file_name(it.base_name());
            Some((format!("{}-{name}.toml", self.stem), Arc::clone(it.text.as_ref()?)))
        });
        files.collect::<BTreeMap<_, _>>().into_iter().collect()
    }

    fn head(&self, choices: &[Choice]) -> String {
        let Self { plan, study, default, pages, .. } = self;
        let listed: Vec<String> = pages.iter().map(|it| quoted(it)).collect();
        let settings = plan.settings.each();
        let plain = settings.iter().find(|(_, it)| it.ahead().is_nothing());
        let setting = plain.map(|(_, it)| it.words(&notable(&[it])));
        let signals = plain.and_then(|(_, it)| it.signals).unwrap_or(SignalUse::Ignore);
        let files: Vec<String> =
            self.scheme_files(choices).iter().map(|(name, _)| quoted(name)).collect();
        let files = match files.len() {
            0 => String::new(),
            _ => format!("scheme_files = [{}]\n", files.join(", ")),
        };
        format!(
            "# The order in which each page is sent, as a study found it. Serve it, and announce it to clients, with\n\
             # utmost serve --config FILE. Ratios are the ATF {} under the default, {default}, divided by that\n\
             # under the scheme, with their 95 % interval, on engine {}, {}.\n\
             # {}\n\n[site]\n{} = {}\n{files}scheme = {}\nsignals = {}\n",
            plan.metric.heading,
            plan.engine.name(),
            setting.unwrap_or_default(),
            study.provenance,
            if pages.len() == 1 { "page" } else { "pages" },
            if pages.len() == 1 { listed[0].clone() } else { format!("[{}]", listed.join(", ")) },
            quoted(default),
            quoted(signals.name()),
        )
    }

    /// What a page's choice is worth, and its routes.
    fn route(&self, page: &Page, choice: &Choice) -> String {
        let found = match choice.loads {
            1 => format!("{:.3} ({})", choice.ratio, choice.interval_text()),
            loads => format!("{:.3} ({}), {loads} loads", choice.ratio, choice.interval_text()),
        };
        let Choice { page: name, .. } = choice;
        if !choice.differs() {
            return format!("# page {name}: no difference; {} has {found}\n", choice.name);
        }
        let path = page.resources.first().map_or("/", |it| it.url.as_str());
        let scheme = format!("scheme = {}\n", quoted(&choice.best));
        let mut rules = choice.ahead.pushing(page).into_iter();
        let own = rules.next().map(|(_, it)| self.keys(page, &it)).unwrap_or_default();
        let others =
            rules.map(|(path, it)| format!("\n{}{}", begin(page, &path), self.keys(page, &it)));
        let others: String = others.collect();
        format!("# page {name}: {found}\n{}{scheme}{own}{others}", begin(page, path))
    }

    fn keys(&self, page: &Page, pushing: &Pushing) -> String {
        let listed = |links: &[String]| {
            let links: Vec<String> = links.iter().map(|it| quoted(it)).collect();
            (!links.is_empty()).then(|| format!("[{}]", links.join(", ")))
        };
        let keys = [
            ("push_policy", pushing.policy.map(|it| quoted(it.name()))),
            ("push_graph", pushing.graph.as_ref().map(|_| quoted(&self.graph_file(page)))),
            ("push_gate", pushing.gate.map(|it| quoted(&it.to_string()))),
            ("links", listed(&pushing.links)),
            ("early_hints", listed(&pushing.early_hints)),
        ];
        let lines = keys.into_iter().filter_map(|(key, it)| Some(format!("{key} = {}\n", it?)));
        lines.collect()
    }
}

/// A route for a path of the page's host.
fn begin(page: &Page, path: &str) -> String {
    // A configuration names hosts without a port.
    let host = page.origins.first().map_or("", |it| http3::host(&it.host));
    format!("[[route]]\nhost = {}\npath = {}\n", quoted(host), quoted(path))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// How `page` is named in a configuration: bundled by its name, otherwise by its file, from the root on.
pub fn page_argument(argument: &str) -> String {
    let is_file =
        argument.contains('/') || Path::new(argument).extension().is_some_and(|it| it == "json");
    let resolved = Path::new(argument).canonicalize().ok().filter(|_| is_file);
    resolved.map_or_else(|| argument.to_owned(), |it| it.display().to_string())
}
