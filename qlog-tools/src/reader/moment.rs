//! Wall-clock times: RFC 3339, as in headers, and milliseconds since 1970.

use jiff::Timestamp;

/// Milliseconds since 1970 of `2026-11-21T01:48:45.990298488Z`. A plain number already is milliseconds, unless it is too
/// small for a time since 1970.
pub(super) fn epoch_ms(text: &str) -> Option<f64> {
    /// 1973: smaller values are times since the program began.
    const LEAST_MS: f64 = 1e11;
    match text.parse::<Timestamp>() {
        Ok(at) => Some(at.as_nanosecond() as f64 / 1e6),
        Err(_) => text.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms >= LEAST_MS),
    }
}

/// The time in RFC 3339 form, to the microsecond; 1970 for a time that jiff cannot express.
pub(crate) fn rfc_3339(epoch_ms: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a conversion from a float saturates")]
    let us = (epoch_ms * 1000.0).round() as i64;
    format!("{:.6}", Timestamp::from_microsecond(us).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        let text = "2026-11-21T01:49:36.600838Z";
        let ms = epoch_ms(text).unwrap();
        assert!((ms - 1_795_225_776_600.838).abs() < 1e-3, "{ms}");
        assert_eq!(rfc_3339(ms), text);
        assert_eq!(epoch_ms("2026-11-21T02:49:36.600838+01:00"), Some(ms));
        assert_eq!(epoch_ms("1795225776600.838"), Some(1_795_225_776_600.838));
        assert_eq!(epoch_ms("2024-02-29T00:00:00Z"), Some(1_709_164_800_000.0));
        for wrong in ["", "0", "5", "2026-11-21", "2026-13-01T00:00:00Z", "xTyZ", "2026-1-1T1:1Z"] {
            assert_eq!(epoch_ms(wrong), None, "{wrong}");
        }
    }
}
