//! Computes the size of a body on the wire from everything that a recording states about the response: one rule for HAR files and
//! `DevTools` logs.
//!
//! No single field is right in all recordings. A Content-Length is right (RFC 9110, section 8.6), unless the response was cut.
//! Without a Content-Encoding, the decoded size is the body's. Browsers' wire counts include the head or not: responses whose body
//! is known in one of these ways show which.

use crate::Size;
use crate::json::fields;
use serde_json::Value;

/// The most bytes that count as a head.
const HEAD_BYTES_MAX: u64 = 16 << 10;
/// A body on the wire exceeds its parts by at most one part in this many, because chunks and frames have headers.
const FRAMING: u64 = 20;
/// No resource compresses better than this.
const COMPRESSION_MAX: u64 = 50;
/// A stated body that exceeds the known one by this much includes the head.
const FRAME_BYTES: u64 = 20;

/// The sizes that a recording states for one response, in bytes. Except in `decoded`, 0 means unknown and is stored as `None`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stated {
    pub(crate) content_length: Option<u64>,
    /// The head names a Content-Encoding.
    pub(crate) encoded: bool,
    /// The length of the head as text, an upper limit for its size on the wire. 0 if the recording has no fields.
    pub(crate) head_text: u64,
    pub(crate) head: Option<u64>,
    pub(crate) body: Option<u64>,
    /// Head and body.
    pub(crate) whole: Option<u64>,
    pub(crate) decoded: Option<u64>,
    /// The recording states that the body is empty.
    pub(crate) is_empty: bool,
}

impl Stated {
    /// Reads the fields of a response's head, in the form of HAR files or `DevTools` logs. `method` is the request's.
    pub(crate) fn note_head(&mut self, headers: &Value, method: &str, status: u16) {
        let (mut text, mut length, mut encoded) = (0, None, false);
        for (name, value) in fields(headers) {
            text += name.len() as u64 + value.len() as u64 + 4;
            if name.eq_ignore_ascii_case("content-length") {
                length = content_length(&value);
            }
            if status == 206 && name.eq_ignore_ascii_case("content-range") {
                length = length.or(range_length(&value));
            }
            if name.eq_ignore_ascii_case("content-encoding") {
                encoded = !matches!(value.trim(), "" | "identity");
            }
        }
        if text == 0 {
            return;
        }
        self.head_text = self.head_text.max(text + "HTTP/1.1 200 OK\r\n\r\n".len() as u64);
        self.encoded |= encoded;
        if method.eq_ignore_ascii_case("HEAD") || matches!(status, 204 | 205) {
            return;
        }
        self.is_empty |= length == Some(0);
        self.content_length = self.content_length.or(length.filter(|&it| it > 0));
    }

    /// The body, if its size is certain.
    fn exact(&self) -> Option<u64> {
        let of_head = self.content_length.filter(|&it| !self.is_cut(it) && !self.is_foreign(it));
        of_head.or_else(|| self.not_compressed())
    }

    /// Whether less arrived, on the wire and decoded, than the head announced.
    fn is_cut(&self, length: u64) -> bool {
        [self.whole, self.decoded].into_iter().all(|it| it.is_some_and(|it| 0 < it && it < length))
    }

    /// Whether the head belongs to another response, such as the preceding redirect: more arrived than it announced, on the wire and
    /// decoded, and no head or compression accounts for the difference.
    fn is_foreign(&self, length: u64) -> bool {
        let decoded = self.decoded.unwrap_or(0);
        let Some(wire) = self.body.max(self.whole).filter(|&it| it < decoded) else { return false };
        let beyond = wire.saturating_sub(length.saturating_add(wire / FRAMING));
        beyond > HEAD_BYTES_MAX || beyond > self.head_text && decoded / COMPRESSION_MAX > length
    }

    /// The decoded size, if the wire size equals it or exceeds it by at most a head.
    fn not_compressed(&self) -> Option<u64> {
        let wire = self.body.max(self.whole)?;
        let decoded = self.decoded.filter(|&it| it > 0 && !self.encoded)?;
        let rest = wire.checked_sub(decoded)?;
        (rest <= HEAD_BYTES_MAX + wire / FRAMING).then_some(decoded)
    }

