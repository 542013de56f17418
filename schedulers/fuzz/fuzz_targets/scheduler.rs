//! Every scheme under any operations: it does not panic, and a pick is an open, ready stream and exists exactly when
//! there is one. The operations are those of the conformance suite.
//!
//! `cargo +nightly fuzz run --fuzz-dir schedulers/fuzz scheduler`

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use schedulers::conformance::Act;
use schedulers::{FACTS, Element, Kind, Resource, SCHEMES, Scheduler, Signal, StreamId};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

fn stream(input: &mut Unstructured) -> Result<u64> {
    Ok(if input.ratio(9, 10)? {
        u64::from(input.int_in_range(0_u8..=31)?)
    } else {
        input.arbitrary()?
    })
}

fn element(input: &mut Unstructured) -> Result<Element> {
    Ok(match input.int_in_range(0_u8..=9)? {
        0 => Element::Root,
        1..=3 => Element::Placeholder(input.int_in_range(0..=8)?),
        4 => Element::Placeholder(input.arbitrary()?),
        _ => Element::Stream(StreamId(stream(input)?)),
    })
}

fn resource(input: &mut Unstructured) -> Result<Resource> {
    let mut resource = Resource {
        kind: *input.choose(&Kind::ALL)?,
        browser: input.arbitrary()?,
        body_bytes: input.arbitrary()?,
        ..Resource::default()
    };
    for fact in &FACTS {
        fact.set(&mut resource, input.arbitrary()?);
    }
    Ok(resource)
}

fn signal(input: &mut Unstructured) -> Result<Signal> {
    Ok(match input.int_in_range(0_u8..=2)? {
        0 => Signal::Extensible {
            stream: StreamId(stream(input)?),
            urgency: input.arbitrary()?,
            incremental: input.arbitrary()?,
        },
        1 => Signal::Bucket { stream: StreamId(stream(input)?), byte: input.arbitrary()? },
        _ => Signal::Depend {
            element: element(input)?,
            parent: element(input)?,
            weight: input.arbitrary()?,
            exclusive: input.arbitrary()?,
        },
    })
}

fn act(input: &mut Unstructured) -> Result<Act> {
    Ok(match input.int_in_range(0_u8..=7)? {
        0 | 1 => Act::Open(stream(input)?, resource(input)?),
        2 => Act::Signal(signal(input)?),
        3 | 4 => Act::SetReady(stream(input)?, bool::arbitrary(input)?),
        5 => Act::Send(u64::arbitrary(input)? % 3000),
        6 => Act::SendAnyway(stream(input)?, u64::arbitrary(input)?),
        _ => Act::Close(stream(input)?),
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Unstructured::new(bytes);
    let Ok(scheme) = input.choose(&SCHEMES) else { return };
    let mut scheme = scheme.clone();
    scheme.guard = input.arbitrary::<u8>().ok().and_then(|it| NonZeroU32::new(it.into()));
    let mut scheduler = Scheduler::new(&scheme);
    let mut open = BTreeMap::new();
    while let (false, Ok(act)) = (input.is_empty(), act(&mut input)) {
        act.apply(&mut scheduler);
        act.note(&mut open);
        match scheduler.pick() {
            Some(picked) => assert_eq!(open.get(&picked.0), Some(&true), "{}", scheme.name),
            None => assert!(!open.values().any(|ready| *ready), "{}", scheme.name),
        }
    }
});
