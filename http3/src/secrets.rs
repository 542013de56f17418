//! Values that would let others act as the client; logs never contain them.

/// The text in their place.
const REDACTED: &str = "redacted";

/// Words in the names of fields and parameters with secret values.
const WORDS: [&str; 12] = [
    "cookie",
    "authorization",
    "api-key",
    "api_key",
    "apikey",
    "token",
    "secret",
    "passw",
    "pwd",
    "session",
    "signature",
    "credential",
];

/// Fields whose values are addresses.
const ADDRESSES: [&str; 4] = [":path", "referer", "location", "content-location"];

/// The value of a field, without its secrets.
pub(crate) fn redacted(name: &str, value: String) -> String {
    if is_secret(name) {
        REDACTED.to_owned()
    } else if ADDRESSES.iter().any(|it| it.eq_ignore_ascii_case(name)) {
        of_address(&value)
    } else {
        value
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|it| name.contains(it)) && name != "access-control-allow-credentials"
}

/// A URL without its user (RFC 3986, 3.2.1), and without the values of secret parameters.
fn of_address(address: &str) -> String {
    let Some((place, parameters)) = address.split_once('?') else { return of_place(address) };
    let kept = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={REDACTED}"),
        _ => parameter.to_owned(),
    };
    let parameters: Vec<String> = parameters.split('&').map(kept).collect();
    format!("{}?{}", of_place(place), parameters.join("&"))
}

fn of_place(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://{REDACTED}{}", &rest[at..]),
        None => place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_not_logged() {
        for (name, value, expected) in [
            (":path", "/a?b", "/a?b"),
            (":path", "/a?", "/a?"),
            (":path", "/a?user=x&password=hunter2&c", "/a?user=x&password=redacted&c"),
            (":path", "/a?access_token=1&b=2", "/a?access_token=redacted&b=2"),
            ("referer", "https://me:pw@a.test/x?pwd=1", "https://redacted@a.test/x?pwd=redacted"),
            ("referer", "https://a.test/me@home", "https://a.test/me@home"),
            ("Location", "/login?session_id=1", "/login?session_id=redacted"),
            ("cookie", "id=1", "redacted"),
            ("Set-Cookie", "id=1", "redacted"),
            ("authorization", "Basic eDp5", "redacted"),
            ("proxy-authorization", "Basic eDp5", "redacted"),
            ("X-Api-Key", "k", "redacted"),
            ("x-auth-token", "t", "redacted"),
            ("x-amz-security-token", "t", "redacted"),
            ("accept", "*/*", "*/*"),
            ("content-type", "text/html?token=1", "text/html?token=1"),
            ("access-control-allow-credentials", "true", "true"),
        ] {
            assert_eq!(redacted(name, value.to_owned()), expected, "{name}: {value}");
        }
    }
}
