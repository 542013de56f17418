//! A page that a user opens while a large file is arriving.

use crate::peers::{Peer, World};
use crate::simulation::{Bodies, Client, Link, options};
use server::{Downloads, Options, SignalUse};
use std::time::Duration;

/// How long a document of 100 kB takes, optionally 10 s after a download of 2 GB has begun. A browser requests both
/// with the same urgency. `None`: more than a minute.
fn document_ms(downloads: Option<Downloads>, beside_download: bool) -> Option<u128> {
    let options = Options { signals: SignalUse::Obey, downloads, ..options("rfc9218") };
    let mut world = World::over(Link::CABLE.links(), options, Bodies);
    let client = Client { receive_bytes: 1 << 40, stream_receive_bytes: 1 << 40, id_bytes: 16 };
    let mut peer = Peer::connect(&world, ([127, 0, 0, 1], 5000).into(), &client.config());
    world.run_ms(200, &mut [&mut peer]);
    if beside_download {
        peer.get_with(0, "/2000000000/html", "u=0");
    }
    world.run_ms(10_000, &mut [&mut peer]);
    let start = world.elapsed();
    peer.get_with(4, "/100000/html", "u=0");
    let end = start + Duration::from_secs(60);
    while peer.ended.is_empty() && world.elapsed() < end {
        world.step(&mut [&mut peer], Some(end));
    }
    peer.ended.first().map(|_| world.elapsed().saturating_sub(start).as_millis())
}

#[test]
fn a_page_beside_a_download_comes_as_if_it_were_alone() {
    assert_eq!(
        document_ms(None, true),
        None,
        "without the rule it waits for the end of the download"
    );
    let alone = document_ms(Some(Downloads::default()), false).expect("a document");
    let beside = document_ms(Some(Downloads::default()), true).expect("a document");
    assert!(2 * beside <= 3 * alone, "{alone} ms alone, {beside} ms beside a download");
}

#[test]
fn no_file_of_a_bundled_page_counts_as_a_download() {
    let pages = corpus::bundled_names().into_iter().filter_map(corpus::bundled);
    let largest = pages.flat_map(|it| &it.resources).map(|it| it.bytes).max();
    assert!(largest.is_some_and(|it| 2 * it < Downloads::default().bytes), "{largest:?}");
}
