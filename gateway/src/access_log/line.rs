//! The lines of an access log.

use jiff::Timestamp;
use server::Answered;
use std::fmt::Write;
use std::time::SystemTime;

/// The format that each line of JSON names: `schemas/access.json`.
const JSON_FORMAT: &str = "utmost-access/1";

/// How lines are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Apache's combined format, followed by the response time in microseconds.
    #[default]
    Combined,
    /// A JSON object a line.
    Json,
}

impl Format {
    /// The line, with its end, of a response that ended at `at`.
    pub(super) fn line(self, answered: &Answered, at: SystemTime) -> String {
        let time = Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH);
        match self {
            Self::Combined => combined(answered, time),
            Self::Json => json(answered, time),
        }
    }
}

fn combined(answered: &Answered, time: Timestamp) -> String {
    let Answered { method, path, status, bytes, duration, .. } = answered;
    let protocol = answered.protocol.name();
    let client = answered.client.map_or("-".to_owned(), |it| it.to_canonical().to_string());
    let time = time.strftime("%d/%b/%Y:%H:%M:%S %z");
    let bytes = if *bytes == 0 { "-".to_owned() } else { bytes.to_string() };
    let (method, path) = (quoted(method.as_bytes()), quoted(path.as_bytes()));
    let referer = quoted(answered.referer.as_deref().unwrap_or("-").as_bytes());
    let agent = quoted(answered.user_agent.as_deref().unwrap_or(b"-"));
    let duration_us = duration.as_micros();
    format!(
        "{client} - - [{time}] \"{method} {path} {protocol}\" {status:03} {bytes} \"{referer}\" \"{agent}\" {duration_us}\n"
    )
}

/// Text that is safe between quotes: a client cannot end a line, or control a terminal.
fn quoted(text: &[u8]) -> String {
    let mut quoted = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => quoted.push(char::from(*byte)),
            // Writing to a String cannot fail.
            _ => write!(quoted, "\\x{byte:02x}").unwrap_or_default(),
        }
    }
    quoted
}

fn json(answered: &Answered, time: Timestamp) -> String {
    let priority = answered.priority;
    let incremental = if priority.incremental_or_default() { ", i" } else { "" };
    let object = serde_json::json!({
        "format": JSON_FORMAT,
        "time": format!("{time:.3}"),
        "client": answered.client.map(|it| it.to_canonical()),
        "method": answered.method,
        "host": answered.host,
        "path": answered.path,
        "protocol": answered.protocol.name(),
        "status": answered.status,
        "bytes": answered.bytes,
        "duration_ms": answered.duration.as_secs_f64() * 1e3,
        "scheme": Some(&answered.scheme).filter(|it| !it.is_empty()),
        "priority": format!("u={}{incremental}", priority.urgency_or_default()),
        "complete": answered.is_complete,
        "referer": answered.referer,
        "user_agent": answered.user_agent.as_deref().map(text_of),
    });
    format!("{}\n", ascii(&object.to_string()))
}

/// Bytes as text; bytes that are not UTF-8 appear as `\xe4`.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            write!(text, "\\x{byte:02x}").unwrap_or_default();
        }
    }
    text
}

/// The same JSON in ASCII, because other characters could end a line for some readers (U+0085, U+2028) or reverse a
/// terminal's text (U+202E).
fn ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        if matches!(character, ' '..='~') {
            ascii.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(ascii, "\\u{unit:04x}").unwrap_or_default();
            }
        }
    }
    ascii
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use schedulers::Priority;
    use server::site::Protocol;
    use std::net::IpAddr;
    use std::time::Duration;

    pub(in super::super) fn answered() -> Answered {
        Answered {
            protocol: Protocol::Http3,
            client: Some(IpAddr::from([192, 0, 2, 1])),
            method: "GET".to_owned(),
            host: "a.test".to_owned(),
            path: "/x?y=1".to_owned(),
            referer: None,
            user_agent: Some(b"Firefox \"1\"\n".to_vec()),
            status: 200,
            bytes: 5_000,
            duration: Duration::from_micros(12_345),
            scheme: "rfc9218".to_owned(),
            priority: Priority::new(1, true),
            is_complete: true,
            is_tunnel: false,
        }
    }

    /// 2026-11-23 08:06:51.25 UTC.
    fn time() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_421_211_250)
    }

    #[test]
    fn a_combined_line_is_apaches_with_microseconds() {
        assert_eq!(
            Format::Combined.line(&answered(), time()),
            "192.0.2.1 - - [23/Nov/2026:08:06:51 +0000] \"GET /x?y=1 HTTP/3\" 200 5000 \"-\" \
             \"Firefox \\\"1\\\"\\x0a\" 12345\n"
        );
        let empty = Answered { bytes: 0, status: 304, protocol: Protocol::Http11, ..answered() };
        assert!(Format::Combined.line(&empty, time()).contains("HTTP/1.1\" 304 - \""));
    }

    #[test]
    fn a_json_line_is_one_object() {
        let line = Format::Json.line(&answered(), time());
        assert_eq!(line.matches('\n').count(), 1);
        let object: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let expected = serde_json::json!({
            "format": "utmost-access/1",
            "time": "2026-11-23T08:06:51.250Z",
            "client": "192.0.2.1",
            "method": "GET",
            "host": "a.test",
            "path": "/x?y=1",
            "protocol": "HTTP/3",
            "status": 200,
            "bytes": 5_000,
            "duration_ms": 12.345,
            "scheme": "rfc9218",
            "priority": "u=1, i",
            "complete": true,
            "referer": null,
            "user_agent": "Firefox \"1\"\n",
        });
        assert_eq!(object, expected);
    }

    #[test]
    fn what_is_not_ascii_is_escaped_and_kept() {
        let path = "/\u{85}\u{2028}\u{202e}\u{fc}\u{1f600}".to_owned();
        let agent = Some(b"M\xe4rz \xc3\xbc \\".to_vec());
        let strange = Answered { path: path.clone(), user_agent: agent, ..answered() };
        let line = Format::Json.line(&strange, time());
        let expected = r#""path":"/\u0085\u2028\u202e\u00fc\ud83d\ude00""#;
        assert!(line.contains(expected) && line.is_ascii(), "{line}");
        let object: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(object["path"], path);
        assert_eq!(object["user_agent"], "M\\xe4rz \u{fc} \\");
        let line = Format::Combined.line(&strange, time());
        assert!(line.contains(r#""M\xe4rz \xc3\xbc \\" "#), "{line}");
    }
}
