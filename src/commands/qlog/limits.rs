//! Shows what held the sender back at each moment, from servers' logs of any stack.

use super::input::{Logs, alone_or_in, milliseconds};
use super::refused::Refused;
use super::section::Arguments;
use crate::output;
use ::serve::Failure;
use qlog_tools::pairing::senders;
use qlog_tools::restraints::{Evidence, Restraints, Span, in_words};
use qlog_tools::trace::{Detail, Trace};
use serde_json::{Value, json};

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Logs { traces, mut refused, .. } = arguments.files.read(Detail::Full)?;
    let evidence = if arguments.options.computed { Evidence::Plain } else { Evidence::All };
    let read: Vec<(&Trace, Result<Restraints, &str>)> =
        senders(&traces).into_iter().map(|it| (it, Restraints::of(it, evidence))).collect();
    refused.add_files(read.iter().map(|(trace, restraints)| {
        let lacks = restraints.as_ref().err();
        (*trace, lacks.map(|lacks| format!("{}: {lacks}", trace.label())))
    }));
    let answers = read.iter().filter_map(|(trace, it)| Some((*trace, it.as_ref().ok()?)));
    if arguments.json {
        print_json(answers, &refused)?;
    } else {
        for (trace, restraints) in answers {
            print(trace, restraints)?;
        }
    }
    refused.end()
}

fn print(trace: &Trace, restraints: &Restraints) -> Result<(), Failure> {
    let all_ms = restraints.duration_ms();
    let basis = restraints.basis.in_words();
    output::line(&format!(
        "{}: what held the sender back in {all_ms:.1} ms, {basis}",
        trace.label()
    ))?;
    let rows = restraints.totals_ms().map(|(by, ms)| {
        vec![in_words(by).to_owned(), format!("{ms:.1}"), output::percent(share(ms, all_ms), 1)]
    });
    output::line(&output::table(&["held back by", "ms", "%"], &[], rows).to_string())?;
    restraints.assumed.iter().try_for_each(|it| output::line(&format!("assumed: {it}")))
}

fn share(ms: f64, all_ms: f64) -> f64 {
    if all_ms > 0.0 { ms / all_ms } else { 0.0 }
}

fn print_json<'a>(
    answers: impl Iterator<Item = (&'a Trace, &'a Restraints)>,
    refused: &Refused,
) -> Result<(), Failure> {
    let documents: Vec<Value> = answers.map(|(trace, it)| document(trace, it)).collect();
    if documents.is_empty() {
        return Ok(());
    }
    let document = alone_or_in("traces", documents);
    refused.print_json("utmost-qlog-limits/1", document)
}

fn document(trace: &Trace, restraints: &Restraints) -> Value {
    let all_ms = restraints.duration_ms();
    let totals = restraints
        .totals_ms()
        .map(|(by, ms)| json!({"by": by.name(), "ms": ms, "percent": share(ms, all_ms) * 100.0}));
    let spans = restraints.spans.iter().map(|Span { from_us, to_us, by }| {
        let (from_ms, to_ms) = (milliseconds(*from_us), milliseconds(*to_us));
        json!({"from_ms": from_ms, "to_ms": to_ms, "by": by.name()})
    });
    json!({
        "file": trace.file,
        "trace": trace.number.unwrap_or(1),
        "connection": trace.connection,
        "basis": restraints.basis.name(),
        "assumed": restraints.assumed,
        "duration_ms": all_ms,
        "totals": totals,
        "spans": spans.collect::<Vec<_>>(),
    })
}
