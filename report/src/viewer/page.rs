//! The page: the template, its style and scripts, and the data, in one file.

use minijinja::{Value, context};
use serde_json::json;

use super::{Answer, Difference, Recording};
use crate::templates::render;

/// The scripts in loading order; each has one purpose.
const SCRIPTS: [&str; 34] = [
    include_str!("../../templates/view/decode.js"),
    include_str!("../../templates/view/pyramid.js"),
    include_str!("../../templates/view/events.js"),
    include_str!("../../templates/view/exchange.js"),
    include_str!("../../templates/view/recording.js"),
    include_str!("../../templates/view/words.js"),
    include_str!("../../templates/view/packet_words.js"),
    include_str!("../../templates/view/theme.js"),
    include_str!("../../templates/view/canvas_surface.js"),
    include_str!("../../templates/view/svg_surface.js"),
    include_str!("../../templates/view/viewport.js"),
    include_str!("../../templates/view/ribbon.js"),
    include_str!("../../templates/view/waterfall.js"),
    include_str!("../../templates/view/packets.js"),
    include_str!("../../templates/view/stacks.js"),
    include_str!("../../templates/view/curve.js"),
    include_str!("../../templates/view/strip.js"),
    include_str!("../../templates/view/band.js"),
    include_str!("../../templates/view/difference.js"),
    include_str!("../../templates/view/tip.js"),
    include_str!("../../templates/view/table.js"),
    include_str!("../../templates/view/annotations.js"),
    include_str!("../../templates/view/findings.js"),
    include_str!("../../templates/view/legend.js"),
    include_str!("../../templates/view/save.js"),
    include_str!("../../templates/view/hands.js"),
    include_str!("../../templates/view/panel.js"),
    include_str!("../../templates/view/virtual_list.js"),
    include_str!("../../templates/view/event_filter.js"),
    include_str!("../../templates/view/event_form.js"),
    include_str!("../../templates/view/event_view.js"),
    include_str!("../../templates/view/permalink.js"),
    include_str!("../../templates/view/rows.js"),
    include_str!("../../templates/view/print.js"),
];
const MAIN: &str = include_str!("../../templates/view/main.js");
const FOLLOW: &str = include_str!("../../templates/view/follow.js");
const STYLE: &str = include_str!("../../templates/view/report.css");

/// The contents of a page.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The page's heading.
    pub title: String,
    /// One section each.
    pub recordings: Vec<Recording>,
    /// The differences of other recordings from the first.
    pub differences: Vec<Difference>,
    /// Whether the sections stand side by side, not one below the other.
    pub side_by_side: bool,
    /// Versions, arguments, machine: printed unchanged.
    pub provenance: serde_json::Value,
    /// The answer to `sizes` of the program that serves the page, which reloads itself when that changes. `None`: no program serves it.
    pub follow: Option<String>,
}

/// The report as HTML.
pub fn report(report: &Report) -> String {
    render("report.html", include_str!("../../templates/view/report.html"), view(report))
}

fn view(report: &Report) -> Value {
    let logs = report.recordings.iter().map(
        |Recording { name, sender, answer, facts, remarks, in_numbers, .. }| {
            let sentences =
                answer.iter().map(|Answer { text, time_us }| context! { text, time_us });
            let answer: Vec<Value> = sentences.collect();
            context! { name, sender, answer, facts, remarks, in_numbers }
        },
    );
    let provenance = match &report.provenance {
        serde_json::Value::Null => String::new(),
        provenance => serde_json::to_string_pretty(provenance).unwrap_or_default(),
    };
    context! {
        title => &report.title,
        side_by_side => report.side_by_side && report.recordings.len() > 1,
        logs => logs.collect::<Vec<Value>>(),
        has_differences => !report.differences.is_empty(),
        provenance => provenance,
        follow => &report.follow,
        follow_script => Value::from_safe_string(FOLLOW.to_owned()),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(format!("{}{MAIN}", SCRIPTS.concat())),
        data => Value::from_safe_string(data(report)),
    }
}

/// JSON that cannot end its enclosing element: it contains no `<`, whatever the log.
fn data(report: &Report) -> String {
    json!({"format": "utmost-report/1", "traces": report.recordings, "differences": report.differences})
        .to_string()
        .replace('<', "\\u003c")
}
