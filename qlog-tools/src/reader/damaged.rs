//! Damaged JSON: what breaks off, and commas that may not be there.

use serde::de::IgnoredAny;

/// Whether JSON is valid up to its end but incomplete: the last record of a program that was stopped.
pub(super) fn breaks_off(json: &[u8]) -> bool {
    let is_incomplete = |json: &[u8]| {
        let read: serde_json::Result<IgnoredAny> = serde_json::from_slice(json);
        read.is_err_and(|error| error.is_eof())
    };
    // Within a number, serde calls that an error of its syntax.
    let is_in_number = json.last().is_some_and(|it| b"-+.eE".contains(it));
    is_incomplete(json) || is_in_number && is_incomplete(&[json, b"0"].concat())
}

/// JavaScript allows `[1,]`, JSON does not.
pub(super) fn without_trailing_commas(json: &[u8]) -> Vec<u8> {
    let mut kept: Vec<u8> = Vec::with_capacity(json.len());
    let (mut is_inside, mut is_escaped) = (false, false);
    for &byte in json {
        if !is_inside && matches!(byte, b']' | b'}') {
            let last = kept.iter().rposition(|byte| !byte.is_ascii_whitespace());
            if let Some(comma) = last.filter(|&last| kept[last] == b',') {
                kept.truncate(comma);
            }
        }
        is_inside ^= byte == b'"' && !is_escaped;
        is_escaped = is_inside && byte == b'\\' && !is_escaped;
        kept.push(byte);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_can_break_off_anywhere() {
        let record = br#"{"time":-1.5e+3,"name":"a\\u0041:b","data":{"x":[true,null]}}"#;
        let whole = (1..record.len()).find(|end| !breaks_off(&record[..*end]));
        assert_eq!(whole, None, "{:?}", whole.map(|it| String::from_utf8_lossy(&record[..it])));
        for bad in ["{}", r#"{"time":1.x"#, r#"{"time":e"#, "x"] {
            assert!(!breaks_off(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn commas_in_strings_stay() {
        let text = |json: &[u8]| String::from_utf8(without_trailing_commas(json)).unwrap();
        assert_eq!(text(br#"[1, [2,] , {"a\",]":"b,]",}]"#), r#"[1, [2] , {"a\",]":"b,]"}]"#);
    }
}
