//! Caddy: named matchers of host and path in a Caddyfile.

use super::Advice;
use std::collections::BTreeMap;

pub(super) const ABOUT: &str = "Import this file in the block of the site.\n\
    What Caddy does with it: it passes the field Priority on and does not act on it; a CDN before it that reads the field \
    (Cloudflare, Fastly) does. Its HTTP/3, quic-go, sends by priority (RFC 9218) since 0.62, but by what the client asks for alone \
    (measured with Caddy 2.11.7 and quic-go 0.63; `caddy build-info` names yours): there, `fetchpriority` in the HTML moves a \
    response. Links work with every Caddy. `respond 103` sends early hints (since 2.6), and all links of the page are in them. If your site has `handle` blocks, \
    import this file in each of them: what stands outside of them comes after them.";

pub(super) fn configuration(advice: &Advice) -> String {
    let mut text: Vec<String> = Vec::new();
    let mut groups: Vec<((String, String), Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in &advice.lines {
        let key = (line.host.clone(), line.priority.to_string());
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(&line.path);
    }
    for (number, ((host, priority), paths)) in (1..).zip(groups) {
        text.push(matcher(&format!("utmost_priority_{number}"), &host, &paths, ""));
        text.push(format!("header @utmost_priority_{number} Priority \"{priority}\"\n"));
    }
    for (number, document) in (1..).zip(&advice.documents) {
        let paths = document.paths();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let name = format!("utmost_page_{number}");
        text.push(matcher(&name, &document.host, &paths, ""));
        for link in document.all_links() {
            text.push(format!("header @{name} +Link \"{link}\"\n"));
        }
        if !document.early_hints.is_empty() {
            let navigation = "    header Sec-Fetch-Mode navigate\n";
            text.push(matcher(&format!("{name}_early"), &document.host, &paths, navigation));
            text.push(format!("respond @{name}_early 103\n"));
        }
    }
    text.concat()
}

fn matcher(name: &str, host: &str, paths: &[&str], more: &str) -> String {
    let host = if host.is_empty() { String::new() } else { format!("    host {host}\n") };
    format!("@{name} {{\n{host}    path {}\n{more}}}\n", paths.join(" "))
}
