//! The choices for pages as a configuration for `utmost serve --config`.

use super::facts::Facts;
use super::{Choice, Found, OF_SITE};
use crate::Contender;
use crate::study::plan::dimension::{GATE, HINTS, NETWORK, PUSH, SIGNALS, notable};
use crate::study::{Plan, Study};
use corpus::Page;
use gateway::is_one_path;
use gateway::site::Pushing;
use push::Graph;
use schedulers::{Kind, Resource, metadata_field};
use server::SignalUse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The parts of a configuration, besides its choices.
pub struct Configuration<'a> {
    /// The study's plan.
    pub plan: &'a Plan,
    /// Its results.
    pub study: &'a Study,
    /// The scheme that candidates had to beat.
    pub to_beat: &'a str,
    /// The name of each page: bundled, or its file.
    pub pages: &'a [String],
    /// The prefix of graph file names.
    pub stem: &'a str,
}

impl Configuration<'_> {
    /// The text of the file. Routes for whole hosts come last, because the first matching route decides.
    pub fn to_toml(&self, choices: &[Choice]) -> String {
        let mut parts = vec![self.head(choices)];
        let mut written = Written::default();
        for choice in choices {
            if let Some(page) = self.page_of(choice) {
                parts.push(format!("\n{}", self.page(page, choice, &mut written)));
            }
        }
        for choice in choices.iter().filter(|choice| choice.differs()) {
            let Some(page) = self.page_of(choice) else { continue };
            for (path, pushing) in choice.push_and_hints.pushing(page).into_iter().skip(1) {
                let route = written.route(page, &path, || self.keys(page, &pushing));
                parts.push(format!("\n{route}"));
            }
        }
        parts.concat()
    }

    /// The graphs that the file refers to, each with its file name.
    pub fn graphs(&self, choices: &[Choice]) -> Vec<(String, Graph)> {
        let chosen = choices.iter().filter(|it| it.differs());
        let graphs = chosen.filter_map(|choice| {
            let page = self.page_of(choice)?;
            let (_, pushing) = choice.push_and_hints.pushing(page).into_iter().next()?;
            Some((self.graph_file(page), Graph::clone(pushing.graph.as_ref()?)))
        });
        graphs.collect()
    }

    fn page_of(&self, choice: &Choice) -> Option<&Page> {
        self.plan.pages.iter().map(|it| &**it).find(|it| it.name == choice.page)
    }

    fn graph_file(&self, page: &Page) -> String {
        format!("{}-{}.json", self.stem, crate::file_name(&page.name))
    }

    /// The texts of scheme files that the file refers to, each with its file name.
    pub fn scheme_files(&self, choices: &[Choice]) -> Vec<(String, Arc<str>)> {
        let chosen = choices.iter().filter(|it| it.differs());
        let named: BTreeSet<&str> = chosen.map(|it| it.scheme.as_str()).collect();
        let schemes = self.plan.schemes.iter().filter_map(Contender::scheme);
        let mut files = BTreeMap::new();
        for scheme in schemes.filter(|scheme| named.contains(scheme.name.as_str())) {
            if let Some(text) = &scheme.text {
                let name = crate::file_name(scheme.base_name());
                files.insert(format!("{}-{name}.toml", self.stem), Arc::clone(text));
            }
        }
        files.into_iter().collect()
    }

    fn head(&self, choices: &[Choice]) -> String {
        let Self { plan, study, to_beat, pages, .. } = self;
        let files =
            self.scheme_files(choices).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let files = list_key("scheme_files", &files);
        format!(
            "# Pages that a study found to be faster in another order. All others stay as they are without this file: the server\n\
             # obeys the priorities that browsers send. Serve it with utmost serve --config FILE.\n\
             # Ratios are the ATF {} under {to_beat}, which obeys, divided by that under the scheme, with their 95 % interval.\n\
             # Other loads chose the scheme. Engine {}, {}.\n\
             # {}\n\n[site]\n{}\n{files}scheme = {}\nsignals = {}\n",
            plan.metric.heading,
            plan.engine.name(),
            self.conditions(),
            study.provenance,
            pages_key(pages),
            quoted(OF_SITE),
            quoted(SignalUse::Obey.name()),
        )
    }

    /// The conditions of all loads besides their networks, and the server's knowledge.
    fn conditions(&self) -> String {
        let settings = self.plan.settings.each();
        let chosen = [NETWORK, PUSH, GATE, HINTS, SIGNALS];
        let first = settings.first().map(|(_, setting)| {
            let mut dimensions = notable(&[setting]);
            dimensions.retain(|it| !chosen.contains(&it.column));
            setting.words(&dimensions)
        });
        format!("{}, metadata {}", first.unwrap_or_default(), self.plan.metadata.name())
    }

    /// Writes the gain of a page's choice, and the route of its document.
    fn page(&self, page: &Page, choice: &Choice, written: &mut Written) -> String {
        let found = choice.found.iter().map(|found| {
            let Found { network, ratio, loads, .. } = found;
            format!("# on {network}: {ratio:.3} ({}), {loads} loads\n", found.interval_text())
        });
        let found: String = found.collect();
        let Choice { page: of, name, .. } = choice;
        if !choice.differs() {
            return format!("# page {of}: no difference; {name} has\n{found}");
        }
        let path = page.resources.first().map_or("/", |it| it.url.as_str());
        let scheme = format!("scheme = {}\n", quoted(&choice.scheme));
        let signals = format!("signals = {}\n", quoted(choice.signals.name()));
        let rules = choice.push_and_hints.pushing(page);
        let pushing = rules.first().map(|(_, it)| self.keys(page, it)).unwrap_or_default();
        let mut facts = std::mem::take(&mut written.facts);
        let route = written.route(page, path, || {
            let known = facts.tables(page, choice, self.plan.metadata);
            format!("{scheme}{signals}{pushing}{known}")
        });
        written.facts = facts;
        format!("# page {of}: {name}\n{found}{route}")
    }

    fn keys(&self, page: &Page, pushing: &Pushing) -> String {
        let keys = [
            ("push_policy", pushing.policy.map(|it| quoted(it.name()))),
            ("push_graph", pushing.graph.as_ref().map(|_| quoted(&self.graph_file(page)))),
            ("push_gate", pushing.gate.map(|it| quoted(&it.to_string()))),
        ];
        let lines = keys.into_iter().filter_map(|(key, it)| Some(format!("{key} = {}\n", it?)));
        lines.chain([hint_keys(&pushing.links, &pushing.early_hints)]).collect()
    }
}