    /// Whether the stated body includes the head; `None` if nothing shows it.
    fn counts_head(&self) -> Option<bool> {
        let (body, exact) = (self.body?, self.exact()?);
        Some(match self.head {
            Some(head) => body.abs_diff(exact + head) < body.abs_diff(exact),
            None => body > exact + FRAME_BYTES,
        })
    }
}

/// A list of equal lengths counts as one (RFC 9110, section 8.6). Internet Explorer writes `34,034`.
fn content_length(value: &str) -> Option<u64> {
    let mut lengths = value.split([',', '\n']).map(str::trim);
    let first = lengths.next()?;
    let are_equal = lengths.clone().all(|it| it == first);
    let are_thousands = !value.contains(' ') && lengths.all(|it| it.len() == 3);
    let digits =
        if are_thousands && !are_equal { value.replace(',', "") } else { first.to_owned() };
    digits.parse().ok().filter(|_| are_equal || are_thousands)
}

/// `bytes 200-999/5000` has 800.
fn range_length(value: &str) -> Option<u64> {
    let (first, last) = value.trim().strip_prefix("bytes ")?.split('/').next()?.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

/// The body of each response of a recording. `counts_heads`: whether the recorder is known to count the head as body.
pub(crate) fn body_sizes(all: &[Stated], counts_heads: bool) -> Vec<(u64, Size)> {
    let habits = Habits::of(all, counts_heads);
    all.iter().map(|it| habits.body(it)).collect()
}

/// How a recorder counts.
struct Habits {
    /// Whether a stated body includes the head, for responses with and without a stated head.
    counts_head: [bool; 2],
    /// The usual size of a head on the wire, for responses that do not state it.
    head: Option<u64>,
}

impl Habits {
    fn of(all: &[Stated], counts_heads: bool) -> Self {
        let counts_head = [true, false].map(|has_head| {
            let told = all.iter().filter(|it| it.head.is_some() == has_head);
            let told: Vec<bool> = told.filter_map(Stated::counts_head).collect();
            let those = told.iter().filter(|&&it| it).count();
            if told.is_empty() { counts_heads } else { 2 * those > told.len() }
        });
        let mut habits = Self { counts_head, head: None };
        let unstated = all.iter().filter(|it| it.head.is_none());
        let heads = unstated.filter_map(|it| habits.whole(it)?.checked_sub(it.exact()?));
        let mut heads: Vec<u64> = heads.filter(|&it| it <= HEAD_BYTES_MAX).collect();
        heads.sort_unstable();
        habits.head = heads.get(heads.len() / 2).copied();
        habits
    }

    fn counts_head(&self, it: &Stated) -> bool {
        self.counts_head[usize::from(it.head.is_none())]
    }

    fn whole(&self, it: &Stated) -> Option<u64> {
        it.whole.or(it.body.filter(|_| self.counts_head(it)))
    }

    fn body(&self, it: &Stated) -> (u64, Size) {
        let stated = it.body.filter(|_| !self.counts_head(it));
        if let Some(bytes) = it.exact().or(stated) {
            return (bytes, Size::Recorded);
        }
        let decoded = it.decoded.unwrap_or(0);
        let Some(whole) = self.whole(it) else {
            return match decoded {
                0 if it.is_empty => (0, Size::Recorded),
                0 => (0, Size::Unknown),
                bytes => (bytes, Size::Decoded),
            };
        };
        let is_head = whole <= it.head.unwrap_or(it.head_text);
        let rest = whole.saturating_sub(self.head(it));
        match decoded {
            0 if is_head && it.decoded.is_some() => (0, Size::Recorded),
            1.. if is_head && decoded / COMPRESSION_MAX > rest => (decoded, Size::Decoded),
            _ => (rest, Size::Recorded),
        }
    }

    /// The head on the wire. By default half of its text, a typical result of header compression.
    fn head(&self, it: &Stated) -> u64 {
        let usual = self.head.unwrap_or(it.head_text / 2);
        let most = if it.head_text > 0 { it.head_text } else { u64::MAX };
        it.head.unwrap_or(usual.min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stated(fields: &Value) -> Stated {
        let mut stated = Stated::default();
        stated.note_head(fields, "GET", 200);
        stated
    }

    fn bodies(all: &[Stated]) -> Vec<u64> {
        body_sizes(all, false).into_iter().map(|it| it.0).collect()
    }

    #[test]
    fn the_length_of_another_response_says_nothing() {
        let of = |length: &str, whole, decoded| Stated {
            whole: Some(whole),
            decoded: Some(decoded),
            ..stated(&json!({"content-length": length}))
        };
        // The head of the preceding redirect; then lengths that heads and compression explain.
        assert_eq!(bodies(&[of("169", 31_977, 120_318)]), [31_957]);
        assert_eq!(bodies(&[of("169", 1_000, 20_000)]), [980]);
        assert_eq!(bodies(&[of("900", 1_300, 20_000)]), [900]);
        assert_eq!(bodies(&[of("30000", 120_000, 120_000)]), [30_000]);
        assert_eq!(bodies(&[of("200", 1_400, 300)]), [200]);
    }

    #[test]
    fn a_content_length_is_the_body_whatever_else_is_stated() {
        let head = json!([{"name": "Content-Length", "value": "12000, 12000"}]);
        let bodies_of =
            |whole, body, decoded| bodies(&[Stated { body, whole, decoded, ..stated(&head) }]);
        assert_eq!(bodies_of(None, None, None), [12_000]);
        assert_eq!(bodies_of(Some(12_300), Some(12_300), Some(40_000)), [12_000]);
        // A cache answered after revalidation: only the head arrived.
        assert_eq!(bodies_of(Some(300), None, Some(40_000)), [12_000]);
        // The response was cut.
        assert_eq!(bodies_of(Some(5300), Some(5000), Some(5000)), [5000]);
        let length = |value: &str| stated(&json!({"content-length": value})).content_length;
        assert_eq!(["34,034", "7, 8", "x", "-3"].map(length), [Some(34_034), None, None, None]);
    }

    #[test]
    fn a_body_that_was_not_compressed_is_as_large_as_its_decoded_size() {
        let plain = stated(&json!({"content-type": "image/png"}));
        let of = |whole, decoded| {
            bodies(&[Stated { whole: Some(whole), decoded: Some(decoded), ..plain.clone() }])
        };
        assert_eq!(of(14_204, 14_113), [14_113]);
        // Fields may be missing: this body was compressed.
        let stated = Stated { body: Some(8000), decoded: Some(30_000), ..plain.clone() };
        assert_eq!(bodies(&[stated]), [8000]);
    }

    #[test]
    fn responses_of_known_size_tell_what_a_recording_counts() {
        let known = stated(&json!({"content-length": "1000", "content-encoding": "br"}));
        let unknown = stated(&json!({"content-encoding": "br", "x": "y".repeat(900)}));
        let with =
            |it: &Stated, body| Stated { body: Some(body), decoded: Some(9000), ..it.clone() };
        assert_eq!(bodies(&[with(&known, 1700), with(&unknown, 5700)]), [1000, 5000]);
        assert_eq!(bodies(&[with(&known, 1000), with(&unknown, 5000)]), [1000, 5000]);
        let headed = |it: &Stated, body| Stated { head: Some(800), ..with(it, body) };
        assert_eq!(bodies(&[headed(&known, 1800), headed(&unknown, 5800)]), [1000, 5000]);
        assert_eq!(body_sizes(&[headed(&unknown, 5800)], true), [(5000, Size::Recorded)]);
    }

    #[test]
    fn a_head_alone_is_no_body() {
        let head = stated(&json!({"content-encoding": "gzip", "x": "y".repeat(300)}));
        let of =
            |decoded| body_sizes(&[Stated { whole: Some(214), decoded, ..head.clone() }], false);
        assert_eq!(of(Some(0)), [(0, Size::Recorded)]);
        assert_eq!(of(Some(8000)), [(8000, Size::Decoded)]);
    }
}
