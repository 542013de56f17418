//! `utmost schemes --check`: a scheme of one's own, against the rules that every scheme keeps.

use crate::output;
use ::serve::Failure;
use schedulers::Scheme;
use schedulers::conformance::CHECKS;
use scheme_files::{Report, SchemeFile};
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Courses of connections that each rule is checked on.
const COURSES: u32 = 1000;

/// A rule, and whether the scheme keeps it.
#[derive(Debug, Serialize)]
struct Checked {
    rule: String,
    on: String,
    /// How it is broken.
    broken: Option<String>,
}

pub(super) fn run(file: &Path, is_json: bool) -> Result<(), Failure> {
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let SchemeFile { scheme, has_script, .. } =
        scheme_files::read(file, collect(&warnings)).map_err(Failure::bad_input)?;
    let mut checked = rules(&scheme);
    if has_script {
        let failed = warnings.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
        let on = "all of these".to_owned();
        checked.push(Checked { rule: "its script does not fail".to_owned(), on, broken: failed });
    }
    let text = scheme.text.as_deref().unwrap_or_default();
    let sha256 = corpus::sha256_hex(text.as_bytes());
    if is_json {
        let document = json!({
            "scheme": scheme.name, "about": scheme.about, "sha256": sha256, "signals": scheme.signals.to_string(),
            "script": has_script, "checks": checked,
        });
        output::json_of("utmost-scheme-check/2", &document)?;
    } else {
        output::line(&format!("{}: {}", scheme.name, scheme.about))?;
        let form = if has_script { "a script" } else { "places" };
        let signals = &scheme.signals;
        output::line(&format!("{form}; signalled by: {signals}; SHA-256 {sha256}\n"))?;
        print(&checked)?;
    }
    let broken = checked.iter().filter(|it| it.broken.is_some()).count();
    if broken == 0 {
        return Ok(());
    }
    Err(Failure::No(format!("{}: {broken} of {} rules are broken", file.display(), checked.len())))
}

/// Keeps warnings for later.
fn collect(warnings: &Arc<Mutex<Vec<String>>>) -> Report {
    let warnings = Arc::clone(warnings);
    Arc::new(move |line| {
        warnings.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    })
}

fn rules(scheme: &Scheme) -> Vec<Checked> {
    let check = CHECKS.iter().map(|check| Checked {
        rule: check.rule.to_owned(),
        on: format!("{COURSES} connections"),
        broken: check.run(scheme, COURSES).err(),
    });
    check.collect()
}

fn print(checked: &[Checked]) -> Result<(), Failure> {
    let short = |cause: &String| format!("BROKEN: {}", cause.chars().take(300).collect::<String>());
    let rows = checked.iter().map(|it| {
        let result = it.broken.as_ref().map_or("holds".to_owned(), short);
        vec![it.rule.clone(), it.on.clone(), result]
    });
    output::line(&output::table(&["rule", "on", "result"], &[1, 2], rows).to_string())
}
