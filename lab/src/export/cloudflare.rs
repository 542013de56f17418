//! Cloudflare: the file `_headers` of Pages and of a Worker's static assets.

use super::{Advice, Line};

pub(super) const ABOUT: &str = "Put these rules into the file `_headers` of the folder that you deploy (Pages, or the static assets \
    of a Worker). For a site behind Cloudflare, let the origin set the same fields.\n\
    What Cloudflare does with it: its edge sends by priority (RFC 9218) over HTTP/3, and the field Priority of an origin's \
    response goes before what the client asked for (since 2023). Whether a field of `_headers` counts like an origin's is not \
    documented: measure it. Links that preload are sent as early hints from the second request on, where Early Hints is \
    turned on. The file takes 100 rules.";

/// Rules that the file takes.
const RULES_MAX: usize = 100;

pub(super) fn configuration(advice: &Advice) -> String {
    let mut rules: Vec<String> = Vec::new();
    for document in &advice.documents {
        let fields = document.all_links().into_iter().map(|it| format!("  Link: {it}\n"));
        let fields: String = fields.collect();
        for path in document.paths() {
            rules.push(format!("{}\n{fields}", url(&document.host, &path)));
        }
    }
    for Line { host, path, priority, .. } in &advice.lines {
        rules.push(format!("{}\n  Priority: {priority}\n", url(host, path)));
    }
    let more = rules.len().saturating_sub(RULES_MAX);
    rules.truncate(RULES_MAX);
    if more > 0 {
        rules.push(super::commented(&format!(
            "Left out: the last {more} lines, because the file takes {RULES_MAX} rules."
        )));
    }
    rules.concat()
}

fn url(host: &str, path: &str) -> String {
    if host.is_empty() { path.to_owned() } else { format!("https://{host}{path}") }
}
