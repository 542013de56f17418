//! What a site's owner pastes into the configuration of the server that there is: priorities of resources, links, early hints.
//!
//! Another server cannot run a scheme. But where it sends by RFC 9218, a `Priority` field of a response moves that response, and
//! links and `fetchpriority` move what a browser asks for, whatever the server does. So an export has no more than that, the most
//! telling lines first. What each server really does with it stands at the head of its file. [`Advice`] is the same for all
//! servers; each is a table row of [`SERVERS`] and a file below.

mod advice;
mod apache;
mod caddy;
mod cloudflare;
mod fastly;
mod h2o;
mod html;
mod nginx;
mod policy;

pub use advice::{Advice, Document, Line, NamedBy};
pub use policy::of_policy;

use std::str::FromStr;

/// A server that exports are for.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// As on the command line.
    pub name: &'static str,
    /// Where the text goes, and what the server does with it.
    about: &'static str,
    /// The version of the package that tests ran with its export; `None`: no package has the server.
    checked_with: Option<&'static str>,
    /// The configuration: lines that are not empty, in this order.
    configuration: fn(&Advice) -> String,
}

/// All of them.
pub const SERVERS: [Server; 6] = [
    Server {
        name: "nginx",
        about: nginx::ABOUT,
        checked_with: Some("1.22.1"),
        configuration: nginx::configuration,
    },
    Server {
        name: "caddy",
        about: caddy::ABOUT,
        checked_with: Some("2.6.2"),
        configuration: caddy::configuration,
    },
    Server {
        name: "h2o",
        about: h2o::ABOUT,
        checked_with: Some("2.2.5"),
        configuration: h2o::configuration,
    },
    Server {
        name: "apache",
        about: apache::ABOUT,
        checked_with: Some("2.4.71"),
        configuration: apache::configuration,
    },
    Server {
        name: "cloudflare",
        about: cloudflare::ABOUT,
        checked_with: None,
        configuration: cloudflare::configuration,
    },
    Server {
        name: "fastly",
        about: fastly::ABOUT,
        checked_with: None,
        configuration: fastly::configuration,
    },
];

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
    /// The text for this server. Where nothing gains, it is a comment.
    pub fn export(&self, advice: &Advice) -> String {
        let checked = match self.checked_with {
            Some(version) => {
                format!(
                    "Checked with {} {version}: it sends these fields with these responses.",
                    self.name
                )
            }
            None => "Not checked on a server, because no package has it: by its documentation."
                .to_owned(),
        };
        let head = format!("For {}, by utmost. {}\n{checked}", self.name, self.about);
        let found = advice.found.iter().map(|it| commented(it));
        let mut parts = vec![commented(&head), found.collect()];
        let (lines, left_out) = advice.sendable();
        if lines.is_empty() {
            parts.push(commented("No difference: nothing is better on all networks asked about, so there is nothing to paste."));
            return parts.concat();
        }
        if !lines.lines.is_empty() {
            parts.push(commented(&lines.moves_most()));
        }
        parts.extend(left_out.iter().map(|it| commented(&format!("Left out: {it}"))));
        parts.push(format!("\n{}", (self.configuration)(&lines)));
        parts.push(html::comment(&lines));
        parts.concat()
    }
}

/// The widest line of a comment.
const WIDTH: usize = 100;

/// `text` as lines of a comment. All these servers begin one with `#`. A line break in `text` ends a paragraph.
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
