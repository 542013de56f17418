//! Adding a scheme: one file like this, and its row in `schemes::all` to be found by name.

use schedulers::{
    ClientHalf, Element, Halves, Kind, Place, Rank, Resource, Scheduler, Scheme, ServerHalf,
    Signal, StreamId, Tree,
};

// The README shows from here to the end of the scheme.
fn scheme() -> Scheme {
    Scheme::new(
        "fonts-first",
        "Fonts, one after another; then all others share",
        "Nobody",
        |_, _| Ok(Halves::new(FontsFirst, FontsFirst)),
    )
}

struct FontsFirst;

/// The client's signals: none.
impl ClientHalf for FontsFirst {
    fn request(&mut self, _stream: StreamId, _resource: &Resource) -> Vec<Signal> {
        Vec::new()
    }
}

/// Where the server puts a stream: the lowest rank goes first, equal ranks share.
impl ServerHalf for FontsFirst {
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource) {
        let rank = match resource.kind {
            Kind::Font => Rank::sequence_in(0, stream.0),
            _ => Rank::level(1),
        };
        tree.put(Element::Stream(stream), Place::DEFAULT.rank(rank));
    }
}
// End of the scheme.

#[test]
fn a_scheme_of_ones_own_runs_like_any_other() {
    let mut scheduler = Scheduler::new(&scheme());
    let mut left = [2; 4];
    for (id, kind) in [(0, Kind::Html), (1, Kind::Font), (2, Kind::Font), (3, Kind::Image)] {
        scheduler.open(StreamId(id), &Resource { kind, ..Resource::default() });
        scheduler.set_ready(StreamId(id), true);
    }
    let mut order = String::new();
    while let Some(stream) = scheduler.pick() {
        scheduler.sent(stream, 1400);
        order += &stream.0.to_string();
        let left = &mut left[usize::try_from(stream.0).unwrap()];
        *left -= 1;
        if *left == 0 {
            scheduler.close(stream);
        }
    }
    assert_eq!(order, "11220303");
}

#[test]
fn the_readmes_example_is_at_most_forty_lines() {
    let file = include_str!("own_scheme.rs");
    let (_, rest) = file.split_once("// The README shows").unwrap();
    let (example, _) = rest.split_once("// End of the scheme.").unwrap();
    assert!(example.lines().count() <= 40, "{} lines", example.lines().count());
}
