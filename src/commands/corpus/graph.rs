//! `utmost corpus graph`: what refers to what on a page, for a server's push policy.

use crate::failure::Failure;
use crate::{output, values};
use push::Graph;
use std::path::{Path, PathBuf};

/// Write the fetch dependency graph of a page, for `push_graph` in a server's configuration
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  utmost corpus graph davies-meenan -o graph.json")]
pub(crate) struct Arguments {
    /// A page: a bundled name, or a file
    page: String,
    /// A second recording of the same page: what only one of both asked for is left out
    #[arg(long, value_name = "PAGE")]
    again: Option<String>,
    /// Where to write the graph
    #[arg(short, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut graph = Graph::of_page(&values::page(&arguments.page)?);
    if let Some(again) = &arguments.again {
        let (kept, dropped) = graph.without_dynamic(&Graph::of_page(&values::page(again)?));
        for path in dropped {
            eprintln!("left out, in one recording only: {path}");
        }
        graph = kept;
    }
    write(&graph, &arguments.output)?;
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    output::line(&format!("{}: {nodes} resources, {edges} references", arguments.output.display()))
}

fn write(graph: &Graph, to: &Path) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(graph).map_err(Failure::elsewhere)?;
    std::fs::write(to, text + "\n")
        .map_err(|error| Failure::BadInput(format!("{}: {error}", to.display())))
}
