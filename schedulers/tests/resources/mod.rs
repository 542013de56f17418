//! Any resource, for tests.

use proptest::prelude::*;
use schedulers::{Kind, Resource};

/// Any kind, with any facts that a page may contain about it.
pub(crate) fn resource() -> impl Strategy<Value = Resource> {
    use Kind::{Css, Font, Html, Image, Js, Media, Other, Xhr};
    let kind = prop::sample::select(vec![Html, Css, Js, Font, Image, Media, Xhr, Other]);
    (kind, any::<[bool; 8]>()).prop_map(|(kind, facts)| Resource {
        kind,
        main: facts[0],
        in_head: facts[1],
        critical: facts[2],
        above_fold: facts[3],
        after_first_image: facts[4],
        asynchronous: facts[5],
        deferred: facts[6],
        preload: facts[7],
        ..Resource::default()
    })
}
