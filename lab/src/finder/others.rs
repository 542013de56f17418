//! The part of a page that other origins' servers send. In a load one server sends everything, so a gain there can need all of them.
//! The origin decides and not the registrable domain, because one connection's order is one server's.

use super::ByResource;
use super::words::listed;
use corpus::{Page, PageResource};
use std::collections::BTreeSet;

/// From this share of the bytes on, a gain counts only if the other servers change, too.
const LARGE_SHARE: f64 = 0.1;

/// Above this share of the bytes, nothing is sure.
pub(super) const SURE_SHARE_MAX: f64 = 0.5;

/// The responses of other origins' servers.
pub(super) struct Others<'a> {
    page: &'a Page,
    responses: Vec<&'a PageResource>,
    /// Their share of the page's bytes, from 0 to 1.
    share: f64,
}

impl<'a> Others<'a> {
    pub(super) fn of(page: &'a Page) -> Self {
        let bytes = |all: &[&PageResource]| all.iter().map(|it| it.bytes).sum::<u64>();
        let all: Vec<&PageResource> = page.resources.iter().collect();
        let mut responses = all.clone();
        responses.retain(|it| page.host(it.id) != page.host(0));
        let share = bytes(&responses) as f64 / bytes(&all).max(1) as f64;
        Self { page, responses, share }
    }

    /// Their part of the page, in words; `None`: they send nothing.
    pub(super) fn words(&self) -> Option<String> {
        let Self { page, responses, .. } = self;
        (!responses.is_empty()).then(|| {
            format!(
                "{}: {} of {} responses ({:.0} % of the bytes) come from other hosts, whose servers determine their order: {}.",
                page.name,
                responses.len(),
                page.resources.len(),
                self.percent(),
                listed(self.hosts())
            )
        })
    }

    /// The condition on which `found` gains; `None`: the page's own server suffices.
    pub(super) fn condition(&self, found: &ByResource) -> Option<String> {
        let mut lines = found.resources.iter();
        let has_line = lines.any(|line| self.responses.iter().any(|it| it.id == line.id));
        let hosts = self.hosts();
        let [servers, send, act] = match hosts.len() {
            1 => ["server", "sends", "does"],
            _ => ["servers", "send", "do"],
        };
        (has_line || self.share >= LARGE_SHARE).then(|| {
            format!(
                "but only if the {servers} of {}, which {send} {:.0} % of the bytes, {act} the same",
                listed(hosts),
                self.percent()
            )
        })
    }

    /// Why no loads make an answer for the page sure.
    pub(super) fn doubt(&self) -> Option<String> {
        (self.share > SURE_SHARE_MAX).then(|| {
            format!(
                "other hosts send {:.0} % of the bytes of {}, and in these loads one server sends all of them",
                self.percent(),
                self.page.name
            )
        })
    }

    fn hosts(&self) -> BTreeSet<&'a str> {
        self.responses.iter().map(|it| self.page.host(it.id)).collect()
    }

    fn percent(&self) -> f64 {
        100.0 * self.share
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gain;
    use super::*;
    use corpus::page::Party;

    /// A page with this share of the bytes at another host.
    fn shared(others_bytes: u64) -> Page {
        shared_with("cdn.other.net", Party::Third, others_bytes)
    }

    fn shared_with(host: &str, party: Party, others_bytes: u64) -> Page {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(2);
        page.origins.truncate(1);
        let mut other = page.origins[0].clone();
        host.clone_into(&mut other.host);
        other.party = party;
        page.origins.push(other);
        for resource in &mut page.resources {
            resource.origin = resource.id;
        }
        page.resources[0].bytes = 100 - others_bytes;
        page.resources[1].bytes = others_bytes;
        page
    }

    fn without_lines() -> ByResource {
        let mut found = ByResource::with_gains("home", vec![Gain::judged("3g", 1.25, [1.2, 1.3])]);
        found.resources.clear();
        found
    }

    #[test]
    fn a_gain_needs_the_other_servers_from_a_tenth_of_the_bytes_on() {
        let condition = |bytes| Others::of(&shared(bytes)).condition(&without_lines());
        assert_eq!(condition(9), None);
        assert_eq!(
            condition(98).as_deref(),
            Some(
                "but only if the server of cdn.other.net, which sends 98 % of the bytes, does the same"
            )
        );
        let page = shared(1);
        let line = ByResource::with_gains("home", Vec::new());
        assert!(Others::of(&page).condition(&line).is_some(), "its line is for the other host");
    }

    #[test]
    fn another_host_of_the_same_owner_and_another_port_are_other_servers() {
        for host in ["static.davies-meenan.test", "davies-meenan.test:8443"] {
            let page = shared_with(host, Party::First, 98);
            let others = Others::of(&page);
            let condition = format!(
                "but only if the server of {host}, which sends 98 % of the bytes, does the same"
            );
            assert_eq!(others.condition(&without_lines()), Some(condition));
            let left_out = format!(
                "davies-meenan: 1 of 2 responses (98 % of the bytes) come from other hosts, whose servers determine their order: {host}."
            );
            assert_eq!(others.words(), Some(left_out));
            assert!(others.doubt().is_some());
        }
        let own = shared_with("davies-meenan.test", Party::First, 98);
        assert_eq!(Others::of(&own).words(), None, "two names of one origin");
    }

    #[test]
    fn above_half_of_the_bytes_nothing_is_sure() {
        assert_eq!(Others::of(&shared(50)).doubt(), None);
        assert_eq!(
            Others::of(&shared(98)).doubt().as_deref(),
            Some(
                "other hosts send 98 % of the bytes of davies-meenan, and in these loads one server sends all of them"
            )
        );
    }
}
