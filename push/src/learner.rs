//! Graphs from what clients asked for: an access log, load by load.

use std::collections::{BTreeMap, VecDeque};

/// Loads of a page that are remembered.
const LOADS: usize = 20;
/// Pages and resources of a load that are remembered: what an attacker asks for must not fill the memory.
const MAX_PAGES: usize = 1000;
const MAX_RESOURCES: usize = 500;
/// The share of loads in which a resource must have been asked for, in percent.
const SHARE_PERCENT: usize = 80;

/// Learns what belongs to a page: what was asked for in four of five of the last loads, and in both of the last two
/// (so that URLs made anew for each load drop out).
#[derive(Debug, Clone, Default)]
pub struct Learner {
    pages: BTreeMap<String, VecDeque<Vec<(String, u64)>>>,
}

/// A resource that belongs to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// Path and query.
    pub path: String,
    /// Its last size.
    pub bytes: u64,
}

impl Learner {
    /// One load of a page: its path, and paths and body bytes of what was asked for, in order.
    pub fn load(&mut self, page: &str, mut resources: Vec<(String, u64)>) {
        if !self.pages.contains_key(page) && self.pages.len() == MAX_PAGES {
            return;
        }
        resources.truncate(MAX_RESOURCES);
        let loads = self.pages.entry(page.to_owned()).or_default();
        loads.push_back(resources);
        if loads.len() > LOADS {
            loads.pop_front();
        }
    }

    /// What belongs to a page, in the median order of requests; nothing before its second load.
    pub fn learned(&self, page: &str) -> Vec<Learned> {
        let Some(loads) = self.pages.get(page).filter(|it| it.len() >= 2) else {
            return Vec::new();
        };
        let (Some(last), Some(before)) = (loads.back(), loads.get(loads.len() - 2)) else {
            return Vec::new();
        };
        let belongs = |path: &str| {
            let seen = loads.iter().filter(|load| position(load, path).is_some()).count();
            seen * 100 >= loads.len() * SHARE_PERCENT && position(before, path).is_some()
        };
        let mut found: Vec<(usize, Learned)> = last
            .iter()
            .filter(|(path, _)| belongs(path))
            .map(|(path, bytes)| {
                (median_position(loads, path), Learned { path: path.clone(), bytes: *bytes })
            })
            .collect();
        found.sort_by_key(|(position, _)| *position);
        found.dedup_by(|a, b| a.1.path == b.1.path);
        found.into_iter().map(|(_, it)| it).collect()
    }
}

/// The loads in an access log in the combined format, in the order of their documents: requests of one address whose
/// referrer is a page, each with its page. Lines that are otherwise are passed over.
pub fn loads_of_access_log(log: &str) -> Vec<(String, Vec<(String, u64)>)> {
    let mut loads: Vec<(String, Vec<(String, u64)>)> = Vec::new();
    let mut last: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for line in log.lines() {
        let Some(entry) = Entry::parse(line) else { continue };
        match last.get(&(entry.address, entry.referrer_path.to_owned())) {
            Some(&load) if !entry.is_page() => {
                loads[load].1.push((entry.path.to_owned(), entry.bytes));
            }
            _ if entry.is_page() => {
                last.insert((entry.address, entry.path.to_owned()), loads.len());
                loads.push((entry.path.to_owned(), Vec::new()));
            }
            _ => {}
        }
    }
    loads
}

struct Entry<'a> {
    address: &'a str,
    path: &'a str,
    bytes: u64,
    referrer_path: &'a str,
}

impl<'a> Entry<'a> {
    /// `ADDRESS - - [TIME] "GET PATH HTTP/3" 200 BYTES "REFERRER" "AGENT"`.
    fn parse(line: &'a str) -> Option<Self> {
        let mut quoted = line.split('"');
        let address = quoted.next()?.split_ascii_whitespace().next()?;
        let mut request = quoted.next()?.split_ascii_whitespace();
        let (method, path) = (request.next()?, request.next()?);
        let mut numbers = quoted.next()?.split_ascii_whitespace();
        let (status, bytes) = (numbers.next()?, numbers.next()?);
        let referrer = quoted.next()?;
        let after_host = referrer.split_once("://").map_or(referrer, |(_, rest)| rest);
        let referrer_path = after_host.find('/').map_or("", |slash| &after_host[slash..]);
        let good = method == "GET" && status == "200" && path.starts_with('/');
        good.then(|| Self { address, path, bytes: bytes.parse().unwrap_or(0), referrer_path })
    }

    /// A log does not say what a document is; its path does, mostly.
    fn is_page(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = std::path::Path::new(name).extension().and_then(|it| it.to_str());
        matches!(extension, None | Some("html" | "htm" | "php"))
    }
}

fn position(load: &[(String, u64)], path: &str) -> Option<usize> {
    load.iter().position(|(it, _)| it == path)
}

fn median_position(loads: &VecDeque<Vec<(String, u64)>>, path: &str) -> usize {
    let mut positions: Vec<usize> = loads.iter().filter_map(|load| position(load, path)).collect();
    positions.sort_unstable();
    positions.get(positions.len() / 2).copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(loads: &[&str]) -> String {
        let mut learner = Learner::default();
        for load in loads {
            learner.load("/", load.split_whitespace().map(|it| (it.to_owned(), 1)).collect());
        }
        learner.learned("/").into_iter().map(|it| it.path).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_most_loads_ask_for_belongs_to_the_page() {
        assert_eq!(learned(&["/a /b /x?1", "/a /b /x?2"]), "/a /b");
        assert_eq!(learned(&["/a /b", "/b /a", "/b /a"]), "/b /a");
        assert_eq!(learned(&["/a /b", "/a /b", "/a /b", "/a /b", "/a"]), "/a");
        assert_eq!(learned(&["/a", "/b", "/b"]), "");
        assert_eq!(learned(&["/a"]), "");
    }

    #[test]
    fn loads_are_told_apart_by_address_and_referrer() {
        let log = r#"
10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /index.html HTTP/3" 200 900 "-" "x"
10.0.0.2 - - [01/Jan/2026:00:00:00 +0000] "GET /index.html HTTP/3" 200 900 "-" "x"
10.0.0.1 - - [01/Jan/2026:00:00:01 +0000] "GET /a.css HTTP/3" 200 10 "https://site.example/index.html" "x"
10.0.0.2 - - [01/Jan/2026:00:00:01 +0000] "GET /b.js HTTP/3" 200 20 "https://site.example/index.html" "x"
10.0.0.1 - - [01/Jan/2026:00:00:01 +0000] "GET /lost.js HTTP/3" 404 20 "https://site.example/index.html" "x"
10.0.0.1 - - [01/Jan/2026:00:00:01 +0000] "POST /c HTTP/3" 200 20 "https://site.example/index.html" "x"
nonsense "
"#;
        let expected = vec![
            ("/index.html".to_owned(), vec![("/a.css".to_owned(), 10)]),
            ("/index.html".to_owned(), vec![("/b.js".to_owned(), 20)]),
        ];
        assert_eq!(loads_of_access_log(log), expected);
    }

    #[test]
    fn memory_is_bounded() {
        let mut learner = Learner::default();
        for page in 0..2 * MAX_PAGES {
            learner.load(&format!("/{page}"), vec![("/a".into(), 1); 2 * MAX_RESOURCES]);
        }
        assert_eq!(learner.pages.len(), MAX_PAGES);
        assert!(learner.pages.values().flatten().all(|it| it.len() == MAX_RESOURCES));
    }
}
