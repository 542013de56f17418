//! The paths of routes: which are none, and which stand for others.

use percent_encoding::percent_decode_str;

/// What is wrong with a route's path, if anything.
pub(super) fn malformed(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return Some("it begins with /".to_owned());
    }
    let literal = path.strip_suffix('*').unwrap_or(path);
    if literal.contains('*') {
        return Some("a * stands for what follows, at the end only".to_owned());
    }
    let never = |it: char| it.is_whitespace() || it.is_control() || it == '#';
    path.contains(never).then(|| "a path has neither white space nor #".to_owned())
}

/// Whether a client can ask for it in these very characters.
pub(super) fn is_sendable(path: &str) -> bool {
    path.bytes().all(|it| it.is_ascii_graphic() && it != b'#')
}

/// What a path names, whatever of it is percent-encoded; a query stands as it is.
pub(super) fn decoded(path: &str) -> (Vec<u8>, Option<&str>) {
    let (plain, query) = path.split_once('?').map_or((path, None), |(it, query)| (it, Some(query)));
    (percent_decode_str(plain).collect(), query)
}

/// Whether each path that `inner` stands for is one of those that `outer` stands for.
pub(super) fn covers(outer: &str, inner: &str) -> bool {
    match (outer.strip_suffix('*'), inner.strip_suffix('*')) {
        (Some(outer), inner_prefix) => inner_prefix.unwrap_or(inner).starts_with(outer),
        (None, Some(_)) => false,
        (None, None) => crate::site::fits(outer, inner),
    }
}

/// In a directory: the other path of the same document, `/x/` of `/x/index.html`, and the other way round.
pub(super) fn twin(path: &str) -> Option<String> {
    match path.strip_suffix("/index.html") {
        Some(folder) => Some(format!("{folder}/")),
        None => path.ends_with('/').then(|| format!("{path}index.html")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_begins_like_it_and_a_path_itself_with_any_query() {
        for (outer, inner, expected) in [
            ("/*", "/a", true),
            ("/*", "/a*", true),
            ("/a*", "/*", false),
            ("/a*", "/b", false),
            ("/a", "/a", true),
            ("/a", "/a?x", true),
            ("/a?x", "/a", false),
            ("/a", "/a*", false),
        ] {
            assert_eq!(covers(outer, inner), expected, "{outer} {inner}");
        }
    }

    #[test]
    fn a_path_is_the_same_however_much_of_it_is_encoded() {
        assert_eq!(decoded("/%73tyle.css?%61"), (b"/style.css".to_vec(), Some("%61")));
        assert_ne!(decoded("/a%3Fb"), decoded("/a?b"));
    }

    #[test]
    fn the_index_of_a_folder_has_two_paths() {
        let twins = ["/", "/index.html", "/x/", "/x/index.html", "/x", "/xindex.html", "/x/*"];
        let expected = [Some("/index.html"), Some("/"), Some("/x/index.html"), Some("/x/")];
        let got: Vec<Option<String>> = twins.into_iter().map(twin).collect();
        assert_eq!(got[..4], expected.map(|it| it.map(str::to_owned)));
        assert_eq!(got[4..], [None, None, None]);
    }

    #[test]
    fn what_no_client_can_ask_for_is_no_path() {
        assert_eq!(["/", "/a*", "/a?b=c"].map(malformed), [None, None, None]);
        for path in ["a", "/a*b", "/a**", "/a b", "/a\n", "/a#b"] {
            assert!(malformed(path).is_some(), "{path}");
        }
    }
}
