//! `--policy`: a server's configuration from a study.

use super::Arguments;
use crate::{output, values};
use ::corpus::Page;
use ::serve::Failure;
use lab::study::policy::{self, Configuration, Terms};
use lab::study::{Plan, Study};
use std::ffi::OsStr;
use std::sync::Arc;

pub(super) use policy::OF_SITE;

fn terms(arguments: &Arguments) -> Terms<'_> {
    let obeying = arguments.asked.dimensions.has("signals", "obey");
    Terms { to_beat: &arguments.policy_default, obeying }
}

/// Adds the comparisons of a requested policy to the plan. Rejects plans that cannot lead to a policy.
pub(super) fn prepare(arguments: &Arguments, plan: &mut Plan) -> Result<(), Failure> {
    let Some(file) = &arguments.policy else { return Ok(()) };
    policy::prepare(plan);
    policy::check(plan, terms(arguments)).map_err(Failure::bad_input)?;
    values::writable(file, "--policy")
}

/// A page's name in a configuration: its file if the user named one, otherwise its bundled name. Sets and queries give
/// several pages for one argument or none.
fn argument_of(arguments: &Arguments, page: &Page) -> String {
    let mut files = arguments.asked.page_names.iter().filter(|it| !it.starts_with('@'));
    let named = files.find(|it| ::corpus::page(it).is_ok_and(|read| read.name == page.name));
    named.map_or_else(|| page.name.clone(), |it| policy::page_argument(it))
}

fn plan_at(plan: &Plan, host: &str) -> Plan {
    let mut plan = plan.clone();
    for page in &mut plan.pages {
        if let Some(own) = Arc::make_mut(page).origins.first_mut() {
            host.clone_into(&mut own.host);
        }
    }
    plan
}

/// Writes the requested policy, and prints it as a table.
pub(super) fn write(arguments: &Arguments, plan: &Plan, study: &Study) -> Result<(), Failure> {
    let Some(file) = &arguments.policy else { return Ok(()) };
    let terms = terms(arguments);
    let choices = policy::choose(plan, &study.runs, terms).map_err(Failure::elsewhere)?;
    let pages: Vec<String> = plan.pages.iter().map(|it| argument_of(arguments, it)).collect();
    let stem = file.file_stem().and_then(OsStr::to_str).unwrap_or("policy");
    let to_beat = terms.to_beat;
    let at_host = arguments.host.as_ref().map(|it| plan_at(plan, it));
    let plan = at_host.as_ref().unwrap_or(plan);
    let configuration = Configuration { plan, study, to_beat, pages: &pages, stem };
    for (name, graph) in configuration.graphs(&choices) {
        let text = serde_json::to_string_pretty(&graph).map_err(Failure::elsewhere)?;
        lab::write_file(&file.with_file_name(name), text).map_err(Failure::elsewhere)?;
    }
    for (name, text) in configuration.scheme_files(&choices) {
        let path = file.with_file_name(name);
        lab::write_file(&path, text.as_bytes()).map_err(Failure::elsewhere)?;
    }
    lab::write_file(file, configuration.to_toml(&choices)).map_err(Failure::elsewhere)?;
    if arguments.json {
        return Ok(());
    }
    let mut rows = Vec::new();
    for choice in &choices {
        let chosen = if choice.differs() { &*choice.name } else { "no difference" };
        for found in &choice.found {
            let (network, ratio) = (found.network.clone(), format!("{:.3}", found.ratio));
            let interval = found.interval_text();
            rows.push(vec![choice.page.clone(), chosen.to_owned(), network, ratio, interval]);
        }
    }
    let ratio = format!("{to_beat} / it");
    let header = ["page", "scheme", "network", ratio.as_str(), "95 % interval"];
    output::line(&output::table(&header, &[1, 2], rows).to_string())?;
    output::line(&format!("policy: {}", file.display()))
}
