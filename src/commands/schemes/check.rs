//! `utmost schemes --check`: a user's scheme, against the rules for all schemes.

use crate::output;
use ::serve::Failure;
use schedulers::Scheme;
use schedulers::conformance::CHECKS;
use scheme_files::{Report, SchemeFile};
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Random connections on which each rule is checked.
const COURSES: u32 = 1000;

#[derive(Debug, Serialize)]
struct Checked {
    rule: &'static str,
    on: String,
    /// How the scheme breaks it.
    broken: Option<String>,
}

pub(super) fn run(file: &Path, is_json: bool) -> Result<(), Failure> {
    let failed: Arc<OnceLock<String>> = Arc::default();
    let heard = Arc::clone(&failed);
    // Prints only the first failure of a script; later ones follow from it.
    let report: Report = Arc::new(move |line| drop(heard.set(line.to_owned())));
    let SchemeFile { scheme, has_script, .. } =
        scheme_files::read(file, report).map_err(Failure::bad_input)?;
    let rules = CHECKS.iter().map(|check| Checked {
        rule: check.rule,
        on: format!("{COURSES} connections"),
        broken: check.run(&scheme, COURSES).err(),
    });
    let mut checked: Vec<Checked> = rules.collect();
    if has_script {
        let (rule, on) = ("its script does not fail", "all of these".to_owned());
        checked.push(Checked { rule, on, broken: failed.get().cloned() });
    }
    show(&scheme, has_script, &checked, is_json)?;
    let broken = checked.iter().filter(|it| it.broken.is_some()).count();
    if broken == 0 {
        return Ok(());
    }
    Err(Failure::No(format!("{}: {broken} of {} rules are broken", file.display(), checked.len())))
}

fn show(
    scheme: &Scheme,
    has_script: bool,
    checked: &[Checked],
    is_json: bool,
) -> Result<(), Failure> {
    let Scheme { name, about, signals, .. } = scheme;
    let sha256 = corpus::sha256_hex(scheme.text.as_deref().unwrap_or_default().as_bytes());
    if is_json {
        let document = json!({
            "scheme": name, "about": about, "sha256": sha256, "signals": signals.to_string(),
            "script": has_script, "checks": checked,
        });
        return output::json_of("utmost-scheme-check/2", &document);
    }
    let form = if has_script { "a script" } else { "places" };
    output::line(&format!("{name}: {about}\n{form}; signalled by: {signals}; SHA-256 {sha256}\n"))?;
    let rows = checked.iter().map(|Checked { rule, on, broken }| {
        let result = match broken {
            Some(cause) => format!("BROKEN: {}", cause.chars().take(300).collect::<String>()),
            None => "holds".to_owned(),
        };
        vec![(*rule).to_owned(), on.clone(), result]
    });
    output::line(&output::table(&["rule", "on", "result"], &[1, 2], rows).to_string())
}
