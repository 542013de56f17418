//! A client whose address changes during a download, as behind a router that forgets it.

use crate::peers::{Peer, World};
use crate::simulation::{Bodies, Client, Link, options};
use connection::{Endpoint, Path, Transmit};
use server::{CongestionControl, Limits, Options};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A client that does not know that the server sees it at another address.
pub(crate) struct Rebound {
    pub(crate) peer: Peer,
    pub(crate) address: SocketAddr,
    /// What is left to send on the first stream.
    pub(crate) upload: Vec<u8>,
}

impl Rebound {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer, address: at(0), upload: Vec::new() }
    }

    /// Sends as much of the upload as fits.
    fn upload(&mut self) {
        if !self.upload.is_empty() {
            let taken = self.peer.send_raw(0, &self.upload, false).unwrap_or(0);
            self.upload.drain(..taken);
        }
    }
}

impl Endpoint for Rebound {
    fn local_addr(&self) -> SocketAddr {
        self.address
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        self.peer.receive(datagram, Path { local: at(0), ..path }, now);
        self.upload();
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.peer.transmit(now, out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.peer.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.peer.next_timeout()
    }
}

pub(crate) fn at(number: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 5000 + number))
}

/// A download of 2 MB, and the times in ms at which the client's address changes. Returns how long it takes, if it is
/// complete within a minute.
fn download(options: Options, link: Link, changes_ms: &[u64]) -> Option<Duration> {
    let limits = Limits { addresses: 32, ..options.limits };
    let mut world = World::over(link.links(), Options { limits, ..options }, Bodies);
    let peer = Peer::connect(&world, at(0), &Client::with_id(16).config());
    let mut client = Rebound::new(peer);
    while !client.peer.is_established() {
        assert!(world.step(&mut [&mut client], None), "a handshake");
    }
    let start = world.elapsed();
    client.peer.get(0, "/2000000/png");
    for (change_ms, number) in changes_ms.iter().zip(1..) {
        let change = start + Duration::from_millis(*change_ms);
        let left = change.saturating_sub(world.elapsed());
        world.run_for(left, &mut [&mut client]);
        client.address = at(number);
        // What is on its way to the old address is lost, and a client that only receives has nothing to say. Browsers
        // send a PING when nothing comes.
        client.peer.client.connection.quic.send_ack_eliciting().expect("a path");
    }
    while client.peer.ended.is_empty() && world.elapsed() < Duration::from_secs(60) {
        assert!(world.step(&mut [&mut client], None), "nothing happens any more");
    }
    let is_whole = client.peer.body_bytes(0) == Some(2_000_000);
    is_whole.then(|| world.elapsed().saturating_sub(start))
}

fn cubic() -> Options {
    Options { congestion_control: CongestionControl::Cubic, ..options("fifo") }
}

#[test]
fn a_download_goes_on_after_a_change_of_address_at_any_time() {
    let alone = download(options("fifo"), Link::CABLE, &[]).expect("whole");
    for number in 0..20 {
        let change_ms = 20 + 45 * number;
        let taken = download(options("fifo"), Link::CABLE, &[change_ms]).expect("whole");
        let lost = taken.saturating_sub(alone);
        assert!(lost < Duration::from_millis(350), "{change_ms}: {alone:?}, {taken:?}");
        // What is lost ends slow start, so a change in the first round trips costs CUBIC more.
        let taken = download(cubic(), Link::CABLE, &[change_ms]).expect("whole");
        assert!(taken < Duration::from_secs(5), "{change_ms}: {taken:?}");
    }
}

#[test]
fn a_download_survives_five_changes_of_address_in_a_row() {
    let changes = [150, 300, 450, 600, 750];
    for options in [options("fifo"), cubic()] {
        let taken = download(options, Link::CABLE, &changes).expect("whole");
        assert!(taken < Duration::from_secs(6), "{taken:?}");
    }
}

