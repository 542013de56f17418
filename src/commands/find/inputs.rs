//! What `find` is asked about: pages as other commands read them, recordings, logs of any stack, and sites that a browser loads.

use super::super::{compare, what_if};
use crate::{output, values};
use ::corpus::import::{Addresses, ImportError, Label, import, name_of};
use ::corpus::{Page, PageError};
use ::serve::Failure;
use lab::Contender;
use lab::finder::Step;
use lab::network::Network;
use lab::what_if::{Order, derive, fitted_to_links};
use qlog_tools::reader::{ReadOptions, read_file_within};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The networks of a site's visitors, where nobody names others.
const NETWORKS: [&str; 3] = ["cable", "lte", "3g"];

/// How Chromium loads a URL or a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Browser {
    /// Loads of a URL or folder in Chromium, under each of several delays
    #[arg(long, visible_alias = "seeds", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=20))]
    loads: u8,
    /// Load a URL from a server with this self-signed certificate
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Load a URL over HTTP/3 only, from a server without TCP such as `utmost serve`
    #[arg(long)]
    http3: bool,
}

/// How the arguments are read.
pub(super) struct Inputs<'a> {
    pub(super) browser: &'a Browser,
    /// The orders that a log may show.
    pub(super) schemes: &'a [Contender],
    /// Loads at a time.
    pub(super) jobs: usize,
}

impl Inputs<'_> {
    /// The pages of all arguments, and the networks: those that are named, else the links of the logs where all pages come from
    /// logs, else the usual ones.
    pub(super) fn read(
        &self,
        arguments: &[String],
        named: Vec<Network>,
    ) -> Result<(Vec<Arc<Page>>, Vec<Network>), Failure> {
        let Browser { ca, http3, .. } = self.browser;
        if (ca.is_some() || *http3) && !arguments.iter().any(|it| it.contains("://")) {
            let cause = "--ca and --http3 say how a URL is loaded, and no URL is named";
            return Err(Failure::BadInput(cause.to_owned()));
        }
        let links = RefCell::new(Vec::new());
        let pages = values::each_page(arguments, |argument| {
            let (pages, link) = self.pages(argument)?;
            links.borrow_mut().extend(link);
            Ok(pages)
        })?;
        let links = links.into_inner();
        if !named.is_empty() {
            return Ok((pages, named));
        }
        if !links.is_empty() && links.len() == pages.len() {
            return Ok((pages, links));
        }
        Ok((pages, values::networks(&NETWORKS.map(str::to_owned))?))
    }

    /// The pages of an argument, and the link of a log.
    fn pages(&self, argument: &str) -> Result<(Vec<Page>, Option<Network>), Failure> {
        let file = Path::new(argument);
        if argument.contains("://") || file.is_dir() {
            return Ok((vec![loaded_in_browser(argument, self.browser)?], None));
        }
        if !file.is_file() {
            return without_link(not_a_file(argument, file));
        }
        if is_log_by_name(argument) {
            return self.log(file);
        }
        match ::corpus::page(argument) {
            Ok(page) => Ok((vec![page], None)),
            Err(error @ PageError::Wrong { .. }) => Err(Failure::bad_input(error)),
            Err(error) => match recording(file, &error) {
                Ok(page) => Ok((vec![page], None)),
                Err(_) if is_log(file) => self.log(file),
                Err(refusal) => Err(refusal),
            },
        }
    }

    /// The page and the link of a client's log.
    fn log(&self, file: &Path) -> Result<(Vec<Page>, Option<Network>), Failure> {
        let traces = what_if::traces([(None, file.to_owned())].into_iter(), None)?;
        // A file with both sides, or with several connections: the first client's.
        let first = traces.into_iter().take(1).collect::<Vec<_>>();
        let derived = derive(&first, Some(&|_| true)).map_err(Failure::bad_input)?;
        let orders: Vec<Order> = self
            .schemes
            .iter()
            .filter_map(|it| it.scheme().cloned())
            .map(|scheme| Order { scheme, obeys: false })
            .collect();
        let bar = output::progress(0, "loads to find the link");
        let progress = |step| match step {
            Step::Planned(loads) => bar.inc_length(loads as u64),
            Step::Loaded => bar.inc(1),
        };
        let derived = fitted_to_links(&derived, &orders, 1, self.jobs, &progress);
        let derived = derived.map_err(compare::failure)?;
        bar.finish_and_clear();
        let Some(repeated) = &derived.repeated else {
            let cause = "its page does not load over the link that was derived from it: nothing can be said";
            return Err(Failure::of_file(file, cause));
        };
        let name = name_of(file);
        let network = Network { name: format!("link-of-{name}"), ..derived.network().clone() };
        let mut page = Page { name, ..derived.page.as_ref().clone() };
        "a qlog".clone_into(&mut page.source.from);
        page.source.assumptions.clone_from(&derived.assumptions);
        page.source.assumptions.extend([
            format!(
                "the log's order is most like {}: in a repeat over this link, completion times differ from the log's by {:.1} % (median). \
                 What you have is taken to be a server that obeys browsers; `utmost what-if` compares with the log",
                repeated.order,
                100.0 * repeated.differs
            ),
            "a log does not say what is above the fold: all of the page counts".to_owned(),
        ]);
        if repeated.differs > what_if::REPEATED {
            page.source.assumptions.push(
                "no order repeats the log over this link: its server, or losses, held back what the link would have carried"
                    .to_owned(),
            );
        }
        Ok((vec![page], Some(network)))
    }
}

