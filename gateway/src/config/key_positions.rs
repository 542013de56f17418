//! The positions of the keys in a configuration file.

use super::RouteMistake;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The line, from 1, of a syntax error in `text`.
pub fn line_of(error: &toml::de::Error, text: &str) -> usize {
    line(text, error.span().unwrap_or_default())
}

fn line(text: &str, span: Range<usize>) -> usize {
    1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()
}

/// The mistake in `text`, with the key if its value is unusable.
pub(super) fn cause_of(error: &toml::de::Error, text: &str) -> String {
    let cause = error.message().replace("expected u64", NATURAL).replace("expected usize", NATURAL);
    let cause = cause.replace("expected i64", "expected a whole number");
    let root = DeTable::parse(text).ok().filter(|_| cause.starts_with("invalid "));
    let key = root.zip(error.span()).and_then(|(root, span)| key_of(root.get_ref(), &span));
    key.map(|it| format!("{it}: {cause}")).unwrap_or(cause)
}

const NATURAL: &str = "expected a whole number from 0";

/// The innermost key whose value is at `span`.
fn key_of(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    table.iter().find_map(|(key, value)| key_at(key.get_ref(), value, span))
}

fn key_at(key: &str, value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<String> {
    match value.get_ref() {
        _ if value.span() == *span => Some(key.to_owned()),
        DeValue::Table(table) => key_of(table, span),
        DeValue::Array(values) => values.iter().find_map(|it| key_at(key, it, span)),
        _ => None,
    }
}

pub(super) struct KeyPositions<'a> {
    text: &'a str,
    root: Spanned<DeTable<'a>>,
}

impl<'a> KeyPositions<'a> {
    pub(super) fn of(text: &'a str) -> Result<Self, toml::de::Error> {
        Ok(Self { text, root: DeTable::parse(text)? })
    }

    /// The line of a key of `[site]`, or of `[site]` itself if the key is missing.
    pub(super) fn in_site(&self, key: &str) -> usize {
        self.in_table("site", key)
    }

    /// The line of the key of `[site]` that names the source.
    pub(super) fn of_served(&self) -> usize {
        let site = self.root.get_ref().get("site").and_then(|it| it.get_ref().as_table());
        let mut keys = ["root", "page", "pages", "upstream"].into_iter();
        keys.find_map(|it| self.line(site, it)).unwrap_or_else(|| self.in_site("root"))
    }

    /// The line of a key of `[limits]`, if the file has it.
    pub(super) fn in_limits(&self, key: &str) -> Option<usize> {
        let limits = self.root.get_ref().get("limits").and_then(|it| it.get_ref().as_table());
        self.line(limits, key)
    }

    pub(super) fn in_table(&self, name: &str, key: &str) -> usize {
        let found = self.root.get_ref().get(name);
        let table = found.and_then(|it| it.get_ref().as_table());
        self.line(table, key).unwrap_or_else(|| line(self.text, found.map_or(0..0, Spanned::span)))
    }

    /// The line of a key in the `[[route]]` at `index`, or of that `[[route]]` if the key is missing.
    pub(super) fn in_route(&self, index: usize, key: &str) -> usize {
        self.line(self.route(index), key).unwrap_or_else(|| self.in_route(index, "path"))
    }

    pub(super) fn of_wrong(&self, index: usize, wrong: &RouteMistake) -> usize {
        let table = self.route(index).and_then(|it| it.get(wrong.key));
        let table = table.and_then(|it| it.get_ref().as_table());
        let entry = wrong.entry.as_deref().and_then(|it| self.line(table, it));
        entry.unwrap_or_else(|| self.in_route(index, wrong.key))
    }

    pub(super) fn route_keys(&self, index: usize) -> impl Iterator<Item = &str> {
        self.route(index).into_iter().flat_map(|it| it.keys()).map(|it| it.get_ref().as_ref())
    }

    fn route(&self, index: usize) -> Option<&DeTable<'a>> {
        let routes = self.root.get_ref().get("route")?.get_ref().as_array()?;
        routes.get(index)?.get_ref().as_table()
    }

    fn line(&self, table: Option<&DeTable<'a>>, key: &str) -> Option<usize> {
        let (key, _) = table?.get_key_value(key)?;
        Some(line(self.text, key.span()))
    }
}
