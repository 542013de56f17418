//! The cookies of a client (RFC 6265). Their ages use the client's own clock.

use crate::limits::{MAX_COOKIES, MAX_FIELD_BYTES};
use cookie_store::{CookieExpiration, CookieStore};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use url::Url;

/// The cookies of all hosts that the client has visited.
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    store: CookieStore,
    /// When cookies with a `Max-Age` expire.
    ends: BTreeMap<Key, Instant>,
}

/// Domain, path and name.
type Key = (String, String, String);

impl CookieJar {
    /// Takes the `Set-Cookie` field of a response from `url` that arrives `now`.
    pub fn set(&mut self, field: &str, url: &str, now: Instant) {
        let Ok(url) = Url::parse(url) else { return };
        let Ok(mut cookie) = cookie_store::Cookie::parse(field.to_owned(), &url) else { return };
        let age_s = cookie.max_age().and_then(|it| u64::try_from(it.whole_seconds()).ok());
        if !cookie.is_expired() {
            // An expiry date belongs to the calendar, which virtual time does not have.
            cookie.expires = CookieExpiration::SessionEnd;
        }
        let is_full = self.store.iter_unexpired().count() >= MAX_COOKIES;
        let is_known = self.store.iter_unexpired().any(|it| it.name() == cookie.name());
        if field.len() > MAX_FIELD_BYTES || (is_full && !is_known) {
            return;
        }
        let key =
            (String::from(&cookie.domain), String::from(&cookie.path), cookie.name().to_owned());
        // A cookie for another domain is ignored. An expired cookie removes the one that it names.
        if self.store.insert(cookie, &url).is_ok() {
            self.ends.remove(&key);
            let end = age_s.and_then(|it| now.checked_add(Duration::from_secs(it)));
            self.ends.extend(end.map(|it| (key, it)));
        }
    }

    /// Removes cookies whose age has run out. A future `Expires` date is ignored.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.ends.retain(|(domain, path, name), end| {
            let stays = *end > now;
            if !stays {
                self.store.remove(domain, path, name);
            }
            stays
        });
    }

    /// The `Cookie` field of a request for `url`. `None`: there are no cookies for it.
    pub fn field(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let by_name: BTreeMap<&str, &str> = self.store.get_request_values(&url).collect();
        let pairs: Vec<String> =
            by_name.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn now() -> Instant {
        Instant::now()
    }

    const URL: &str = "https://a.example/news/today";

    #[test]
    fn cookies_are_set_replaced_removed_and_bounded() {
        let mut jar = CookieJar::default();
        for field in
            ["b=1; Path=/", "a=1; Secure", "b=2; Path=/", "nothing", "c=3", "c=; Max-Age=0"]
        {
            jar.set(field, URL, now());
        }
        assert_eq!(jar.field(URL).as_deref(), Some("a=1; b=2"));
        (0..300).for_each(|it| jar.set(&format!("n{it}=1"), URL, now()));
        assert_eq!(jar.store.iter_unexpired().count(), MAX_COOKIES);
        assert_eq!(CookieJar::default().field(URL), None);
    }

    #[test]
    fn a_cookie_ends_with_its_age_on_the_clients_clock() {
        let t0 = now();
        let mut jar = CookieJar::default();
        jar.set("short=1; Max-Age=10", URL, t0);
        jar.set("long=1; Max-Age=100; Expires=Wed, 21 Oct 2015 07:28:00 GMT", URL, t0);
        jar.set("dated=1; Expires=Fri, 21 Oct 2095 07:28:00 GMT", URL, t0);
        jar.set("renewed=1; Max-Age=10", URL, t0);
        jar.set("renewed=2", URL, t0);
        let mut after_s = |s| {
            jar.expire(t0 + Duration::from_secs(s));
            jar.field(URL).unwrap_or_default()
        };
        assert_eq!(after_s(9), "dated=1; long=1; renewed=2; short=1");
        assert_eq!(after_s(10), "dated=1; long=1; renewed=2");
        assert_eq!(after_s(100), "dated=1; renewed=2");
    }

    #[test]
    fn a_cookie_goes_back_to_its_own_host_and_path() {
        let mut jar = CookieJar::default();
        jar.set("here=1", URL, now());
        jar.set("everywhere=1; Path=/; Domain=a.example", URL, now());
        jar.set("elsewhere=1; Domain=b.example", URL, now());
        let field = |url| jar.field(url).unwrap_or_default();
        assert_eq!(field("https://a.example/news/"), "everywhere=1; here=1");
        assert_eq!(field("https://www.a.example/"), "everywhere=1");
        assert_eq!(field("https://b.example/"), "");
    }
}
