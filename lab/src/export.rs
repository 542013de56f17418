//! The lines that a site's owner pastes into the configuration of an existing server: priorities of resources, links, and
//! early hints.
//!
//! Another server cannot run a scheme. But if it sends by RFC 9218, a `Priority` response field moves that response, and links
//! and `fetchpriority` move the browser's requests, whatever the server does. So an export contains only these, the most
//! effective lines first. The head of each file states what that server really does with them. [`Advice`] is the same for all
//! servers; each server is a row of [`SERVERS`] and a template.

mod advice;
mod policy;

pub use advice::{Advice, Document, Line, NamedBy, Nothing};
pub use policy::of_policy;

use advice::{Sendable, matched, paths_of};
use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use serde_json::{Value, json};
use std::str::FromStr;

/// A server that exports are for.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// As on the command line.
    pub name: &'static str,
    /// Where to put the text, what the server does with it, which package version tests ran with it, and the configuration.
    template: &'static str,
}

/// All of them.
pub const SERVERS: [Server; 6] = [
    Server { name: "nginx", template: include_str!("../templates/export/nginx.txt") },
    Server { name: "caddy", template: include_str!("../templates/export/caddy.txt") },
    Server { name: "h2o", template: include_str!("../templates/export/h2o.txt") },
    Server { name: "apache", template: include_str!("../templates/export/apache.txt") },
    Server { name: "cloudflare", template: include_str!("../templates/export/cloudflare.txt") },
    Server { name: "fastly", template: include_str!("../templates/export/fastly.txt") },
];

const BASE: &str = include_str!("../templates/export/base.txt");

impl FromStr for Server {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        SERVERS.iter().find(|server| server.name == name).copied().ok_or_else(|| {
            let known = SERVERS.map(|it| it.name).join(", ");
            format!("no server `{name}` has an export; use one of {known}")
        })
    }
}

impl Server {
    /// The text for this server. If nothing gains, it is a comment.
    ///
    /// # Panics
    /// Panics if a template is wrong: templates are part of the program, and tests render each.
    pub fn export(&self, advice: &Advice) -> String {
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        let mut environment = Environment::new();
        environment.set_syntax(syntax.expect("only white space is configured"));
        environment.add_filter("commented", |text: String| commented(&text));
        environment.add_template("base.txt", BASE).expect("a template that tests render");
        let view = Serde(self.view(advice));
        let text = environment.render_named_str(self.name, self.template, view);
        text.expect("the template asks for nothing that is missing")
    }

    /// The variables of the templates. Each row has its keys: host and path, or paths alone unless all hosts are named.
    fn view(&self, advice: &Advice) -> Value {
        let Sendable { said, in_html, left_out } = advice.sendable();
        let keys = |host: &str, paths: &[String]| -> Vec<String> {
            paths.iter().map(|path| said.key(host, path)).collect()
        };
        // nginx and Apache match decoded paths, the others paths as they are sent.
        let all_matched = |path: &str| -> Vec<String> {
            paths_of(path).iter().map(|path| matched(path)).collect()
        };
        let lines = said.lines.iter().map(|line| {
            let (host, path, priority) = (&line.host, &line.path, line.priority.to_string());
            json!({
                "host": host, "path": path, "priority": priority, "group": [host, &priority],
                "matched": [matched(path)], "key": said.key(host, path),
                "matched_keys": keys(host, &all_matched(path)),
            })
        });
        let in_html = in_html.iter().filter_map(|line| {
            Some(json!({
                "url": line.html_url()?, "kind": line.resource.kind.name(), "is_preload": line.resource.preload,
                "run": line.script_attribute(), "is_raised": line.is_raised(), "named_by": line.named_by.words(),
            }))
        });
        let documents = said.documents.iter().map(|document| {
            let (host, path) = (&document.host, &document.path);
            let (paths, matched) = (paths_of(path), all_matched(path));
            json!({
                "host": host, "paths": paths, "keys": keys(host, &paths), "matched": matched, "matched_keys": keys(host, &matched),
                "links": document.all_links(), "early_hints": document.early_hints,
            })
        });
        let (lines, documents): (Vec<Value>, Vec<Value>) = (lines.collect(), documents.collect());
        let keys =
            lines.iter().chain(&documents).filter_map(|it| it["matched_keys"].as_array()).flatten();
        let longest = keys.filter_map(|it| it.as_str().map(str::len)).max().unwrap_or_default();
        let nothing = if advice.is_empty() { advice.nothing } else { Nothing::Inexpressible };
        json!({
            "name": self.name, "found": advice.found, "left_out": left_out, "is_empty": said.is_empty(), "nothing": nothing.words(),
            "names_hosts": said.names_hosts(), "moves_most": said.moves_most(),
            "lines": lines, "documents": documents, "in_html": in_html.collect::<Vec<_>>(), "bucket_bytes": bucket_bytes(longest),
        })
    }
}

/// The size of nginx's buckets for keys of up to this many bytes, with what nginx keeps beside a key; `None`: its default of 64
/// suffices. With a key that fills a bucket, nginx does not begin.
fn bucket_bytes(longest: usize) -> Option<usize> {
    (longest > KEY_BYTES_MAX).then(|| (longest + 64 - KEY_BYTES_MAX).next_power_of_two().max(256))
}

/// The longest key that fits into nginx's smallest bucket.
const KEY_BYTES_MAX: usize = 40;

/// The widest line of a comment.
const WIDTH: usize = 100;

/// `text` as lines of a comment, which begin with `#` on all these servers. A line break in `text` ends a paragraph.
fn commented(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        lines.push("#".to_owned());
        for word in paragraph.split_whitespace() {
            match lines.last_mut() {
                Some(line) if line.len() == 1 || line.len() + 1 + word.len() <= WIDTH => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(format!("# {word}")),
            }
        }
    }
    lines.iter().map(|it| it.clone() + "\n").collect()
}
