//! Two schemes, page by page.

use lab::ideal::{self, Conditions};
use lab::network::Network;
use schedulers::Scheme;
use std::sync::Arc;

/// The first bundled page on which two schemes differ in the time of a packet, on engine `ideal` and network `paper`.
pub(super) fn differing_page(one: &Scheme, other: &Scheme) -> Option<&'static str> {
    let paper = Network::find("paper").ok()?;
    corpus::bundled_names().into_iter().find(|name| {
        let Some(page) = corpus::bundled(name) else { return false };
        let page = Arc::new(page.clone());
        let [one, other] = [one, other].map(|scheme| {
            let scheme = scheme.clone().for_page(&page.graph());
            ideal::load(&page, &scheme, &paper, Conditions::default()).timeline.transfers
        });
        one != other
    })
}

/// The scheme files in `examples/schemes` give the same orders as their built-in twins: on every bundled page, and in every
/// fixture scenario, if installed.
#[cfg(test)]
mod tests {
    use super::differing_page;
    use lab::scenario::{Scenario, run};
    use schedulers::{Scheme, find_scheme};
    use scheme_files::SchemeFile;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    /// The examples with their twins.
    fn twins() -> Vec<(Scheme, Scheme)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/schemes");
        let paths = std::fs::read_dir(folder).expect("a folder");
        let mut paths: Vec<PathBuf> = paths.map(|it| it.expect("an entry").path()).collect();
        paths.sort();
        let read = |path: &PathBuf| {
            scheme_files::read(path, Arc::new(|line| panic!("{line}"))).expect("a scheme")
        };
        let files = paths.iter().map(read);
        let twins = files.filter_map(|SchemeFile { scheme, twin, .. }| {
            Some((scheme, find_scheme(&twin?).expect("a scheme")))
        });
        let twins: Vec<_> = twins.collect();
        assert!(twins.len() >= 13, "{} twins", twins.len());
        twins
    }

    #[test]
    fn every_packet_of_every_bundled_page_goes_as_under_the_twin() {
        for (own, twin) in twins() {
            assert_eq!(differing_page(&own, &twin), None, "{}", own.name);
        }
        let [fifo, dfifo] = ["fifo", "dfifo"].map(|it| find_scheme(it).expect("a scheme"));
        assert!(differing_page(&fifo, &dfifo).is_some());
    }

    #[test]
    fn every_slot_of_every_scenario_goes_as_under_the_twin() {
        let Some(folder) = fixtures::path("vectors") else { return };
        let paths =
            std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
        let is_scenario = |path: &PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            name.starts_with(|first: char| first.is_ascii_digit())
        };
        let scenarios: Vec<Scenario> =
            paths.filter(is_scenario).map(|it| Scenario::read(&it).expect("a scenario")).collect();
        assert!(!scenarios.is_empty());
        for (own, twin) in twins() {
            for scenario in &scenarios {
                assert_eq!(run(scenario, &own), run(scenario, &twin), "{}", scenario.name);
            }
        }
    }
}
