//! Head-of-line blocking, within streams and between them: exact with the logs of both ends, otherwise with an estimate of the
//! server's send order.

use super::input::{Files, Logs, alone_or_in};
use super::section::Arguments;
use crate::{figure_files, output};
use ::serve::Failure;
use figures::Sheet;
use figures::delivery_stacks::DeliveryStacks;
use qlog_tools::head_of_line::{Arrivals, HeadOfLine};
use qlog_tools::naming::{name_requests_apart, short_name};
use qlog_tools::page_resources::PageResource;
use qlog_tools::pairing::{Ends, with_arrivals};
use qlog_tools::short_texts::shown;
use qlog_tools::trace::{Detail, Trace, Vantage};
use qlog_tools::views::{no_streams, no_waits, unusable};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let out = arguments.options.out.as_deref();
    arguments.files.spare(out)?;
    out.map_or(Ok(()), figure_files::can_be_written)?;
    // Only the figure needs single frames; a log may have millions.
    let detail = if out.is_some() { Detail::Frames } else { Detail::Arrivals };
    let Logs { mut traces, mut refused, .. } = arguments.files.read(detail)?;
    traces.iter_mut().for_each(name_requests_apart);
    let connections = with_arrivals(&traces);
    if let Some(reason) = mismatch(&arguments.files, &traces, &connections) {
        return Err(Failure::BadInput(reason));
    }
    refused.add_files(traces.iter().map(|trace| {
        let is_seen = connections.iter().any(|Ends { log, server }| {
            log.file == trace.file || server.is_some_and(|it| it.file == trace.file)
        });
        (trace, (!is_seen).then(|| no_arrivals(trace)))
    }));
    if connections.is_empty() {
        return refused.end();
    }
    if let Some(out) = out {
        draw(out, &connections)?;
    }
    if arguments.json {
        let documents = connections.iter().map(named_document).collect();
        let document = alone_or_in("connections", documents);
        refused.print_json("utmost-qlog-hol/1", document)?;
    } else {
        for connection in &connections {
            print(connection.log, connection.server.is_some(), &blocking(connection))?;
        }
    }
    refused.end()
}

/// Why two logs that the user named together do not belong together.
fn mismatch(files: &Files, traces: &[Trace], connections: &[Ends<'_>]) -> Option<String> {
    let is_pair = files.paths.len() == 2 && files.named().all(|(_, path)| !path.is_dir());
    let [Ends { log: client, server: None }] = connections else { return None };
    let others = traces.iter().filter(|it| it.file != client.file);
    let mut servers = others.filter(|it| it.vantage == Vantage::Server);
    let server = servers.find(|it| no_streams(it).is_none()).filter(|_| is_pair)?;
    let [there, here] = [server, client].map(|trace| {
        trace.connection.as_deref().map_or_else(|| "unknown".to_owned(), |id| shown(id, 60))
    });
    let why = if there == here {
        "the same ID, but other packets; name the logs of one run".to_owned()
    } else {
        format!("ID {there} in this log, {here} at the client")
    };
    Some(format!("{}: not the server's log of the client's connection: {why}", server.label()))
}

fn no_arrivals(trace: &Trace) -> String {
    unusable(trace).unwrap_or_else(|| {
        let of_server = "a server's log has no arrival times: name the client's log, or both";
        let reason = no_waits(trace).unwrap_or(of_server);
        format!("{}: {reason}", trace.label())
    })
}

fn blocking(Ends { log: client, server }: &Ends<'_>) -> HeadOfLine {
    let sent = server.map(|server| &server.arrivals);
    HeadOfLine::new(Arrivals::of(client, sent))
}

fn draw(out: &Path, connections: &[Ends<'_>]) -> Result<(), Failure> {
    let [connection @ Ends { log: client, .. }] = connections else {
        let count = connections.len();
        let reason =
            format!("--out draws one connection, and there are {count}: name the logs of one");
        return Err(Failure::of_file(out, reason));
    };
    let name = format!("What was delivered together: {}", shown(&short_name(&client.label()), 60));
    let resources = PageResource::of_logs([*client], |_| false);
    let hol = blocking(connection);
    let figure = DeliveryStacks::of_log(name, resources, &client.timeline, &hol);
    figure_files::write(out, &figure.draw(&Sheet::default()))
}

fn named_document(connection: &Ends<'_>) -> Value {
    let Ends { log: client, server } = connection;
    let mut named = json!(blocking(connection));
    named["file"] = client.file.clone().into();
    named["trace"] = client.number.unwrap_or(1).into();
    named["connection"] = client.connection.clone().into();
    named["server_file"] = server.map(|it| it.file.clone()).into();
    named
}

fn print(client: &Trace, has_server: bool, hol: &HeadOfLine) -> Result<(), Failure> {
    let order = match (hol.is_exact, has_server) {
        (true, _) => "exact: the order of sending is the server's log's",
        (_, true) => "estimated: the server's log lacks bytes that arrived, the order is guessed",
        _ => "estimated: without the server's log the order of sending is guessed",
    };
    output::line(&format!("{}: {} bytes; {order}", client.label(), hol.bytes))?;
    let rows = [("within streams (QUIC)", &hol.intra), ("more in one order (TCP)", &hol.inter)]
        .map(|(name, blocking)| {
            vec![
                name.to_owned(),
                format!("{:.0}", blocking.bytes_ms),
                format!("{:.2}", blocking.mean_ms),
                format!("{:.1}", blocking.p95_ms),
                output::percent(blocking.delayed_share, 1),
            ]
        });
    let header = ["blocking", "byte x ms", "mean ms", "p95 ms", "% of bytes"];
    output::line(&output::table(&header, &[], rows).to_string())?;
    output::line(&format!(
        "largest stack: {} frames, {} bytes at once (in one order: {} frames, {} bytes)",
        hol.largest_stack.frames,
        hol.largest_stack.bytes,
        hol.largest_stack_in_one_order.frames,
        hol.largest_stack_in_one_order.bytes
    ))?;
    if let Some(longest) = hol.longest {
        output::line(&format!(
            "longest wait within a stream: {:.1} ms, of bytes of stream {} from {} on, which arrived at {:.1} ms",
            longest.wait_ms, longest.stream, longest.offset, longest.arrived_ms
        ))?;
    }
    let rows = hol.streams.iter().map(|stream| {
        vec![
            stream.stream.to_string(),
            stream.bytes.to_string(),
            format!("{:.2}", stream.intra_ms),
            format!("{:.2}", stream.inter_ms),
            format!("{:.1}", stream.completion_gain_ms),
        ]
    });
    let header =
        ["stream", "bytes", "within ms", "more in one order ms", "completes earlier by ms"];
    output::line(&output::table(&header, &[], rows).to_string())
}
