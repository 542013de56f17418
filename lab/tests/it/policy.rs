//! A policy in use: what a study found is what visitors get from the files of the site.

use client::NextPage;
use corpus::Page;
use gateway::site::{DirectorySite, Rule, RuledSite};
use gateway::{Config, ConfigRoute, ConfigSite};
use lab::finder::{Goal, PolicySite, Question, SiteAnswer, by_resource, policy};
use lab::network::Network;
use lab::stack::{Ends, Setup, load_between};
use lab::study::policy::{Choice, Configuration, OF_SITE, Terms, choose, prepare};
use lab::study::{Plan, RunRecord, engines, run};
use lab::{Contender, Metadata, Navigation};
use page_site::PageSite;
use qlog_tools::metrics::METRICS;
use schedulers::find_scheme;
use serde_json::{Value, json};
use server::{Identity, Options, SignalUse};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const TERMS: Terms<'_> = Terms { to_beat: OF_SITE, obeying: false };

/// A page whose document refers to images of these sizes. Only the last one is above the fold, which no browser knows
/// when it sends the request.
fn page(path: &str, images: &[u64]) -> Arc<Page> {
    let document = json!({"id": 0, "url": path, "kind": "html", "mime": "text/html", "bytes": 3000, "main": true,
        "critical": true, "above_fold": true, "trigger": {"on": "nav"}});
    let image = |(id, bytes): (usize, &u64)| {
        json!({"id": id, "url": format!("/{id}.png"), "kind": "image", "mime": "image/png", "bytes": bytes,
            "above_fold": id == images.len(), "trigger": {"on": "bytes", "of": 0, "byte": 1000}})
    };
    let resources: Vec<Value> =
        [document].into_iter().chain((1..).zip(images).map(image)).collect();
    let page = json!({"format": "utmost-page/1", "name": path.trim_matches('/'),
        "source": {"kind": "hand", "from": "a test", "licence": "MIT"}, "viewport": [1366, 768],
        "origins": [{"host": "site.test:8443", "party": "first"}], "resources": resources});
    Arc::new(serde_json::from_value(page).expect("a page"))
}

/// Two pages of a site. The order matters on the first one only, and they share an image.
fn pages() -> Vec<Arc<Page>> {
    vec![page("/shop.html", &[200_000, 300_000, 90_000]), page("/plain.html", &[200_000])]
}

fn plan() -> Plan {
    let schemes = ["rr", OF_SITE, "bucket-html"].map(|it| Contender::find(it).expect("known"));
    let network = Network::find("cable").expect("built in");
    let mut plan = Plan {
        seeds: (0..9).collect(),
        metadata: Metadata::Full,
        ..Plan::new(pages(), schemes.to_vec(), engines::STACK, network)
    };
    prepare(&mut plan);
    plan
}

/// The files of the site's pages.
fn write_files(pages: &[Arc<Page>], root: &Path) {
    for resource in pages.iter().flat_map(|it| &it.resources) {
        let bytes = usize::try_from(resource.bytes).expect("small");
        std::fs::write(root.join(&resource.url[1..]), vec![b'a'; bytes]).expect("written");
    }
}

/// The site's files, and the policy over them.
fn deployed(plan: &Plan, study: &lab::study::Study, choices: &[Choice], root: &Path) -> Config {
    write_files(&plan.pages, root);
    let pages = ["shop".to_owned(), "plain".to_owned()];
    let policy = Configuration { plan, study, to_beat: OF_SITE, pages: &pages, stem: "policy" };
    let text = policy.to_toml(choices);
    let text = text.replace("pages = [\"shop\", \"plain\"]", "root = \".\"");
    std::fs::write(root.join("policy.toml"), text).expect("written");
    Config::load(&root.join("policy.toml")).expect("a configuration")
}

fn rule(route: &ConfigRoute) -> Rule {
    let scheme = route.scheme.as_ref().map(|it| find_scheme(&it.name).expect("a scheme"));
    route.clone().with(None, scheme)
}

/// The site that `utmost serve --config` makes of a configuration of files.
fn site_of(config: &Config) -> RuledSite {
    let ConfigSite::Root(root) = &config.site else { panic!("files: {:?}", config.site) };
    let files = DirectorySite::open(root).expect("a folder");
    RuledSite::new(files, config.routes.iter().map(rule).collect())
        .directing(config.directives.clone())
}

