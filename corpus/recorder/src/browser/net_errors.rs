//! Cause and remedy of Chromium's network errors, for a page that does not load.

/// Errors by their names without `net::`, or the beginning of their names. The first that fits counts.
const MEANINGS: [(&str, &str); 18] = [
    (
        "ERR_UNSAFE_PORT",
        "browsers do not open this port, because another protocol uses it; serve the page at another port, such as 8443",
    ),
    ("ERR_NAME_", "no host has this name; correct it, or the machine's DNS"),
    ("ERR_CONNECTION_REFUSED", "connection refused; is a server listening there?"),
    ("ERR_CONNECTION_TIMED_OUT", TIMED_OUT),
    ("ERR_TIMED_OUT", TIMED_OUT),
    ("ERR_CONNECTION_RESET", CLOSED),
    ("ERR_CONNECTION_CLOSED", CLOSED),
    ("ERR_EMPTY_RESPONSE", CLOSED),
    ("ERR_ADDRESS_", UNREACHABLE),
    ("ERR_INTERNET_DISCONNECTED", UNREACHABLE),
    ("ERR_NETWORK_", UNREACHABLE),
    (
        "ERR_CERT_AUTHORITY_INVALID",
        "no authority that the browser trusts vouches for its certificate; name a self-signed certificate with --ca",
    ),
    (
        "ERR_CERT_COMMON_NAME_INVALID",
        "its certificate is for other hosts; use a host that the certificate names",
    ),
    (
        "ERR_CERT_DATE_INVALID",
        "its certificate has expired or is not valid yet; renew it, or correct this machine's clock",
    ),
    ("ERR_CERT_", "the browser rejects its certificate; get one that browsers accept"),
    ("ERR_QUIC_", "no HTTP/3 answer came; open its UDP port, or leave out --http3"),
    ("ERR_SSL_", "it does not speak TLS as browsers do; for plain HTTP, use http:// in the URL"),
    ("ERR_HTTP_RESPONSE_CODE_FAILURE", "its answer has no page; name a page that exists"),
];

const TIMED_OUT: &str =
    "no answer in time; can this machine reach the server, and does no firewall drop its packets?";
const CLOSED: &str = "the server closed the connection without an answer; its log may say why";
const UNREACHABLE: &str = "this machine has no way to that address; check its network";

/// Cause and remedy of an error such as `net::ERR_CONNECTION_REFUSED`, with its name.
pub(super) fn explained(error: &str) -> String {
    let name = error.strip_prefix("net::").unwrap_or(error);
    let meaning = MEANINGS.iter().find(|it| name.starts_with(it.0)).map(|it| it.1);
    let meaning = meaning.unwrap_or("the browser cannot load it; open it in a browser to see why");
    format!("{meaning} ({error})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_explained_by_the_most_exact_row() {
        for (error, begin) in [
            ("net::ERR_UNSAFE_PORT", "browsers do not open this port, "),
            ("net::ERR_NAME_NOT_RESOLVED", "no host has this name; "),
            ("net::ERR_CONNECTION_REFUSED", "connection refused; "),
            ("net::ERR_TIMED_OUT", "no answer in time; "),
            ("net::ERR_CERT_AUTHORITY_INVALID", "no authority that the browser trusts "),
            ("net::ERR_CERT_REVOKED", "the browser rejects its certificate; "),
            ("net::ERR_SSL_PROTOCOL_ERROR", "it does not speak TLS as browsers do; "),
            ("net::ERR_FAILED", "the browser cannot load it; "),
        ] {
            let text = explained(error);
            assert!(text.starts_with(begin) && text.ends_with(&format!(" ({error})")), "{text}");
        }
    }

    #[test]
    fn no_row_is_hidden_by_an_earlier_one() {
        for (place, (name, _)) in MEANINGS.iter().enumerate() {
            let hides = MEANINGS[..place].iter().find(|it| name.starts_with(it.0));
            assert_eq!(hides, None, "{name}");
        }
    }
}
