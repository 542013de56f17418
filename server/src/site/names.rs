//! The hosts that a server answers for.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Names of hosts. `*.a.test` stands for all names with one more label in front (RFC 9525, 6.3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl Names {
    /// These names, in any case, with or without the dot of the root.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(plain).collect())
    }

    /// Whether a server with these names answers for `host`, whose port and case do not matter. A request to an
    /// address is for no other host.
    pub fn include(&self, host: &str) -> bool {
        if is_address(host) {
            return true;
        }
        let host = plain(host);
        let parent = host.split_once('.').map(|(_, parent)| parent);
        self.0.iter().any(|name| match name.strip_prefix("*.") {
            Some(suffix) => parent == Some(suffix),
            None => *name == host,
        })
    }
}

fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn is_address(host: &str) -> bool {
    let bracketed = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    host.parse::<Ipv4Addr>().is_ok() || bracketed.is_some_and(|it| it.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_answers_for_its_names_in_any_case_and_for_addresses() {
        let names = Names::new(["a.test", "*.B.test", "dot.test."]);
        for (host, expected) in [
            ("a.test", true),
            ("A.Test.", true),
            ("dot.test", true),
            ("www.a.test", false),
            ("www.b.test", true),
            ("b.test", false),
            ("x.www.b.test", false),
            ("nota.test", false),
            ("localhost", false),
            ("192.0.2.1", true),
            ("[2001:db8::1]", true),
            ("192.0.2.1.evil.test", false),
            ("", false),
        ] {
            assert_eq!(names.include(host), expected, "{host}");
        }
    }
}
