//! The header fields that a route sets on its responses.

use super::RouteMistake;
use hyper::header::HeaderMap;
use serde::Deserialize;
use server::site::fields::add;
use std::collections::BTreeMap;

/// The value of a field, or a list of values for repeated fields of one name.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a value in quotes, or a list of such values")]
pub(super) enum FileValues {
    One(String),
    Several(Vec<String>),
}

/// The fields of a table that are allowed in any response and are not this server's own. The others are mistakes.
pub(super) fn checked(
    table: BTreeMap<String, FileValues>,
    wrong: &mut Vec<RouteMistake>,
) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for (written, values) in table {
        let name = written.to_ascii_lowercase();
        match values_of(&name, values, &fields) {
            Ok(values) => add(&mut fields, values.into_iter().map(|it| (&name, it))),
            Err(cause) => {
                let cause = format!("headers \"{}\" {cause}", written.escape_default());
                wrong.push(RouteMistake {
                    entry: Some(written),
                    ..RouteMistake::at("headers", cause)
                });
            }
        }
    }
    fields
}

/// The values of a field, if all are allowed beside the fields before it.
fn values_of(name: &str, values: FileValues, before: &HeaderMap) -> Result<Vec<String>, String> {
    if let Some(remedy) = own(name) {
        return Err(remedy.to_owned());
    }
    if before.contains_key(name) {
        return Err("occurs twice: names are the same in upper and lower case".to_owned());
    }
    let values = match values {
        FileValues::One(value) => vec![value],
        FileValues::Several(values) => values,
    };
    if values.is_empty() {
        return Err("has no value: write one, or remove the line".to_owned());
    }
    values.iter().try_for_each(|it| check(name, it))?;
    Ok(values)
}

fn check(name: &str, value: &str) -> Result<(), String> {
    if let Some(reason) = http3::malformed_field(name, value) {
        return Err(format!("must not be sent: {reason}; remove it"));
    }
    if !value.is_ascii() || value.trim() != value {
        let value = value.escape_default();
        return Err(format!(
            "= \"{value}\" must be ASCII without space at the ends: percent-encode or remove the rest"
        ));
    }
    Ok(())
}

/// The alternative for a field that this server sets itself.
fn own(name: &str) -> Option<&'static str> {
    match name {
        "priority" => Some("controls the order: write urgency in [route.resource.\"/PATH\"]"),
        "date" | "age" => Some("is different in each response: remove it"),
        "content-length" | "server" | "via" | "alt-svc" | "etag" | http3::SCHEME_FIELD => {
            Some("is made by the server: remove it")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use hyper::header::HeaderValue;
    use std::path::Path;

    /// The fields of a route, or the mistake in it.
    fn read(headers: &str) -> Result<String, String> {
        let text =
            format!("[site]\nroot = \"a\"\n[[route]]\npath = \"/a\"\n[route.headers]\n{headers}");
        let config = Config::parse(&text, Path::new("x.toml")).map_err(|it| it.to_string())?;
        assert_eq!(config.warnings, Vec::<String>::new());
        let lines = config.routes[0].headers.iter().flatten();
        let text = |value: &HeaderValue| value.to_str().expect("text").to_owned();
        let lines = lines.map(|(name, value)| format!("{name}: {}", text(value)));
        let lines: Vec<String> = lines.collect();
        Ok(lines.join("\n"))
    }

    #[test]
    fn names_are_in_lower_case_and_a_list_is_a_field_for_each_value() {
        let text = "X-Frame-Options = \"DENY\"\nlink = [\"</a>; rel=next\", \"</b>; rel=prev\"]\nx-empty = \"\"";
        let expected =
            "x-frame-options: DENY\nlink: </a>; rel=next\nlink: </b>; rel=prev\nx-empty: ";
        assert_eq!(read(text).as_deref(), Ok(expected));
    }

    #[test]
    fn a_field_that_must_not_be_set_is_refused_with_its_line() {
        for (field, expected) in [
            (
                "a = \"1\"\n\":status\" = \"200\"",
                "x.toml: line 7: headers \":status\" must not be sent: a pseudo-header field (RFC 9114, 4.3)",
            ),
            (
                "Connection = \"close\"",
                "x.toml: line 6: headers \"Connection\" must not be sent: a connection-specific field (RFC 9114, 4.2)",
            ),
            (
                "Keep-Alive = \"timeout=5\"",
                "x.toml: line 6: headers \"Keep-Alive\" must not be sent: a connection",
            ),
            (
                "Transfer-Encoding = \"chunked\"",
                "x.toml: line 6: headers \"Transfer-Encoding\" must not be sent: a connection",
            ),
            (
                "Content-Length = \"5\"",
                "x.toml: line 6: headers \"Content-Length\" is made by the server: remove it",
            ),
            ("ETag = \"1\"", "x.toml: line 6: headers \"ETag\" is made by the server: remove it"),
            (
                "Date = \"today\"",
                "x.toml: line 6: headers \"Date\" is different in each response: remove it",
            ),
            (
                "priority = \"u=1\"",
                "x.toml: line 6: headers \"priority\" controls the order: write urgency in [route.resource",
            ),
            (
                "\"a b\" = \"1\"",
                "x.toml: line 6: headers \"a b\" must not be sent: not a field name (RFC 9114, 10.3)",
            ),
            (
                "a = \"1\\r\\nset-cookie: a=1\"",
                "x.toml: line 6: headers \"a\" must not be sent: a control character in a field value",
            ),
            (
                "a = \" 1\"",
                "x.toml: line 6: headers \"a\" = \" 1\" must be ASCII without space at the ends",
            ),
            ("a = \"\u{e9}\"", "x.toml: line 6: headers \"a\" = \"\\u{e9}\" must be ASCII"),
            ("a = []", "x.toml: line 6: headers \"a\" has no value: write one"),
            ("A = \"2\"\na = \"1\"", "x.toml: line 7: headers \"a\" occurs twice"),
            ("a = 1", "x.toml: line 6: expected a value in quotes, or a list of such values"),
        ] {
            let error = read(field).expect_err(field);
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