/// The entries that the file already has.
#[derive(Default)]
struct Written {
    /// Host and path of each route.
    routes: BTreeSet<(String, String)>,
    facts: Facts,
}

impl Written {
    /// Writes a route for a path of the page's host, unless there is one: a file with two is invalid.
    fn route(&mut self, page: &Page, path: &str, keys: impl FnOnce() -> String) -> String {
        // A configuration names hosts without a port.
        let host = page.origins.first().map_or("", |it| http3::host(&it.host));
        if !is_one_path(path.strip_suffix('*').unwrap_or(path)) {
            return format!("# left out: no route can be for the path of {host}{path}\n");
        }
        if !self.routes.insert((host.to_owned(), path.to_owned())) {
            return format!("# left out: {host}{path} has a route above\n");
        }
        let keys = keys();
        format!("[[route]]\nhost = {}\npath = {}\n{keys}", quoted(host), quoted(path))
    }
}

pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

pub(crate) fn list_key(key: &str, values: &[String]) -> String {
    if values.is_empty() { String::new() } else { format!("{key} = {}\n", list(values)) }
}

fn list(values: &[String]) -> String {
    format!("[{}]", values.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", "))
}

/// The keys of a route whose document announces resources early.
pub(crate) fn hint_keys(links: &[String], early_hints: &[String]) -> String {
    list_key("links", links) + list_key("early_hints", early_hints).as_str()
}

/// The key of `[site]` for these pages.
pub(crate) fn pages_key(pages: &[String]) -> String {
    match pages {
        [page] => format!("page = {}", quoted(page)),
        several => format!("pages = {}", list(several)),
    }
}

/// The key of a resource's table with its known facts.
pub(crate) fn facts_key(resource: Resource) -> String {
    // The route identifies the document.
    let mut facts = metadata_field(&Resource { main: false, ..resource });
    if resource.kind == Kind::Css && !resource.in_head {
        // By default, a directory assumes that the head references each stylesheet.
        facts.push_str(", in-head=?0");
    }
    if facts.is_empty() { facts } else { format!("facts = {}\n", quoted(&facts)) }
}

