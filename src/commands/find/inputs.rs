//! The inputs of `find`: pages as other commands read them, recordings, logs of any stack, and sites to load in a browser.

use super::super::{compare, what_if};
use super::counting;
use crate::log_names::{Called, called};
use crate::{output, values};
use ::corpus::import::{Addresses, ImportError, Label, import, name_of};
use ::corpus::{Page, PageError};
use ::serve::Failure;
use lab::Contender;
use lab::network::Network;
use lab::what_if::{Derived, Order, derive, fitted_to_links};
use qlog_tools::reader::{ReadOptions, is_har, read_file_within};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The networks of a site's visitors, if the user names none.
const NETWORKS: [&str; 3] = ["cable", "lte", "3g"];

/// How Chromium loads a URL or a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Browser {
    /// Loads of a URL or folder in Chromium, under each delay. The answer must hold in every load
    #[arg(long, hide_short_help = true, visible_alias = "seeds", value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    loads: u8,
    /// Trust this self-signed certificate when loading a URL
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,
    /// Load a URL over HTTP/3 only, for a server without TCP
    #[arg(long)]
    pub(super) http3: bool,
}

pub(super) struct Inputs<'a> {
    pub(super) browser: &'a Browser,
    /// The orders among which a log's order is sought.
    pub(super) schemes: &'a [Contender],
    pub(super) jobs: usize,
    /// The site's root folder, which holds the documents. `None`: each document's own folder is its root.
    pub(super) root: Option<&'a Path>,
}

pub(super) struct Read {
    /// The pages, followed by further recordings of them.
    pub(super) pages: Vec<Arc<Page>>,
    /// The named networks. Without names: the links of the logs if all pages are from logs, otherwise the default ones.
    pub(super) networks: Vec<Network>,
}

impl Inputs<'_> {
    /// Reads the pages of all arguments, and the networks.
    pub(super) fn read(&self, arguments: &[String], named: Vec<Network>) -> Result<Read, Failure> {
        let Browser { ca, http3, .. } = self.browser;
        let has_url = arguments.iter().any(|it| it.contains("://"));
        if (ca.is_some() || *http3) && !has_url {
            let cause = "--ca and --http3 are for loading a URL, and no URL is named";
            return Err(Failure::BadInput(cause.to_owned()));
        }
        let (links, recordings) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let mut pages = values::each_page(arguments, |argument| {
            let Asked { pages, recordings: others, link } = self.pages(argument)?;
            links.borrow_mut().extend(link);
            recordings.borrow_mut().extend(others.into_iter().map(Arc::new));
            Ok(pages)
        })?;
        let links = links.into_inner();
        let networks = if !named.is_empty() {
            named
        } else if !links.is_empty() && links.len() == pages.len() {
            links
        } else {
            values::networks(&NETWORKS.map(str::to_owned))?
        };
        pages.extend(recordings.into_inner());
        let pages = pages.into_iter().map(all_counts).collect();
        Ok(Read { pages, networks })
    }

    fn pages(&self, argument: &str) -> Result<Asked, Failure> {
        let file = Path::new(argument);
        if argument.contains("://") || file.is_dir() || is_document(file) {
            return loaded_in_browser(argument, self.browser, self.root, &output::step);
        }
        if !file.is_file() {
            return Ok(Asked { pages: not_a_file(argument, file)?, ..Asked::default() });
        }
        match page_or_log(file)? {
            Some(page) => Ok(Asked { pages: vec![page], ..Asked::default() }),
            None => self.log(file),
        }
    }

    fn log(&self, file: &Path) -> Result<Asked, Failure> {
        let derived = derived(file)?;
        let orders: Vec<Order> = self
            .schemes
            .iter()
            .filter_map(|it| it.scheme().cloned())
            .map(|scheme| Order { scheme, obeys: false })
            .collect();
        let bar = output::progress(0, "loads to find the link");
        let derived = fitted_to_links(&derived, &orders, 1, self.jobs, &counting(&bar));
        let derived = derived.map_err(compare::failure)?;
        bar.finish_and_clear();
        let Some(repeated) = &derived.repeated else {
            let cause =
                "its page does not load over the link that was derived from it: there is no result";
            return Err(Failure::of_file(file, cause));
        };
        let name = name_of(file);
        let network = Network { name: format!("link-of-{name}"), ..derived.network().clone() };
        let mut page = Page { name, ..derived.page.as_ref().clone() };
        "a qlog".clone_into(&mut page.source.from);
        page.source.assumptions.clone_from(&derived.assumptions);
        page.source.assumptions.extend([
            format!(
                "the log's order is most like {}: in a repeat over this link, completion times differ from the log's by {} % (median). \
                 What you have is assumed to be a server that obeys browsers; `utmost what-if` compares with the log",
                repeated.order,
                output::percent(repeated.differs, 1)
            ),
            "a log does not say what is above the fold: all of the page counts".to_owned(),
        ]);
        if repeated.differs > what_if::REPEATED {
            page.source.assumptions.push(
                "no order repeats the log over this link: its server, or losses, held back what the link would have carried"
                    .to_owned(),
            );
        }
        Ok(Asked { pages: vec![page], link: Some(network), ..Asked::default() })
    }
}

