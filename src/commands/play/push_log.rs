//! What came by push, in the manner of nghttp's statistics.

use crate::failure::Failure;
use crate::output;
use crate::output::number;
use lab::study::RunRecord;

/// Prints each resource, by its end; `*` marks what was pushed.
pub(super) fn show(run: &RunRecord, refused: usize) -> Result<(), Failure> {
    let mut resources: Vec<_> = run.resources.iter().collect();
    resources.sort_by(|one, other| {
        one.complete_ms.unwrap_or(f64::MAX).total_cmp(&other.complete_ms.unwrap_or(f64::MAX))
    });
    let rows = resources.iter().map(|it| {
        let mark = if it.pushed { "*" } else { "" };
        let process = it.complete_ms.map(|end| end - it.requested_ms);
        vec![
            it.id.to_string(),
            number(it.complete_ms, 1),
            format!("{mark}{}", number(Some(it.requested_ms), 1)),
            number(process, 1),
            it.bytes.to_string(),
            it.url.clone(),
        ]
    });
    let header = ["id", "response end ms", "request start ms", "process ms", "size", "path"];
    output::line(&output::table(&header, &[5], rows).to_string())?;
    let pushed = run.resources.iter().filter(|it| it.pushed);
    let (count, bytes) = pushed.fold((0, 0), |(count, bytes), it| (count + 1, bytes + it.bytes));
    output::line(&format!("* pushed: {count} resources, {bytes} bytes; {refused} promises refused"))
}
