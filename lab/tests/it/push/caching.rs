//! Repeat visits: what the client has is not pushed, or is validated by a push, or is refused.

use super::{Case, done_ms, page};
use client::HttpCache;
use corpus::Page;
use gateway::site::{Pushing, Rule};
use lab::stack::StackLoad;
use push::guard::CookiePolicy;
use std::sync::Arc;
use std::time::Instant;

/// A page with entity tags, whose scripts have this `Cache-Control` field.
fn case(resources: usize, cache_control: &str) -> Case {
    let mut page = Page::clone(&page(resources, 0.0));
    for resource in &mut page.resources[1..] {
        resource.etag = Some(format!("\"{}-a\"", resource.id));
    }
    let fresh = Pushing { cache_control: Some(cache_control.into()), ..Pushing::default() };
    let mut case = Case::new(Arc::new(page));
    case.client.pushes = 100;
    case.pushing.max_concurrent_pushes = Some(100);
    case.other_rules = vec![Rule::pushing("/*", fresh)];
    case
}

/// The same after a visit: with its cookies and its cache.
fn after(mut case: Case, visit: &StackLoad) -> Case {
    assert_eq!(visit.problems, Vec::<String>::new());
    case.client.cookies = visit.outcome.cookies.clone();
    case.client.cache = visit.outcome.cache.clone();
    case
}

/// Copies to validate, by resource.
fn copies(case: &Case, tags: &[(usize, &str)]) -> HttpCache {
    let none = HttpCache::default();
    tags.iter().fold(none, |all, (resource, tag)| all.with_stale(&case.page.url(*resource), tag))
}

/// The streams of the requests, and those of the pushes.
fn streams(load: &StackLoad) -> [usize; 2] {
    assert_eq!(load.problems, Vec::<String>::new());
    let transfers = &load.load.timeline.transfers;
    let asked = transfers.iter().filter(|it| it.stream.is_multiple_of(4)).count();
    [asked, transfers.len() - asked]
}

/// Stream bytes of each push, framing and fields among them.
fn push_bytes(load: &StackLoad) -> Vec<u64> {
    let streams = (15..).step_by(4).take(load.outcome.pushed.len() + load.outcome.refused_pushes);
    let frames = &load.load.timeline.frames;
    let bytes = |stream| frames.iter().filter(|it| it.stream == stream).map(|it| it.bytes).sum();
    streams.map(bytes).collect()
}

#[test]
fn a_resource_in_the_digest_is_not_pushed() {
    let mut first = case(60, "max-age=3600");
    with_digest(&mut first);
    let visit = first.load(1);
    assert_eq!(streams(&visit), [1, 60]);
    let revisit = after(first, &visit).load(2);
    assert_eq!((streams(&revisit), revisit.outcome.refused_pushes), ([1, 0], 0));
}

#[test]
fn what_must_not_be_stored_and_what_is_private_is_not_pushed_to_unknown_cookies() {
    for (cache_control, cookies, pushed) in [
        ("no-store, max-age=60", CookiePolicy::SamePath, 0),
        ("private, max-age=60", CookiePolicy::None, 0),
        ("private, max-age=60", CookiePolicy::SamePath, 3),
    ] {
        let mut first = case(3, cache_control);
        first.pushing.cookies = cookies;
        assert_eq!(streams(&first.load(1))[1], pushed, "{cache_control}");
    }
}

/// The client has a cookie for the script alone, which the server cannot know when it promises.
#[test]
#[expect(clippy::disallowed_methods, reason = "the cookie has no age, so any instant will do")]
fn a_push_for_other_cookies_than_the_clients_is_refused_and_its_resource_asked_for() {
    for (vary, refused, pushed) in
        [(None, 0, vec![(1, true), (2, true)]), (Some("Cookie".to_owned()), 1, vec![(2, true)])]
    {
        let mut case = case(2, "max-age=60");
        let mut page = Page::clone(&case.page);
        page.resources[1].vary = vary;
        case.page = Arc::new(page);
        case.pushing.cookies = CookiePolicy::SamePath;
        let url = "https://site.example/1.js";
        case.client.cookies.set("a=1; Path=/1.js", url, Instant::now());
        let load = case.load(1);
        assert_eq!(load.problems, Vec::<String>::new());
        assert_eq!((load.outcome.refused_pushes, load.outcome.pushed), (refused, pushed));
    }
}

/// The server learns from a digest which copies the client has, and which of them it must validate.
fn with_digest(case: &mut Case) {
    case.pushing.evidence.cache_digest = true;
    case.client.cache_digest = true;
}