/// The name of `page` in a configuration: bundled pages by name, others by absolute file.
pub fn page_argument(argument: &str) -> String {
    let is_file =
        argument.contains('/') || Path::new(argument).extension().is_some_and(|it| it == "json");
    let resolved = Path::new(argument).canonicalize().ok().filter(|_| is_file);
    resolved.map_or_else(|| argument.to_owned(), |it| it.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::push_and_hints::PushAndHints;
    use crate::study::carry_out::engines;
    use crate::study::policy::Found;
    use push::Policy;
    use serde_json::Value;

    fn choice(page: &str) -> Choice {
        let found = |network: &str, ratio, interval| Found {
            network: network.to_owned(),
            ratio,
            interval: Some(interval),
            loads: 6,
        };
        Choice {
            page: page.to_owned(),
            scheme: "bucket-html".to_owned(),
            signals: SignalUse::Ignore,
            push_and_hints: PushAndHints { policy: Some(Policy::Push), ..PushAndHints::default() },
            name: "bucket-html push".to_owned(),
            found: vec![found("cable", 1.25, [1.2, 1.3]), found("3g", 1.5, [1.25, 1.75])],
        }
    }

    /// The policy of three pages that push: two of the same document, and one of another on the same host.
    fn text(choices: &[Choice]) -> String {
        let page = |name: &str, path: &str| {
            let mut page = corpus::bundled("agency-index").expect("bundled").clone();
            (page.name, page.resources[0].url) = (name.to_owned(), path.to_owned());
            Arc::new(page)
        };
        let pages = vec![page("a", "/a.html"), page("again", "/a.html"), page("b", "/b.html")];
        let schemes = ["rfc9218", "bucket-html"].map(|it| Contender::find(it).expect("known"));
        let network = Network::find("cable").expect("built in");
        let plan = Plan::new(pages, schemes.to_vec(), engines::STACK, network);
        let study = Study::new(&plan, Value::Null, Vec::new(), Vec::new());
        let pages = ["a", "again", "b"].map(str::to_owned);
        let of = Configuration {
            plan: &plan,
            study: &study,
            to_beat: OF_SITE,
            pages: &pages,
            stem: "policy",
        };
        of.to_toml(choices)
    }

    #[test]
    fn a_route_is_written_once_and_those_for_a_whole_host_at_the_end() {
        let text = text(&["a", "again", "b"].map(choice));
        let telling = |it: &&str| {
            ["# page", "# on", "# left", "path = "].iter().any(|begin| it.starts_with(begin))
        };
        let lines: Vec<&str> = text.lines().filter(telling).collect();
        let found = [
            "# on cable: 1.250 (1.200 to 1.300), 6 loads",
            "# on 3g: 1.500 (1.250 to 1.750), 6 loads",
        ];
        let expected = [
            &["# page a: bucket-html push"][..],
            &found,
            &["path = \"/a.html\"", "# page again: bucket-html push"],
            &found,
            &[
                "# left out: agency-local.page.test/a.html has a route above",
                "# page b: bucket-html push",
            ],
            &found,
            &["path = \"/b.html\"", "path = \"/*\""],
            &["# left out: agency-local.page.test/* has a route above"; 2],
        ];
        assert_eq!(lines, expected.concat());
        assert!(text.contains("\n[site]\npages = [\"a\", \"again\", \"b\"]\nscheme = \"rfc9218\"\nsignals = \"obey\"\n"));
    }

    #[test]
    fn a_page_that_gains_too_little_or_not_on_every_network_has_no_route() {
        let with = |change: fn(&mut Choice)| {
            let mut choice = choice("a");
            change(&mut choice);
            text(&[choice])
        };
        let same: fn(&mut Choice) = |it| it.found[1].interval = Some([1.0, 1.75]);
        let small: fn(&mut Choice) = |it| it.found.iter_mut().for_each(|it| it.ratio = 1.005);
        for change in [same, small] {
            let text = with(change);
            assert!(text.contains("# page a: no difference; bucket-html push has\n# on cable: "));
            assert!(!text.contains("[[route]]"), "{text}");
        }
    }
}
