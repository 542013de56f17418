//! The authority of a request: the requested host, and perhaps a port (RFC 3986, 3.2).

use std::net::Ipv6Addr;

/// The host of an authority, without its port. An IPv6 address keeps its brackets: `[::1]` from `[::1]:443`.
pub fn host(authority: &str) -> &str {
    let address_end = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    match authority[address_end..].split_once(':') {
        Some((rest, port)) if !port.contains(':') => &authority[..address_end + rest.len()],
        _ => authority,
    }
}

/// Whether this is a valid host, with or without a port: a name, an IPv4 address, or an IPv6 address in brackets, without
/// user information (RFC 3986, 3.2; RFC 9114, 4.3.1).
pub fn is_authority(authority: &str) -> bool {
    let host = host(authority);
    let port = authority[host.len()..].strip_prefix(':').unwrap_or_default();
    // A port may be empty (RFC 3986, 3.2.3).
    is_host(host) && (port.is_empty() || is_port(port))
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && is_registered_name(host.as_bytes()),
    }
}

/// Whether this is a `reg-name` (RFC 3986, 3.2.2). Every IPv4 address is one, too.
fn is_registered_name(mut name: &[u8]) -> bool {
    loop {
        name = match name {
            [] => return true,
            [b'%', high, low, rest @ ..] if is_hexadecimal(*high) && is_hexadecimal(*low) => rest,
            [byte, rest @ ..] if is_of_name(*byte) => rest,
            _ => return false,
        };
    }
}

fn is_hexadecimal(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// `unreserved` and `sub-delims` (RFC 3986, 2.2 and 2.3).
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|it| it.is_ascii_digit()) && port.parse::<u16>().is_ok()
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

    #[test]
    fn an_authority_is_a_host_and_perhaps_a_port_3986_3_2() {
        for authority in [
            "a.test",
            "A.Test:443",
            "a_b.test.",
            "xn--mnchen-3ya.test",
            "a%20b",
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]",
            "[2001:db8::1]:65535",
            "a:",
        ] {
            assert!(is_authority(authority), "{authority}");
        }
        for not in [
            "",
            ":443",
            "user@a.test",
            "user:word@a.test",
            "a b",
            "a\tb",
            "a/b",
            "a?b",
            "a#b",
            "a\"b",
            "a\\b",
            "a<b>",
            "a%2",
            "a%zz",
            "a:b",
            "a:1:2",
            "a:+1",
            "a:65536",
            "::1",
            "[::1",
            "::1]",
            "[::1]a",
            "[::1%25eth0]",
            "[a.test]",
            "[]",
            "münchen.test",
            "a\u{7f}",
            "a,b@c",
        ] {
            assert!(!is_authority(not), "{not}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_looked_at_without_a_panic(text in ".{0,40}", near in "[a.%:\\[\\]0-9@]{0,20}") {
            is_authority(&text);
            is_authority(&near);
        }
    }
}
