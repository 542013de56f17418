//! The part for a page's HTML: `fetchpriority`, which browsers heed before any server does.

use super::advice::{Advice, Line};
use schedulers::Kind;

/// Elements that are shown: where everything is important, nothing is.
const SHOWN: usize = 5;

/// The elements as a comment; empty where no line has one.
pub(super) fn comment(advice: &Advice) -> String {
    let elements: Vec<String> = advice.lines.iter().filter_map(element).take(SHOWN).collect();
    if elements.is_empty() {
        return String::new();
    }
    let elements: Vec<String> = elements.iter().map(|it| format!("#   {it}\n")).collect();
    let why =
        "In the pages' HTML, with any server: the attribute changes what the browser asks for.";
    format!("\n{}{}", super::commented(why), elements.concat())
}

fn element(line: &Line) -> Option<String> {
    let value = if line.is_raised()? { "high" } else { "low" };
    let path = &line.path;
    match line.kind() {
        Kind::Image => Some(format!("<img src=\"{path}\" fetchpriority=\"{value}\">")),
        Kind::Js => Some(format!("<script src=\"{path}\" fetchpriority=\"{value}\"></script>")),
        Kind::Css => {
            Some(format!("<link rel=\"stylesheet\" href=\"{path}\" fetchpriority=\"{value}\">"))
        }
        _ => None,
    }
}