/// The pages one after another on one connection, for a client that signals as browsers do.
fn visit(plan: &Plan, site: RuledSite, config: &Config) -> Vec<Navigation> {
    let [first, second] = &plan.pages[..] else { panic!("two pages") };
    let think = Duration::from_secs(1);
    let then = vec![NextPage { page: Arc::clone(second), think }];
    let client = client::Options {
        scheme: find_scheme(OF_SITE).ok(),
        then: then.clone(),
        ..client::Options::default()
    };
    let options = Options {
        signals: config.signals.expect("a use of signals"),
        ..Options::new(find_scheme(config.scheme.as_deref().expect("a scheme")).expect("known"))
    };
    let identity = Identity::self_signed().expect("a certificate");
    let setup = Setup::new(options, &plan.settings.networks[0], &identity);
    let loaded = load_between(first, &Ends { site, client }, setup).expect("a load");
    assert_eq!(loaded.problems, [""; 0]);
    Navigation::all(first, &then, &loaded.load.timeline, loaded.outcome)
}

/// The resources in the order in which they were complete.
fn order(run: &RunRecord) -> String {
    let mut resources: Vec<_> = run.resources.iter().collect();
    resources.sort_by(|one, other| one.complete_ms.partial_cmp(&other.complete_ms).expect("times"));
    let names: Vec<&str> =
        resources.iter().map(|it| it.url.trim_start_matches("https://site.test:8443")).collect();
    names.join(" ")
}

#[test]
fn what_a_study_found_is_what_visitors_get_from_the_files_and_other_pages_stay_as_they_are() {
    let plan = plan();
    let study = run(&plan, Value::Null, &|| {}).expect("a study");
    let choices = choose(&plan, &study.runs, TERMS).expect("choices");
    let decided: Vec<(&str, &str, bool)> =
        choices.iter().map(|it| (it.page.as_str(), it.scheme.as_str(), it.differs())).collect();
    assert_eq!(decided[0], ("shop.html", "bucket-html", true));
    assert!(!decided[1].2, "one image after the document has one order: {:?}", choices[1]);

    let folder = tempfile::tempdir().expect("a folder");
    let config = deployed(&plan, &study, &choices, folder.path());
    assert_eq!(config.warnings, Vec::<String>::new());
    assert_eq!(
        (config.scheme.as_deref(), config.signals),
        (Some("rfc9218"), Some(SignalUse::Obey))
    );
    let [route] = &config.routes[..] else { panic!("one route: {:?}", config.routes) };
    assert_eq!((route.host.as_deref(), route.path.as_str()), (Some("site.test"), "/shop.html"));
    let told: Vec<&str> = config.directives.keys().map(String::as_str).collect();
    assert_eq!(told, ["/1.png", "/2.png", "/3.png", "/shop.html"]);

    let visit = visit(&plan, site_of(&config), &config);
    let runs: Vec<RunRecord> =
        visit.iter().map(|it| RunRecord::of_load(&it.page, &it.load)).collect();
    let index = |run: &RunRecord| run.byte_index().atf.expect("above the fold");
    let studied = |scheme: &str, signals| {
        let run = study.runs.iter().find(|it| {
            let is_first = it.page == "shop.html" && it.seed == 0;
            is_first && it.scheme == scheme && it.setting.signals == Some(signals)
        });
        run.expect("a load")
    };
    let found = studied("bucket-html", SignalUse::Ignore);
    let before = studied(OF_SITE, SignalUse::Obey);
    assert_eq!(order(&runs[0]), "/shop.html /3.png /1.png /2.png");
    assert_eq!(order(&runs[0]), order(found));
    assert_eq!(order(before), "/shop.html /3.png /1.png /2.png");
    let ratio = index(&runs[0]) / index(found);
    assert!((0.99..1.01).contains(&ratio), "the visitor's ByteIndex, by the study's: {ratio}");
    let gain = index(before) / index(&runs[0]);
    assert!(gain > 1.2, "what the visitor gains: {gain}");
    // The next page has no route.
    let announced = visit.iter().map(|it| it.outcome.announced.as_deref());
    assert_eq!(announced.collect::<Vec<_>>(), [Some("bucket-html"), Some("rfc9218")]);
}

