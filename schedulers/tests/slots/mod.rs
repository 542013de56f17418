//! Any course of a connection, slot by slot, and the order that a scheme gives it.

use super::resources::resource;
use proptest::prelude::*;
use schedulers::{ClientHalf, Resource, Scheduler, Scheme, StreamId};

/// One slot: perhaps a request comes, perhaps a stream blocks or gets ready, and one packet goes.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    request: Option<(Resource, u64)>,
    toggled: Option<(u64, bool)>,
}

pub(crate) fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let request = prop::option::weighted(0.3, (resource(), 1_u64..12));
    let toggled = prop::option::weighted(0.2, (0_u64..12, any::<bool>()));
    let slot = (request, toggled).prop_map(|(request, toggled)| Slot { request, toggled });
    prop::collection::vec(slot, 0..120)
}

/// The stream that sends in each slot. The server knows the resources, or `client` tells it their places.
pub(crate) fn order(
    scheme: &Scheme,
    mut client: Option<Box<dyn ClientHalf>>,
    slots: &[Slot],
) -> Vec<Option<u64>> {
    let mut scheduler = Scheduler::new(scheme);
    client.iter_mut().flat_map(|it| it.setup()).for_each(|it| scheduler.signal(it));
    let mut left = Vec::new();
    let mut order = Vec::new();
    for slot in slots {
        if let Some((resource, packets)) = slot.request {
            let stream = StreamId(4 * left.len() as u64);
            left.push(packets);
            let known = if client.is_some() { Resource::default() } else { resource };
            scheduler.open(stream, &known);
            let said = client.iter_mut().flat_map(|it| it.request(stream, &resource));
            said.for_each(|it| scheduler.signal(it));
            scheduler.set_ready(stream, true);
        }
        if let Some((stream, ready)) = slot.toggled {
            scheduler.set_ready(StreamId(4 * stream), ready);
        }
        let picked = scheduler.pick();
        if let Some(stream) = picked {
            scheduler.sent(stream, 1400);
            let left = &mut left[usize::try_from(stream.0 / 4).unwrap()];
            *left -= 1;
            if *left == 0 {
                scheduler.close(stream);
                client
                    .iter_mut()
                    .flat_map(|it| it.closed(stream))
                    .for_each(|it| scheduler.signal(it));
            }
        }
        order.push(picked.map(|it| it.0));
    }
    order
}
