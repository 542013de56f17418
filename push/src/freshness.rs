//! How long a response may be used without revalidation (RFC 9111, 4.2).

/// The seconds for which a response stays fresh in a client's own cache, by its `Cache-Control` and `Age` fields. 0:
/// each use needs validation, or the response is not stored at all; `None`: the fields do not state it. The smallest
/// `max-age` counts.
pub fn fresh_s(cache_control: &str, age: Option<&str>) -> Option<u64> {
    let mut fresh_s: Option<u64> = None;
    for directive in cache_control.split(',').map(|part| part.trim().to_ascii_lowercase()) {
        let (name, value) = directive.split_once('=').unwrap_or((&directive, ""));
        let said_s = match name.trim() {
            "no-store" | "no-cache" => Some(0),
            "max-age" => Some(seconds(value.trim().trim_matches('"'))),
            _ => None,
        };
        fresh_s = match (fresh_s, said_s) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    let age_s = age.and_then(|it| it.trim().parse().ok()).unwrap_or(0);
    Some(fresh_s?.saturating_sub(age_s))
}

/// Seconds: at most 2^31, and 0, which is stale, if the text is not a number (RFC 9111, 1.2.2 and 4.2.1).
fn seconds(text: &str) -> u64 {
    let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    text.parse().unwrap_or(if is_number { 1 << 31 } else { 0 })
}

/// Whether a response may be stored at all.
pub fn is_storable(cache_control: &str) -> bool {
    !cache_control.split(',').any(|it| it.trim().eq_ignore_ascii_case("no-store"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freshness_is_what_is_said_less_what_has_passed() {
        for (cache_control, age, expected) in [
            ("", None, None),
            ("public, immutable", None, None),
            ("max-age=60", None, Some(60)),
            ("Public, Max-Age=\"60\"", Some("20"), Some(40)),
            ("max-age=60", Some("90"), Some(0)),
            ("max-age=60, max-age=30", None, Some(30)),
            ("s-maxage=60", None, None),
            ("max-age=60, no-cache", None, Some(0)),
            ("no-store", None, Some(0)),
            ("max-age=soon", None, Some(0)),
            ("max-age=99999999999999999999999", None, Some(1 << 31)),
            ("max-age=-1", None, Some(0)),
        ] {
            assert_eq!(fresh_s(cache_control, age), expected, "{cache_control} {age:?}");
        }
        assert!(is_storable("max-age=0") && !is_storable("private, No-Store"));
    }
}