fn without_link(
    pages: Result<Vec<Page>, Failure>,
) -> Result<(Vec<Page>, Option<Network>), Failure> {
    Ok((pages?, None))
}

/// The pages of a name.
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

/// What logs of QUIC are called, gzipped or not.
const LOG_ENDINGS: [&str; 4] = [".qlog", ".sqlog", ".qlognd", ".qlogseq"];

fn is_log_by_name(argument: &str) -> bool {
    let plain = [".gz", ".zst"].iter().find_map(|it| argument.strip_suffix(it));
    LOG_ENDINGS.iter().any(|it| plain.unwrap_or(argument).ends_with(it))
}

/// Whether the contents are those of a log.
fn is_log(file: &Path) -> bool {
    let most = what_if::LOG_BYTES_MAX;
    let traces = read_file_within(file, ReadOptions::default(), most, &|_| ());
    traces.is_ok_and(|it| it.iter().any(|trace| !trace.timeline.frames.is_empty()))
}

/// The page of a recording with the addresses of its site. `not_a_page`: why the file is not a page itself.
fn recording(file: &Path, not_a_page: &PageError) -> Result<Page, Failure> {
    let label = Label {
        name: name_of(file),
        from: "a recording".to_owned(),
        licence: "unknown".to_owned(),
        sha256: None,
        addresses: Addresses::Kept,
        load: None,
        site: None,
    };
    import(file, Some(label)).map(|it| it.page).map_err(|error| match error {
        ImportError::Format(cause) if matches!(not_a_page, PageError::Json { .. }) => {
            Failure::BadInput(format!("{not_a_page}; as a recording, {cause}"))
        }
        ImportError::Wrong(_) => Failure::of_file(file, error),
        _ => Failure::bad_input(error),
    })
}

/// Without the recorder nothing is loaded.
#[cfg(not(feature = "record"))]
fn loaded_in_browser(source: &str, _: &Browser) -> Result<Page, Failure> {
    Err(Failure::BadInput(format!(
        "{source}: this program was built without its recorder (feature `record`); name a HAR file of the page"
    )))
}

/// The page of a URL or folder, as Chromium loads it.
#[cfg(feature = "record")]
fn loaded_in_browser(source: &str, browser: &Browser) -> Result<Page, Failure> {
    use super::super::corpus::failure;
    use recorder::browser::Trust;
    use recorder::installed::Kind;
    use recorder::limits::SETTINGS_MIN;
    use recorder::recording::{Request, capture, page};

    let folder = Path::new(source);
    if folder.is_dir() && !folder.join("index.html").is_file() {
        let cause =
            "holds no index.html; name the folder of a site, one of its recordings, or a URL";
        return Err(Failure::of_file(folder, cause));
    }
    if Kind::Chromium.program().is_none() {
        return Err(Failure::Elsewhere(format!(
            "{source}: no Chromium found that could load it; install the package chromium, or name its program in UTMOST_CHROMIUM; \
             without one, save a HAR file of the page in any browser and name that"
        )));
    }
    let pin = browser.ca.as_ref().map(|it| ::server::certificate_pin(it)).transpose();
    let request = Request {
        source: source.to_owned(),
        entry: None,
        trust: Trust { pin: pin.map_err(Failure::bad_input)?, http3: browser.http3 },
        settings: SETTINGS_MIN,
        loads: browser.loads.into(),
        screenshot: false,
    };
    let (captures, _) = capture(&request, &|it| eprintln!("{it}")).map_err(failure)?;
    let url = url::Url::parse(source).ok().filter(url::Url::has_host);
    let name = match &url {
        Some(url) => format!("{}{}", url.host_str().unwrap_or_default(), url.path()),
        // The folder's own name, also where it is `.`.
        None => folder.canonicalize().map_or(source.to_owned(), |it| name_of(&it)),
    };
    let name = name.trim_matches(['/', '.']).replace('/', "-");
    let judged = page(&captures, &name_of(Path::new(&name)), "unknown");
    let judged = judged.map_err(failure)?;
    let mut page = judged.page;
    if let Some(url) = url {
        // The recording has another host name where the site is on this machine.
        let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
        authority.clone_into(&mut page.origins[0].host);
    }
    let notes = judged.notes.into_iter().filter(|it| !page.source.assumptions.contains(it));
    page.source.assumptions.extend(notes.collect::<Vec<_>>());
    if let Some(it) = &page.source.recording {
        page.source.assumptions.push(format!(
            "why the browser asked for what was derived from {} loads under {} delays: times of requests are off by {} ms (median), {} \
             ms (90th percentile)",
            it.loads,
            it.settings.len(),
            it.left_out_ms.p50,
            it.left_out_ms.p90
        ));
    }
    Ok(page)
}
