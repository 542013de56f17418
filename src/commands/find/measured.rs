//! Measures the send order of a URL's server.

use super::super::probe::target;
use super::inputs::Browser;
use crate::{output, values};
use ::client::Verify;
use ::serve::Failure;
use lab::finder::BaselineServer;
use lab::probe::{BODY_BYTES_MIN, Effort, ProbeError, choose, judge, run_all};
use std::time::Duration;
use url::Position;

const REMEDY: &str = "name what runs with --baseline-server in place of --measure";

/// The model whose send order matches the URL's server.
pub(super) fn server(
    inputs: &[String],
    browser: &Browser,
) -> Result<&'static BaselineServer, Failure> {
    let [url] = inputs else {
        return Err(Failure::BadInput(format!("--measure takes one URL; {REMEDY}")));
    };
    let read = values::server_url(url);
    let url =
        read.map_err(|error| Failure::BadInput(format!("--measure: {error}, or {REMEDY}")))?;
    let verify = browser.ca.clone().map_or(Verify::System, Verify::Authorities);
    let mut target = target(&url, None, verify, Duration::from_secs(60))?;
    let refused = |error: ProbeError| {
        Failure::Elsewhere(format!(
            "{url}: cannot be requested over HTTP/3 (UDP), which --measure needs: {error}; {REMEDY}"
        ))
    };
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let choice = choose(&target, path, true).map_err(refused)?;
    if choice.body_bytes < BODY_BYTES_MIN {
        return Err(Failure::Elsewhere(format!(
            "{url}: its largest response, {}, has {} bytes, too few to see an order; {REMEDY}",
            choice.path, choice.body_bytes
        )));
    }
    (target.body_bytes, target.rtt) = (choice.body_bytes, choice.rtt);
    target.paths.push(choice.path);
    let runs = run_all(&target, Effort::default(), |_| ()).map_err(refused)?;
    let finding = judge(&runs);
    let server = BaselineServer::of_probe(&finding, &runs).ok_or_else(|| {
        Failure::Elsewhere(format!(
            "{url}: its order could not be measured: {}; {REMEDY}",
            finding.why
        ))
    })?;
    output::note(&format!("measured: {url} is {} ({})", server.model, finding.why));
    Ok(server)
}
