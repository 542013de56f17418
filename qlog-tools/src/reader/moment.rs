//! Parses wall-clock times: RFC 3339, as in headers, and milliseconds since 1970.

/// Milliseconds since 1970 of `2026-11-21T01:48:45.990298488Z`. A plain number already is milliseconds, unless it is too
/// small for a time since 1970.
pub(super) fn epoch_ms(text: &str) -> Option<f64> {
    /// 1973: smaller values are times since the program began.
    const LEAST_MS: f64 = 1e11;
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return text.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms >= LEAST_MS);
    };
    let [year, month, day] = numbers(date, '-')?;
    let (time, offset_minutes) = without_offset(time)?;
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(whole, ':')?;
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    let is_date =
        (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_time = hour < 24 && minute < 60 && second <= 60;
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
    (is_date && is_time).then(|| (minutes * 60 + second) as f64 * 1000.0 + fraction * 1000.0)
}

/// The time in RFC 3339 form, to the microsecond.
pub(crate) fn rfc_3339(epoch_ms: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a conversion from a float saturates")]
    let us = (epoch_ms * 1000.0).round() as i64;
    let (day, us) = (us.div_euclid(86_400_000_000), us.rem_euclid(86_400_000_000));
    let (year, month, date) = civil(day);
    let seconds = us / 1_000_000;
    format!(
        "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}.{:06}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        us % 1_000_000
    )
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let numbers: Option<Vec<i64>> =
        text.split(separator).map(|it| it.parse::<u16>().ok().map(i64::from)).collect();
    numbers?.try_into().ok()
}

/// A time without its UTC offset, and the offset in minutes.
fn without_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let place = time.rfind(['+', '-'])?;
    let (hours, minutes) = time[place + 1..].split_once(':')?;
    let minutes =
        i64::from(hours.parse::<u8>().ok()?) * 60 + i64::from(minutes.parse::<u8>().ok()?);
    Some((&time[..place], if time[place..].starts_with('-') { -minutes } else { minutes }))
}

/// Days since 1970. (Hinnant, chrono-compatible low-level date algorithms, `days_from_civil`.)
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The reverse: year, month, day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + days.div_euclid(146_097) * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
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
