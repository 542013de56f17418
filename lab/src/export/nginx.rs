//! nginx: maps from host and path to field values. An empty value adds no field.

use super::Advice;
use super::advice::paths_of;

pub(super) const ABOUT: &str = "Include this file in the block http. A server or location with `add_header` lines of its own \
    does not inherit these: repeat them there.\n\
    What nginx does with it: no release sends by priority (RFC 9218); a change that does was in review in September 2026 \
    (nginx/nginx, pull request 1657). nginx passes the field Priority on, and a CDN before it that reads the field (Cloudflare, \
    Fastly) acts on it. Links work with every nginx. nginx makes no early hints: since 1.29.0, `early_hints` passes on those \
    of a backend.";

/// A key of a map that fits in the smallest bucket, of 64 bytes, beside what nginx keeps with it.
const SHORT_KEY_BYTES: usize = 40;

pub(super) fn configuration(advice: &Advice) -> String {
    let mut priorities: Vec<(String, String)> = Vec::new();
    for line in &advice.lines {
        for path in paths_of(&line.path) {
            priorities.push((advice.key(&line.host, &path), line.priority.to_string()));
        }
    }
    let mut links: Vec<(String, String)> = Vec::new();
    for document in &advice.documents {
        for path in document.paths() {
            links.push((advice.key(&document.host, &path), document.all_links().join(", ")));
        }
    }
    let mut text: Vec<String> = Vec::new();
    let mut keys = advice.lines.iter().map(|it| advice.key(&it.host, &it.path));
    if keys.any(|key| key.len() > SHORT_KEY_BYTES) {
        // nginx does not begin with a key that fills a bucket.
        text.push(
            "# If your configuration has this line already, keep the larger of the two.\nmap_hash_bucket_size 256;\n\n"
                .to_owned(),
        );
    }
    let key = if advice.names_hosts() { "$host$uri" } else { "$uri" };
    for (field, name, rows) in
        [("Priority", "$utmost_priority", priorities), ("Link", "$utmost_link", links)]
    {
        if !rows.is_empty() {
            text.push(map(key, name, &rows));
            text.push(format!("add_header {field} {name};\n"));
        }
    }
    text.concat()
}

fn map(from: &str, to: &str, rows: &[(String, String)]) -> String {
    let mut text = vec![format!("map {from} {to} {{\n    default \"\";\n")];
    let mut keys: Vec<&str> = Vec::new();
    for (key, value) in rows {
        // A second row with one key is an error; the first one matters more.
        if !keys.contains(&key.as_str()) {
            text.push(format!("    \"{key}\" \"{value}\";\n"));
            keys.push(key);
        }
    }
    text.concat() + "}\n"
}
