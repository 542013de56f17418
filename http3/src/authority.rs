//! The authority of a request: the host that is asked, and perhaps a port (RFC 3986, 3.2).

/// The host of an authority, without its port. An IPv6 address keeps its brackets: `[::1]` of `[::1]:443`.
pub fn host(authority: &str) -> &str {
    let address_end = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    match authority[address_end..].split_once(':') {
        Some((rest, port)) if !port.contains(':') => &authority[..address_end + rest.len()],
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_not_part_of_the_host_and_the_colons_of_an_address_are() {
        for (authority, expected) in [
            ("a.test", "a.test"),
            ("a.test:443", "a.test"),
            ("127.0.0.1:4433", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[::1]:443", "[::1]"),
            ("[2001:db8::1]:", "[2001:db8::1]"),
            ("::1", "::1"),
            ("a.test:", "a.test"),
            ("", ""),
        ] {
            assert_eq!(host(authority), expected, "{authority}");
        }
    }
}
