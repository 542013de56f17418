//! Responses whose size the recording does not state anywhere: a body of 0 bytes would load at once, and every answer about
//! the page would silently be wrong.

use super::ImportError;
use super::faults::{name, named};
use crate::import::Addresses;
use captures::{Fetch, Size};

/// Removes requests of unknown size from `requests` (the document first). `notes` list them, and responses that are stated to
/// be empty. Fails if the document has no body, or nothing else has a size.
pub(super) fn keep_sized(
    requests: Vec<Fetch>,
    addresses: Addresses,
    notes: &mut Vec<String>,
) -> Result<Vec<Fetch>, ImportError> {
    if let Some(document) = requests.first().filter(|document| document.bytes == 0) {
        return Err(refusal("the document", document));
    }
    let (unknown, kept): (Vec<Fetch>, Vec<Fetch>) =
        requests.into_iter().partition(|it| it.size == Size::Unknown);
    if let Some(first) = unknown.first().filter(|_| kept.len() == 1) {
        return Err(refusal("like everything but the document, it", first));
    }
    if !unknown.is_empty() {
        notes.push(format!(
            "responses left out because the recording does not say their size, neither on the wire nor decoded: {}",
            named(&unknown.iter().collect::<Vec<_>>(), addresses)
        ));
    }
    let empty: Vec<&Fetch> = kept.iter().filter(|it| it.bytes == 0).collect();
    if !empty.is_empty() {
        let names = named(&empty, addresses);
        notes.push(format!("responses without a body, as the recording says: {names}"));
    }
    Ok(kept)
}

fn refusal(what: &str, fetch: &Fetch) -> ImportError {
    let is_cached = fetch.status == 304;
    let answer = if is_cached { "came from a cache, with status 304, and " } else { "" };
    ImportError::Format(format!(
        "{}: {what} {answer}has no size, neither on the wire nor decoded; record the page again with an empty cache, and \
         keep the sizes of responses (in a HAR file: bodySize, _transferSize or content.size)",
        name(fetch, Addresses::Kept)
    ))
}
