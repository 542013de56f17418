//! The policy that `--policy` writes, and the site it serves.

use super::inputs::is_document;
use super::{Arguments, Document};
use crate::output;
use ::serve::Failure;
use gateway::upstream::Address;
use lab::finder::{PolicySite, Question, at_host, policy};
use lab::study::policy::page_argument;
use std::path::{Component, Path, PathBuf};

pub(super) fn write(
    arguments: &Arguments,
    question: &Question,
    document: &Document<'_>,
) -> Result<(), Failure> {
    let Some(file) = &arguments.policy else { return Ok(()) };
    let (mut found, mut hints) =
        (document.by_resource.to_vec(), document.by_hints.unwrap_or_default().to_vec());
    let site = relative(policy_site(arguments, question), file);
    // A policy that serves the pages themselves uses their hosts.
    if arguments.host.is_some() || !matches!(site, PolicySite::Pages(_)) {
        (found, hints) = at_host(&found, &hints, arguments.host.as_deref());
    }
    let text = policy(document.answer, &found, &hints, &site, &output::provenance());
    lab::write_file(file, text).map_err(Failure::elsewhere)
}

/// The source that the policy serves: the value of `--site`, the folder or server that was loaded, or the pages themselves. A recording's
/// page has no bodies to serve.
pub(super) fn policy_site(arguments: &Arguments, question: &Question) -> PolicySite {
    if let Some(site) = &arguments.site {
        return site.clone();
    }
    if let [loaded] = &arguments.inputs[..]
        && let Some(site) = loaded_site(loaded, arguments)
    {
        return site;
    }
    let mut pages = Vec::new();
    for page in &question.pages() {
        let mut named = arguments.inputs.iter();
        let named = named.find(|it| ::corpus::page(it).is_ok_and(|read| read.name == page.name));
        match named {
            Some(named) => pages.push(page_argument(named)),
            None if ::corpus::bundled(&page.name) == Some(page) => pages.push(page.name.clone()),
            None => return PolicySite::ToFillIn,
        }
    }
    PolicySite::Pages(pages)
}

/// The folder or server that a browser loaded. A server with a self-signed certificate, or without TCP, cannot be a backend as it is.
fn loaded_site(loaded: &str, arguments: &Arguments) -> Option<PolicySite> {
    let url = url::Url::parse(loaded).ok().filter(url::Url::has_host);
    if let Some(url) = url {
        let is_plain = arguments.browser.ca.is_none() && !arguments.browser.http3;
        return site(&url[..url::Position::AfterPort]).ok().filter(|_| is_plain);
    }
    let file = Path::new(loaded);
    let folder = if is_document(file) { file.parent()? } else { file };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    site(folder.to_str()?).ok()
}

/// Makes a folder relative to the policy's directory, so that both can move together.
fn relative(site: PolicySite, policy: &Path) -> PolicySite {
    let PolicySite::Folder(folder) = &site else { return site };
    let beside = policy.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(beside) = beside.canonicalize() else { return site };
    let (mut to, mut from) =
        (Path::new(folder).components().peekable(), beside.components().peekable());
    while to.peek().is_some() && to.peek() == from.peek() {
        to.next();
        from.next();
    }
    let path: PathBuf = from.map(|_| Component::ParentDir).chain(to).collect();
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
    PolicySite::Folder(path.display().to_string())
}

/// Parses `--site`: a backend's URL, or an absolute folder.
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
