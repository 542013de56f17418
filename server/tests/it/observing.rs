//! The events that observers receive.

use crate::peers::{Peer, World, limits, options};
use server::{Answered, Event, Limits, Observer, Observers, Options};
use std::sync::{Arc, Mutex};

/// Remembers everything.
#[derive(Default)]
struct Diary(Mutex<Vec<Event>>);

impl Observer for Diary {
    fn notice(&self, event: &Event) {
        self.0.lock().expect("whole").push(event.clone());
    }
}

impl Diary {
    /// The responses that have ended.
    fn answered(&self) -> Vec<Answered> {
        let events = self.0.lock().expect("whole");
        let answered = |it: &Event| match it {
            Event::Answered(it) => Some(Answered::clone(it)),
            _ => None,
        };
        events.iter().filter_map(answered).collect()
    }

    /// Everything else.
    fn others(&self) -> Vec<String> {
        let events = self.0.lock().expect("whole");
        let is_other = |it: &&Event| !matches!(it, Event::Answered(_));
        events.iter().filter(is_other).map(|it| format!("{it:?}")).collect()
    }
}

fn world() -> (World, Arc<Diary>) {
    world_with(limits())
}

fn world_with(limits: Limits) -> (World, Arc<Diary>) {
    let (diary, mut observers) = (Arc::new(Diary::default()), Observers::default());
    observers.add(Arc::<Diary>::clone(&diary));
    (World::new(Options { limits, observers, ..options("fifo") }), diary)
}

#[test]
fn a_response_is_told_when_its_last_byte_was_sent() {
    let (mut world, diary) = world();
    let mut peer = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut peer]);
    peer.get(0, "/5000/html/100");
    world.run_ms(50, &mut [&mut peer]);
    assert_eq!(diary.answered(), []);
    world.run_ms(100, &mut [&mut peer]);
    let answered = diary.answered();
    let [it] = &answered[..] else { panic!("{answered:?}") };
    assert_eq!((it.method.as_str(), it.path.as_str(), it.status), ("GET", "/5000/html/100", 200));
    assert_eq!((it.bytes, it.is_complete, it.scheme.as_str()), (5_000, true, "fifo"));
    assert_eq!((it.duration.as_millis(), it.client), (100, Some([127, 0, 0, 1].into())));
}

#[test]
fn a_response_that_the_client_leaves_is_told_with_what_was_sent() {
    let (mut world, diary) = world();
    let mut peer = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut peer]);
    peer.get(0, "/1000/html/60000");
    world.run_ms(10, &mut [&mut peer]);
    peer.client.connection.quic.close(true, 0x100, b"").expect("open");
    world.run_ms(1_000, &mut [&mut peer]);
    let answered = diary.answered();
    let [it] = &answered[..] else { panic!("{answered:?}") };
    assert_eq!((it.bytes, it.is_complete, it.status), (0, false, 200));
    assert_eq!(diary.others(), ["Accepted", "Closed { by: \"client\", code: \"H3_NO_ERROR\" }"]);
}

#[test]
fn whom_the_server_refuses_and_gives_up_is_told() {
    let limits = Limits { connections: 1, ..limits() };
    let (mut world, diary) = world_with(limits);
    let mut slow = Peer::new(&world, 1);
    world.run_ms(10, &mut [&mut slow]);
    let mut refused = Peer::new(&world, 2);
    world.run_ms(10, &mut [&mut slow, &mut refused]);
    slow.client.unread = Some(http3::StreamId(0));
    slow.get(0, "/5000000/png");
    for _ in 0..75 {
        slow.client.connection.quic.send_ack_eliciting().expect("open");
        world.run_ms(1_000, &mut [&mut slow]);
    }
    world.drain();
    // A first flight has two datagrams.
    let told = ["Accepted", "Refused(Full)", "Refused(Full)", "Overdue", "Draining"];
    assert_eq!(diary.others(), told);
}
