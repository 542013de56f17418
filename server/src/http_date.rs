//! Times as HTTP writes them (RFC 9110, 5.6.7).

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::time::SystemTime;

/// A time as HTTP writes it (RFC 9110, 5.6.7); empty for one that the calendar does not have.
pub fn http_date(time: SystemTime) -> String {
    let time = Timestamp::try_from(time);
    time.map(|it| it.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).unwrap_or_default()
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
}