#[test]
fn a_download_survives_changes_of_address_where_one_packet_in_fifty_is_lost() {
    let link = Link { lose_each: 50, lose_each_from_client: 50, ..Link::CABLE };
    for first_ms in (100..1000).step_by(90) {
        let changes = [first_ms, first_ms + 300, first_ms + 600];
        assert!(download(cubic(), link, &changes).is_some(), "{changes:?}");
    }
}

/// A client whose window is full of a request's body when its address changes has room for the answer to the challenge
/// only if the server acknowledges what came, in the datagram with the challenge: quiche forgets a challenge that it has
/// no room to answer.
#[test]
fn an_upload_survives_a_change_of_address_at_any_time() {
    for change_ms in (0..200).step_by(10) {
        upload(Link::CABLE, WINDOW_BYTES, &[change_ms]);
    }
}

#[test]
fn an_upload_survives_changes_of_address_where_one_packet_in_fifty_is_lost() {
    let link = Link { lose_each: 50, lose_each_from_client: 50, ..Link::CABLE };
    for first_ms in (0..500).step_by(45) {
        upload(link, WINDOW_BYTES, &[first_ms, first_ms + 300, first_ms + 600]);
    }
}

#[test]
fn an_upload_survives_a_change_of_address_with_a_small_receive_window() {
    for change_ms in (0..200).step_by(20) {
        upload(Link::CABLE, 64 << 10, &[change_ms]);
    }
}

/// What the server of an upload receives unread.
const WINDOW_BYTES: u64 = 1 << 20;

/// Sends 3 MB to a server that answers after two seconds, and changes the address at these times in ms.
fn upload(link: Link, receive_bytes: u64, changes_ms: &[u64]) {
    let limits = Limits { addresses: 32, receive_bytes, ..Limits::default() };
    let mut world = World::over(link.links(), Options { limits, ..options("fifo") }, Bodies);
    let peer = Peer::connect(&world, at(0), &Client::with_id(16).config());
    let mut client = Rebound::new(peer);
    while !client.peer.is_established() {
        assert!(world.step(&mut [&mut client], None), "a handshake");
    }
    assert!(client.peer.try_post(0, "/1000/html/2000"));
    client.upload = [&[0, 0x80, 0x2d, 0xc6, 0xc0][..], &vec![7; 3_000_000]].concat();
    client.upload();
    let start = world.elapsed();
    for (change_ms, number) in changes_ms.iter().zip(1..) {
        let left = (start + Duration::from_millis(*change_ms)).saturating_sub(world.elapsed());
        world.run_for(left, &mut [&mut client]);
        client.address = at(number);
    }
    while client.peer.ended.is_empty() && world.elapsed() < start + Duration::from_secs(10) {
        assert!(
            world.step(&mut [&mut client], None),
            "{changes_ms:?} ms: nothing happens any more"
        );
    }
    assert_eq!(client.peer.body_bytes(0), Some(1000), "{changes_ms:?} ms");
}

/// A visitor whose address changes with every second group of requests, at the moment of the requests. Returns the longest time
/// that a group took, and whether the server closed the connection.
fn visit(link: Link) -> (Duration, bool) {
    let limits = Limits { addresses: 32, ..Limits::default() };
    let mut world = World::over(link.links(), Options { limits, ..options("fifo") }, Bodies);
    let peer = Peer::connect(&world, at(0), &Client::with_id(16).config());
    let mut client = Rebound::new(peer);
    while !client.peer.is_established() {
        assert!(world.step(&mut [&mut client], None), "a handshake");
    }
    let mut longest = Duration::ZERO;
    for group in 0..20_u16 {
        let asked = world.elapsed();
        for number in 0..3 {
            client.peer.get((u64::from(group) * 3 + number) * 4, "/20000/png");
        }
        if group % 2 == 1 {
            client.address = at(group);
            client.peer.client.connection.quic.send_ack_eliciting().expect("a path");
        }
        let (mut taken, mut is_over) = (Duration::ZERO, false);
        while client.peer.ended.len() < usize::from(group + 1) * 3 && !is_over {
            let soon = world.elapsed() + Duration::from_millis(1);
            world.step(&mut [&mut client], Some(soon));
            taken = world.elapsed().saturating_sub(asked);
            assert!(taken < Duration::from_secs(10), "group {group} waits");
            is_over = client.peer.client.connection.is_over();
        }
        longest = longest.max(taken);
        if is_over {
            return (longest, true);
        }
        world.run_for(Duration::from_millis(u64::from(group * 7 % 150)), &mut [&mut client]);
    }
    (longest, false)
}

