//! Apache httpd: sections for whole paths.

use super::Advice;

pub(super) const ABOUT: &str = "Include this file in the virtual host (mod_headers; for early hints mod_http2 of 2.4.58 or later).\n\
    What httpd does with it: it has no HTTP/3, and we know of no release whose mod_http2 sends by the field Priority (RFC 9218). \
    httpd passes the field on, and a CDN before it that reads the field (Cloudflare, Fastly) acts on it. Links and early hints \
    work with httpd itself.";

pub(super) fn configuration(advice: &Advice) -> String {
    let mut text = String::new();
    for line in &advice.lines {
        let field = format!("    Header set Priority \"{}\"\n", line.priority);
        text += &section(&line.host, &[&line.path], &field);
    }
    let has_hints = advice.documents.iter().any(|it| !it.early_hints.is_empty());
    if has_hints {
        text += "H2EarlyHints on\n";
    }
    for document in &advice.documents {
        // Not `add`: where a folder's document is asked for, the links of early hints are on the response already.
        let links = document.all_links().into_iter();
        let links = links.map(|it| format!("    Header merge Link \"{it}\"\n"));
        // One field, because `merge` looks into the first one only.
        let hints = document.early_hints.join(", ");
        let hints = (!hints.is_empty()).then(|| format!("    H2EarlyHint Link \"{hints}\"\n"));
        let paths = document.paths();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        text += &section(&document.host, &paths, &links.chain(hints).collect::<String>());
    }
    text
}

/// Directives for these paths and no others.
fn section(host: &str, paths: &[&str], directives: &str) -> String {
    // Of the characters of a plain path, these two mean something in an expression.
    let paths = paths.join("|").replace('.', "\\.").replace('+', "\\+");
    let comment = if host.is_empty() { String::new() } else { format!("# {host}\n") };
    format!("{comment}<LocationMatch \"^({paths})$\">\n{directives}</LocationMatch>\n")
}
