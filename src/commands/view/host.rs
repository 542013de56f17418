//! Decides which requests are answered, by their `Host`.

/// Whether a `Host` field names this server: 127.0.0.1 or localhost, with its port.
pub(super) fn is_own_host(host: &str, port: u16) -> bool {
    let Some((name, given)) = host.rsplit_once(':') else { return false };
    given.parse() == Ok(port) && matches!(name, "127.0.0.1" | "localhost")
}

#[cfg(test)]
mod tests {
    use super::is_own_host;

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
