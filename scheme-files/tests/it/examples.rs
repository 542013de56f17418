//! The files in `examples/schemes`.

use crate::Reported;
use crate::scenarios::{SCENARIOS, order, requests};
use schedulers::conformance::{CHECKS, orders_are_equal};
use schedulers::{find_scheme, paper_schemes};
use scheme_files::SchemeFile;
use std::collections::BTreeSet;
use std::path::Path;

fn examples() -> Vec<SchemeFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/schemes");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    let silent = || std::sync::Arc::new(|line: &str| panic!("{line}"));
    let read =
        |it: &std::path::PathBuf| scheme_files::read(it, silent()).map_err(|it| it.to_string());
    paths.iter().map(|it| read(it).expect("a scheme")).collect()
}

#[test]
fn each_of_the_papers_schemes_can_be_declared() {
    let examples = examples();
    let declared = examples.iter().filter(|it| !it.has_script).filter_map(|it| it.twin.as_deref());
    let paper: BTreeSet<&str> = paper_schemes().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(declared.collect::<BTreeSet<_>>(), paper);
}

#[test]
fn every_example_gives_the_orders_of_its_twin_on_any_course() {
    for example in examples() {
        let Some(twin) = &example.twin else { continue };
        let twin = find_scheme(twin).expect("a scheme");
        assert_eq!(orders_are_equal(&example.scheme, &twin, 2000), Ok(()));
    }
}

/// The scenarios are those of `schedulers/tests/plain_model.rs`.
#[test]
fn every_example_gives_the_orders_of_its_twin_in_every_scenario() {
    for example in examples() {
        let Some(twin) = &example.twin else { continue };
        let twin = find_scheme(twin).expect("a scheme");
        for text in SCENARIOS {
            let requests = requests(text);
            let (own, other) = (order(&requests, &example.scheme), order(&requests, &twin));
            assert_eq!(own, other, "{}: {text}", twin.name);
        }
    }
}

#[test]
fn every_example_keeps_the_rules_of_all_schemes() {
    for example in examples() {
        for check in &CHECKS {
            let result = check.run(&example.scheme, 300);
            assert_eq!(result, Ok(()), "{}: {}", example.scheme.name, check.rule);
        }
    }
}

/// The twins' rows in the list of schemes say the same.
#[test]
fn every_example_is_signalled_as_its_twin_is() {
    for example in examples() {
        let Some(twin) = &example.twin else { continue };
        let twin = find_scheme(twin).expect("a scheme");
        assert_eq!(example.scheme.signals, twin.signals, "{}", twin.name);
    }
}

#[test]
fn an_example_that_differs_from_its_twin_is_found() {
    let text = include_str!("../../../examples/schemes/dfifo.toml");
    let other = text.replace("rank = 2", "rank = 1");
    let reported = Reported::default();
    let scheme = scheme_files::parse(&other, "x.toml", reported.report()).expect("a scheme").scheme;
    let dfifo = find_scheme("dfifo").expect("a scheme");
    let cause = orders_are_equal(&scheme, &dfifo, 2000).expect_err("another order");
    assert!(cause.contains("goes to stream") && cause.contains("under `my-dfifo`"), "{cause}");
}
