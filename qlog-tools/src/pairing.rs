//! Which logs belong to the same connection: its client's and its server's.

use crate::trace::{Trace, Vantage};
use crate::views::no_streams;
use std::path::Path;

/// The logs of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Ends<'a> {
    /// The log of the client or, without one, the server's.
    pub log: &'a Trace,
    /// The server's log, where `log` is the client's.
    pub server: Option<&'a Trace>,
}

/// Why a log that was named as the client's cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairingError {
    /// It is another server's.
    #[error("{log}: a server's log; --client takes the log of its client")]
    NotAClients {
        /// The log.
        log: String,
    },
    /// It names another connection.
    #[error(
        "{log}: not the client's log of the server's connection: ID {there} there, {here} at the server"
    )]
    OtherConnection {
        /// The log.
        log: String,
        /// The connection that it names.
        there: String,
        /// The connection that the server's log names.
        here: String,
    },
}

/// Whether both logs name the same connection, by whichever of its names.
pub(crate) fn is_same_connection(one: &Trace, other: &Trace) -> bool {
    let mut names = one.connection.iter().chain(&one.names);
    names.any(|name| other.connection.as_ref() == Some(name) || other.names.contains(name))
}

/// The log of the connection that this side wrote. Two simulated runs can have the same connection ID: each has a folder of its own.
pub(crate) fn other_end<'a>(
    traces: &'a [Trace],
    trace: &Trace,
    side: Vantage,
) -> Option<&'a Trace> {
    let mut ends =
        traces.iter().filter(|it| it.vantage == side && is_same_connection(it, trace)).peekable();
    let first = ends.peek().copied();
    ends.find(|it| folder(it) == folder(trace)).or(first)
}

fn folder(trace: &Trace) -> Option<&Path> {
    Path::new(&trace.file).parent()
}

/// Each connection once.
pub fn pairs(traces: &[Trace]) -> Vec<Ends<'_>> {
    let mut pairs = Vec::new();
    for log in traces {
        match log.vantage {
            // It stands with its client's.
            Vantage::Server if other_end(traces, log, Vantage::Client).is_some() => {}
            Vantage::Client => {
                pairs.push(Ends { log, server: other_end(traces, log, Vantage::Server) });
            }
            _ => pairs.push(Ends { log, server: None }),
        }
    }
    pairs
}

/// The connections whose arrivals are known, each with its server's log if that has STREAM frames.
pub fn with_arrivals(traces: &[Trace]) -> Vec<Ends<'_>> {
    let (clients, servers): (Vec<&Trace>, Vec<&Trace>) = traces
        .iter()
        .filter(|it| no_streams(it).is_none())
        .partition(|it| it.vantage != Vantage::Server);
    // If neither log names its connection, trust the caller's pairing.
    if let ([client], [server]) = (&clients[..], &servers[..])
        && (client.connection == server.connection || is_same_connection(client, server))
    {
        return vec![Ends { log: client, server: Some(server) }];
    }
    let mut pairs = pairs(traces);
    pairs.retain(|it| it.log.vantage != Vantage::Server && no_streams(it.log).is_none());
    for pair in &mut pairs {
        pair.server = pair.server.filter(|server| no_streams(server).is_none());
    }
    pairs
}

/// The servers' logs, and the logs of clients whose server's log is missing.
pub fn senders(traces: &[Trace]) -> Vec<&Trace> {
    let mut senders = Vec::new();
    for trace in traces {
        let is_server = trace.vantage == Vantage::Server;
        if is_server || other_end(traces, trace, Vantage::Server).is_none() {
            senders.push(trace);
        }
    }
    senders
}

/// The client's log of the connection of `server`, from the logs that the user named as clients' and the others. A
/// single log that was named need not name its connection.
pub fn client_of<'a>(
    server: &Trace,
    named: &'a [Trace],
    others: &'a [Trace],
) -> Result<Option<&'a Trace>, PairingError> {
    if server.vantage != Vantage::Server {
        return Ok(None);
    }
    for log in named.iter().chain(others) {
        if log.vantage != Vantage::Server && is_same_connection(log, server) {
            return Ok(Some(log));
        }
    }
    let Some(first) = named.first() else { return Ok(None) };
    if named.iter().all(|log| log.vantage == Vantage::Server) {
        return Err(PairingError::NotAClients { log: first.label() });
    }
    match (&first.connection, &server.connection) {
        (Some(there), Some(here)) => Err(PairingError::OtherConnection {
            log: first.file.clone(),
            there: crate::short_texts::shown(there, 60),
            here: crate::short_texts::shown(here, 60),
        }),
        _ => Ok(Some(first).filter(|_| named.len() == 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(vantage: Vantage, connection: Option<&str>) -> Trace {
        Trace { vantage, connection: connection.map(str::to_owned), ..Trace::default() }
    }

    #[test]
    fn a_connection_with_both_logs_is_one_pair() {
        let logs = [
            log(Vantage::Server, Some("aa")),
            log(Vantage::Client, Some("aa")),
            log(Vantage::Server, Some("bb")),
            log(Vantage::Client, None),
        ];
        let pairs = pairs(&logs);
        let of = |it: &Ends<'_>| (it.log.vantage, it.server.is_some());
        let expected =
            [(Vantage::Client, true), (Vantage::Server, false), (Vantage::Client, false)];
        assert_eq!(pairs.iter().map(of).collect::<Vec<_>>(), expected);
        assert_eq!(senders(&logs).len(), 3, "the client of aa is judged by its server's log");
    }

    #[test]
    fn of_two_runs_with_the_same_id_each_has_the_server_of_its_folder() {
        let ends = [Vantage::Client, Vantage::Server];
        let run = |folder: &str| {
            ends.map(|it| Trace {
                file: format!("{folder}/{}.sqlog", it.name()),
                ..log(it, Some("aa"))
            })
        };
        let logs = [run("rr"), run("fifo")].concat();
        let pairs = pairs(&logs);
        let files: Vec<(&str, &str)> =
            pairs.iter().map(|it| (&*it.log.file, &*it.server.unwrap().file)).collect();
        let expected =
            [("rr/client.sqlog", "rr/server.sqlog"), ("fifo/client.sqlog", "fifo/server.sqlog")];
        assert_eq!(files, expected);
    }

    #[test]
    fn a_single_named_client_without_an_id_is_trusted() {
        let server = log(Vantage::Server, Some("aa"));
        let (nameless, other) = (log(Vantage::Client, None), log(Vantage::Client, Some("bb")));
        let found = |named: &[Trace]| client_of(&server, named, &[]).map(|it| it.is_some());
        assert_eq!(found(&[nameless]), Ok(true));
        assert_eq!(found(&[]), Ok(false));
        let error = found(&[other]).unwrap_err().to_string();
        assert!(error.ends_with("ID bb there, aa at the server"), "{error}");
    }
}
