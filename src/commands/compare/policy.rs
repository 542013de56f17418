//! `--policy`: a server's configuration from a study.

use super::Arguments;
use crate::output;
use ::corpus::Page;
use ::serve::Failure;
use lab::study::policy::{self, Configuration};
use lab::study::{Plan, Study};
use std::ffi::OsStr;
use std::path::Path;

/// Rejects plans that cannot lead to a requested policy.
pub(super) fn check(arguments: &Arguments, plan: &Plan) -> Result<(), Failure> {
    let Some(file) = &arguments.policy else { return Ok(()) };
    policy::check(plan, &arguments.policy_default).map_err(Failure::bad_input)?;
    // Better now than after hours of loads.
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if file.is_dir() || !folder.is_dir() {
        let file = file.display();
        return Err(Failure::BadInput(format!(
            "--policy {file}: cannot be written there; name a file in a folder that exists"
        )));
    }
    Ok(())
}

/// The name of a page in a configuration: its file where the user named one, else its bundled name. Sets and queries give
/// several pages for one argument or for none.
fn argument_of(arguments: &Arguments, page: &Page) -> String {
    let mut files = arguments.page_names.iter().filter(|it| !it.starts_with('@'));
    let named = files.find(|it| ::corpus::page(it).is_ok_and(|read| read.name == page.name));
    named.map_or_else(|| page.name.clone(), |it| policy::page_argument(it))
}

/// Writes the requested policy, and prints it as a table.
pub(super) fn write(arguments: &Arguments, plan: &Plan, study: &Study) -> Result<(), Failure> {
    let Some(file) = &arguments.policy else { return Ok(()) };
    let default = &arguments.policy_default;
    let choices = policy::choose(plan, study, default).map_err(Failure::elsewhere)?;
    let pages: Vec<String> = plan.pages.iter().map(|it| argument_of(arguments, it)).collect();
    let stem = file.file_stem().and_then(OsStr::to_str).unwrap_or("policy");
    let configuration = Configuration { plan, study, default, pages: &pages, stem };
    let written = |file: &Path, text: String| {
        std::fs::write(file, text)
            .map_err(|error| Failure::Elsewhere(format!("{}: {error}", file.display())))
    };
    for (name, graph) in configuration.graphs(&choices) {
        let text = serde_json::to_string_pretty(&graph).map_err(Failure::elsewhere)?;
        written(&file.with_file_name(name), text)?;
    }
    for (name, text) in configuration.scheme_files(&choices) {
        written(&file.with_file_name(name), text.to_string())?;
    }
    written(file, configuration.to_toml(&choices))?;
    if arguments.json {
        return Ok(());
    }
    let rows = choices.iter().map(|it| {
        let chosen = if it.differs() { it.name.clone() } else { "no difference".to_owned() };
        vec![it.page.clone(), chosen, format!("{:.3}", it.ratio), it.interval_text()]
    });
    let ratio = format!("{default} / it");
    let header = ["page", "scheme", ratio.as_str(), "95 % interval"];
    output::line(&output::table(&header, &[1], rows).to_string())?;
    output::line(&format!("policy: {}", file.display()))
}
