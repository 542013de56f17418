//! The part for a page's HTML: `fetchpriority`, which browsers heed before any server does.

use super::advice::{Advice, Line};
use corpus::page::Script;
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
    let why = "In the pages' HTML, with any server: the attribute `fetchpriority` changes what the browser asks for. Add it to \
               the element that is there. A preload for a style sheet or a script is a new line: put it into the head.";
    format!("\n{}{}", super::commented(why), elements.concat())
}

fn element(line: &Line) -> Option<String> {
    let is_raised = line.is_raised()?;
    let value = if is_raised { "high" } else { "low" };
    let path = &line.path;
    if let Some(by) = line.named_by.words() {
        // No element names it, so nothing lowers it. A preload asks for it earlier.
        let preload = preload(line, value).filter(|_| is_raised);
        return preload.map(|it| format!("{it} (for {by}, which names it)"));
    }
    if line.resource.preload {
        return preload(line, value);
    }
    match line.kind() {
        Kind::Image => Some(format!("<img src=\"{path}\" fetchpriority=\"{value}\">")),
        Kind::Js => {
            let run = line.script_attribute();
            Some(format!("<script src=\"{path}\"{run} fetchpriority=\"{value}\"></script>"))
        }
        Kind::Css => {
            Some(format!("<link rel=\"stylesheet\" href=\"{path}\" fetchpriority=\"{value}\">"))
        }
        _ => None,
    }
}

fn preload(line: &Line, value: &str) -> Option<String> {
    let attributes = match line.kind() {
        Kind::Js if line.script == Some(Script::Module) => "rel=\"modulepreload\"",
        Kind::Js => "rel=\"preload\" as=\"script\"",
        Kind::Css => "rel=\"preload\" as=\"style\"",
        Kind::Image => "rel=\"preload\" as=\"image\"",
        Kind::Font => "rel=\"preload\" as=\"font\" crossorigin",
        _ => return None,
    };
    Some(format!("<link {attributes} href=\"{}\" fetchpriority=\"{value}\">", line.path))
}
