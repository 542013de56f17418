//! The page: the template, its style and scripts, and the data, in one file.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Value, context};
use serde_json::json;

use super::Recording;

/// In the order in which they are read; each is one thing.
const SCRIPTS: [&str; 19] = [
    include_str!("../../templates/view/decode.js"),
    include_str!("../../templates/view/pyramid.js"),
    include_str!("../../templates/view/recording.js"),
    include_str!("../../templates/view/words.js"),
    include_str!("../../templates/view/theme.js"),
    include_str!("../../templates/view/canvas_surface.js"),
    include_str!("../../templates/view/svg_surface.js"),
    include_str!("../../templates/view/viewport.js"),
    include_str!("../../templates/view/ribbon.js"),
    include_str!("../../templates/view/waterfall.js"),
    include_str!("../../templates/view/stacks.js"),
    include_str!("../../templates/view/curve.js"),
    include_str!("../../templates/view/strip.js"),
    include_str!("../../templates/view/tip.js"),
    include_str!("../../templates/view/table.js"),
    include_str!("../../templates/view/annotations.js"),
    include_str!("../../templates/view/legend.js"),
    include_str!("../../templates/view/save.js"),
    include_str!("../../templates/view/panel.js"),
];
const MAIN: &str = include_str!("../../templates/view/main.js");
const STYLE: &str = include_str!("../../templates/view/report.css");

/// What a page shows.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The page's heading.
    pub title: String,
    /// One section each.
    pub recordings: Vec<Recording>,
    /// Whether the sections stand side by side rather than one below the other.
    pub side_by_side: bool,
    /// Versions, arguments, machine: printed as it is.
    pub provenance: serde_json::Value,
}

/// The report as HTML.
///
/// # Panics
/// Never: the template is part of the program, and a test renders all of it.
pub fn report(report: &Report) -> String {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let mut environment = Environment::new();
    environment.set_syntax(syntax.expect("only white space is configured"));
    environment
        .add_template("report.html", include_str!("../../templates/view/report.html"))
        .expect("the template parses");
    let template = environment.get_template("report.html").expect("it was just added");
    template.render(view(report)).expect("the template asks for nothing that is missing")
}

fn view(report: &Report) -> Value {
    let logs: Vec<Value> = report
        .recordings
        .iter()
        .map(|it| context! { name => &it.name, sender => &it.sender, facts => &it.facts, remarks => &it.remarks })
        .collect();
    let provenance = match &report.provenance {
        serde_json::Value::Null => String::new(),
        provenance => serde_json::to_string_pretty(provenance).unwrap_or_default(),
    };
    context! {
        title => &report.title,
        side_by_side => report.side_by_side && report.recordings.len() > 1,
        logs => logs,
        provenance => provenance,
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(format!("{}{MAIN}", SCRIPTS.concat())),
        data => Value::from_safe_string(data(report)),
    }
}

/// JSON that cannot end the element it stands in: no `<` is left, whatever a log says.
fn data(report: &Report) -> String {
    let traces: Vec<serde_json::Value> = report.recordings.iter().map(Recording::json).collect();
    json!({"format": "utmost-report/1", "traces": traces}).to_string().replace('<', "\\u003c")
}
