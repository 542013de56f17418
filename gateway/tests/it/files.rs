//! Files that clients request at great cost.

use crate::peers::{Peer, World, config, limits, options};
use connection::ClientConfig;
use gateway::site::{DirectorySite, Pushing, Rule, RuledSite};
use server::FileLimits;
use std::net::SocketAddr;
use tempfile::TempDir;

const LARGE: usize = 1_000_000;

/// A folder with three large files, and a server that may open two.
fn world() -> (World, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["1", "2", "3"] {
        std::fs::write(folder.path().join(name), vec![b'a'; LARGE]).expect("written");
    }
    let limits_of_files = FileLimits { descriptors: 2, kept_bytes: 0, ..FileLimits::default() };
    let site = DirectorySite::within(folder.path(), limits_of_files).expect("a folder");
    let options = server::Options { limits: limits(), ..options("fifo") };
    (World::of(options, RuledSite::of(site)), folder)
}

/// A client whose streams accept 1 byte and no more.
fn stalled(world: &World) -> Peer {
    let address = SocketAddr::from(([127, 0, 0, 1], 6000));
    let mut peer = Peer::connect(
        world,
        address,
        &ClientConfig { stream_receive_bytes: 1, windows_grow: false, ..config() },
    );
    peer.takes_any_body = true;
    peer
}

#[test]
fn when_no_more_files_can_be_opened_the_answer_is_a_503_that_nobody_keeps() {
    let (mut world, _folder) = world();
    let (mut bad, mut good) = (stalled(&world), Peer::new(&world, 1));
    world.run_ms(10, &mut [&mut bad, &mut good]);
    bad.get(0, "/1");
    bad.get(4, "/2");
    world.run_ms(10, &mut [&mut bad, &mut good]);
    good.get(0, "/3");
    world.run_ms(10, &mut [&mut bad, &mut good]);
    let head = ":status: 503\nserver: utmost\ncontent-length: 0\nretry-after: 1\ncache-control: no-store\n";
    assert_eq!(good.heads, [head]);
}

#[test]
fn in_a_directory_a_promise_is_made_while_its_file_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.css");
    std::fs::write(folder.path().join("index.html"), "<p>").expect("written");
    let pushing = Pushing { push: vec!["/a.css".into()], ..Pushing::default() };
    let root = DirectorySite::open(folder.path()).expect("a directory");
    let site = RuledSite::new(root, vec![Rule::pushing("/", pushing)]);
    let mut world = World::of(options("fifo"), site);
    let mut promises = |number| {
        let mut peer = Peer::new(&world, number);
        peer.takes_any_body = true;
        world.run_ms(50, &mut [&mut peer]);
        peer.allow_pushes(10);
        peer.get(0, "/");
        world.run_ms(100, &mut [&mut peer]);
        assert!(peer.body_bytes(0) == Some(3) && peer.closed_with().is_none());
        peer.promised.len()
    };
    assert_eq!(promises(1), 0);
    std::fs::write(&file, "p {}").expect("written");
    assert_eq!(promises(2), 1);
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(promises(3), 0);
}
