//! Times in the format of HTTP (RFC 9110, 5.6.7).

use crate::site::fields::value;
use http::HeaderValue;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::cell::RefCell;
use std::time::SystemTime;

/// A time in the format of HTTP (RFC 9110, 5.6.7); empty if the calendar does not have it.
pub fn http_date(time: SystemTime) -> String {
    let time = Timestamp::try_from(time);
    time.map(|it| it.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).unwrap_or_default()
}

/// The value of a `date` field, which many responses share: each thread formats it once a second.
pub(crate) fn date(now: SystemTime) -> HeaderValue {
    thread_local! {
        static LAST: RefCell<Option<(u64, HeaderValue)>> = const { RefCell::new(None) };
    }
    let second = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    LAST.with_borrow_mut(|last| {
        let kept = last.take().filter(|it| it.0 == second);
        last.insert(kept.unwrap_or_else(|| (second, value(http_date(now))))).1.clone()
    })
}

/// A time in any of HTTP's three formats, current or obsolete (RFC 9110, 5.6.7).
pub fn time(text: &str) -> Option<SystemTime> {
    httpdate(text.trim()).map(SystemTime::from)
}

fn httpdate(text: &str) -> Option<Timestamp> {
    let forms = ["%a, %d %b %Y %H:%M:%S", "%A, %d-%b-%y %H:%M:%S", "%a %b %e %H:%M:%S %Y"];
    let plain = text.trim_end_matches(" GMT");
    let read = forms.iter().find_map(|it| DateTime::strptime(it, plain).ok())?;
    read.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_date_is_written_as_rfc_9110_writes_it() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn a_date_is_written_once_a_second() {
        let at = |ms| date(SystemTime::UNIX_EPOCH + Duration::from_millis(ms));
        let (first, same, next) = (at(784_111_777_000), at(784_111_777_999), at(784_111_778_000));
        assert_eq!(first, "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(next, "Sun, 06 Nov 1994 08:49:38 GMT");
        assert_eq!(same.as_bytes().as_ptr(), first.as_bytes().as_ptr());
        assert_eq!(at(999), "Thu, 01 Jan 1970 00:00:00 GMT");
    }
}
