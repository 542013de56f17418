//! Names of logs and their requests in tables, figures and headings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use crate::timeline::Transfer;
use crate::trace::Trace;

/// Gives a log the user's name or its file's, with its number if the file has several.
pub fn named(mut trace: Trace, name: Option<&str>) -> Trace {
    let name = name.map_or_else(|| short_name(&trace.file), str::to_owned);
    trace.timeline.name = match trace.number {
        Some(number) => format!("{name} #{number}"),
        None => name,
    };
    trace
}

/// Names files of the same name in different folders by their whole paths.
pub fn name_files_apart(traces: &mut [Trace]) {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for trace in &*traces {
        files.entry(trace.timeline.name.clone()).or_default().insert(trace.file.clone());
    }
    for trace in traces {
        if files.get(&trace.timeline.name).is_some_and(|files| files.len() > 1) {
            trace.timeline.name = trace.label();
        }
    }
}

/// The file without its folders.
pub fn short_name(file: &str) -> String {
    let name = Path::new(file).file_name();
    name.map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Gives further requests for the same URL their own names (`/a #2`), so that each has its own look. They are
/// numbered by stream, because the two ends of a connection may have seen them in different orders.
pub fn name_requests_apart(trace: &mut Trace) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut transfers: Vec<&mut Transfer> = trace.timeline.transfers.iter_mut().collect();
    transfers.sort_by_key(|transfer| transfer.stream);
    for transfer in transfers {
        let times = seen.entry(transfer.url.clone()).or_default();
        *times += 1;
        if *times > 1 {
            transfer.url = format!("{} #{times}", transfer.url);
        }
    }
}

/// Names each log by the user's name for it or its directory, and its file (`rr: client.sqlog`); files of the same
/// name without such a name by as much of their paths as distinguishes them (`rr-0/client.sqlog`).
pub fn set_headings(traces: &mut [Trace], given: &[Option<String>]) {
    let given = given.iter().map(Option::as_deref).chain(std::iter::repeat(None));
    let mut alike: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (trace, given) in traces.iter().zip(given.clone()) {
        if given.is_none() {
            let label = trace.label();
            alike.entry(short_name(&label)).or_default().insert(label);
        }
    }
    for (trace, given) in traces.iter_mut().zip(given) {
        let label = trace.label();
        let short = short_name(&label);
        trace.timeline.name = match (given, alike.get(&short)) {
            (Some(name), _) => format!("{name}: {short}"),
            (None, Some(alike)) => apart(&label, alike),
            (None, None) => short,
        };
    }
}

/// The heading of the other end of a connection, without the part that its client's heading has.
pub fn heading_of_sender(sender: &Trace, client: &Trace) -> String {
    let before = client.timeline.name.strip_suffix(&short_name(&client.label()));
    let name = &sender.timeline.name;
    before.and_then(|before| name.strip_prefix(before)).unwrap_or(name).to_owned()
}

/// The end of a path with as many folders as distinguish it from similar paths.
fn apart(label: &str, alike: &BTreeSet<String>) -> String {
    let longest = alike.iter().map(|it| parts(it).len()).max().unwrap_or(1);
    for count in 1..=longest {
        let ends: BTreeSet<String> = alike.iter().map(|it| ending(it, count)).collect();
        if ends.len() == alike.len() {
            return ending(label, count);
        }
    }
    label.to_owned()
}

fn ending(path: &str, count: usize) -> String {
    let parts = parts(path);
    parts[parts.len().saturating_sub(count)..].join("/")
}

/// Folders and file, without the root.
fn parts(path: &str) -> Vec<String> {
    let parts = Path::new(path).components().filter(|it| !matches!(it, Component::RootDir));
    parts.map(|it| it.as_os_str().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(files: &[(&str, Option<&str>)]) -> Vec<String> {
        let trace = |(file, _): &(&str, Option<&str>)| Trace {
            file: (*file).to_owned(),
            ..Trace::default()
        };
        let mut traces: Vec<Trace> = files.iter().map(trace).collect();
        let given: Vec<Option<String>> =
            files.iter().map(|(_, name)| name.map(str::to_owned)).collect();
        set_headings(&mut traces, &given);
        traces.into_iter().map(|trace| trace.timeline.name).collect()
    }

    #[test]
    fn a_given_name_comes_first() {
        assert_eq!(
            named(&[("a/client.sqlog", Some("rr")), ("b/client.sqlog", None)]),
            ["rr: client.sqlog", "client.sqlog"]
        );
    }

    #[test]
    fn files_of_one_name_have_the_fewest_folders_that_tell_them_apart() {
        assert_eq!(
            named(&[("/x/page/rr-0/client.sqlog", None), ("/x/page/fifo-0/client.sqlog", None)]),
            ["rr-0/client.sqlog", "fifo-0/client.sqlog"]
        );
        assert_eq!(
            named(&[("/x/rr/0/c.sqlog", None), ("/x/fifo/0/c.sqlog", None), ("/x/d.sqlog", None)]),
            ["rr/0/c.sqlog", "fifo/0/c.sqlog", "d.sqlog"]
        );
        // One is the other's suffix.
        assert_eq!(named(&[("c.sqlog", None), ("a/c.sqlog", None)]), ["c.sqlog", "a/c.sqlog"]);
        assert_eq!(named(&[("c.sqlog", None), ("c.sqlog", None)]), ["c.sqlog", "c.sqlog"]);
    }

    #[test]
    fn the_other_end_is_not_named_twice() {
        let trace = |file: &str| Trace { file: file.to_owned(), ..Trace::default() };
        let mut traces = [trace("a/client.sqlog"), trace("a/1f2a_server.sqlog")];
        set_headings(&mut traces, &[Some("rr".to_owned()), Some("rr".to_owned())]);
        assert_eq!(traces[1].timeline.name, "rr: 1f2a_server.sqlog");
        assert_eq!(heading_of_sender(&traces[1], &traces[0]), "1f2a_server.sqlog");
    }
}
