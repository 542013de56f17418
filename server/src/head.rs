//! The head of a response, which all versions of HTTP have in common.

use crate::Options;
use crate::site::{Field, Response};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::time::SystemTime;

/// The fields of a response but for its status; `length` is the body's, where the response's own fields do not say it.
pub(crate) fn fields(response: &Response, length: Option<u64>, options: &Options) -> Vec<Field> {
    let mut fields: Vec<Field> = vec![("server".into(), "utmost".to_owned())];
    fields.extend(length.map(|it| ("content-length".into(), it.to_string())));
    fields.extend(response.headers.iter().cloned());
    if let Some(port) = options.alt_svc_port {
        fields.push(("alt-svc".into(), format!("h3=\":{port}\"; ma=86400")));
    }
    let clock = options.wall_clock.filter(|_| response.fields("date").next().is_none());
    fields.extend(clock.map(|it| ("date".into(), http_date(it()))));
    fields
}

/// A time as HTTP writes it (RFC 9110, 5.6.7); empty for one that the calendar does not have.
pub(crate) fn http_date(time: SystemTime) -> String {
    let time = Timestamp::try_from(time);
    time.map(|it| it.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).unwrap_or_default()
}

/// A time in one of the three forms that HTTP has had (RFC 9110, 5.6.7).
pub(crate) fn time(text: &str) -> Option<SystemTime> {
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
