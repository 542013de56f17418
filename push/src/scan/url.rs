//! References resolved against where they stand (RFC 3986, 5.2), as far as a site's own files need it.

use crate::limits::URL_BYTES_MAX;

/// Host, and path with query, that a reference in the text at `path` of `host` means; none: nothing that is fetched.
pub(super) fn resolve(host: &str, path: &str, reference: &str) -> Option<(String, String)> {
    let cleaned: String =
        reference.trim().chars().filter(|it| !matches!(it, '\t' | '\n' | '\r')).collect();
    let reference = cleaned.split('#').next().unwrap_or_default();
    if cleaned.is_empty() || reference.len() > URL_BYTES_MAX || (reference.is_empty()) {
        return None;
    }
    let after_scheme = match scheme(reference) {
        Some("http" | "https") => reference.split_once(':').map(|(_, rest)| rest)?,
        Some(_) => return None,
        None => reference,
    };
    if let Some(rest) = after_scheme.strip_prefix("//") {
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let rooted = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        return Some((authority.to_ascii_lowercase(), without_dots(&rooted)));
    }
    let here = without_query(path);
    let target = if after_scheme.starts_with('/') {
        after_scheme.to_owned()
    } else if after_scheme.starts_with('?') {
        format!("{here}{after_scheme}")
    } else {
        format!("{}{after_scheme}", &here[..here.rfind('/').map_or(0, |it| it + 1)])
    };
    Some((host.to_owned(), without_dots(&target)))
}

/// The path alone.
pub(super) fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

/// What stands before the first colon, if it is a scheme.
fn scheme(reference: &str) -> Option<&str> {
    let (scheme, _) = reference.split_once(':')?;
    let fits = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
    let is_scheme =
        scheme.starts_with(|it: char| it.is_ascii_alphabetic()) && scheme.chars().all(fits);
    match scheme {
        _ if !is_scheme => None,
        _ if scheme.eq_ignore_ascii_case("http") => Some("http"),
        _ if scheme.eq_ignore_ascii_case("https") => Some("https"),
        other => Some(other),
    }
}

/// RFC 3986, 5.2.4; the query stays as it is.
fn without_dots(target: &str) -> String {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (place, segment) in segments.iter().enumerate() {
        let last = place + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}{query}", kept.join("/"))
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
