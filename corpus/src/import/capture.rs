//! HAR files and `DevTools` logs.

use super::network_log::{PageLoad, kept_bytes, page_of};
use super::{ImportError, Imported, Recording, refuse};
use captures::{Capture, Load, read_devtools, read_har};
use std::collections::BTreeMap;

pub(super) fn har(Recording { text, label, .. }: Recording<'_>) -> Result<Imported, ImportError> {
    let capture = read_har(text.as_bytes())
        .map_err(|error| ImportError::Format(format!("is not a HAR file: {error}")))?;
    if capture.loads.is_empty() {
        return refuse("log.entries: is empty");
    }
    let mut notes = Vec::new();
    let Capture { loads, redirects, .. } = capture;
    let load = choose(loads, &redirects, label.load, &mut notes)?;
    if load.fetches.iter().all(|fetch| fetch.initiator_urls.is_empty()) {
        notes.push(
            "the file names no initiators: everything is taken to be in the document, unless a \
             Referer field, the kind or the load event says otherwise"
                .to_owned(),
        );
    }
    page_of(PageLoad { load, redirects, notes }, label)
}

pub(super) fn devtools(recording: Recording<'_>) -> Result<Imported, ImportError> {
    let Recording { text, label, .. } = recording;
    let capture = read_devtools(text.as_bytes())
        .map_err(|error| ImportError::Format(format!("is not a list of events: {error}")))?;
    if capture.loads.is_empty() {
        return refuse("holds no event Network.requestWillBeSent; is it a DevTools log?");
    }
    let mut notes = Vec::new();
    let load = choose(capture.loads, &capture.redirects, label.load, &mut notes)?;
    if !capture.unread.is_empty() {
        notes.push(format!("lines left out: {}", capture.unread.join("; ")));
    }
    if capture.from_service_worker > 0 {
        notes.push(format!(
            "{} responses came from a service worker: the page is taken as without one",
            capture.from_service_worker
        ));
    }
    if load.load_ms.is_none() {
        notes.push("the log has no load event: nothing is taken to wait for it".to_owned());
    }
    page_of(PageLoad { load, redirects: capture.redirects, notes }, label)
}

/// The load that the caller named, or the one with the most bytes on the wire: a script that redirects at once causes a load that
/// is not the page, and the cache answers a repeated load.
fn choose(
    mut loads: Vec<Load>,
    redirects: &BTreeMap<String, String>,
    wanted: Option<usize>,
    notes: &mut Vec<String>,
) -> Result<Load, ImportError> {
    let count = loads.len();
    let number = wanted.unwrap_or_else(|| {
        // Weighing a load takes long, and a single one needs no weighing.
        let numbers = (1..=count).rev().filter(|_| count > 1);
        numbers.max_by_key(|number| kept_bytes(&loads[number - 1], redirects)).unwrap_or(1)
    });
    if !(1..=count).contains(&number) {
        return refuse(format!("holds {count} loads; there is no load {number}"));
    }
    if count > 1 {
        let reason = if wanted.is_some() { "as asked" } else { "which has the most bytes" };
        let Load { fetches, .. } = &loads[number - 1];
        notes.push(format!(
            "the recording holds {count} loads: load {number} is kept, {reason} ({} of {} requests)",
            fetches.len(),
            loads.iter().map(|it| it.fetches.len()).sum::<usize>()
        ));
    }
    Ok(loads.swap_remove(number - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use captures::Fetch;

    fn load(bytes: u64) -> Load {
        let document = Fetch {
            url: "https://a.test/".into(),
            method: "GET".into(),
            mime: "text/html".into(),
            status: 200,
            bytes,
            ..Fetch::default()
        };
        Load { fetches: vec![document], ..Load::default() }
    }

    #[test]
    fn the_largest_load_is_kept_unless_another_is_wanted() {
        let chosen = |wanted| {
            let mut notes = Vec::new();
            let load =
                choose(vec![load(5), load(90), load(90)], &BTreeMap::new(), wanted, &mut notes);
            load.map(|it| (it.fetches[0].bytes, notes.join(""))).map_err(|it| it.to_string())
        };
        let note = "the recording holds 3 loads: load 2 is kept, which has the most bytes (1 of 3 requests)";
        assert_eq!(chosen(None), Ok((90, note.to_owned())));
        let note = "the recording holds 3 loads: load 1 is kept, as asked (1 of 3 requests)";
        assert_eq!(chosen(Some(1)), Ok((5, note.to_owned())));
        assert_eq!(chosen(Some(4)), Err("holds 3 loads; there is no load 4".to_owned()));
    }
}