/// A client whose requests are acknowledged has nothing to say if the challenge is lost. Nearby, the transport gives an
/// address up within milliseconds.
#[test]
fn a_visitor_who_moves_while_asking_is_answered_also_where_packets_are_lost() {
    let nearby = Link { bits_per_second: 1e9, one_way_ms: 0.2, ..Link::CABLE };
    for link in [Link::CABLE, nearby] {
        for lose_each in (11..=101).step_by(2) {
            let link = Link { lose_each, lose_each_from_client: lose_each + 2, ..link };
            let (longest, is_closed) = visit(link);
            assert!(longest < Duration::from_millis(1200), "{lose_each}: {longest:?}");
            assert!(!is_closed, "{lose_each}");
        }
    }
}

/// The transport abandons an address when the challenge is lost and it may send nothing more there. From then on, it makes the
/// address active when a datagram arrives from there, but accepts no second one before it has sent another challenge.
#[test]
fn datagrams_that_come_together_from_an_address_that_was_given_up_do_not_end_the_connection() {
    let limits = Limits { addresses: 32, ..Limits::default() };
    let link = Link { bits_per_second: 1e9, one_way_ms: 0.2, ..Link::CABLE };
    let mut world = World::over(link.links(), Options { limits, ..options("fifo") }, Bodies);
    let peer = Peer::connect(&world, at(0), &Client::with_id(16).config());
    let mut client = Rebound::new(peer);
    world.run_for(Duration::from_millis(100), &mut [&mut client]);
    client.address = at(1);
    deliver(&mut world, &mut client, 1);
    // What goes to the new address is lost, the challenge first of all. The transport does not know the round trip there, so it
    // gives up after a second.
    world.run_for(Duration::from_millis(1100), &mut [] as &mut [&mut Rebound]);
    deliver(&mut world, &mut client, 3);
    client.peer.get(0, "/20000/png");
    world.run_for(Duration::from_secs(2), &mut [&mut client]);
    assert_eq!(client.peer.closed_with(), None);
    assert_eq!(client.peer.body_bytes(0), Some(20_000));
}

/// Hands the server this many of the client's datagrams, with nothing sent between them. Returns their bytes.
fn deliver(world: &mut World, client: &mut Rebound, count: usize) -> u64 {
    let (mut buffer, mut bytes) = (vec![0; 65_536], 0);
    for _ in 0..count {
        client.peer.client.connection.quic.send_ack_eliciting().expect("a path");
        let now = world.now();
        let transmit = client.transmit(now, &mut buffer).expect("a PING");
        world.deliver(&buffer[..transmit.bytes], client.address);
        bytes += transmit.bytes as u64;
    }
    bytes
}

