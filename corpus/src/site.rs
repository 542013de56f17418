//! The site of a host: the unit that studies count as independent.

/// The registrable domain of a host by the [public suffix list](https://publicsuffix.org), such as `example.co.uk` of
/// `www.example.co.uk`, and `shop.test` of `www.shop.test`: if no rule matches, the last label is the suffix. `None` for an
/// address, for a public suffix or a single label such as `localhost`, and for a [stand-in](is_stand_in).
pub fn registrable_domain(host: &str) -> Option<&str> {
    let host = host.trim_end_matches('.');
    let last = host.rsplit('.').next().unwrap_or(host);
    let is_address = host.contains(':') || last.starts_with(|it: char| it.is_ascii_digit());
    psl::domain_str(host).filter(|_| !is_address && !is_stand_in(host))
}

/// Whether this host belongs to no site: it stands in for a host that a recording lacks or a renamed page hides.
pub fn is_stand_in(host: &str) -> bool {
    let Some(name) = host.strip_suffix(".test") else { return false };
    let number = name.strip_prefix("host-");
    let is_renamed = number.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    is_renamed || name == "generated" || name.rsplit('.').next() == Some("page")
}

/// Sites and templates of bundled pages: each line has one, followed by the names of its pages.
pub(crate) const SITES: &str = include_str!("../sets/sites.txt");

/// The site that a bundled page shares with others.
pub(crate) fn shared_site(name: &str) -> Option<&'static str> {
    let mut sites = SITES.lines().filter_map(|it| it.split_once(": "));
    sites.find(|(_, pages)| pages.split(' ').any(|it| it == name)).map(|(site, _)| site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_owner_have_one_site() {
        assert_eq!(registrable_domain("de.wikipedia.org"), Some("wikipedia.org"));
        assert_eq!(registrable_domain("www.example.co.uk"), Some("example.co.uk"));
        assert_eq!(registrable_domain("example.org."), Some("example.org"));
    }

    #[test]
    fn hosts_of_one_provider_have_sites_of_their_own() {
        assert_eq!(registrable_domain("one.github.io"), Some("one.github.io"));
        assert_eq!(registrable_domain("docs.two.github.io"), Some("two.github.io"));
    }

    #[test]
    fn hosts_of_renamed_and_recorded_pages_stand_for_others_and_those_of_sites_do_not() {
        for host in ["www.page.test", "agency-local.page.test", "host-0.test", "generated.test"] {
            assert!(is_stand_in(host), "{host}");
        }
        for host in
            ["shop.test", "page.example", "host-a.test", "www.page.test.example", "localhost"]
        {
            assert!(!is_stand_in(host), "{host}");
        }
    }

    #[test]
    fn a_host_of_a_suffix_that_is_not_listed_belongs_to_the_last_two_labels() {
        assert_eq!(registrable_domain("www.news.test"), Some("news.test"));
        assert_eq!(registrable_domain("m.news.test"), Some("news.test"));
        assert_eq!(registrable_domain("wiki.intranet.corp"), Some("intranet.corp"));
    }

    #[test]
    fn addresses_suffixes_and_stand_ins_have_none() {
        for host in
            ["127.0.0.1", "::1", "[::ffff:10.0.0.1]", "localhost", "www.page.test", "co.uk", ""]
        {
            assert_eq!(registrable_domain(host), None, "{host}");
        }
    }
}
