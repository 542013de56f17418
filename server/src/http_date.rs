//! Times as HTTP writes them (RFC 9110, 5.6.7).

use crate::site::fields::value;
use http::HeaderValue;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::cell::RefCell;
use std::time::SystemTime;

/// A time as HTTP writes it (RFC 9110, 5.6.7); empty for one that the calendar does not have.
pub fn http_date(time: SystemTime) -> String {
    let time = Timestamp::try_from(time);
    time.map(|it| it.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).unwrap_or_default()
}

/// The value of a `date` field, which many responses share: each thread writes it once a second.
pub(crate) fn date(now: SystemTime) -> HeaderValue {
    thread_local! {
        static LAST: RefCell<Second> = const { RefCell::new(Second::FIRST) };
    }
    LAST.with_borrow_mut(|it| it.value(now))
}

/// A second since 1970, and the value for it.
struct Second(u64, HeaderValue);

impl Second {
    const FIRST: Self = Self(0, HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"));

    /// The value for a time. It is written anew only if that is in another second.
    fn value(&mut self, time: SystemTime) -> HeaderValue {
        let second = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        if second != self.0 {
            *self = Self(second, value(http_date(time)));
        }
        self.1.clone()
    }
}

/// A time in one of the three forms that HTTP has had (RFC 9110, 5.6.7).
pub fn time(text: &str) -> Option<SystemTime> {
    httpdate(text.trim()).map(SystemTime::from)
}

fn httpdate(text: &str) -> Option<Timestamp> {
    let forms = ["%a, %d %b %Y %H:%M:%S", "%A, %d-%b-%y %H:%M:%S", "%a %b %e %H:%M:%S %Y"];
    let plain = text.trim_end_matches(" GMT");
    let read = |form: &&str| DateTime::strptime(form, plain).ok();
    forms.iter().find_map(read)?.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp())
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
    fn a_kept_date_is_that_of_its_second() {
        let mut kept = Second::FIRST;
        for ms in [0, 999, 1000, 1999, 784_111_777_000, 784_111_777_999, 784_111_778_000, 500] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
            let before = (kept.0, kept.1.as_bytes().as_ptr());
            assert_eq!(kept.value(time), http_date(time), "{ms} ms");
            assert_eq!(before == (kept.0, kept.1.as_bytes().as_ptr()), before.0 == ms / 1000);
        }
    }
}
