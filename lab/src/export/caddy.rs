//! Caddy: named matchers of host and path in a Caddyfile.

use super::Advice;
use std::collections::BTreeMap;

pub(super) const ABOUT: &str = "Import this file in the block of the site.\n\
    What Caddy does with it: quic-go, its HTTP/3, sends by priority (RFC 9218) and reads the field Priority of responses since \
    0.62 (August 2026). A Caddy built with an older one shares the link among all responses, as 2.11 did when it was measured, \
    and only passes the field on. `respond 103` sends early hints (since 2.6).";

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
