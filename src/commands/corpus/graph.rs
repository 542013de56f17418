//! `utmost corpus graph`: the references between a page's resources, for a server's push policy.

mod access_log;

use super::outputs::{self, Kind};
use crate::{output, values};
use ::gateway::site::DirectorySite;
use ::serve::Failure;
use ::server::site::{Promise, Response, Site};
use push::scan::{Files, scan};
use push::{Graph, Node, is_host};
use std::path::{Path, PathBuf};

/// Write the fetch dependency graph of a page, for `push_graph` in a server's configuration
///
/// The graph of a page of the corpus holds its recorded requests.
///
/// The graph of a directory holds the references in its HTML and CSS. It lacks the requests that scripts make, and
/// includes everything that a stylesheet references, used or not.
///
/// The graph of an access log (combined format) holds each resource that at least 80 % of the page's last 20 loads
/// requested, and also both of the last two. Loads with less than half the median number of requests (robots, full
/// caches) do not count, and neither do the requests of the visitor's next page.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost corpus graph davies-meenan -o graph.json\n  \
utmost corpus graph public --document /index.html -o graph.json\n  \
utmost corpus graph --access-log access.log --host www.example --document /index.html -o graph.json\n  \
zcat access.log.*.gz | utmost corpus graph --access-log - --host www.example -o graph.json")]
pub(crate) struct Arguments {
    /// A page (a bundled name or a file), or a directory with a site's files
    #[arg(required_unless_present = "access_log")]
    page: Option<String>,
    /// Learn the graph from a server's access log, oldest lines first; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["page", "again"])]
    access_log: Option<PathBuf>,
    /// A second recording of the same page; resources that only one of them requested are left out
    #[arg(long, value_name = "PAGE")]
    again: Option<String>,
    /// The page's document in a directory or a log
    #[arg(long, value_name = "PATH", default_value = "/")]
    document: String,
    /// The site's host, for a directory or a log [default: localhost; for a log, any host]
    #[arg(long)]
    host: Option<String>,
    /// Write the graph into this file
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
}

const LOCALHOST: &str = "localhost";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    outputs::check(&arguments.output, Kind::Graph)?;
    if let Some(wrong) = &arguments.host
        && !is_host(wrong)
    {
        return Err(Failure::BadInput(format!(
            "--host {wrong:?}: not a name without scheme and path; as in www.example"
        )));
    }
    let page = arguments.page.as_deref().unwrap_or_default();
    let mut graph = match &arguments.access_log {
        Some(log) => access_log::learn(log, arguments.host.as_deref(), &arguments.document)?,
        None if Path::new(page).is_dir() => of_directory(page, arguments)?,
        None => Graph::of_page(&values::page(page)?),
    };
    if let Some(again) = &arguments.again {
        let (kept, dropped) = graph.without_dynamic(&Graph::of_page(&values::page(again)?));
        for path in dropped {
            eprintln!("left out, in one recording only: {path}");
        }
        if kept.nodes.len() < 2 && graph.nodes.len() > 1 {
            return Err(Failure::BadInput(format!(
                "{again}: has no resource in common with {page}; name a second recording of the same page"
            )));
        }
        graph = kept;
    }
    let text = serde_json::to_string_pretty(&graph).map_err(Failure::elsewhere)? + "\n";
    Graph::from_json(&text).map_err(Failure::bad_input)?;
    outputs::write(&arguments.output, Kind::Graph, text.as_bytes())?;
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    output::line(&format!(
        "{}: {nodes} resources, {edges} references",
        arguments.output.display()
    ))?;
    let (named, are) = match graph.hidden_and_critical(0).len() {
        1 => (1, "is"),
        other => (other, "are"),
    };
    output::line(&format!(
        "of these {named} {are} hidden and critical: the policies with preload name them"
    ))
}

/// The files below a directory, under the URLs at which our server would serve them.
struct Served(DirectorySite);

impl Served {
    fn get(&self, path: &str) -> Option<Response> {
        let promise = Promise { path: path.to_owned(), ..Promise::default() };
        Some(self.0.respond(&promise.request())).filter(|it| it.status == 200)
    }
}

impl Files for Served {
    fn bytes(&self, path: &str) -> Option<u64> {
        self.get(path).map(|it| it.body.bytes())
    }

    fn read(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let body = self.get(path)?.body;
        let mut bytes = vec![0; usize::try_from(body.bytes()).map_or(most, |it| it.min(most))];
        body.read_at(0, &mut bytes).ok()?;
        Some(bytes)
    }
}

/// The files that a document below a folder refers to, directly or not.
pub(crate) fn references(folder: &Path, document: &str) -> Result<Vec<Node>, Failure> {
    let site = DirectorySite::open(folder).map_err(Failure::bad_input)?;
    Ok(scan(&Served(site), LOCALHOST, document).map(|it| it.graph.nodes).unwrap_or_default())
}

fn of_directory(folder: &str, arguments: &Arguments) -> Result<Graph, Failure> {
    let site = DirectorySite::open(Path::new(folder)).map_err(Failure::bad_input)?;
    let host = arguments.host.as_deref().unwrap_or(LOCALHOST);
    let found = scan(&Served(site), host, &arguments.document).ok_or_else(|| {
        let document = &arguments.document;
        Failure::BadInput(format!("{folder}: no file at {document}; choose another --document"))
    })?;
    for path in &found.missing {
        eprintln!("not there: {path}");
    }
    for path in &found.lazy {
        eprintln!("left out, loaded lazily: {path}");
    }
    if found.elsewhere > 0 {
        eprintln!("left out: {} references to other hosts", found.elsewhere);
    }
    Ok(found.graph)
}
