//! When certificates are valid, and for which hosts.

use super::Identity;
use crate::http_date::http_date;
use crate::site::Names;
use boring::asn1::{Asn1Time, Asn1TimeRef};
use boring::x509::X509;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A certificate should have been renewed long before its end: certbot renews 30 days before it, Caddy when a third of the time is
/// left.
const SOON: Duration = Duration::from_secs(14 * DAY_S);

/// When a certificate and its chain are valid, and for which hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validity {
    /// The time from which all of them are valid.
    pub from: SystemTime,
    /// The time at which the first of them ends.
    pub until: SystemTime,
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Identity {
    /// The validity of each certificate, in the given order.
    pub fn validities(&self) -> Vec<Validity> {
        std::iter::once(self).chain(&self.others).filter_map(|it| Validity::of(&it.chain)).collect()
    }
}

impl Validity {
    fn of(chain: &[X509]) -> Option<Self> {
        let names = chain.first()?.subject_alt_names();
        let names = || names.iter().flatten();
        Some(Self {
            from: chain.iter().filter_map(|it| time(it.not_before())).max()?,
            until: chain.iter().filter_map(|it| time(it.not_after())).min()?,
            names: names().filter_map(|it| it.dnsname()).map(str::to_owned).collect(),
            addresses: names().filter_map(|it| address(it.ipaddress()?)).collect(),
        })
    }

    /// Its fault at `now`, and the remedy.
    pub fn fault(&self, now: SystemTime) -> Option<String> {
        let date = http_date(self.until);
        if now >= self.until {
            return Some(format!("it expired on {date}: browsers refuse it; renew it, and reload"));
        }
        if now < self.from {
            let date = http_date(self.from);
            return Some(format!(
                "it is not valid before {date}: browsers refuse it until then; if that is in the past, the clock here is wrong"
            ));
        }
        let days = self.until.duration_since(now).unwrap_or_default().as_secs() / DAY_S;
        let in_days = match days {
            0 => "within a day".to_owned(),
            1 => "in 1 day".to_owned(),
            days => format!("in {days} days"),
        };
        let is_soon = self.left_s(now) <= SOON.as_secs().cast_signed();
        is_soon.then(|| format!("it expires {in_days}, on {date}; renew it, and reload"))
    }

    /// Seconds until the first certificate of the chain expires; negative afterwards.
    pub fn left_s(&self, now: SystemTime) -> i64 {
        let seconds = |it: Duration| it.as_secs().cast_signed();
        self.until.duration_since(now).map_or_else(|it| -seconds(it.duration()), seconds)
    }

    /// Whether a browser that requests `host` accepts it.
    pub fn covers(&self, host: &str) -> bool {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        address.map_or_else(
            |_| Names::new(self.names.iter().map(String::as_str)).include(host),
            |it| self.addresses.contains(&it),
        )
    }
}

const DAY_S: u64 = 24 * 60 * 60;

/// `None`: it is malformed.
fn time(time: &Asn1TimeRef) -> Option<SystemTime> {
    let since = Asn1Time::from_unix(0).ok()?.diff(time).ok()?;
    let seconds = i64::from(since.days) * DAY_S.cast_signed() + i64::from(since.secs);
    // A certificate that ended before 1970 has expired.
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds.try_into().unwrap_or(0)))
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(count: u64) -> Duration {
        Duration::from_secs(count * DAY_S)
    }

    fn of_self_signed() -> Validity {
        let names = ["*.a.test".to_owned(), "192.0.2.1".to_owned()];
        let identity = Identity::self_signed_for(&names).expect("a certificate");
        identity.validities().remove(0)
    }

    #[test]
    fn a_certificate_is_warned_of_before_its_time_14_days_before_its_end_and_after_it() {
        let validity = of_self_signed();
        assert_eq!(validity.until.duration_since(validity.from).expect("later"), days(30));
        let fault = |now| validity.fault(now).unwrap_or_default();
        let (from, until) = (validity.from, validity.until);
        assert!(fault(from - days(1)).starts_with("it is not valid before "));
        assert_eq!([fault(from), fault(until - days(15))], ["", ""]);
        assert!(fault(until - days(14)).starts_with("it expires in 14 days, on "));
        assert!(fault(until - days(1)).starts_with("it expires in 1 day, on "));
        assert!(fault(until - Duration::from_secs(1)).starts_with("it expires within a day, on "));
        assert!(fault(until).starts_with("it expired on "));
        assert_eq!(
            [until - days(1), until + days(1)].map(|it| validity.left_s(it)),
            [86_400, -86_400]
        );
    }

    /// Browsers refuse a chain of which any part has expired.
    #[test]
    fn a_chain_holds_as_long_as_each_of_its_certificates() {
        let identity = Identity::self_signed().expect("a certificate");
        let mut old = X509::builder().expect("a builder");
        let time = |unix_s| Asn1Time::from_unix(unix_s).expect("a time");
        old.set_not_before(&time(0)).expect("set");
        old.set_not_after(&time(1000)).expect("set");
        let chain = [identity.chain.clone(), vec![old.build()]].concat();
        let validity = Validity::of(&chain).expect("times");
        assert_eq!(validity.until, UNIX_EPOCH + Duration::from_secs(1000));
        assert_eq!(validity.from, of_self_signed().from);
    }

    #[test]
    fn a_certificate_covers_its_names_and_addresses() {
        let validity = of_self_signed();
        for (host, expected) in [
            ("localhost", true),
            ("www.a.test", true),
            ("a.test", false),
            ("b.test", false),
            ("192.0.2.1", true),
            ("192.0.2.2", false),
            ("::1", true),
            ("[::1]", true),
        ] {
            assert_eq!(validity.covers(host), expected, "{host}");
        }
    }
}
