//! Tasks that take long. Each says how far it is, and ends when nobody waits for it any more.

use super::Workbench;
use super::question::Asked;
use crate::commands::compare::failure;
use crate::commands::find::page_of_url;
use crate::limits::WORKBENCH_SEARCH_MAX;
use ::serve::Failure;
use lab::finder::ByHand;
use serde::Deserialize;
use serde_json::json;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Changes by hand that a search finds.
pub(super) fn search(
    room: &Workbench,
    asked: &Asked,
    ended: &AtomicBool,
) -> Result<String, Failure> {
    let tried = Cell::new(0);
    let go_on = || {
        tried.set(tried.get() + 1);
        room.say(format!("{} orders", tried.get()));
        !ended.load(Ordering::Relaxed)
    };
    let resources = asked.page.resources.len();
    if resources > WORKBENCH_SEARCH_MAX {
        let cause = format!(
            "{resources} resources: the workbench searches among {WORKBENCH_SEARCH_MAX}; use utmost find"
        );
        return Err(Failure::BadInput(cause));
    }
    let cases = asked.cases(&[0])?;
    let found = cases.first().map(|it| ByHand::searched(&it.plan, &go_on));
    let found = found.transpose().map_err(failure)?;
    Ok(json!(found.unwrap_or_default()).to_string())
}

/// The page that a browser's page asks to record.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToRecord {
    url: String,
}

/// Records the page of a URL in Chromium on this machine, and keeps it as a dropped one.
pub(super) fn record(room: &Workbench, body: &[u8], ended: &AtomicBool) -> Result<String, Failure> {
    let ToRecord { url } = serde_json::from_slice(body)
        .map_err(|error| Failure::BadInput(format!("the question: {error}")))?;
    let Ok(_alone) = room.recording.try_acquire() else {
        let cause = "another page is being recorded: wait until it is done, and try again";
        return Err(Failure::BadInput(cause.to_owned()));
    };
    room.say("starting Chromium".to_owned());
    let page = page_of_url(&url, &|step| {
        room.say(step.to_owned());
        !ended.load(Ordering::Relaxed)
    })?;
    room.keep(page)
}
