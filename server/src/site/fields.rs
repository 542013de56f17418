//! Header fields, which are a [`HeaderMap`] everywhere but on HTTP/3's wire.

use http::header::{AsHeaderName, HeaderMap, HeaderName, HeaderValue};
use http3::NameValue;
use std::borrow::Cow;

/// The fields of these lines, in order, without lines that no field can express, and without pseudo-header
/// fields.
pub fn fields<N, V>(lines: impl IntoIterator<Item = (N, V)>) -> HeaderMap
where
    HeaderName: TryFrom<N>,
    HeaderValue: TryFrom<V>,
{
    let lines = lines.into_iter();
    let mut fields = HeaderMap::try_with_capacity(lines.size_hint().0).unwrap_or_default();
    add(&mut fields, lines);
    fields
}

/// Adds these lines, except those that no field can express.
pub fn add<N, V>(fields: &mut HeaderMap, lines: impl IntoIterator<Item = (N, V)>)
where
    HeaderName: TryFrom<N>,
    HeaderValue: TryFrom<V>,
{
    for (name, value) in lines {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            // A full map accepts no more.
            fields.try_append(name, value).ok();
        }
    }
}

/// A text that was made here, as a value; empty if no field can express it.
pub fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

/// The lines of the fields whose names are kept.
pub fn kept(
    fields: &HeaderMap,
    is_kept: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let lines = fields.iter().filter(move |(name, _)| is_kept(name.as_str()));
    lines.map(|(name, value)| (name.clone(), value.clone()))
}

/// The values of a field that are text, line by line.
pub fn texts<N: AsHeaderName>(
    fields: &HeaderMap,
    name: N,
) -> impl Iterator<Item = &str> + use<'_, N> {
    fields.get_all(name).into_iter().filter_map(|it| std::str::from_utf8(it.as_bytes()).ok())
}

/// A field that is a list, with its text lines joined (RFC 9110, 5.3).
pub fn list(fields: &HeaderMap, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
    let mut lines = texts(fields, name);
    let first = Cow::from(lines.next()?);
    Some(lines.fold(first, |list, line| list + ", " + line))
}

/// The lines of a field, whatever their bytes, with `between` them; `None`: there are none.
pub fn joined(fields: &HeaderMap, name: impl AsHeaderName, between: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = fields.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    (!lines.is_empty()).then(|| lines.join(between))
}

/// The regular fields of a section that `http3` has checked.
pub fn from_http3(headers: &[impl NameValue]) -> HeaderMap {
    fields(headers.iter().map(|it| (it.name(), it.value())))
}

/// The fields as HTTP/3 sends them.
pub fn to_http3(fields: &HeaderMap) -> impl Iterator<Item = Line<'_>> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
}

/// The name of a field, or of a pseudo-header field, and its value.
pub type Line<'a> = (&'a str, &'a [u8]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_field_goes_on_in_its_order() {
        let fields = fields([("x", "1"), ("y", "2"), ("x", "3")]);
        let said: Vec<Line<'_>> = to_http3(&fields).collect();
        assert_eq!(said, [("x", &b"1"[..]), ("x", b"3"), ("y", b"2")]);
        assert_eq!(from_http3(&said), fields);
    }

    #[test]
    fn a_line_that_no_field_can_say_is_left_out() {
        let lines = [("a b", "1"), (":path", "/"), ("x", "1\r\n2"), ("y", "\u{e9}"), ("z", "")];
        assert_eq!(fields(lines), fields([("y", "\u{e9}"), ("z", "")]));
        assert_eq!(fields(lines).len(), 2);
    }

    #[test]
    fn lines_that_are_not_text_are_passed_over_by_those_who_read_text() {
        let lines = fields([("x", &b"caf\xe9"[..]), ("x", b"1"), ("y", b"\xe9")]);
        assert_eq!(texts(&lines, "x").collect::<Vec<_>>(), ["1"]);
        assert_eq!(texts(&lines, "y").count(), 0);
        assert_eq!(lines.get("y").map(HeaderValue::as_bytes), Some(&b"\xe9"[..]));
    }
}
