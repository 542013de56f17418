//! Which requests of a recording are the page.

use super::ImportError;
use crate::import::derive::merge_fetches;
use crate::limits::RESOURCES_MAX;
use captures::Fetch;

/// The document and the later GET requests of its load, each URL once, in order of request.
pub(super) fn keep_fetches(
    mut requests: Vec<Fetch>,
    notes: &mut Vec<String>,
) -> Result<Vec<Fetch>, ImportError> {
    requests.sort_by(|a, b| a.requested_ms.total_cmp(&b.requested_ms));
    let all = requests.len();
    requests.retain(is_fetch);
    let Some(first) = requests.iter().position(is_document) else {
        return Err(ImportError::Format("holds no document that was delivered".to_owned()));
    };
    requests.drain(..first);
    let (targets, repeated) = merge_fetches(requests.iter().map(|it| it.url.as_str()));
    let mut kept = 0;
    let mut position = 0;
    requests.retain(|_| {
        let new = targets[position] == kept;
        position += 1;
        kept += usize::from(new);
        new
    });
    if requests.len() > RESOURCES_MAX {
        let count = requests.len();
        return Err(ImportError::Format(format!(
            "holds {count} resources; cut it to {RESOURCES_MAX}"
        )));
    }
    let dropped = all - requests.len();
    if dropped > 0 {
        let requests = if dropped == 1 { "request is" } else { "requests are" };
        notes.push(format!(
            "{dropped} {requests} left out: redirects, failures, other methods than GET, data URLs, \
             icons, and repeated fetches ({repeated})"
        ));
    }
    Ok(requests)
}

fn is_document(it: &Fetch) -> bool {
    let used_as_document =
        it.used_as == "Document" || it.used_as.is_empty() && it.mime.contains("html");
    it.status == 200 && used_as_document && !it.in_subframe
}

fn is_fetch(it: &Fetch) -> bool {
    let icon = it.mime.contains("icon") || it.url.contains("favicon");
    let delivered = (200..600).contains(&it.status) && !(300..400).contains(&it.status);
    it.url.starts_with("http")
        && it.method == "GET"
        && delivered
        && !icon
        && it.requested_ms.is_finite()
}
