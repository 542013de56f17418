//! Which requests are admitted.

use ::serve::Failure;
use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;

/// The first part of every path. Only users who have seen the printed address know it.
pub(super) struct Token(String);

impl Token {
    pub(super) fn random() -> Result<Self, Failure> {
        let mut bytes = [0; 16];
        let failed = |_| Failure::Elsewhere("the system has no random numbers".to_owned());
        SystemRandom::new().fill(&mut bytes).map_err(failed)?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    /// The part of a path that follows the token. `None`: another token begins the path.
    pub(super) fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (token, below) = path.strip_prefix('/')?.split_once('/')?;
        (token == self.0).then_some(below)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Why a request with these fields is rejected, if another site's page has made it.
pub(super) fn refusal(fields: &HeaderMap, port: u16) -> Option<&'static str> {
    // With DNS rebinding, another site's page sends its own host name.
    let host = fields.get(HOST).and_then(|it| it.to_str().ok());
    if !host.is_some_and(|it| is_own_host(it, port)) {
        return Some("only 127.0.0.1 and localhost are served");
    }
    // Browsers send it with every script request that has a body.
    let origin = fields.get(ORIGIN).and_then(|it| it.to_str().ok().or(Some("")));
    if origin.is_some_and(|it| !it.strip_prefix("http://").is_some_and(|it| is_own_host(it, port)))
    {
        return Some(
            "this is a request of another page; open the address that the program printed",
        );
    }
    // Browsers send it with every request (Fetch Metadata); `none` means that the user typed the
    // address.
    let site = fields.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_own = site.is_none_or(|it| it == b"same-origin" || it == b"none");
    (!is_own).then_some("this is a request of another page; type the address instead")
}

/// Whether a `Host` field names this server: 127.0.0.1 or localhost, with its port.
fn is_own_host(host: &str, port: u16) -> bool {
    let Some((name, given)) = host.rsplit_once(':') else { return false };
    given.parse() == Ok(port) && matches!(name, "127.0.0.1" | "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_pages_elsewhere_are_refused() {
        let asked = |site: Option<&'static str>| {
            let host = ("host".parse().expect("a name"), "localhost:4000".parse());
            let site = site.map(|it| ("sec-fetch-site".parse().expect("a name"), it.parse()));
            let fields = [host].into_iter().chain(site);
            let fields = fields.map(|(name, value)| (name, value.expect("a value"))).collect();
            refusal(&fields, 4000).is_some()
        };
        let sites =
            [None, Some("none"), Some("same-origin"), Some("same-site"), Some("cross-site")];
        assert_eq!(sites.map(asked), [false, false, false, true, true]);
    }

    #[test]
    fn a_path_is_below_the_token_alone() {
        let token = Token("abc".to_owned());
        let below = ["/abc/", "/abc/logs", "/abc", "/", "/abd/logs", "//abc/", "/ab"];
        let expected = [Some(""), Some("logs"), None, None, None, None, None];
        assert_eq!(below.map(|it| token.below(it)), expected);
        let [one, other] = [(); 2].map(|()| Token::random().expect("chance").to_string());
        assert!(one.len() == 32 && one != other, "{one} {other}");
    }

    #[test]
    fn another_origin_is_refused() {
        let asked = |origin: &'static str| {
            let fields = [(HOST, "127.0.0.1:4000"), (ORIGIN, origin)];
            let fields = fields.map(|(name, value)| (name, HeaderValue::from_static(value)));
            refusal(&fields.into_iter().collect(), 4000).is_some()
        };
        let origins =
            ["http://127.0.0.1:4000", "http://evil.test", "https://127.0.0.1:4000", "null"];
        assert_eq!(origins.map(asked), [false, true, true, true]);
    }

    #[test]
    fn another_name_that_points_here_is_refused() {
        assert!(is_own_host("127.0.0.1:4000", 4000) && is_own_host("localhost:4000", 4000));
        for wrong in [
            "evil.test:4000",
            "127.0.0.1:80",
            "127.0.0.1",
            "",
            "localhost.evil.test:4000",
            "[::1]:4000",
        ] {
            assert!(!is_own_host(wrong, 4000), "{wrong}");
        }
    }
}
