//! The cookies of a client (RFC 6265). They live as long as it does, unless the server removes them.

use crate::limits::{MAX_COOKIES, MAX_FIELD_BYTES};
use cookie_store::{CookieExpiration, CookieStore};
use std::collections::BTreeMap;
use url::Url;

/// The cookies of all hosts that the client has visited.
#[derive(Debug, Clone, Default)]
pub struct CookieJar(CookieStore);

impl CookieJar {
    /// Takes the `Set-Cookie` field of a response from `url`.
    pub fn set(&mut self, field: &str, url: &str) {
        let Ok(url) = Url::parse(url) else { return };
        let Ok(mut cookie) = cookie_store::Cookie::parse(field.to_owned(), &url) else { return };
        if !cookie.is_expired() {
            // Visits happen in virtual time, which the date of an expiry knows nothing of.
            cookie.expires = CookieExpiration::SessionEnd;
        }
        let is_full = self.0.iter_unexpired().count() >= MAX_COOKIES;
        let is_known = self.0.iter_unexpired().any(|it| it.name() == cookie.name());
        if field.len() <= MAX_FIELD_BYTES && (is_known || !is_full) {
            // A cookie for another domain is ignored. An expired cookie removes the one that it names.
            self.0.insert(cookie, &url).ok();
        }
    }

    /// The `Cookie` field of a request for `url`. `None`: there are no cookies for it.
    pub fn field(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let by_name: BTreeMap<&str, &str> = self.0.get_request_values(&url).collect();
        let pairs: Vec<String> =
            by_name.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// How many cookies there are.
    pub fn len(&self) -> usize {
        self.0.iter_unexpired().count()
    }

    /// Whether there are no cookies.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://a.example/news/today";

    #[test]
    fn cookies_are_set_replaced_removed_and_bounded() {
        let mut jar = CookieJar::default();
        for field in
            ["b=1; Path=/", "a=1; Secure", "b=2; Path=/", "nothing", "c=3", "c=; Max-Age=0"]
        {
            jar.set(field, URL);
        }
        assert_eq!(jar.field(URL).as_deref(), Some("a=1; b=2"));
        (0..300).for_each(|it| jar.set(&format!("n{it}=1"), URL));
        assert_eq!(jar.len(), MAX_COOKIES);
        assert_eq!(CookieJar::default().field(URL), None);
    }

    #[test]
    fn a_cookie_outlives_its_age() {
        let mut jar = CookieJar::default();
        jar.set("a=1; Max-Age=1", URL);
        assert_eq!(jar.0.iter_unexpired().filter(|it| it.is_persistent()).count(), 0);
        assert_eq!(jar.field(URL).as_deref(), Some("a=1"));
    }

    #[test]
    fn a_cookie_goes_back_to_its_own_host_and_path() {
        let mut jar = CookieJar::default();
        jar.set("here=1", URL);
        jar.set("everywhere=1; Path=/; Domain=a.example", URL);
        jar.set("elsewhere=1; Domain=b.example", URL);
        let field = |url| jar.field(url).unwrap_or_default();
        assert_eq!(field("https://a.example/news/"), "everywhere=1; here=1");
        assert_eq!(field("https://www.a.example/"), "everywhere=1");
        assert_eq!(field("https://b.example/"), "");
    }
}
