//! Results to take away from the workbench: a command, lines for servers, a policy, and files.

use super::question::{Asked, Row};
use super::{Loads, Workbench, metric, sentences};
use ::serve::Failure;
use lab::export::SERVERS;
use lab::finder::{ByHand, PolicySite};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// The commands that give the numbers, the files that they read, and what to tell a server: of the last order that was made by hand, or of
/// the best scheme.
pub(super) fn answers(
    room: &Workbench,
    asked: &Asked,
    ended: &AtomicBool,
) -> Result<String, Failure> {
    let loads = Loads::of(&room.kept, asked, ended)?;
    let told = loads.told(asked);
    let metric = metric(asked)?;
    let engine = asked.question.engine.name();
    let found = sentences::answer(&told, metric).into_iter();
    let found: Vec<String> = found.map(|it| format!("On engine {engine}: {it}")).collect();
    let (command, files) = asked.commands();
    let site = if asked.is_bundled {
        PolicySite::Pages(vec![asked.page.name.clone()])
    } else {
        PolicySite::ToFillIn
    };
    let rows = asked.question.rows.iter().enumerate();
    let by_hand: Option<(usize, &ByHand)> =
        rows.filter_map(|(place, row)| Some((place, row.by_hand.as_ref()?))).next_back();
    let why = found.join(" ");
    let (policy, exports) = if let Some((place, by_hand)) = by_hand {
        let runs = [told[0].run, told[place].run];
        let advice = by_hand.advice(&asked.page, runs, found);
        // Other servers have no lines for pushes.
        let has_lines = !advice.lines.is_empty() || !advice.documents.is_empty();
        let exports = SERVERS.iter().filter(|_| has_lines);
        let exports = exports.map(|it| json!({"name": it.name, "text": it.export(&advice)}));
        (by_hand.policy(&asked.page, runs, &site, &why), exports.collect())
    } else {
        let best = sentences::best(&told, metric).map_or("rfc9218", |it| it.label);
        (of_scheme(&site, best, &why), Vec::new())
    };
    let answer = json!({"command": command, "files": files, "policy": policy, "exports": exports});
    Ok(answer.to_string())
}

/// A configuration that uses one scheme for everything.
fn of_scheme(site: &PolicySite, scheme: &str, why: &str) -> String {
    let keys = site.keys();
    format!(
        "# {why}\n# Serve it with utmost serve --config FILE.\n\n[site]\n{keys}\nscheme = {scheme:?}\n"
    )
}

/// The page files that the commands read.
#[expect(clippy::unnecessary_wraps, reason = "the other answers can fail")]
pub(super) fn file(_: &Workbench, asked: &Asked, _: &AtomicBool) -> Result<String, Failure> {
    let mut files = serde_json::Map::new();
    let changed = asked.question.rows.iter().zip(&asked.pages);
    let changed = changed.filter(|(row, _): &(&Row, _)| row.by_hand.is_some()).map(|it| it.1);
    for page in changed.chain([&asked.page].into_iter().filter(|_| !asked.is_bundled)) {
        files.insert(format!("{}.json", page.name), page.to_text().into());
    }
    Ok(Value::from(files).to_string())
}
