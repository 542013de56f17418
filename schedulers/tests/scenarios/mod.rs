//! Scenarios of our own: requests, slot by slot, and the order that a scheme gives them.

use schedulers::{FACTS, Kind, Resource, Scheduler, Scheme, StreamId};

/// A request: when it arrives, in slots; its resource; how many packets its response has.
pub(crate) struct Request {
    pub(crate) slot: u64,
    pub(crate) resource: Resource,
    pub(crate) packets: u64,
}

/// `0 html 40 main; 2 css 10 in_head`: slot, kind, packets, facts.
pub(crate) fn requests(text: &str) -> Vec<Request> {
    let request = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut resource =
            Resource { kind: Kind::named(words[1]).expect("a kind"), ..Resource::default() };
        for name in &words[3..] {
            FACTS.iter().find(|it| it.name == *name).expect("a fact").set(&mut resource, true);
        }
        Request {
            slot: words[0].parse().expect("a slot"),
            resource,
            packets: words[2].parse().expect("packets"),
        }
    };
    text.split(';').map(request).collect()
}

/// The stream that sends in each slot under a scheme, one packet a slot.
pub(crate) fn order(requests: &[Request], scheme: &Scheme) -> Vec<Option<StreamId>> {
    let mut scheduler = Scheduler::new(scheme);
    let mut left: Vec<u64> = requests.iter().map(|it| it.packets).collect();
    let mut order = Vec::new();
    while left.iter().any(|it| *it > 0) {
        let slot = order.len() as u64;
        for (request, it) in requests.iter().enumerate().filter(|(_, it)| it.slot == slot) {
            let stream = StreamId(4 * request as u64);
            scheduler.open(stream, &it.resource);
            scheduler.set_ready(stream, true);
        }
        let picked = scheduler.pick();
        if let Some(stream) = picked {
            scheduler.sent(stream, 1400);
            let left = &mut left[usize::try_from(stream.0 / 4).expect("small")];
            *left -= 1;
            if *left == 0 {
                scheduler.close(stream);
            }
        }
        order.push(picked);
    }
    order
}

pub(crate) const SCENARIOS: [&str; 22] = [
    "0 html 20 main; 0 css 20",
    "0 html 40 main; 5 css 10 in_head; 9 image 30",
    "0 html 60 main; 10 css 12 in_head critical; 10 js 25 in_head critical; 12 image 40 above_fold; 12 image 40",
    "0 image 50; 1 image 50; 2 image 50; 30 css 8 in_head; 40 js 8",
    "0 html 30 main; 4 js 20 in_head; 4 js 20 async; 4 js 20 defer; 4 js 20 after_first_image; 4 js 20",
    "0 html 30 main; 6 font 12; 6 font 12 preload; 6 image 12; 6 xhr 12; 6 media 12; 6 other 12",
    "0 html 15 main; 3 css 9 preload; 3 font 9 preload; 3 image 9 preload; 3 js 9 preload; 20 css 9",
    "0 other 10; 0 other 10 critical; 0 media 10; 0 xhr 10; 5 html 10 prefetch; 5 image 10",
    "0 html 1 main; 0 css 1; 0 js 1; 0 font 1; 0 image 1; 0 xhr 1; 0 media 1; 0 other 1",
    "0 html 5 main; 20 css 5; 40 js 5; 60 font 5; 80 image 5; 100 xhr 5",
    "0 css 10; 3 image 10; 6 css 10; 9 js 10; 12 css 10 in_head; 15 image 10 above_fold",
    "0 html 200 main; 20 css 20 in_head critical; 25 css 20 in_head critical; 60 js 30; 90 image 30 above_fold",
    "0 image 100; 0 image 1; 0 image 10; 50 image 100; 51 image 1; 52 image 10",
    "0 html 20 main; 2 html 20; 2 html 20; 30 html 20",
    "0 js 30 async; 1 js 30 defer; 2 js 30; 3 js 30 in_head; 4 js 30 in_head critical; 90 js 5 in_head",
    "0 image 20 above_fold; 0 image 20; 10 image 20 above_fold; 10 image 20; 60 image 20 above_fold",
    "0 html 80 main; 10 css 10 in_head; 40 css 10 in_head; 70 css 10 in_head; 100 css 10 in_head",
    "0 xhr 25; 0 xhr 25; 5 media 60; 10 xhr 25; 70 xhr 10; 90 other 20",
    "0 html 25 main; 5 js 15 after_first_image; 5 js 15; 8 image 40; 30 js 15 after_first_image; 45 css 10",
    "0 font 30; 5 font 30 preload; 10 css 30; 15 html 30; 20 font 30",
    "0 html 12 main; 3 css 4 in_head critical; 3 css 4 in_head critical; 3 js 8 in_head critical; 3 js 8 defer; \
     4 image 20 above_fold; 4 image 10; 4 image 10; 5 image 10; 18 font 6; 18 font 6; 22 xhr 3; 40 js 5 async; \
     44 image 15; 46 image 15; 60 media 40; 61 other 2",
    "0 css 3; 0 css 3; 0 css 3; 0 image 3; 0 image 3; 0 image 3; 0 js 3; 0 js 3; 0 js 3; 0 font 3; 0 font 3; 0 xhr 3",
];