/// An attacker forwards a client's datagrams from 40 addresses without a client, during a download (RFC 9000, 9.3.1). `asks`:
/// bytes of a request in each datagram. Returns the most bytes sent to an address for each that came from there.
fn sent_on_by_others(addresses: usize, asks: usize, at_once: usize) -> f64 {
    let limits = Limits { addresses, ..Limits::default() };
    let mut world = World::over(Link::CABLE.links(), Options { limits, ..options("fifo") }, Bodies);
    let peer = Peer::connect(&world, at(0), &Client::with_id(16).config());
    let mut client = Rebound::new(peer);
    while !client.peer.is_established() {
        assert!(world.step(&mut [&mut client], None), "a handshake");
    }
    client.peer.get(0, "/2000000/png");
    world.run_for(Duration::from_millis(200), &mut [&mut client]);
    let mut most = 0.0_f64;
    for number in 1..=40 {
        client.address = at(number);
        if asks > 0 {
            client.peer.get(u64::from(number) * 4, &format!("/10/png/{}", "x".repeat(asks)));
        }
        let came = deliver(&mut world, &mut client, at_once);
        client.address = at(0);
        world.run_for(Duration::from_millis(700), &mut [&mut client]);
        most = most.max(world.undelivered_bytes(at(number)) as f64 / came as f64);
    }
    assert_eq!(client.peer.body_bytes(0), Some(2_000_000), "the owner's download");
    client.peer.get(400, "/20000/png");
    world.run_for(Duration::from_secs(1), &mut [&mut client]);
    assert_eq!(client.peer.body_bytes(400), Some(20_000), "the owner is served afterwards");
    assert!(world.undelivered_bytes(at(1)) > 0, "the address is challenged");
    if addresses > 2 {
        client.address = at(50);
        client.peer.get(404, "/20000/png");
        world.run_for(Duration::from_secs(1), &mut [&mut client]);
        assert_eq!(client.peer.body_bytes(404), Some(20_000), "the owner can move");
    }
    most
}

#[test]
fn an_address_that_is_not_proven_gets_at_most_three_times_what_came_from_there() {
    for (addresses, asks, at_once) in [(2, 0, 1), (2, 1000, 5), (32, 0, 2), (32, 200, 1)] {
        let most = sent_on_by_others(addresses, asks, at_once);
        assert!(most <= 3.0, "{addresses} addresses, {asks} bytes, {at_once}: {most}");
    }
}

#[test]
fn a_client_at_one_address_too_many_learns_there_that_its_connection_is_closed() {
    let limits = Limits { addresses: 2, ..Limits::default() };
    let options = Options { limits, ..options("fifo") };
    let mut world = World::over(Link::CABLE.links(), options, Bodies);
    let peer = Peer::connect(&world, at(0), &Client::with_id(16).config());
    let mut client = Rebound::new(peer);
    for number in 0..3 {
        client.address = at(number);
        client.peer.client.connection.quic.send_ack_eliciting().expect("a path");
        world.run_for(Duration::from_millis(500), &mut [&mut client]);
        assert_eq!(client.peer.client.connection.is_over(), number == 2, "address {number}");
    }
    assert_eq!(client.peer.closed_with(), Some(http3::Code::NoError as u64));
}

/// A client whose address changes when it has the server's part of the handshake, before it sends its own.
struct Hasty {
    client: Rebound,
    /// Its first part of the handshake is lost.
    loses: bool,
}

impl Hasty {
    /// Requests a file at once. Returns the size of the body that arrives within a second, and whether the connection ends.
    fn visit(loses: bool) -> (Option<u64>, bool) {
        let mut world = World::over(Link::CABLE.links(), options("fifo"), Bodies);
        let peer = Peer::connect(&world, at(0), &Client::with_id(16).config());
        let mut hasty = Self { client: Rebound::new(peer), loses };
        while hasty.client.address == at(0) {
            assert!(world.step(&mut [&mut hasty], None), "a handshake");
        }
        hasty.client.peer.get(0, "/20000/png");
        world.run_for(Duration::from_secs(1), &mut [&mut hasty]);
        let peer = &hasty.client.peer;
        (peer.body_bytes(0), peer.client.connection.is_over())
    }
}

impl Endpoint for Hasty {
    fn local_addr(&self) -> SocketAddr {
        self.client.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        self.client.receive(datagram, path, now);
        if self.client.peer.is_established() {
            self.client.address = at(1);
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        let is_lost = self.loses && self.client.address == at(1);
        if is_lost && self.client.transmit(now, out).is_some() {
            self.loses = false;
        }
        self.client.transmit(now, out)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.client.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.client.next_timeout()
    }
}

#[test]
fn a_client_whose_address_changes_in_the_handshake_is_answered_or_told_to_try_again() {
    assert_eq!(Hasty::visit(false), (Some(20_000), false));
    assert_eq!(Hasty::visit(true), (None, true));
}
