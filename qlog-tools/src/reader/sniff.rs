//! Determines from a log's first bytes how it is divided into events.

use std::io::{self, Cursor, Read};

use serde::de::IgnoredAny;
use std::collections::BTreeMap;

use crate::limits::RECORD_BYTES;
use crate::trace::Container;

/// The number of bytes examined first. Without a line end in them, the first line may still be a
/// record: then more are examined, up to the longest record.
const LOOK_BYTES: usize = 1 << 16;
pub(super) const RECORD_SEPARATOR: u8 = 0x1e;
pub(super) const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A log whose first bytes have been examined.
pub(super) struct Sniffed<'a> {
    pub(super) container: Container,
    /// The first bytes, for a message.
    pub(super) begins: String,
    pub(super) is_empty: bool,
    /// All bytes, including the first ones.
    pub(super) whole: Box<dyn Read + 'a>,
}

pub(super) fn sniff<'a>(mut input: impl Read + 'a) -> io::Result<Sniffed<'a>> {
    let mut look = Vec::new();
    let end = look_at(&mut input, &mut look);
    let (container, begins) = (container(&look), begins(&look));
    let is_empty = text_of(&look).is_empty() && look.len() < LOOK_BYTES;
    let whole: Box<dyn Read + 'a> = match end {
        Ok(()) => Box::new(Cursor::new(look).chain(input)),
        Err(cause) if look.is_empty() => return Err(cause),
        // The bytes before the error are worth reading.
        Err(cause) => Box::new(Cursor::new(look).chain(Broken(Some(cause)))),
    };
    Ok(Sniffed { container, begins, is_empty, whole })
}

/// The first line, cut to fit a message, or its kind of content.
fn begins(look: &[u8]) -> String {
    const SHOWN: usize = 40;
    if look.starts_with(&[0xff, 0xfe]) || look.starts_with(&[0xfe, 0xff]) {
        return "a mark of UTF-16; a log is UTF-8".to_owned();
    }
    if is_har(look) {
        return "`{\"log\"`: this is a HAR, which `utmost qlog lint`, `utmost find` and `utmost corpus import` read".to_owned();
    }
    if let Some(remedy) = one_a_line(text_of(look)) {
        return remedy.to_owned();
    }
    let line = text_of(look).split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = &line[..line.len().min(4 * SHOWN)];
    let shown: String = String::from_utf8_lossy(line).trim().chars().take(SHOWN).collect();
    if shown.is_empty() {
        return "nothing: it is empty".to_owned();
    }
    if shown.contains(|it: char| it.is_control() || it == char::REPLACEMENT_CHARACTER) {
        let bytes: Vec<String> = look.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        return format!("the bytes {}", bytes.join(" "));
    }
    format!("`{shown}`")
}

/// The remedy for JSON whose records are in a list, or not one per line, as jq writes it.
fn one_a_line(text: &[u8]) -> Option<&'static str> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let is_whole = values.next().is_some_and(|it| it.is_ok());
    let rest = text[values.byte_offset()..].trim_ascii_start();
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_line = serde_json::from_slice::<IgnoredAny>(line).is_ok();
    match (text.first(), is_whole && !is_line, rest.first()) {
        (Some(b'['), ..) if text[1..].trim_ascii_start().starts_with(b"{") => {
            Some("`[{`: a list of records; write one per line with `jq -c '.[]' FILE`")
        }
        (Some(b'{'), true, Some(b'{')) => Some(
            "several JSON values that are not one per line; write one per line with `jq -c . FILE`",
        ),
        _ => None,
    }
}

/// Whether JSON, even if truncated, is an object whose first key is `log`, as in a HAR file.
pub fn is_har(json: &[u8]) -> bool {
    let inside = text_of(json).strip_prefix(b"{").unwrap_or_default();
    inside.trim_ascii_start().starts_with(b"\"log\"")
}

/// Reads until the container is known.
fn look_at(input: &mut impl Read, look: &mut Vec<u8>) -> io::Result<()> {
    let mut wanted = LOOK_BYTES;
    loop {
        let missing = wanted - look.len();
        let read = input.by_ref().take(missing as u64).read_to_end(look)?;
        let is_object = text_of(look).first() == Some(&b'{');
        if read < missing || !is_object || look.contains(&b'\n') || wanted >= RECORD_BYTES {
            return Ok(());
        }
        wanted *= 4;
    }
}

fn text_of(look: &[u8]) -> &[u8] {
    look.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(look).trim_ascii_start()
}

/// Returns the error that cut the input off.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[expect(
    clippy::zero_sized_map_values,
    reason = "only the keys are needed; serde has no set of keys"
)]
fn container(look: &[u8]) -> Container {
    let text = text_of(look);
    if text.first() == Some(&RECORD_SEPARATOR) {
        return Container::Sequence;
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line) {
        Ok(keys)
            if ["traces", "connections", "events"].iter().any(|key| keys.contains_key(*key)) =>
        {
            Container::Contained
        }
        // A document begins with a brace, or is assigned to a JavaScript variable.
        Err(_)
            if text.iter().position(|&byte| byte == b'{').is_some_and(|brace| {
                brace == 0 || text[..brace].trim_ascii_end().ends_with(b"=")
            }) =>
        {
            Container::Contained
        }
        _ => Container::Lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_may_be_long() {
        let title = "x".repeat(3 * LOOK_BYTES);
        let sniffed = |log: String| {
            let mut sniffed = sniff(log.as_bytes()).unwrap();
            let mut text = String::new();
            sniffed.whole.read_to_string(&mut text).unwrap();
            assert_eq!(text, log);
            sniffed.container
        };
        let lines = format!("{{\"qlog_version\":\"0.3\",\"title\":\"{title}\"}}\n{{\"time\":1}}\n");
        assert_eq!(sniffed(lines), Container::Lines);
        let one = format!("{{\"qlog_version\":\"0.3\",\"title\":\"{title}\",\"traces\":[]}}");
        assert_eq!(sniffed(one), Container::Contained);
    }

    #[test]
    fn records_that_are_no_lines_are_told_how_to_become_lines() {
        let pretty = b"{\n \"qlog_version\": \"0.3\"\n}\n{\n \"time\": 1\n}\n";
        let one_line = br#"{"qlog_version":"0.3"}{"time":1}"#;
        for log in [&pretty[..], &one_line[..]] {
            assert!(begins(log).ends_with("with `jq -c . FILE`"), "{}", begins(log));
        }
        assert!(begins(br#"[ {"qlog_version":"0.3"}]"#).ends_with("with `jq -c '.[]' FILE`"));
        assert_eq!(begins(b"{\"a\":1}\n"), "`{\"a\":1}`");
    }

    #[test]
    fn the_first_bytes_tell_the_container() {
        assert_eq!(container(b"\x1e{}\n"), Container::Sequence);
        assert_eq!(container(b"\xef\xbb\xbf {\"qlog_version\":\"0.3\"}\n{}"), Container::Lines);
        assert_eq!(container(br#"{"qlog_version":"0.3","traces":[]}"#), Container::Contained);
        assert_eq!(container(b"{\n \"qlog_version\": \"0.1\","), Container::Contained);
        assert_eq!(container(b"var x = {\n"), Container::Contained);
        assert_eq!(container(b"hello\n{"), Container::Lines);
    }
}
