//! Continues after a mistake, so that all mistakes are found at once: it blanks the faulty part out and parses the rest
//! again.

use super::file::File;
use super::key_positions::{cause_of, line_of};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A mistake: the line, and the cause.
pub(super) type Mistake = (usize, String);

/// Mistakes that are looked for.
const MOST: usize = 100;

/// A file as far as it can be parsed, with the remaining text, and the mistakes. A wrong value counts as absent.
pub(super) fn read(text: &str) -> (Option<(File, String)>, Vec<Mistake>) {
    let described = |it: &toml::de::Error, text: &str| (line_of(it, text), cause_of(it, text));
    let (_, unreadable) = DeTable::parse_recoverable(text);
    let mut wrong: Vec<_> = unreadable.iter().map(|it| described(it, text)).collect();
    if !wrong.is_empty() {
        return (None, wrong);
    }
    let mut rest = text.to_owned();
    while wrong.len() < MOST {
        let error = match toml::from_str::<File>(&rest) {
            Ok(file) => return (Some((file, rest)), wrong),
            Err(error) => error,
        };
        let Some(blamed) = blamed(&rest, &error.span().unwrap_or_default()) else {
            wrong.push(described(&error, &rest));
            return (None, wrong);
        };
        // A key may be missing because its value was blanked out.
        let lacking =
            error.message().strip_prefix("missing field `").map(|it| it.trim_end_matches('`'));
        let mut lines = text[blamed.clone()].lines();
        if !lacking.is_some_and(|key| lines.any(|it| it.trim_start().starts_with(key))) {
            wrong.push(described(&error, &rest));
        }
        let blank = |it: char| if it == '\n' { "\n".to_owned() } else { " ".repeat(it.len_utf8()) };
        let blanked: String = rest[blamed.clone()].chars().map(blank).collect();
        rest.replace_range(blamed, &blanked);
    }
    (None, wrong)
}

/// The faulty part of a text: a key with its value, or a table up to the next. `None`: the whole text.
fn blamed(text: &str, at: &Range<usize>) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    pair(text, root.get_ref(), at).or_else(|| table(text, at)).filter(|it| !it.is_empty())
}

/// The innermost key-value pair at this place whose value is not a table with its own head.
fn pair(text: &str, table: &DeTable<'_>, at: &Range<usize>) -> Option<Range<usize>> {
    table.iter().find_map(|(key, value)| {
        let (from, to) = (key.span().start, value.span().end);
        match value.get_ref() {
            DeValue::Table(inner) if !text[value.span()].starts_with('{') => pair(text, inner, at),
            DeValue::Array(values) if text[value.span()].starts_with("[[") => {
                let tables = values.iter().map(Spanned::get_ref).filter_map(DeValue::as_table);
                tables.into_iter().find_map(|it| pair(text, it, at))
            }
            _ => (from <= at.start && at.end <= to).then_some(from..to),
        }
    })
}

/// The table whose head is at this place, with its subtables.
fn table(text: &str, at: &Range<usize>) -> Option<Range<usize>> {
    let from = text[..at.start].rfind('\n').map_or(0, |it| it + 1);
    let head = text[from..].lines().next()?.trim();
    let name = head.trim_start_matches('[').split(']').next()?.trim();
    let ends = |line: &&str| {
        let line = line.trim_start();
        line.starts_with('[') && !line.trim_start_matches('[').starts_with(&format!("{name}."))
    };
    let lines = text[from..].split_inclusive('\n');
    let bytes =
        head.len().max(1) + lines.skip(1).take_while(|it| !ends(it)).map(str::len).sum::<usize>();
    head.starts_with('[').then(|| from..(from + bytes + 1).min(text.len()))
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, ConfigError};
    use std::path::Path;

    fn wrong(text: &str) -> Vec<String> {
        let (_, mut wrong) = Config::read(text, Path::new("x.toml"));
        wrong.sort_by_key(|it| match it {
            ConfigError::Malformed { line, .. } => *line,
            ConfigError::Unreadable(..) => 0,
        });
        wrong.iter().map(ToString::to_string).collect()
    }

    /// Fourteen mistakes of all kinds among correct lines.
    const WRONG: &str = r#"[site]
root = "a"
signals = "no"
trusted_proxies = ["10.0.0.0/99", "garbage"]

[[route]]
path = "x"
pushh = []
headers = { Connection = "close" }

[[route]]
path = "/a"
redirect = "/a"
upstream = "nowhere"

[[route]]
redirect = "//evil.test"

[[route]]
path = "/b"
status = 200
[route.error_pages]
200 = "/ok.html"
[route.resource."/c"]
urgency = 9

[limits]
connections = "many"

[color]
blue = 1
"#;

    #[test]
    fn all_mistakes_are_found_at_once() {
        let found = wrong(WRONG);
        let expected = [
            (3, "unknown variant `no`"),
            (4, "`10.0.0.0/99` is not an address or a network"),
            (4, "`garbage` is not an address or a network"),
            (7, "path \"x\" must begin with /"),
            (8, "unknown field `pushh`"),
            (13, "redirect \"/a\" leads to its own route"),
            (14, "upstream `nowhere`: expected http://HOST:PORT"),
            (16, "missing field `path`"),
            (17, "redirect \"//evil.test\" must be a path or a URL"),
            (21, "status 200 is not one of redirects"),
            (22, "error_pages: 200 must be a status from 400 to 599"),
            (25, "urgency 9 must be from 0 to 7"),
            (28, "connections: invalid type: string"),
            (30, "unknown field `color`"),
        ];
        let starts = expected.map(|(line, cause)| format!("x.toml: line {line}: {cause}"));
        let as_expected = found.iter().zip(&starts).all(|(one, start)| one.starts_with(start));
        assert!(as_expected && found.len() == starts.len(), "{}", found.join("\n"));
    }

    #[test]
    fn each_field_of_a_table_and_each_fact_of_a_list_is_a_mistake_of_its_own() {
        let found = wrong(
            "[site]\nroot = \"a\"\n[[route]]\npath = \"/a\"\n[route.headers]\nPriority = \"u=1\"\nDate = \"x\"\n\
             [route.resource.\"/a\"]\nfacts = \"kind=picture, hero, in-head, abov-fold\"",
        );
        let starts = [
            "x.toml: line 6: headers \"Priority\" controls the order",
            "x.toml: line 7: headers \"Date\" is different in each response",
            "x.toml: line 9: facts \"kind=picture, hero, in-head, abov-fold\": \"kind=picture\" and \"hero\" and \
             \"abov-fold\" are not facts",
        ];
        let as_expected = found.iter().zip(starts).all(|(one, start)| one.starts_with(start));
        assert!(as_expected && found.len() == starts.len(), "{}", found.join("\n"));
    }

    #[test]
    fn a_text_that_is_no_toml_is_read_to_its_end_too() {
        let found = wrong("[site]\nroot = \"a\nsignals = = 3\n[[route]\n");
        assert!(found.len() > 1, "{found:?}");
        assert!(found[0].starts_with("x.toml: line 2: "), "{found:?}");
        assert!(wrong("").iter().any(|it| it.contains("missing field `site`")));
    }

    #[test]
    fn what_is_cut_anywhere_is_read_without_a_panic() {
        for cut in 0..WRONG.len() {
            let (begin, rest) = WRONG.split_at(cut);
            wrong(begin);
            wrong(rest);
        }
    }
}
