//! Whatever a client does, the server neither panics nor keeps anything of it.

use crate::peers::{Peer, World, limits, options};
use http3::Code;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quiche::Shutdown;
use server::{Limits, Options, SignalUse};
use std::time::Duration;

#[derive(Debug, Clone)]
enum Step {
    Get(String),
    /// Bytes on any stream of the client's.
    Send(u64, Vec<u8>, bool),
    Reset(u64),
    Stop(u64),
    /// A datagram to nobody.
    Noise(Vec<u8>),
    /// The next datagram arrives with this byte changed.
    Broken(usize),
    Wait(u64),
    Close,
}

/// The first streams of each kind that a client opens, and the server's own.
fn stream() -> impl Strategy<Value = u64> {
    prop_oneof![0..40_u64, Just(400), Just(4_000_000)]
}

/// Bytes that are likely to mean something: types of frames and streams, small lengths, static fields.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let meaningful = prop::sample::select(vec![0_u8, 1, 2, 3, 4, 5, 7, 13, 0x21, 0xc1, 0xd1, 0xd7]);
    prop::collection::vec(prop_oneof![4 => meaningful, 1 => any::<u8>()], 0..60)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => "/[0-9]{1,6}/(html|css|png)(/[0-9]{1,3})?".prop_map(Step::Get),
        6 => (stream(), bytes(), any::<bool>()).prop_map(|(id, it, fin)| Step::Send(id, it, fin)),
        2 => stream().prop_map(Step::Reset),
        2 => stream().prop_map(Step::Stop),
        1 => prop::collection::vec(any::<u8>(), 0..1300).prop_map(Step::Noise),
        1 => (0..1200_usize).prop_map(Step::Broken),
        3 => (0..2000_u64).prop_map(Step::Wait),
        1 => Just(Step::Close),
    ]
}

fn make(step: Step, world: &mut World, peer: &mut Peer) {
    match step {
        Step::Get(path) => {
            let stream = peer.client.connection.next_request().0;
            peer.try_get(stream, &path);
        }
        Step::Send(stream, bytes, fin) => {
            peer.client.connection.quic.stream_send(stream, &bytes, fin).ok();
        }
        Step::Reset(stream) => {
            let code = Code::RequestCancelled.value();
            peer.client.connection.quic.stream_shutdown(stream, Shutdown::Write, code).ok();
        }
        Step::Stop(stream) => {
            let code = Code::RequestCancelled.value();
            peer.client.connection.quic.stream_shutdown(stream, Shutdown::Read, code).ok();
        }
        Step::Noise(datagram) => world.deliver_noise(&datagram),
        Step::Broken(place) => {
            let mut buffer = vec![0; 65_536];
            let now = world.now();
            if let Some(transmit) = connection::Endpoint::transmit(peer, now, &mut buffer) {
                buffer.truncate(transmit.bytes);
                if let Some(byte) = buffer.get_mut(place) {
                    *byte ^= 0x55;
                }
                world.deliver(&buffer, connection::Endpoint::local_addr(peer));
            }
        }
        Step::Wait(ms) => world.run_ms(ms, &mut [peer]),
        Step::Close => peer.client.connection.close(Code::NoError, ""),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(2019), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_left_of_any_client(
        steps in prop::collection::vec(step(), 1..60),
        scheme in prop::sample::select(vec!["rfc9218", "tree", "bucket-html", "rr"]),
    ) {
        let limits = Limits { idle: Duration::from_secs(20), ..limits() };
        let signals = SignalUse::Override;
        let mut world = World::new(Options { limits, signals, ..options(scheme) });
        let mut peer = Peer::new(&world, 1);
        peer.takes_any_body = true;
        world.run_ms(10, &mut [&mut peer]);
        for step in steps {
            make(step, &mut world, &mut peer);
        }
        drop(peer);
        world.run_ms(60_000, &mut []);
        prop_assert_eq!((world.server.connections(), world.server.routes()), (0, 0));
    }
}