#[test]
fn a_stale_copy_that_is_still_right_is_validated_by_a_push_of_few_bytes() {
    let mut first = case(3, "no-cache");
    with_digest(&mut first);
    let visit = first.load(1);
    assert_eq!((streams(&visit), visit.outcome.validated.len()), ([1, 3], 0));
    let mut second = after(first, &visit);
    let asked = second.load(2);
    assert_eq!((streams(&asked), asked.outcome.validated.len()), ([4, 0], 3));
    second.pushing.conditional.not_modified = true;
    let pushed = second.load(2);
    assert_eq!((streams(&pushed), pushed.outcome.refused_pushes), ([1, 3], 0));
    assert_eq!(pushed.outcome.validated, [1, 2, 3]);
    assert!((1..=3).all(|it| pushed.outcome.statuses[&it] == 304));
    let bytes = push_bytes(&pushed);
    assert!(bytes.iter().all(|it| (1..=200).contains(it)), "{bytes:?}");
    let saved_ms = done_ms(&asked)[1] - done_ms(&pushed)[1];
    assert!((180.0..260.0).contains(&saved_ms), "a round trip: {saved_ms}");
}

#[test]
fn a_stale_copy_that_is_no_longer_right_is_pushed_whole() {
    let mut first = case(3, "no-cache");
    with_digest(&mut first);
    first.pushing.conditional.not_modified = true;
    let visit = first.load(1);
    let mut second = after(first, &visit);
    let mut page = Page::clone(&second.page);
    page.resources[2].etag = Some("\"b\"".into());
    second.page = Arc::new(page);
    let load = second.load(2);
    assert_eq!((streams(&load), load.outcome.validated), ([1, 3], vec![1, 3]));
    assert_eq!(load.outcome.statuses[&2], 200);
}

#[test]
fn not_modified_is_refused_by_a_client_that_has_lost_its_copy() {
    let mut first = case(3, "no-cache");
    with_digest(&mut first);
    first.pushing.conditional.not_modified = true;
    let visit = first.load(1);
    let mut second = after(first, &visit);
    // The server also finds a path without its host in the digest, and the client does not have such copies.
    second.client.cache = copies(&second, &[(1, "\"1-a\""), (2, "\"old\"")])
        .with_stale("/2.js", "\"2-a\"")
        .with_stale("/3.js", "\"3-a\"");
    let load = second.load(2);
    assert_eq!((load.outcome.validated, load.outcome.refused_pushes), (vec![1], 2));
    assert_eq!(load.problems, Vec::<String>::new());
    assert_eq!([2, 3].map(|it| load.outcome.statuses[&it]), [200, 200], "asked for");
}

/// The result of a push of this number of bytes that a client refuses by its tag. Another script keeps the page waiting.
fn wasted_bytes(size: u64) -> u64 {
    let mut case = case(2, "no-cache");
    let mut page = Page::clone(&case.page);
    page.resources[1].bytes = size;
    page.resources[2].trigger.delay_ms = 5000.0;
    case.page = Arc::new(page);
    case.pushing.push.truncate(1);
    case.pushing.conditional.if_match = true;
    case.client.cache = copies(&case, &[(1, "\"1-a\"")]);
    let load = case.load(1);
    assert_eq!(load.outcome.validated, [1], "the promise says that the copy is right");
    assert_eq!((streams(&load)[0], load.outcome.refused_pushes), (2, 1), "and it is not asked for");
    let frames = load.load.timeline.frames.iter().filter(|it| it.stream == 15);
    frames.map(|it| it.bytes).sum()
}

#[test]
fn a_push_refused_by_its_tag_costs_a_window_at_most() {
    // Ten packets are the window when the promise leaves; what the handshake's acknowledgement adds is below one.
    let window_bytes = 11 * 1350;
    let bytes = [2_000, 8_000, 20_000, 50_000, 200_000].map(wasted_bytes);
    assert!(bytes.iter().all(|it| *it <= window_bytes), "{bytes:?}");
    // What fits into the window with its document has gone when the refusal comes.
    assert!(bytes[0] > 2_000 && bytes[1] > 8_000, "{bytes:?}");
    assert!(bytes[2..].iter().all(|it| *it < 11_000), "{bytes:?}");
}

#[test]
fn a_tag_that_the_client_has_not_changes_nothing() {
    let mut case = case(3, "no-cache");
    case.pushing.conditional.if_match = true;
    case.client.cache = copies(&case, &[(2, "\"old\"")]);
    let load = case.load(1);
    assert_eq!((streams(&load), load.outcome.refused_pushes), ([1, 3], 0));
    assert!(load.outcome.pushed.iter().all(|(_, used)| *used) && load.outcome.validated.is_empty());
}
