//! The first sentence of a summary names the planted cause.

mod random;

use client::ClientConfig;
use corpus::Page;
use corpus::page::Chunk;
use gateway::site::RuledSite;
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use page_site::PageSite;
use qlog_tools::pairing::pairs;
use qlog_tools::reader::{ReadOptions, read_file_traces};
use qlog_tools::summary::{Cause, Summary};
use qlog_tools::trace::{Detail, Trace};
use schedulers::find_scheme;
use server::{CongestionControl, Identity, Options};
use simulator::link::{Blackhole, Loss, Profile, Queue, Reorder};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A connection, and the planted cause that holds its server back.
struct Planted {
    page: Page,
    network: Network,
    control: CongestionControl,
    transport: ClientConfig,
}

/// One document of this number of bytes over 10 Mbit/s, a round trip of 40 ms, and a queue of a bandwidth-delay product.
fn document(bytes: u64) -> Planted {
    let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
    page.resources.truncate(1);
    page.resources[0].bytes = bytes;
    page.resources[0].decoded_bytes = None;
    let link = Profile { queue: Queue::Bytes(50_000), ..Profile::plain(10_000_000.0, 20.0) };
    let network =
        Network { name: "planted".to_owned(), server_pace: false, down: link.clone(), up: link };
    let (control, transport) = (CongestionControl::Cubic, ClientConfig::default());
    Planted { page, network, control, transport }
}

/// The logs of both ends.
pub(crate) fn logs(
    page: Page,
    network: &Network,
    control: CongestionControl,
    transport: ClientConfig,
) -> Vec<Trace> {
    let folder = tempfile::tempdir().expect("a folder");
    load(Planted { page, network: network.clone(), control, transport }, 0, folder.path());
    let options = ReadOptions { detail: Detail::Full, vantage: None };
    let files = log_files(folder.path()).into_iter();
    files.flat_map(|it| read_file_traces(&it, options).expect("a log")).collect()
}

/// Carries out a load whose logs go into the folder.
fn load(planted: Planted, seed: u64, folder: &Path) -> StackLoad {
    let Planted { page, network, control, transport } = planted;
    let page = Arc::new(page);
    let identity = Identity::self_signed().expect("an identity");
    let scheme = find_scheme("rfc9218").expect("a scheme");
    let options = Options {
        congestion_control: control,
        pace: network.pace(),
        ..Options::new(scheme.clone())
    };
    let client = client::Options { scheme: Some(scheme), transport, ..client::Options::default() };
    let ends = Ends { site: RuledSite::of(PageSite::new(Page::clone(&page))), client };
    let setup = Setup { seed, log_dir: Some(folder), ..Setup::new(options, &network, &identity) };
    let loaded = load_between(&page, &ends, setup).expect("a load");
    assert!(loaded.load.completed, "{:?}", loaded.problems);
    loaded
}

/// The logs in a folder: the client's, and the server's.
fn log_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|it| it.expect("an entry").path());
    paths.filter(|it| it.extension().is_some_and(|it| it == "sqlog")).collect()
}

/// The cause that the summary names, and its sentences.
fn told(planted: Planted) -> (Cause, Vec<String>) {
    let logs = logs(planted.page, &planted.network, planted.control, planted.transport);
    let pairs = pairs(&logs);
    assert!(pairs.len() == 1 && pairs[0].server.is_some(), "both ends of one connection");
    let summary = Summary::of(&pairs[0], None);
    let cause = summary.held.as_ref().expect("a server's log").cause;
    (cause, summary.sentences.into_iter().map(|it| it.text).collect())
}

#[track_caller]
fn assert_told(planted: Planted, expected: Cause, words: &str) {
    let (cause, sentences) = told(planted);
    let is_told = cause == expected && sentences[0].contains(words);
    assert!(is_told, "{cause:?} instead of {expected:?}:\n{}", sentences.join("\n"));
}

#[test]
fn a_server_that_takes_its_time() {
    let mut planted = document(100_000);
    planted.page.resources[0].wait_ms = 900.0;
    assert_told(planted, Cause::ThinkTime, "The server's time to answer held");
}

#[test]
fn an_application_that_writes_bit_by_bit() {
    let mut planted = document(100_000);
    planted.page.resources[0].chunks =
        (0..10).map(|it| Chunk { at_ms: f64::from(it) * 120.0, bytes: 10_000 }).collect();
    assert_told(planted, Cause::Application, "The application, which gave nothing to send");
}

#[test]
fn a_small_window_of_the_connection() {
    let transport =
        ClientConfig { receive_bytes: 20_000, windows_grow: false, ..ClientConfig::default() };
    let planted = Planted { transport, ..document(500_000) };
    assert_told(planted, Cause::ConnectionFlowControl, "receive window for the connection held");
}

#[test]
fn small_windows_of_streams() {
    let transport = ClientConfig {
        stream_receive_bytes: 20_000,
        windows_grow: false,
        ..ClientConfig::default()
    };
    let planted = Planted { transport, ..document(500_000) };
    assert_told(planted, Cause::StreamFlowControl, "receive windows for streams held");
}

#[test]
fn a_window_that_grows_on_a_long_path() {
    let mut planted = document(300_000);
    for link in [&mut planted.network.down, &mut planted.network.up] {
        link.delay_ms = 150.0;
        link.queue = Queue::Unlimited;
    }
    assert_told(planted, Cause::CongestionWindow, "The congestion window held the sender back");
}

#[test]
fn a_pace() {
    let planted =
        Planted { network: Network::find("paper").expect("bundled"), ..document(200_000) };
    assert_told(planted, Cause::Pacing, "Pacing, while windows were open, held the sender back");
}

#[test]
fn a_path_that_loses_packets() {
    let mut planted = document(1_000_000);
    planted.network.down.loss = Some(Loss::Independent(0.03));
    assert_told(planted, Cause::Loss, "A congestion window kept small by loss");
}

#[test]
fn a_path_on_which_nothing_arrives_for_a_while() {
    let mut planted = document(500_000);
    let hole = Blackhole { windows_ms: vec![[200.0, 1800.0]], every_ms: None };
    planted.network.down.blackhole = Some(hole.clone());
    planted.network.up.blackhole = Some(hole);
    assert_told(planted, Cause::ProbeTimeout, "until the probe timer expired");
}

#[test]
fn a_path_with_a_queue_without_end() {
    let mut planted = document(3_000_000);
    planted.network.down.queue = Queue::Unlimited;
    assert_told(planted, Cause::Queue, "A full path with a long queue");
}

#[test]
fn a_path_that_reorders() {
    let mut planted = document(1_000_000);
    planted.network.down.rate = simulator::link::Rate::Constant(50_000_000.0);
    planted.network.down.reorder = Some(Reorder { share: 0.02, by_ms: 8.0 });
    assert_told(planted, Cause::Reordering, "reordering was taken for loss");
}
