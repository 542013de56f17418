//! `utmost corpus graph`: what refers to what on a page, for a server's push policy.

use super::outputs::{self, Kind};
use crate::failure::Failure;
use crate::{output, values};
use push::Graph;
use std::path::PathBuf;

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
    outputs::check(&arguments.output, Kind::Graph)?;
    let mut graph = Graph::of_page(&values::page(&arguments.page)?);
    if let Some(again) = &arguments.again {
        let (kept, dropped) = graph.without_dynamic(&Graph::of_page(&values::page(again)?));
        for path in dropped {
            eprintln!("left out, in one recording only: {path}");
        }
        if kept.nodes.len() < 2 && graph.nodes.len() > 1 {
            return Err(Failure::BadInput(format!(
                "{again}: has none of the resources of {}; name a second recording of the same page",
                arguments.page
            )));
        }
        graph = kept;
    }
    let text = serde_json::to_string_pretty(&graph).map_err(Failure::elsewhere)? + "\n";
    outputs::write(&arguments.output, Kind::Graph, text.as_bytes())?;
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    output::line(&format!("{}: {nodes} resources, {edges} references", arguments.output.display()))
}
