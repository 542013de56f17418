//! A page and a link, derived from a log, repeat its load and foretell other orders.

use lab::network::Network;
use lab::stack::{Setup, load};
use lab::what_if::{Order, Replay, WhatIfError, derive, fitted, replay};
use qlog_tools::alignment::path_of;
use qlog_tools::metrics::Completions;
use qlog_tools::reader::{ReadOptions, read_file_traces};
use qlog_tools::trace::{Detail, Trace, Vantage};
use schedulers::find_scheme;
use server::{Identity, Options};
use std::path::Path;
use std::sync::Arc;

const PAGE: &str = "agency-index";

fn traces(file: &Path) -> Vec<Trace> {
    let options = ReadOptions { detail: Detail::Full, ..ReadOptions::default() };
    read_file_traces(file, options).expect("a log")
}

/// The client's log of a load under `scheme`, and its `ByteIndex` above the fold in ms.
fn loaded(scheme: &str, network: &str) -> (Trace, f64) {
    let page = Arc::new(corpus::bundled(PAGE).expect("bundled").clone());
    let folder = tempfile::tempdir().expect("a folder");
    let identity = Identity::self_signed().expect("a certificate");
    let network = Network::find(network).expect("built in");
    let options = Options::new(find_scheme(scheme).expect("a scheme"));
    let setup = Setup { log_dir: Some(folder.path()), ..Setup::new(options, &network, &identity) };
    let timeline = load(&page, setup).expect("a load").load.timeline;
    let above_fold = lab::above_fold(&page);
    let index = Completions::new(&timeline, |it| above_fold.contains(&it.url)).expect("complete");
    (traces(&folder.path().join("client.sqlog")).remove(0), index.byte_index_ms())
}

fn orders(names: &[&str]) -> Vec<Order> {
    let order = |it: &&str| Order { scheme: find_scheme(it).expect("a scheme"), obeys: false };
    names.iter().map(order).collect()
}

fn is_seen(url: &str) -> bool {
    let page = corpus::bundled(PAGE).expect("bundled");
    page.resources.iter().any(|it| it.above_fold && it.url == path_of(url))
}

/// The log's results for these orders, the most similar first.
fn replays(log: Trace, names: &[&str]) -> Vec<Replay> {
    let orders = orders(names);
    let derived = derive(&[log], Some(&is_seen)).expect("a page");
    let derived = fitted(&derived, &orders, 1, 2, &|_| ()).expect("loads");
    replay(&derived, &orders, 1, 2, &|| ()).expect("loads")
}

#[test]
fn a_derived_page_repeats_its_load_and_tells_the_order_of_the_server() {
    for scheme in ["rr", "fifo"] {
        let (log, index_ms) = loaded(scheme, "cable");
        let replays = replays(log, &["rr", "fifo", "lifo"]);
        assert_eq!(replays[0].order, scheme);
        let differs = replays[0].differs.expect("complete");
        assert!(differs < 0.02, "{scheme}: {differs}");
        let replayed_ms = replays[0].byte_index_ms.atf.expect("complete");
        assert!((replayed_ms / index_ms - 1.0).abs() < 0.05, "{replayed_ms}, {index_ms}");
    }
}

#[test]
fn a_log_under_one_scheme_foretells_another() {
    let (log, _) = loaded("rr", "cable");
    let (_, real_ms) = loaded("fifo", "cable");
    let replays = replays(log, &["rr", "fifo"]);
    let foretold = replays.iter().find(|it| it.order == "fifo").expect("loaded");
    let foretold_ms = foretold.byte_index_ms.atf.expect("complete");
    assert!((foretold_ms / real_ms - 1.0).abs() < 0.05, "{foretold_ms}, {real_ms}");
}

#[test]
fn the_log_of_a_server_and_another_page_are_refused() {
    let (log, _) = loaded("rr", "cable");
    let mut of_server = log.clone();
    of_server.vantage = Vantage::Server;
    assert!(matches!(derive(&[of_server], None), Err(WhatIfError::NotTheClients(_))));
    let mut other = log.clone();
    for it in &mut other.timeline.transfers {
        it.url.push_str("-other");
    }
    assert!(matches!(derive(&[log, other], None), Err(WhatIfError::AnotherPage(..))));
}

#[test]
fn the_logs_of_other_stacks_are_replayed() {
    for name in
        ["qg_noloss_client.sqlog.gz", "aio_noloss_client.qlog.gz", "ngtcp2_loss_client.sqlog.gz"]
    {
        let Some(file) = fixtures::path(&format!("qlog-samples/generated/{name}")) else { return };
        let derived = derive(&traces(&file), None).expect(name);
        assert!(derived.has_stand_in, "{name}: ten requests at once");
        assert_eq!(derived.recorded.complete_ms.len(), 10, "{name}");
        let orders = orders(&["rr", "fifo"]);
        let replays = replay(&derived, &orders, 1, 2, &|| ()).expect("loads");
        assert!(replays.iter().all(|it| it.byte_index_ms.all.is_some()), "{name}");
        let fitted = fitted(&derived, &orders, 1, 2, &|_| ()).expect("loads");
        let repeated = fitted.repeated.expect("a link over which the page loads");
        assert!(repeated.differs < 0.05, "{name}: {repeated:?}");
    }
}
