//! Resolves references against their place (the URL standard), as far as a site's own files need it.

use crate::limits::URL_BYTES_MAX;
use url::{Position, Url};

/// The host, and the path with query, of a reference in the text at `path` of `host`; `None` if it is not fetched.
pub(super) fn resolve(host: &str, path: &str, reference: &str) -> Option<(String, String)> {
    let reference = reference.split('#').next()?.trim();
    if reference.is_empty() || reference.len() > URL_BYTES_MAX {
        return None;
    }
    let base = Url::parse(&format!("https://{host}{path}")).ok()?;
    let target = base.join(reference).ok().filter(|it| matches!(it.scheme(), "http" | "https"))?;
    let is_own = target.host() == base.host() && target.port() == base.port();
    let authority = if is_own { host } else { &target[Position::BeforeHost..Position::AfterPort] };
    let path = &target[Position::BeforePath..Position::AfterQuery];
    Some((authority.to_owned(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_the_standard_says() {
        for (reference, expected) in [
            ("a.css", "site /x/a.css"),
            (" ./a.css#top ", "site /x/a.css"),
            ("../a.css?b=/../c", "site /a.css?b=/../c"),
            ("../../../a.css", "site /a.css"),
            ("/a/./b/..", "site /a/"),
            ("?q", "site /x/page.html?q"),
            ("//CDN.example/a", "cdn.example /a"),
            ("HTTPS://cdn.example", "cdn.example /"),
            ("https://cdn.example?a", "cdn.example /?a"),
            ("a:b", ""),
            ("data:image/png;base64,AA", ""),
            ("javascript:void(0)", ""),
            ("#top", ""),
            ("", ""),
            ("1:2", "site /x/1:2"),
        ] {
            let resolved = resolve("site", "/x/page.html?q=/", reference);
            let said = resolved.map(|(host, path)| format!("{host} {path}")).unwrap_or_default();
            assert_eq!(said, expected, "{reference}");
        }
    }
}
