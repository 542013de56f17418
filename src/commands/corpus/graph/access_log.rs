//! The graph of a page from a server's access log.

use super::LOCALHOST;
use crate::failure::Failure;
use push::{AccessLog, Counts, Graph};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;

/// The longest line that is read.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// What clients asked for with a page. What the log held is told on stderr.
pub(super) fn learn(file: &Path, host: Option<&str>, document: &str) -> Result<Graph, Failure> {
    let name = file.display();
    let unreadable = |error| Failure::BadInput(format!("{name}: {error}"));
    let mut log = AccessLog::new(document, host);
    if file == Path::new("-") {
        read(&mut stdin().lock(), &mut log).map_err(unreadable)?;
    } else {
        let file = File::open(file).map_err(unreadable)?;
        read(&mut BufReader::new(file), &mut log).map_err(unreadable)?;
    }
    let (learner, document_bytes, counts) = log.finish();
    let host = host.unwrap_or(LOCALHOST);
    let graph = learner.graph(host, document, document_bytes);
    if graph.nodes.len() < 2 {
        return Err(Failure::BadInput(format!("{name}: {}", why_nothing(&counts, document))));
    }
    told(&counts);
    Ok(graph)
}

fn read(input: &mut impl BufRead, log: &mut AccessLog) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            log.long_line();
        } else {
            log.line(&line);
        }
    }
}

fn told(counts: &Counts) {
    let Counts { lines, unreadable, loads, bare_loads, .. } = counts;
    eprintln!("{lines} lines: {loads} loads of the page, and {bare_loads} of its document alone");
    if *unreadable > 0 {
        eprintln!("left out: {unreadable} lines that are none of an access log");
    }
}

fn why_nothing(counts: &Counts, document: &str) -> String {
    if counts.loads + counts.bare_loads == 0 {
        let Counts { lines, unreadable, .. } = counts;
        let held = format!("{lines} lines, {unreadable} of them none of an access log");
        return format!("no request for {document} in it ({held}); choose another --document");
    }
    if counts.without_referrer > 0 && counts.loads == 0 {
        let cause = "its lines do not say who refers";
        return format!(
            "{cause}; let the server write the combined format, which has the referrer"
        );
    }
    let loads = counts.loads;
    format!(
        "{loads} loads of {document} with its resources, and nothing is in both of the last two; it takes a longer log"
    )
}
