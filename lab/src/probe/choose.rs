//! Selects the resource to test with, if the user names none.

use super::{ProbeError, Target, fetch};
use crate::limits::PROBE_LINKS_MAX;
use client::probe::Answer;
use std::time::Duration;

/// The largest resource up to this size is selected; larger ones only take longer.
const BODY_BYTES_LIKED: u64 = 4_000_000;

/// A resource to test with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its path and query.
    pub path: String,
    /// Bytes of its body.
    pub body_bytes: u64,
    /// The round-trip time to its server.
    pub rtt: Duration,
    /// Number of links of the page that were tried.
    pub links: usize,
}

/// Fetches `path` and, if it is a page and `may_follow`, its links on the same server; selects the largest.
pub fn choose(target: &Target, path: &str, may_follow: bool) -> Result<Choice, ProbeError> {
    let (mut answers, rtt) = fetch(target, &[path.to_owned()])?;
    let answer = answers.pop();
    let answer =
        answer.ok_or_else(|| ProbeError::Answer(format!("{}: no answer", target.address)))?;
    expect_success(target, path, &answer)?;
    let links =
        if may_follow { links(&String::from_utf8_lossy(&answer.body), path) } else { Vec::new() };
    let tried = links.len();
    let mut best =
        Choice { path: path.to_owned(), body_bytes: answer.body_bytes, rtt, links: tried };
    if links.is_empty() {
        return Ok(best);
    }
    let (answers, _) = fetch(target, &links)?;
    for (path, answer) in links.into_iter().zip(answers) {
        let is_liked = answer.body_bytes <= BODY_BYTES_LIKED;
        if answer.status == 200 && is_liked && answer.body_bytes > best.body_bytes {
            best = Choice { path, body_bytes: answer.body_bytes, ..best };
        }
    }
    Ok(best)
}

fn expect_success(target: &Target, path: &str, answer: &Answer) -> Result<(), ProbeError> {
    match answer.status {
        200..=299 => Ok(()),
        status => Err(ProbeError::Answer(format!(
            "{}: {path}: status {status}; name one of its resources with --path /PATH",
            target.address
        ))),
    }
}

/// The targets of a page's `src` and `href` attributes on the same server: paths, without duplicates. It need not
/// find all of them, only a large one.
fn links(html: &str, base: &str) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    if !html.trim_start().starts_with('<') {
        return links;
    }
    for attribute in ["src=", "href="] {
        for (at, _) in html.match_indices(attribute) {
            let Some(value) = quoted(&html[at + attribute.len()..]) else { continue };
            if let Some(path) = resolved(value, base)
                && !links.contains(&path)
                && links.len() < PROBE_LINKS_MAX
            {
                links.push(path);
            }
        }
    }
    links
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    text[1..].split(quote).next().filter(|value| value.len() < 2000)
}

fn resolved(value: &str, base: &str) -> Option<String> {
    let value = value.split('#').next().unwrap_or_default().trim();
    let is_elsewhere = value.starts_with("//") || value.split(['/', '?']).next()?.contains(':');
    if value.is_empty()
        || is_elsewhere
        || !value.is_ascii()
        || value.contains([' ', '\r', '\n', '&'])
    {
        return None;
    }
    if value.starts_with('/') {
        return Some(value.to_owned());
    }
    let folder = base.split('?').next().unwrap_or_default();
    let folder = &folder[..=folder.rfind('/').unwrap_or_default()];
    Some(format!("{folder}{}", value.trim_start_matches("./")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_those_of_the_same_server() {
        let html = "<!doctype html><img src=\"/a.png\"><script src='js/b.js'></script><a href=\"https://x.test/c\">\
                    <link href=\"./d.css#x\"><img src=\"data:image/png;base64,x\"><img src=//cdn/e><a href=\"/a.png\">";
        assert_eq!(links(html, "/x/index.html"), ["/a.png", "/x/js/b.js", "/x/d.css"]);
        assert_eq!(links("no page: src=\"/a\"", "/"), Vec::<String>::new());
    }
}