/// The page of a file: a page file, a recording, or a client's log, whose link is ignored.
pub(crate) fn page_of_file(file: &Path) -> Result<Page, Failure> {
    if let Some(page) = page_or_log(file)? {
        return Ok(page);
    }
    let derived = derived(file)?;
    let mut page = Page { name: name_of(file), ..derived.page.as_ref().clone() };
    page.source.assumptions = derived.assumptions;
    Ok(page)
}

/// The page of a URL, as Chromium on this machine loads it. `progress` receives each step, and returns whether to go on.
pub(crate) fn page_of_url(url: &str, progress: &dyn Fn(&str) -> bool) -> Result<Page, Failure> {
    let parsed = url::Url::parse(url).ok();
    if !parsed.is_some_and(|it| matches!(it.scheme(), "http" | "https")) {
        return Err(Failure::BadInput(format!(
            "{url:?} is not an address; name an http or https URL"
        )));
    }
    let once = Browser { loads: 1, ca: None, http3: false };
    Ok(loaded_in_browser(url, &once, None, progress)?.pages.swap_remove(0))
}

/// The page of a page file or a recording. `None`: the file is a log.
fn page_or_log(file: &Path) -> Result<Option<Page>, Failure> {
    if called(file) == Called::Qlog {
        return Ok(None);
    }
    match ::corpus::page(&file.to_string_lossy()) {
        Ok(page) => Ok(Some(page)),
        Err(error @ PageError::Wrong { .. }) => Err(Failure::bad_input(error)),
        Err(error) => match recording(file, &error) {
            Ok(page) => Ok(Some(page)),
            Err(_) if is_log(file) => Ok(None),
            Err(refusal) => Err(refusal),
        },
    }
}

/// The page and the link in a client's log. In a file with both sides or several connections, the first client counts.
fn derived(file: &Path) -> Result<Derived, Failure> {
    let traces = what_if::traces([(None, file.to_owned())].into_iter(), None)?;
    let first = traces.into_iter().take(1).collect::<Vec<_>>();
    derive(&first, Some(&|_| true)).map_err(Failure::bad_input)
}

/// If nothing marks what a visitor sees first, the whole page counts.
fn all_counts(page: Arc<Page>) -> Arc<Page> {
    if page.resources.iter().any(|it| it.above_fold) {
        return page;
    }
    let mut page = Page::clone(&page);
    page.resources.iter_mut().for_each(|it| it.above_fold = true);
    Arc::new(page)
}

#[derive(Default)]
struct Asked {
    pages: Vec<Page>,
    /// Further recordings of its page.
    recordings: Vec<Page>,
    link: Option<Network>,
}

