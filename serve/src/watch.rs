//! Observers of a running server: its access log, and its metrics.

use crate::{Failure, metrics_page, values};
use gateway::access_log::{AccessLog, Format, Reopen, Writing};
use server::metrics::Metrics;
use server::{Observer, Observers};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The formats of `--access-log-format`.
const FORMATS: &[(&str, &str, Format)] = &[
    ("combined", "Apache's combined format, then the time taken in microseconds", Format::Combined),
    ("json", "a JSON object a line", Format::Json),
];

/// How long a server that shuts down waits for its access log, for example for the reader of a pipe.
const LOG_PATIENCE: Duration = Duration::from_secs(3);

/// How a server is watched.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Watch {
    /// Append a line for each response to this file. `-` is the standard output. On SIGHUP, the server reopens the file
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// How the lines are written
    #[arg(long, value_name = "FORMAT", hide_short_help = true, requires = "access_log", value_parser = values::choice(FORMATS), default_value = "combined")]
    access_log_format: Format,
    /// Answer /metrics (for Prometheus) and /health at this address. It uses HTTP/1.1. Choose an address that only you
    /// can reach, such as 127.0.0.1:9433
    #[arg(long, value_name = "ADDR:PORT", value_parser = values::address)]
    metrics: Option<SocketAddr>,
}

/// The observers, and what they need until shutdown.
#[derive(Default)]
pub(crate) struct Watching {
    pub(crate) observers: Observers,
    access_log: Option<Writing>,
    pub(crate) metrics: Option<Arc<Metrics>>,
}

impl Watch {
    pub(crate) fn begin(&self) -> Result<Watching, Failure> {
        let mut watching = Watching::default();
        if let Some(path) = &self.access_log {
            let (log, writing) = self.log(path)?;
            watching.observers.add(log);
            watching.access_log = Some(writing);
        }
        if let Some(listen) = self.metrics {
            let metrics = Arc::new(Metrics::new());
            let address = metrics_page::start(listen, Arc::clone(&metrics))?;
            eprintln!("metrics at http://{address}/metrics");
            watching.observers.add(Arc::clone(&metrics) as Arc<dyn Observer>);
            watching.metrics = Some(metrics);
        }
        Ok(watching)
    }

    fn log(&self, path: &Path) -> Result<(Arc<dyn Observer>, Writing), Failure> {
        if path != Path::new("-") {
            values::writable(path, "--access-log")?;
        }
        let started = AccessLog::start(path, self.access_log_format, |line| eprintln!("{line}"));
        let (log, writing) = started.map_err(|error| {
            Failure::BadInput(format!("--access-log: {}: {error}", path.display()))
        })?;
        Ok((Arc::new(log), writing))
    }
}

impl Watching {
    /// Opens the access log again.
    pub(crate) fn reopener(&self) -> Option<Reopen> {
        self.access_log.as_ref().map(Writing::reopener)
    }

    /// Waits until everything is written. Call it after dropping the server.
    pub(crate) fn finish(self) {
        drop(self.observers);
        let is_written = self.access_log.is_none_or(|it| it.finish(LOG_PATIENCE));
        if !is_written {
            eprintln!(
                "the access log cannot be finished: its last lines are missing, because nothing reads them"
            );
        }
    }
}
