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
    let url = |host: &str, path: &str| {
        if host.is_empty() { path.to_owned() } else { format!("https://{host}{path}") }
    };
    let links = advice.documents.iter().flat_map(|it| {
        let fields = it.all_links().into_iter().map(|link| format!("  Link: {link}\n"));
        let fields: String = fields.collect();
        it.paths().into_iter().map(move |path| format!("{}\n{fields}", url(&it.host, &path)))
    });
    let priority =
        |it: &Line| format!("{}\n  Priority: {}\n", url(&it.host, &it.path), it.priority);
    let priorities = advice.lines.iter().map(priority);
    let rules: Vec<String> = links.chain(priorities).collect();
    let more = rules.len().saturating_sub(RULES_MAX);
    let left_out =
        format!("Left out: the last {more} lines, because the file takes {RULES_MAX} rules.");
    let left_out = if more == 0 { String::new() } else { super::commented(&left_out) };
    rules.into_iter().take(RULES_MAX).chain([left_out]).collect()
}