pub(super) fn is_document(file: &Path) -> bool {
    let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase();
    file.is_file() && ["html", "htm", "xhtml"].contains(&&*ending)
}

fn not_a_file(argument: &str, file: &Path) -> Result<Vec<Page>, Failure> {
    let is_name = argument.starts_with('@') || ::corpus::bundled(argument).is_some();
    if !is_name && !file.exists() && (argument.contains('/') || file.extension().is_some()) {
        return Err(Failure::of_file(
            file,
            "there is no such file; name a recording such as a HAR file, a qlog, a page file, a URL, or a bundled page (`utmost corpus \
             list`)",
        ));
    }
    values::pages(argument)
}

fn is_log(file: &Path) -> bool {
    let most = what_if::LOG_BYTES_MAX;
    let traces = read_file_within(file, ReadOptions::default(), most, &|_| ());
    traces.is_ok_and(|it| it.iter().any(|trace| !trace.timeline.frames.is_empty()))
}

/// The page of a recording, with the site's own addresses. `not_a_page`: why the file could not be read as a page.
fn recording(file: &Path, not_a_page: &PageError) -> Result<Page, Failure> {
    let label = Label { addresses: Addresses::Kept, ..Label::named(name_of(file)) };
    let imported = import(file, Some(label)).map(|it| it.page);
    imported.map_err(|error| match error {
        // Nobody takes a HAR for a page file.
        ImportError::Format(_) if named_files::read(file).is_ok_and(|it| is_har(&it)) => {
            Failure::bad_input(error)
        }
        ImportError::Format(cause) if matches!(not_a_page, PageError::Json { .. }) => {
            Failure::BadInput(format!("{not_a_page}; as a recording, {cause}"))
        }
        ImportError::Wrong(_) => Failure::of_file(file, error),
        _ => Failure::bad_input(error),
    })
}

#[cfg(not(feature = "record"))]
fn loaded_in_browser(
    source: &str,
    _: &Browser,
    _: Option<&Path>,
    _: &dyn Fn(&str) -> bool,
) -> Result<Asked, Failure> {
    Err(Failure::BadInput(format!(
        "{source}: this program was built without its recorder (feature `record`); name a HAR file of the page"
    )))
}

/// The page of a URL, a folder or a document in a folder, as Chromium loads it.
#[cfg(feature = "record")]
fn loaded_in_browser(
    source: &str,
    browser: &Browser,
    root: Option<&Path>,
    progress: &dyn Fn(&str) -> bool,
) -> Result<Asked, Failure> {
    use super::super::corpus::failure;
    use recorder::recording::{capture, page as derived};

    let (captures, _) = capture(&request(source, browser, root)?, progress).map_err(failure)?;
    let name = page_name(source, root);
    let judged = derived(&captures, &name, "unknown").map_err(failure)?;
    let mut page = judged.page;
    let notes = judged.notes.into_iter().filter(|it| !page.source.assumptions.contains(it));
    page.source.assumptions.extend(notes.collect::<Vec<_>>());
    if let Some(it) = &page.source.recording {
        page.source.assumptions.push(format!(
            "the causes of requests were derived from {} loads under each of {} delays: times of requests are off by {} ms (median), {} \
             ms (90th percentile)",
            it.loads / it.settings.len().max(1),
            it.settings.len(),
            it.left_out_ms.p50,
            it.left_out_ms.p90
        ));
    }
    // Skips a load from which no page can be derived.
    let loads = captures.by_load().into_iter();
    let mut recordings: Vec<Page> =
        loads.filter_map(|it| Some(derived(&it, &name, "unknown").ok()?.page)).collect();
    if let Some(url) = url::Url::parse(source).ok().filter(url::Url::has_host) {
        // If the site is on this machine, the recording has another host name.
        let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
        for it in [&mut page].into_iter().chain(&mut recordings) {
            authority.clone_into(&mut it.origins[0].host);
        }
    }
    Ok(Asked { pages: vec![page], recordings, link: None })
}

