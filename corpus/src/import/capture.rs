//! HAR files and `DevTools` logs.

use super::network_log::{PageLoad, kept_bytes, page_of};
use super::said::SEVERAL_LOADS;
use super::{Addresses, ImportError, Imported, Label, Recording, refuse};
use captures::{Capture, Load, read_devtools, read_har};
use std::collections::BTreeMap;

/// The most loads of a recording that a note names.
const LOADS_NAMED: usize = 10;

pub(super) fn har(Recording { text, label, .. }: Recording<'_>) -> Result<Imported, ImportError> {
    let capture = read_har(text.as_bytes())
        .map_err(|error| ImportError::Format(format!("is not a HAR file: {error}")))?;
    if capture.loads.is_empty() {
        return refuse("log.entries: is empty");
    }
    let mut notes = Vec::new();
    let Capture { loads, redirects, .. } = capture;
    let load = choose(loads, &redirects, &label, &mut notes)?;
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
    let load = choose(capture.loads, &capture.redirects, &label, &mut notes)?;
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
    label: &Label,
    notes: &mut Vec<String>,
) -> Result<Load, ImportError> {
    let count = loads.len();
    let (kept, reason) = match label.load {
        Some(wanted) if !(1..=count).contains(&wanted) => {
            return refuse(format!("holds {count} loads; there is no load {wanted}"));
        }
        Some(wanted) => (wanted - 1, "as asked".to_owned()),
        // Weighing a load takes long, and a single one needs no weighing.
        None if count == 1 => (0, String::new()),
        None => heaviest(&loads, redirects),
    };
    if count > 1 {
        notes.push(several(&loads, kept, &reason, label.addresses));
    }
    Ok(loads.swap_remove(kept))
}

/// The index of the load with the most bytes, and why it is this one.
fn heaviest(loads: &[Load], redirects: &BTreeMap<String, String>) -> (usize, String) {
    let weights: Vec<u64> = loads.iter().map(|it| kept_bytes(it, redirects)).collect();
    let most = weights.iter().max().copied().unwrap_or_default();
    let first = weights.iter().position(|it| *it == most).unwrap_or_default();
    let reason = match weights.iter().filter(|it| **it == most).count() {
        1 => "which has the most bytes".to_owned(),
        alike => format!("the first of {alike} with the most bytes"),
    };
    (first, reason)
}

/// Which load is kept, and which ones are not.
fn several(loads: &[Load], kept: usize, reason: &str, addresses: Addresses) -> String {
    let name = |place: usize| {
        let address = loads[place].address.as_ref();
        let address = address.or_else(|| Some(&loads[place].fetches.first()?.url));
        let address = address.filter(|_| addresses == Addresses::Kept);
        format!("load {}{}", place + 1, address.map_or(String::new(), |it| format!(" ({it})")))
    };
    let others = (0..loads.len()).filter(|place| *place != kept);
    let mut named: Vec<String> = others.take(LOADS_NAMED).map(name).collect();
    if loads.len() - 1 > LOADS_NAMED {
        named.push("...".to_owned());
    }
    let requests = loads.iter().map(|it| it.fetches.len()).sum::<usize>();
    format!(
        "{SEVERAL_LOADS}: {} of {} is kept, {reason} ({} of {requests} requests), and not {}; `utmost corpus import --load N` \
         keeps another",
        name(kept),
        loads.len(),
        loads[kept].fetches.len(),
        named.join(", ")
    )
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
    fn the_largest_load_is_kept_unless_another_is_wanted_and_the_others_are_named() {
        let chosen = |bytes: &[u64], load, addresses| {
            let mut notes = Vec::new();
            let loads = bytes.iter().map(|it| self::load(*it)).collect();
            let label = Label { addresses, load, ..Label::default() };
            let load = choose(loads, &BTreeMap::new(), &label, &mut notes);
            load.map(|it| (it.fetches[0].bytes, notes.join(""))).map_err(|it| it.to_string())
        };
        let kept = |bytes, note: &str| {
            let other = "; `utmost corpus import --load N` keeps another";
            Ok((bytes, format!("the recording holds several loads: {note}{other}")))
        };
        assert_eq!(
            chosen(&[5, 90, 7], None, Addresses::Renamed),
            kept(
                90,
                "load 2 of 3 is kept, which has the most bytes (1 of 3 requests), and not load 1, load 3"
            )
        );
        assert_eq!(
            chosen(&[90, 90], None, Addresses::Kept),
            kept(
                90,
                "load 1 (https://a.test/) of 2 is kept, the first of 2 with the most bytes (1 of 2 requests), and not load 2 (https://a.test/)"
            )
        );
        assert_eq!(
            chosen(&[5, 90], Some(1), Addresses::Renamed),
            kept(5, "load 1 of 2 is kept, as asked (1 of 2 requests), and not load 2")
        );
        for wanted in [0, 4] {
            let refused = format!("holds 3 loads; there is no load {wanted}");
            assert_eq!(chosen(&[5, 90, 9], Some(wanted), Addresses::Kept), Err(refused));
        }
        assert_eq!(chosen(&[5], None, Addresses::Kept), Ok((5, String::new())));
    }
}