/// Every third page of the first 60, as a site under the policy of another page, and without it.
#[test]
fn no_metric_of_twenty_pages_that_were_not_studied_gets_worse() {
    let plan = plan();
    let study = run(&plan, Value::Null, &|| {}).expect("a study");
    let choices = choose(&plan, &study.runs, TERMS).expect("choices");
    let folder = tempfile::tempdir().expect("a folder");
    let config = deployed(&plan, &study, &choices, folder.path());
    assert!(!config.routes.is_empty());
    let pages = corpus::pages("@first-60").expect("a set");
    let pages: Vec<Arc<Page>> = pages.into_iter().step_by(3).map(Arc::new).collect();
    assert_eq!(pages.len(), 20);
    for page in &pages {
        let load = |rules: &RuledSite| {
            let client =
                client::Options { scheme: find_scheme(OF_SITE).ok(), ..Default::default() };
            let options = Options {
                signals: config.signals.expect("a use of signals"),
                ..Options::new(find_scheme(OF_SITE).expect("known"))
            };
            let identity = Identity::self_signed().expect("a certificate");
            let setup = Setup::new(options, &plan.settings.networks[0], &identity);
            let ends = Ends { site: rules.clone(), client };
            let loaded = load_between(page, &ends, setup).expect("a load");
            RunRecord::of_load(page, &loaded.load)
        };
        let site = || PageSite::new(page.as_ref().clone());
        let rules = config.routes.iter().map(rule).collect();
        let with = load(&RuledSite::new(site(), rules).directing(config.directives.clone()));
        let without = load(&RuledSite::new(site(), Vec::new()));
        for metric in &METRICS {
            let values = [with.metrics.get(metric), without.metrics.get(metric)];
            for [with, without] in [values.map(|it| it.all), values.map(|it| it.atf)] {
                let ratio = with.zip(without).map_or(1.0, |(with, without)| with / without);
                assert!(
                    ratio <= 1.01,
                    "{}: {} is {ratio} times that without",
                    page.name,
                    metric.name
                );
            }
        }
    }
}

#[test]
fn the_priorities_that_a_search_found_are_what_visitors_get_from_the_files() {
    let page = pages().remove(0);
    let network = Network::find("cable").expect("built in");
    let question = Question {
        pages: vec![Arc::clone(&page)],
        networks: vec![network.clone()],
        goal: Goal::byte_index(),
        most_loads: 9,
        jobs: 2,
        ..Question::new(Vec::new(), Vec::new())
    };
    let found = by_resource(&question, &|_| ()).expect("loads");
    assert!(found[0].is_better, "{found:?}");
    let answer = SiteAnswer::of(&question, &found);
    // The image above the fold goes before the two that browsers ask for with it, or they go behind it.
    assert!((1..=2).contains(&found[0].resources.len()), "{found:?}");

    let folder = tempfile::tempdir().expect("a folder");
    write_files(std::slice::from_ref(&page), folder.path());
    let text =
        policy(&answer, &found, &[], &PolicySite::Pages(vec!["shop".to_owned()]), &Value::Null);
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, text.replace("page = \"shop\"", "root = \".\"")).expect("written");
    let config = Config::load(&file).expect("a configuration");
    assert_eq!(config.warnings, Vec::<String>::new());

    let scheme = find_scheme(config.scheme.as_deref().expect("a scheme")).expect("known");
    let client = client::Options { scheme: Some(scheme.clone()), ..client::Options::default() };
    let signals = config.signals.expect("a use of signals");
    let identity = Identity::self_signed().expect("a certificate");
    let setup = Setup::new(Options { signals, ..Options::new(scheme) }, &network, &identity);
    let ends = Ends { site: site_of(&config), client };
    let loaded = load_between(&page, &ends, setup).expect("a load");
    let index = RunRecord::of_load(&page, &loaded.load).byte_index().atf.expect("above the fold");
    let measured = found[0].networks[0].found_ms.expect("measured");
    let ratio = index / measured;
    assert!((0.99..1.01).contains(&ratio), "the visitor's ByteIndex, by the measured one: {ratio}");
}
