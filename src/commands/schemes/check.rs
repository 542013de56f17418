//! `utmost schemes --check`: a scheme of one's own, against the rules that every scheme keeps.

use crate::{output, values};
use ::serve::Failure;
use lab::decision_cost::{Cost, ROUNDS, STREAMS, measure};
use lab::twins::differing_page;
use schedulers::conformance::{CHECKS, orders_are_equal};
use schedulers::{Scheme, find_scheme};
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

pub(super) fn run(file: &Path, beside: Option<&str>, is_json: bool) -> Result<(), Failure> {
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let SchemeFile { scheme, twin, has_script } =
        scheme_files::read(file, collect(&warnings)).map_err(Failure::bad_input)?;
    let twin = twin.map(|it| find_scheme(&it)).transpose().map_err(values::no_scheme)?;
    let beside = beside.map(find_scheme).transpose().map_err(values::no_scheme)?;
    let mut checked = rules(&scheme);
    checked.extend(twin.iter().flat_map(|it| as_the_twin(&scheme, it)));
    if has_script {
        let failed = warnings.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
        let on = "all of these".to_owned();
        checked.push(Checked { rule: "its script does not fail".to_owned(), on, broken: failed });
    }
    let beside = beside.or(twin);
    let costs = measure(&beside.iter().chain([&scheme]).collect::<Vec<_>>());
    let text = scheme.text.as_deref().unwrap_or_default();
    let sha256 = corpus::sha256_hex(text.as_bytes());
    if is_json {
        let document = json!({
            "scheme": scheme.name, "about": scheme.about, "sha256": sha256, "signals": scheme.signals.to_string(),
            "script": has_script, "checks": checked, "costs": costs,
        });
        output::json_of("utmost-scheme-check/1", &document)?;
    } else {
        output::line(&format!("{}: {}", scheme.name, scheme.about))?;
        let form = if has_script { "a script" } else { "places" };
        let signals = &scheme.signals;
        output::line(&format!("{form}; signalled by: {signals}; SHA-256 {sha256}\n"))?;
        print(&checked, &costs)?;
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

fn as_the_twin(scheme: &Scheme, twin: &Scheme) -> [Checked; 2] {
    let rule = format!("its orders are those of `{}`", twin.name);
    let on_pages = format!("{} bundled pages", corpus::bundled_names().len());
    let page = differing_page(scheme, twin).map(|page| format!("a packet differs on {page}"));
    let courses = orders_are_equal(scheme, twin, COURSES).err();
    [
        Checked { rule: rule.clone(), on: format!("{COURSES} connections"), broken: courses },
        Checked { rule, on: on_pages, broken: page },
    ]
}

fn print(checked: &[Checked], costs: &[Cost]) -> Result<(), Failure> {
    let short = |cause: &String| format!("BROKEN: {}", cause.chars().take(300).collect::<String>());
    let rows = checked.iter().map(|it| {
        let result = it.broken.as_ref().map_or("holds".to_owned(), short);
        vec![it.rule.clone(), it.on.clone(), result]
    });
    output::line(&output::table(&["rule", "on", "result"], &[1, 2], rows).to_string())?;
    let first = &costs[0];
    let ratio = |cost: f64, of: f64| format!("{:.2}", cost / of);
    let rows = costs.iter().map(|it| {
        vec![
            it.scheme.clone(),
            format!("{:.0}", it.decision_ns),
            ratio(it.decision_ns, first.decision_ns),
            format!("{:.0}", it.response_ns),
            ratio(it.response_ns, first.response_ns),
        ]
    });
    let header = ["scheme", "ns a decision", "ratio", "ns a response", "ratio"];
    output::line(&format!("\n{}", output::table(&header, &[], rows)))?;
    output::line(&format!(
        "{STREAMS} responses are open. A decision picks a stream and charges a packet; a response opens and closes. \
         Medians of {ROUNDS} rounds, in which the schemes take turns"
    ))
}
