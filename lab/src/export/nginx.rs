//! nginx: maps from host and path to field values. An empty value adds no field.

use super::Advice;

pub(super) const ABOUT: &str = "Include this file in the block http. A server or location with `add_header` lines of its own \
    does not inherit these: repeat them there.\n\
    What nginx does with it: no release sends by priority (RFC 9218); a change that does was in review in September 2026 \
    (nginx/nginx, pull request 1657). nginx passes the field Priority on, and a CDN before it that reads the field (Cloudflare, \
    Fastly) acts on it. Links work with every nginx. nginx makes no early hints: since 1.29.0, `early_hints` passes on those \
    of a backend.";

pub(super) fn configuration(advice: &Advice) -> String {
    let names_hosts = advice.names_hosts();
    let key = |host: &str, path: &str| {
        if names_hosts { format!("{host}{path}") } else { path.to_owned() }
    };
    let variable = if names_hosts { "$host$uri" } else { "$uri" };
    let map = |name: &str, rows: Vec<(String, String)>| {
        let mut text = vec![format!("map {variable} {name} {{\n    default \"\";\n")];
        let mut keys: Vec<&str> = Vec::new();
        for (key, value) in &rows {
            // A second row with one key is an error; the first one matters more.
            if !keys.contains(&key.as_str()) {
                text.push(format!("    \"{key}\" \"{value}\";\n"));
                keys.push(key);
            }
        }
        text.concat() + "}\n"
    };
    let priorities =
        advice.lines.iter().map(|it| (key(&it.host, &it.path), it.priority.to_string()));
    let links = advice.documents.iter().flat_map(|it| {
        it.paths()
            .into_iter()
            .map(|path| (key(&it.host, &path), it.all_links().join(", ")))
            .collect::<Vec<_>>()
    });
    let mut text: Vec<String> = Vec::new();
    for (field, name, rows) in [
        ("Priority", "$utmost_priority", priorities.collect::<Vec<_>>()),
        ("Link", "$utmost_link", links.collect()),
    ] {
        if !rows.is_empty() {
            text.push(format!("{}add_header {field} {name};\n", map(name, rows)));
        }
    }
    text.concat()
}
