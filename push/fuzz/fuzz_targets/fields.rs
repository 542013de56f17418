//! Any text may stand in a field of a request or of a backend's response: what is read of it is bounded, is what is written
//! of it again, and names no other host.
#![no_main]

use libfuzzer_sys::fuzz_target;
use push::digest::CacheDigest;
use push::freshness::{fresh_s, is_storable};
use push::guard::{self, Candidate, CookiePolicy, Parent, CacheFields};
use push::link;
use push::visits::{PushWhen, revisits};

/// What a digest is asked for.
const URL: &str = "https://localhost/style.css";

fuzz_target!(|data: &[u8]| {
    let Ok(field) = std::str::from_utf8(data) else { return };
    links(field);
    digests(field);
    guarded(field);
    fresh_s(field, Some(field));
    is_storable(field);
    revisits(Some(field), Some(field));
    PushWhen::default().allows(Some(field));
});

fn links(field: &str) {
    for link in link::parse(field) {
        if let Some(path) = link.path_to_push() {
            assert!(path.starts_with('/') && !path.starts_with("//"), "{path}");
            assert!(!path.contains(char::is_control) && !path.contains(' '), "{path}");
        }
    }
    link::is_hint(field);
}

fn digests(field: &str) {
    for digest in CacheDigest::parse_all(field) {
        let again = CacheDigest::parse(&digest.field()).expect("what was written is read");
        assert_eq!(digest.contains(URL, None), again.contains(URL, None));
    }
}

fn guarded(field: &str) {
    let names = ["accept-encoding", "accept-language"];
    let set_cookies = [field.to_owned()];
    let parent = Parent {
        authority: "localhost",
        path: "/",
        cookies: Some(field),
        set_cookies: &set_cookies,
        fields: &names,
    };
    for policy in [CookiePolicy::None, CookiePolicy::SamePath] {
        let said = CacheFields { vary: field, cache_control: field, sets_cookie: field.contains('=') };
        let candidate = Candidate { authority: "localhost", path: "/a.css", said };
        let is_allowed = guard::check(&parent, &candidate, &policy).is_ok();
        assert!(!(is_allowed && field.split(',').any(|it| it.trim() == "*")), "varies on everything");
        let elsewhere = Candidate { authority: "example.org", ..candidate };
        assert!(guard::check(&parent, &elsewhere, &policy).is_err(), "another host");
    }
}
