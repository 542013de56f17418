//! Entries that no page can hold: each is omitted and named, and the others stay.

use super::{ImportError, path_of};
use crate::import::{Addresses, refuse};
use crate::limits::{BODY_BYTES_MAX, TIME_MS_MAX, URL_BYTES_MAX};
use captures::{Fetch, has_host};
use std::collections::BTreeMap;

/// Characters of an address that a note shows.
const NAMED: usize = 10;
const SHOWN: usize = 200;

/// Removes from `fetches` the entries that no page can hold, and lists them in `notes`. The document is at `url` and was requested
/// at `begun_ms`. Fails if the document is among them.
pub(super) fn leave_out(
    fetches: Vec<Fetch>,
    url: &str,
    begun_ms: f64,
    addresses: Addresses,
    notes: &mut Vec<String>,
) -> Result<Vec<Fetch>, ImportError> {
    let mut faulty: BTreeMap<String, Vec<Fetch>> = BTreeMap::new();
    let mut sound = Vec::new();
    for fetch in fetches {
        match fault(&fetch, begun_ms, addresses) {
            Some(cause) => faulty.entry(cause).or_default().push(fetch),
            None => sound.push(fetch),
        }
    }
    for (cause, fetches) in &faulty {
        let names = named(&fetches.iter().collect::<Vec<_>>(), addresses);
        notes.push(format!("requests left out because {cause}: {names}"));
    }
    let is_kept = sound.iter().any(|it| it.url == url);
    let faulty_document = faulty
        .iter()
        .find_map(|(cause, fetches)| Some((cause, fetches.iter().find(|it| it.url == url)?)));
    match faulty_document {
        Some((cause, document)) if !is_kept => {
            let name = name(document, Addresses::Kept);
            refuse(format!("{name}: the document cannot be in a page, because {cause}"))
        }
        _ => Ok(sound),
    }
}

fn fault(it: &Fetch, begun_ms: f64, addresses: Addresses) -> Option<String> {
    let is_http = it.url.starts_with("http");
    Some(match it {
        _ if it.url.is_empty() => "they have no address".to_owned(),
        _ if is_http && !has_host(&it.url) => "their addresses have no host".to_owned(),
        _ if it.url.starts_with("//") || it.url.starts_with(['/', '?']) => {
            "their addresses have no scheme, such as https".to_owned()
        }
        _ if !it.requested_ms.is_finite() => "their startedDateTime is not a date".to_owned(),
        _ if addresses == Addresses::Kept && is_http && path_of(&it.url).len() > URL_BYTES_MAX => {
            format!("their paths have more than {URL_BYTES_MAX} bytes")
        }
        _ if it.bytes > BODY_BYTES_MAX => {
            format!("their bodies have more than {BODY_BYTES_MAX} bytes")
        }
        _ if it.requested_ms - begun_ms > TIME_MS_MAX => {
            "they came more than a day after the document".to_owned()
        }
        _ => return None,
    })
}

/// `3: request 4 (https://…), request 7 (https://…), ...`. If hosts and paths are renamed, their names are omitted here, too.
pub(super) fn named(of: &[&Fetch], addresses: Addresses) -> String {
    let mut names: Vec<String> = of.iter().take(NAMED).map(|it| name(it, addresses)).collect();
    if of.len() > NAMED {
        names.push("...".to_owned());
    }
    format!("{}: {}", of.len(), names.join(", "))
}

/// `request 4 (https://…)`.
pub(super) fn name(it: &Fetch, addresses: Addresses) -> String {
    let url: String = it.url.escape_default().take(SHOWN).collect();
    let end = if url.len() < SHOWN { "" } else { "..." };
    match addresses {
        Addresses::Kept => format!("request {} ({url}{end})", it.number),
        Addresses::Renamed => format!("request {}", it.number),
    }
}
