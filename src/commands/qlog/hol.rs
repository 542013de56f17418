//! `utmost qlog hol`: head-of-line blocking, within streams and between them.

use super::figure;
use super::input::{Side, read, shown};
use crate::failure::Failure;
use crate::output;
use qlog_tools::figures::Stacks;
use qlog_tools::head_of_line::{Arrivals, Blocking, HeadOfLine};
use qlog_tools::trace::{Detail, Trace, Vantage};
use qlog_tools::views::unusable;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Say how long bytes that had arrived waited for others: within their stream, and in one order for all
///
/// With the logs of both ends the numbers are exact. With the client's alone, the order in which the
/// server first sent is estimated.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost qlog hol client.sqlog server.sqlog\n  \
utmost qlog hol client.sqlog --out stacks.svg")]
pub(crate) struct Arguments {
    /// The client's log
    client: PathBuf,
    /// The server's log of the same connection
    server: Option<PathBuf>,
    /// Take a single log as written by this side, whatever it says
    #[arg(long)]
    vantage: Option<Side>,
    /// Draw what was delivered when (the paper's Figure 13): FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (mut client, server) = logs(arguments)?;
    figure::name_apart(&mut client);
    let sent = server.as_ref().map(|server| &server.arrivals);
    let hol = HeadOfLine::new(Arrivals { frames: &client.arrivals, sent });
    if let Some(out) = &arguments.out {
        let file = arguments.client.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("What was delivered together: {}", shown(&file, 60));
        let resources = figure::resources(&[&client], None);
        let drawing = Stacks { title: name, resources, timeline: &client.timeline, hol: &hol };
        figure::write(out, &drawing.svg())?;
    }
    if arguments.json {
        return output::json_of_program(document(&hol));
    }
    print(&client, server.is_some(), &hol)
}

/// The client's log and the server's, whichever way round they came, or both from one file.
fn logs(arguments: &Arguments) -> Result<(Trace, Option<Trace>), Failure> {
    // The figure is drawn from the frames by themselves, the numbers are not: a log may have millions.
    let detail = if arguments.out.is_some() { Detail::Frames } else { Detail::Arrivals };
    let mut traces = read(&arguments.client, detail, arguments.vantage)?;
    if let Some(server) = &arguments.server {
        traces.extend(read(server, detail, None)?);
    }
    traces.sort_by_key(|trace| std::cmp::Reverse(trace.unique_stream_bytes()));
    if let Some(reason) = traces.first().and_then(unusable) {
        return Err(Failure::BadInput(reason));
    }
    let is_server = |trace: &Trace| trace.vantage == Vantage::Server;
    let Some(place) = traces.iter().position(|trace| !is_server(trace)) else {
        let file = arguments.client.display();
        let reason = "a server's log has no arrival times: name the client's log, or both";
        return Err(Failure::BadInput(format!("{file}: {reason}")));
    };
    let client = traces.remove(place);
    let pairs = |server: &Trace| is_server(server) && server.connection == client.connection;
    let server = traces.iter().position(pairs);
    let server = server.map(|place| traces.remove(place));
    match (&arguments.server, &server) {
        (Some(file), None) => {
            let id =
                |trace: &Trace| trace.connection.clone().unwrap_or_else(|| "unknown".to_owned());
            let other = traces.first().map_or_else(|| "unknown".to_owned(), id);
            Err(Failure::BadInput(format!(
                "{}: not the server's log of the client's connection: ID {} there, {} at the client",
                file.display(),
                shown(&other, 60),
                shown(&id(&client), 60),
            )))
        }
        _ => Ok((client, server)),
    }
}

fn document(hol: &HeadOfLine) -> Value {
    let blocking = |it: &Blocking| {
        json!({
            "bytes_ms": it.bytes_ms,
            "mean_ms": it.mean_ms,
            "p95_ms": it.p95_ms,
            "delayed_share": it.delayed_share,
        })
    };
    let streams = hol.streams.iter().map(|it| {
        json!({
            "id": it.stream,
            "bytes": it.bytes,
            "intra_ms": it.intra_ms,
            "inter_ms": it.inter_ms,
            "completion_gain_ms": it.completion_gain_ms,
        })
    });
    let (stack, in_one_order) = (hol.largest_stack, hol.largest_stack_in_one_order);
    json!({
        "exact": hol.is_exact,
        "bytes": hol.bytes,
        "intra": blocking(&hol.intra),
        "inter": blocking(&hol.inter),
        "largest_stack": {"frames": stack.frames, "bytes": stack.bytes},
        "largest_stack_in_one_order": {"frames": in_one_order.frames, "bytes": in_one_order.bytes},
        "streams": streams.collect::<Vec<_>>(),
    })
}

fn print(client: &Trace, has_server: bool, hol: &HeadOfLine) -> Result<(), Failure> {
    let order = match (hol.is_exact, has_server) {
        (true, _) => "exact: the order of sending is the server's log's",
        (_, true) => "estimated: the server's log lacks bytes that arrived, the order is guessed",
        _ => "estimated: without the server's log the order of sending is guessed",
    };
    output::line(&format!("{}: {} bytes; {order}", client.file, hol.bytes))?;
    let row = |name: &str, it: &Blocking| {
        vec![
            name.to_owned(),
            format!("{:.0}", it.bytes_ms),
            format!("{:.2}", it.mean_ms),
            format!("{:.1}", it.p95_ms),
            format!("{:.1}", it.delayed_share * 100.0),
        ]
    };
    let rows =
        [row("within streams (QUIC)", &hol.intra), row("more in one order (TCP)", &hol.inter)];
    let header = ["blocking", "byte x ms", "mean ms", "p95 ms", "% of bytes"];
    output::line(&output::table(&header, &[], rows).to_string())?;
    output::line(&format!(
        "largest stack: {} frames, {} bytes at once (in one order: {} frames, {} bytes)",
        hol.largest_stack.frames,
        hol.largest_stack.bytes,
        hol.largest_stack_in_one_order.frames,
        hol.largest_stack_in_one_order.bytes
    ))?;
    let rows = hol.streams.iter().map(|it| {
        vec![
            it.stream.to_string(),
            it.bytes.to_string(),
            format!("{:.2}", it.intra_ms),
            format!("{:.2}", it.inter_ms),
            format!("{:.1}", it.completion_gain_ms),
        ]
    });
    let header =
        ["stream", "bytes", "within ms", "more in one order ms", "completes earlier by ms"];
    output::line(&output::table(&header, &[], rows).to_string())
}
