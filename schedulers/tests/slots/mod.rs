//! Any course of a connection, slot by slot, that shrinks when a test fails.

use super::resources::resource;
use proptest::prelude::*;
use schedulers::conformance::Slot;

pub(crate) fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let request = prop::option::weighted(0.3, (resource(), 1_u64..12));
    let toggled = prop::option::weighted(0.2, (0_u64..12, any::<bool>()));
    let slot = (request, toggled).prop_map(|(request, toggled)| Slot { request, toggled });
    prop::collection::vec(slot, 0..120)
}
