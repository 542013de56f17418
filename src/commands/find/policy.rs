//! The policy that `--policy` writes, and what it serves.

use super::{Arguments, Document};
use crate::output;
use ::corpus::Page;
use ::serve::Failure;
use lab::finder::{PolicySite, Question, policy};
use lab::study::policy::page_argument;
use server::upstream::Address;
use std::path::Path;
use std::sync::Arc;

/// Writes the policy where `--policy` says.
pub(super) fn write(
    arguments: &Arguments,
    question: &Question,
    document: &Document<'_>,
) -> Result<(), Failure> {
    let Some(file) = &arguments.policy else { return Ok(()) };
    let (found, hints) = (document.by_resource, document.by_hints);
    let text = policy(
        found.unwrap_or_default(),
        hints.unwrap_or_default(),
        &policy_site(arguments, question),
        &output::provenance(),
    );
    lab::write_file(file, text).map_err(Failure::elsewhere)
}

/// What the policy serves: what `--site` names, the folder that was loaded, or the pages themselves. The page of a recording has no bodies to serve.
fn policy_site(arguments: &Arguments, question: &Question) -> PolicySite {
    if let Some(site) = &arguments.site {
        return site.clone();
    }
    if let [folder] = &arguments.inputs[..]
        && let Ok(PolicySite::Folder(path)) = site(folder)
    {
        return PolicySite::Folder(path);
    }
    let argument = |page: &Arc<Page>| {
        let is_page = |it: &&String| ::corpus::page(it).is_ok_and(|read| read.name == page.name);
        let named = arguments.inputs.iter().find(is_page).map(|it| page_argument(it));
        let bundled = || ::corpus::bundled(&page.name).filter(|it| *it == page.as_ref());
        named.or_else(|| bundled().map(|it| it.name.clone()))
    };
    let pages: Option<Vec<String>> = question.pages.iter().map(argument).collect();
    pages.map_or(PolicySite::ToFillIn, PolicySite::Pages)
}

/// The value of `--site`: a backend's URL, or a folder, from the root on.
pub(super) fn site(text: &str) -> Result<PolicySite, String> {
    if text.contains("://") {
        let address: Address = text.parse().map_err(|error| format!("{error}"))?;
        drop(address);
        return Ok(PolicySite::Backend(text.to_owned()));
    }
    match Path::new(text).canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(PolicySite::Folder(folder.display().to_string())),
        Ok(_) => Err(
            "it is a file; name the folder of your site, or a URL such as http://127.0.0.1:8080"
                .to_owned(),
        ),
        Err(error) => Err(format!(
            "{error}; name the folder of your site, or a URL such as http://127.0.0.1:8080"
        )),
    }
}
