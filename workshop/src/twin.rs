//! `utmost-workshop twin`: compares a scheme's file with the built-in scheme that it imitates.

mod cost;
mod pages;

use cost::{Cost, ROUNDS, STREAMS};
use pages::differing_page;
use schedulers::conformance::orders_are_equal;
use schedulers::{Scheme, find_scheme};
use scheme_files::{SchemeFile, to_stderr};
use serde::Serialize;
use serde_json::json;
use serve::Failure;
use std::path::PathBuf;
use terminal::output;

/// Compare a scheme's file with its twin: the orders, and the cost of a decision
///
/// The twin is the built-in scheme that the file names. Compares orders on a thousand random connections and on all bundled
/// pages. Exits with 1 if one differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost-workshop twin examples/schemes/dfifo.toml\n  \
utmost-workshop twin examples/schemes/fonts-first.toml --beside dfifo --json")]
pub(crate) struct Arguments {
    /// The scheme's file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Measure this scheme, too [default: the file's twin]
    #[arg(long, value_name = "NAME")]
    beside: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Random connections on which orders are compared.
const COURSES: u32 = 1000;

/// The connections and pages of the comparison, and the differences.
#[derive(Debug, Serialize)]
struct Compared {
    on: String,
    differs: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let SchemeFile { scheme, twin, .. } =
        scheme_files::read(&arguments.file, to_stderr()).map_err(Failure::bad_input)?;
    let twin = twin.as_deref().map(find_scheme).transpose().map_err(Failure::bad_input)?;
    let beside = arguments.beside.as_deref().map(find_scheme).transpose();
    let beside = beside.map_err(Failure::bad_input)?.or_else(|| twin.clone());
    let orders = twin.iter().flat_map(|it| compared(&scheme, it)).collect::<Vec<_>>();
    let costs = cost::measure(&beside.iter().chain([&scheme]).collect::<Vec<_>>());
    if arguments.json {
        let twin = twin.as_ref().map(|it| &it.name);
        let document =
            json!({"scheme": scheme.name, "twin": twin, "orders": orders, "costs": costs});
        output::json_of("utmost-twin/1", &document)?;
    } else {
        show(&orders, &costs)?;
    }
    let differing = orders.iter().filter(|it| it.differs.is_some()).count();
    if differing == 0 {
        return Ok(());
    }
    Err(Failure::No(format!(
        "{}: its orders differ from its twin's in {differing} of {} comparisons",
        arguments.file.display(),
        orders.len()
    )))
}

fn compared(scheme: &Scheme, twin: &Scheme) -> [Compared; 2] {
    let page = differing_page(scheme, twin).map(|page| format!("a packet differs on {page}"));
    [
        Compared {
            on: format!("{COURSES} connections"),
            differs: orders_are_equal(scheme, twin, COURSES).err(),
        },
        Compared { on: format!("{} bundled pages", corpus::bundled_names().len()), differs: page },
    ]
}

fn show(orders: &[Compared], costs: &[Cost]) -> Result<(), Failure> {
    if !orders.is_empty() {
        let rows = orders.iter().map(|compared| {
            let differs = compared.differs.as_deref();
            let are =
                differs.map_or("as the twin's".to_owned(), |it| it.chars().take(300).collect());
            vec![compared.on.clone(), are]
        });
        output::line(&format!("{}\n", output::table(&["orders of", "are"], &[1], rows)))?;
    }
    let first = &costs[0];
    let rows = costs.iter().map(|cost| {
        vec![
            cost.scheme.clone(),
            format!("{:.0}", cost.decision_ns),
            format!("{:.2}", cost.decision_ns / first.decision_ns),
            format!("{:.0}", cost.response_ns),
            format!("{:.2}", cost.response_ns / first.response_ns),
        ]
    });
    let header = ["scheme", "ns a decision", "ratio", "ns a response", "ratio"];
    output::line(&output::table(&header, &[], rows).to_string())?;
    output::line(&format!(
        "{STREAMS} responses are open. A decision picks a stream and charges a packet; a response opens and closes. \
         Medians of {ROUNDS} rounds, in which the schemes take turns"
    ))
}
