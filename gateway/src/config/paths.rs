//! The paths of routes.

use push::Graph;
use std::sync::Arc;

pub(super) fn malformed(path: &str) -> Option<&'static str> {
    if !path.starts_with('/') {
        Some("must begin with /")
    } else if path.strip_suffix('*').unwrap_or(path).contains('*') {
        Some("must have its * at the end, where it matches everything that follows")
    } else if path.contains(|it: char| it.is_whitespace() || it.is_control() || it == '#') {
        Some("must not have white space or #: percent-encode them")
    } else {
        None
    }
}

/// Whether a directive can apply to this path: it must be complete and well-formed.
pub fn is_one_path(path: &str) -> bool {
    !path.contains('*') && malformed(path).is_none()
}

/// Whether a client can send it in exactly these characters.
pub(super) fn is_sendable(path: &str) -> bool {
    path.bytes().all(|it| it.is_ascii_graphic() && it != b'#')
}

/// Whether `outer` matches every path that the pattern `inner` matches.
pub(super) fn covers(outer: &str, inner: &str) -> bool {
    match (outer.strip_suffix('*'), inner.strip_suffix('*')) {
        (Some(outer), inner_prefix) => inner_prefix.unwrap_or(inner).starts_with(outer),
        (None, Some(_)) => false,
        (None, None) => crate::site::fits(outer, inner),
    }
}

/// The other path of a document in a directory: `/x/` for `/x/index.html`, and vice versa.
pub(super) fn twin(path: &str) -> Option<String> {
    match path.strip_suffix("/index.html") {
        Some(folder) => Some(format!("{folder}/")),
        None => path.ends_with('/').then(|| format!("{path}index.html")),
    }
}

/// The graph of the same page with its document at another path.
pub(super) fn renamed(graph: &Graph, path: &str, other: &str) -> Arc<Graph> {
    let mut graph = graph.clone();
    for node in graph.nodes.iter_mut().filter(|it| it.path == path) {
        other.clone_into(&mut node.path);
    }
    Arc::new(graph)
}

pub(super) fn of_file(key: &str, path: String) -> Result<String, String> {
    if is_one_path(&path) {
        return Ok(path);
    }
    Err(format!("{key} \"{path}\" must be the path of a file, such as \"/index.html\""))
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
    fn the_index_of_a_folder_has_two_paths() {
        let twins = ["/", "/index.html", "/x/", "/x/index.html", "/x", "/xindex.html", "/x/*"];
        let expected = [Some("/index.html"), Some("/"), Some("/x/index.html"), Some("/x/")];
        let got: Vec<Option<String>> = twins.into_iter().map(twin).collect();
        assert_eq!(got[..4], expected.map(|it| it.map(str::to_owned)));
        assert_eq!(got[4..], [None, None, None]);
    }

    #[test]
    fn a_path_that_no_client_can_request_is_malformed() {
        assert_eq!(["/", "/a*", "/a?b=c"].map(malformed), [None, None, None]);
        for path in ["a", "/a*b", "/a**", "/a b", "/a\n", "/a#b"] {
            assert!(malformed(path).is_some(), "{path}");
        }
    }
}