pub(super) fn page_name(source: &str, root: Option<&Path>) -> String {
    let below = root.and_then(|it| Path::new(source).strip_prefix(it).ok());
    let below = below.map(|it| it.with_extension("").display().to_string().replace('/', "-"));
    name_of(Path::new(&below.unwrap_or_else(|| loaded_name(source))))
}

fn loaded_name(source: &str) -> String {
    let file = Path::new(source);
    let name = match url::Url::parse(source).ok().filter(url::Url::has_host) {
        Some(url) => format!("{}{}", url.host_str().unwrap_or_default(), url.path()),
        None if is_document(file) => {
            file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
        }
        // The folder's own name, even if the argument is `.`.
        None => file.canonicalize().map_or(source.to_owned(), |it| name_of(&it)),
    };
    name.trim_matches(['/', '.']).replace('/', "-")
}

#[cfg(feature = "record")]
fn request(
    source: &str,
    browser: &Browser,
    root: Option<&Path>,
) -> Result<recorder::recording::Request, Failure> {
    use recorder::limits::SETTINGS_MIN;

    let path = Path::new(source);
    if path.is_dir() && !path.join("index.html").is_file() {
        let cause =
            "holds no index.html; name the folder of a site, one of its recordings, or a URL";
        return Err(Failure::of_file(path, cause));
    }
    let trust = trust(source, browser)?;
    let (folder, entry) =
        if is_document(path) { in_folder(path, root) } else { (source.to_owned(), None) };
    Ok(recorder::recording::Request {
        source: folder,
        entry,
        trust,
        settings: SETTINGS_MIN,
        loads: browser.loads.into(),
        judged: false,
        screenshot: false,
    })
}

/// How Chromium reaches a URL, if the source is one.
#[cfg(feature = "record")]
fn trust(source: &str, browser: &Browser) -> Result<recorder::browser::Trust, Failure> {
    if recorder::installed::Kind::Chromium.program().is_none() {
        return Err(Failure::Elsewhere(format!(
            "{source}: no Chromium found that could load it; install the package chromium, or name its program in UTMOST_CHROMIUM; \
             without one, save a HAR file of the page in any browser and name that"
        )));
    }
    let pin = browser.ca.as_ref().map(|it| ::server::certificate_pin(it)).transpose();
    let pin = pin.map_err(Failure::bad_input)?;
    Ok(recorder::browser::Trust { pin, http3: browser.http3 })
}

/// The server's answer to a URL, as Chromium gets it.
#[cfg(feature = "record")]
pub(super) fn text_at(url: &str, browser: &Browser) -> Result<String, Failure> {
    use super::super::corpus::failure;
    let chromium = recorder::browser::Chromium::for_mirroring(&trust(url, browser)?);
    let answers = chromium.and_then(|it| it.answers(url)).map_err(failure)?;
    let is_there = answers.iter().any(|it| it.status == Some(200));
    let body = answers.into_iter().find_map(|it| it.body.filter(|_| it.status == Some(200)));
    let body = body.ok_or_else(|| {
        Failure::Elsewhere(if is_there {
            format!("{url}: Chromium does not show it, as it does not show packed files; download it, and name the file")
        } else {
            format!("{url}: no answer with status 200")
        })
    })?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[cfg(not(feature = "record"))]
pub(super) fn text_at(url: &str, _: &Browser) -> Result<String, Failure> {
    Err(Failure::BadInput(format!(
        "{url}: this program was built without its recorder (feature `record`); name the sitemap as a file"
    )))
}

/// The folder of a document, and the document's path in it.
#[cfg(feature = "record")]
fn in_folder(document: &Path, root: Option<&Path>) -> (String, Option<String>) {
    let own = document.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = root.unwrap_or(own);
    let below = document.strip_prefix(folder).map_or_else(
        |_| document.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        |it| it.to_string_lossy().into_owned(),
    );
    let address = url::Url::parse("https://localhost/").and_then(|it| it.join(&below));
    (folder.display().to_string(), address.ok().map(|it| it.path().to_owned()))
}
