//! What observers are told.

use crate::peers::{Peer, World, limits, options};
use server::{Answered, Event, Observer, Observers, Options};
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
        };
        events.iter().filter_map(answered).collect()
    }
}

fn world() -> (World, Arc<Diary>) {
    let (diary, mut observers) = (Arc::new(Diary::default()), Observers::default());
    observers.add(Arc::<Diary>::clone(&diary));
    (World::new(Options { limits: limits(), observers, ..options("fifo") }), diary)
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
}
