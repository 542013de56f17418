//! `utmost corpus check --browser` and `utmost corpus bodies`: pages and their real files.

use crate::{output, values};
use ::corpus::Page;
use ::serve::Failure;
use gateway::site::DirectorySite;
use page_site::PageSite;
use recorder::visit::visit;
use recorder::{RecordError, bodies, package};
use server::site::Site;
use std::path::Path;
use std::sync::Arc;

/// Also in a browser
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Also load each page in Chromium from our server, and check that it requests the page's resources
    #[arg(long)]
    pub(super) browser: bool,
    /// With real bodies, fetched from the page's package
    #[arg(long, requires = "browser")]
    pub(super) real: bool,
}

/// Loads pages in Chromium from our own server.
pub(super) fn run(names: &[String], real: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut unwell = 0;
    for name in names {
        let page = values::page(name)?;
        eprintln!("{name}");
        let visit = visit(&page, site(&page, real)?).map_err(failure)?;
        unwell += usize::from(!visit.is_well());
        for url in &visit.missing {
            eprintln!("{name}: {url} was not requested");
        }
        for wrong in &visit.wrong {
            eprintln!("{name}: {wrong}");
        }
        let counts = [
            page.resources.len(),
            visit.asked,
            visit.over_http3,
            visit.expected_errors,
            visit.missing.len(),
            visit.wrong.len(),
        ];
        rows.push([page.name].into_iter().chain(counts.map(|it| it.to_string())).collect());
    }
    let header =
        ["page", "resources", "requested", "over h3", "errors of the page", "missing", "wrong"];
    output::line(&output::table(&header, &[], rows).to_string())?;
    if unwell == 0 {
        Ok(())
    } else {
        Err(Failure::No(format!("{unwell} of {} pages did not load properly", names.len())))
    }
}

fn site(page: &Page, real: bool) -> Result<Arc<dyn Site>, Failure> {
    if !real {
        return Ok(Arc::new(PageSite::new(page.clone()).for_browsers()));
    }
    let fetched = bodies::package(page, &package::cache()).map_err(failure)?;
    Ok(Arc::new(DirectorySite::open(&fetched.root).map_err(Failure::bad_input)?))
}

pub(super) fn bodies(name: &str, to: &Path) -> Result<(), Failure> {
    let page = values::page(name)?;
    values::directory(to, "--out")?;
    let fetched = bodies::package(&page, &package::cache()).map_err(failure)?;
    let copied = bodies::copy(&page, &fetched, to).map_err(failure)?;
    output::line(&format!(
        "{}: {copied} files; the document is {}",
        to.display(),
        page.resources[0].url
    ))
}

pub(crate) fn failure(error: RecordError) -> Failure {
    if error.is_bad_input() { Failure::bad_input(error) } else { Failure::elsewhere(error) }
}
