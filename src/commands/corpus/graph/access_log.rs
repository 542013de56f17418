//! The graph of a page from a server's access log.

use super::LOCALHOST;
use crate::limits::LOG_LINE_BYTES_MAX;
use ::serve::Failure;
use push::{AccessLog, Counts, Graph, Learner};
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::Path;

/// Derives the graph of a page from a log. Prints a summary of the log on stderr.
pub(super) fn learn(file: &Path, host: Option<&str>, document: &str) -> Result<Graph, Failure> {
    let name = file.display();
    let mut log = AccessLog::new(document, host);
    let outcome = if file == Path::new("-") {
        read(&mut stdin().lock(), &mut log)
    } else {
        named_files::open(file).and_then(|it| read(&mut BufReader::new(it), &mut log))
    };
    outcome.map_err(|error| Failure::BadInput(format!("{name}: {error}")))?;
    let (learner, document_bytes, counts) = log.finish();
    let host = host.unwrap_or(LOCALHOST);
    let graph = learner.graph(host, document, document_bytes);
    if graph.nodes.len() < 2 {
        let cause = why_nothing(&counts, &learner, document);
        return Err(Failure::BadInput(format!("{name}: {cause}")));
    }
    told(&counts, &learner);
    Ok(graph)
}

fn read(input: &mut impl BufRead, log: &mut AccessLog) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.take(LOG_LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() as u64 == LOG_LINE_BYTES_MAX && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            log.long_line();
        } else {
            log.line(&line);
        }
    }
}

fn told(counts: &Counts, learner: &Learner) {
    let Counts { lines, unreadable, refused, next_pages, loads, bare_loads, .. } = counts;
    eprintln!("{lines} lines: {loads} loads of the page, and {bare_loads} of its document alone");
    if *unreadable > 0 {
        eprintln!("left out: {unreadable} lines that are not access-log entries");
    }
    if *refused > 0 {
        eprintln!("left out: {refused} lines with an unusable path, or more than 1 GB");
    }
    if *next_pages > 0 {
        eprintln!("left out: {next_pages} requests for the next page of a visit");
    }
    let (remembered, partial) = learner.loads_and_partial();
    if partial > 0 {
        eprintln!(
            "left out: {partial} of the last {remembered} loads, with less than half as many requests as the median one"
        );
    }
}

fn why_nothing(counts: &Counts, learner: &Learner, document: &str) -> String {
    let Counts { lines, unreadable, loads, bare_loads, without_referrer, other_host, .. } = counts;
    if loads + bare_loads == 0 {
        let held = format!("{lines} lines, {unreadable} of them not access-log entries");
        return format!("no request for {document} in it ({held}); choose another --document");
    }
    if *loads == 0 {
        if let Some(host) = other_host {
            return format!("its referrers name another host: {host}; choose --host {host}");
        }
        if *without_referrer > 0 {
            let cause = "its lines have no referrer";
            let remedy = "let the server write the combined format";
            return format!("{cause}; {remedy}");
        }
        let refused = counts.refused;
        return format!(
            "{bare_loads} loads of {document}, and after them nothing that refers to it and can belong to it ({refused} lines \
             refused for their path or size); the oldest lines come first"
        );
    }
    let (remembered, partial) = learner.loads_and_partial();
    let whole = remembered - partial;
    let held = format!(
        "{loads} loads of {document} with its resources, and {whole} of the last {remembered} with at least half \
         as many requests as the median one"
    );
    if whole < 2 {
        return format!("{held}; it takes two");
    }
    format!(
        "{held}: nothing is in four of five of these and in both of the last two; take the graph of a recorded page, or \
         of the site's directory"
    )
}
