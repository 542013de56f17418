//! Repairs a recording's bytes so that a strict JSON reader accepts them: recorders write byte order marks, UTF-16, unpaired
//! surrogates, and numbers that JSON lacks, often in one entry among thousands.

/// The text in `bytes`. Each byte is replaced by one byte, so that positions in messages stay correct; invalid UTF-8 becomes U+FFFD.
///
/// * A byte order mark is removed; UTF-16 is recognized by it, or by the zero byte beside the first letter.
/// * An escaped unpaired surrogate (`\ud83d` alone) becomes U+FFFD, and a control character in a string a space.
/// * `NaN` and `Infinity` become -1, which means unknown.
pub fn json_text(bytes: Vec<u8>) -> String {
    let mut bytes = match bytes.as_slice() {
        [0xef, 0xbb, 0xbf, ..] => bytes[3..].to_vec(),
        [0xff, 0xfe, rest @ ..] => of_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => of_utf16(rest, u16::from_be_bytes),
        [1..=0xff, 0, ..] => of_utf16(&bytes, u16::from_le_bytes),
        [0, 1..=0xff, ..] => of_utf16(&bytes, u16::from_be_bytes),
        _ => bytes,
    };
    repair(&mut bytes);
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn of_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units: Vec<u16> = bytes.as_chunks().0.iter().map(|&it| unit(it)).collect();
    String::from_utf16_lossy(&units).into_bytes()
}

/// Repairs JSON. A string ends with its line: JSON strings have no line breaks, and a truncated line must not affect the next ones.
fn repair(json: &mut [u8]) {
    let (mut at, mut in_text) = (0, false);
    while at < json.len() {
        let mut length = 1;
        match (json[at], in_text) {
            (b'"', _) => in_text = !in_text,
            (b'\n', _) => in_text = false,
            (b'\\', true) => length = repair_escape(&mut json[at..]),
            (0..=0x1f, true) => json[at] = b' ',
            (b'N' | b'I' | b'-', false) => length = repair_number(&mut json[at..]),
            _ => {}
        }
        at += length;
    }
}

/// Repairs the escape at the start of the text. Returns its length.
fn repair_escape(json: &mut [u8]) -> usize {
    match (unit(json), unit(json.get(6..).unwrap_or_default())) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
        (Some(0xd800..=0xdfff), _) => {
            json[2..6].copy_from_slice(b"fffd");
            6
        }
        _ => 2,
    }
}

/// The UTF-16 unit escaped at the start of the text.
fn unit(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn repair_number(json: &mut [u8]) -> usize {
    let words: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    let Some(word) = words.into_iter().find(|it| json.starts_with(it)) else { return 1 };
    json[..word.len()].fill(b' ');
    json[..2].copy_from_slice(b"-1");
    word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_utf16_are_understood() {
        let json = "{\"a\":\"é\"}";
        let marked = format!("\u{feff}{json}");
        let units = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        for bytes in [
            json.as_bytes().to_vec(),
            marked.as_bytes().to_vec(),
            units(&marked, u16::to_le_bytes),
            units(&marked, u16::to_be_bytes),
            units(json, u16::to_le_bytes),
            units(json, u16::to_be_bytes),
        ] {
            assert_eq!(json_text(bytes), json);
        }
        assert_eq!(json_text(b"{\"a\":\"\xe9\"}".to_vec()), "{\"a\":\"\u{fffd}\"}");
    }

    #[test]
    fn what_json_does_not_have_is_replaced_in_place() {
        let repaired = |json: &str| json_text(json.as_bytes().to_vec());
        assert_eq!(
            repaired(r#"["\ud83d x","\ud83d\ude00","\\ud83d"]"#),
            r#"["\ufffd x","\ud83d\ude00","\\ud83d"]"#
        );
        assert_eq!(repaired("[NaN,-Infinity,\"NaN\",-3]"), "[-1 ,-1       ,\"NaN\",-3]");
        assert_eq!(repaired("[\"a\tb\"]\n"), "[\"a b\"]\n");
        assert_eq!(repaired("{\"cut\n{\"a\":NaN}"), "{\"cut\n{\"a\":-1 }");
    }
}
