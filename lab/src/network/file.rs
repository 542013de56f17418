//! A network file.

use super::{Network, NetworkError};
use serde::Deserialize;
use simulator::link::{Blackhole, EcnMark, Jitter, Loss, Profile, Queue, Rate, Reorder, Trace};
use std::path::Path;
use std::sync::Arc;

/// The keys of a file, and of `[down]` and `[up]` in it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    about: Option<String>,
    server_pace: Option<bool>,
    rate: Option<RateKey>,
    delay_ms: Option<f64>,
    queue: Option<Queue>,
    loss: Option<Loss>,
    jitter: Option<Jitter>,
    reorder: Option<Reorder>,
    duplicate: Option<f64>,
    corrupt: Option<f64>,
    blackhole: Option<Blackhole>,
    ecn: Option<EcnMark>,
    drops: Option<Vec<u64>>,
    down: Option<Box<Keys>>,
    up: Option<Box<Keys>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "rate: bits a second, or the name of a mahimahi trace in quotes")]
enum RateKey {
    Constant(f64),
    Trace(String),
}

/// Parses the file `name`; a trace is expected beside it.
pub(super) fn parse(name: &str, text: &str) -> Result<Network, NetworkError> {
    network(name, text).map_err(|cause| NetworkError::Wrong(format!("{name}: {cause}")))
}

fn network(name: &str, text: &str) -> Result<Network, String> {
    let mut keys: Keys = toml::from_str(text)
        .map_err(|error| format!("line {}: {}", gateway::line_of(&error, text), error.message()))?;
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let [down, up] = [keys.down.take(), keys.up.take()].map(Option::unwrap_or_default);
    Ok(Network {
        name: name.to_owned(),
        server_pace: keys.server_pace.unwrap_or(false),
        down: profile("down", &down, &keys, folder)?,
        up: profile("up", &up, &keys, folder)?,
    })
}

/// A direction: its own keys, and otherwise the keys for both directions.
fn profile(direction: &str, own: &Keys, both: &Keys, folder: &Path) -> Result<Profile, String> {
    let belong_above = own.about.is_some() || own.server_pace.is_some();
    if belong_above || own.down.is_some() || own.up.is_some() {
        return Err(format!(
            "[{direction}] contains `about`, `server_pace`, `down` or `up`: these belong above it"
        ));
    }
    let rate = own.rate.as_ref().or(both.rate.as_ref());
    let rate = rate.ok_or_else(|| format!("{direction}: no `rate`"))?;
    let queue = own.queue.or(both.queue).ok_or_else(|| {
        format!("{direction}: no `queue`: \"unlimited\", {{ bytes = N }} or {{ packets = N }}")
    })?;
    let profile = Profile {
        rate: match rate {
            RateKey::Constant(rate) => Rate::Constant(*rate),
            RateKey::Trace(file) => Rate::Trace(Arc::new(read_trace(&folder.join(file))?)),
        },
        delay_ms: own.delay_ms.or(both.delay_ms).unwrap_or(0.0),
        queue,
        loss: own.loss.or(both.loss),
        jitter: own.jitter.or(both.jitter),
        reorder: own.reorder.or(both.reorder),
        duplicate: own.duplicate.or(both.duplicate).unwrap_or(0.0),
        corrupt: own.corrupt.or(both.corrupt).unwrap_or(0.0),
        blackhole: own.blackhole.clone().or_else(|| both.blackhole.clone()),
        ecn: own.ecn.or(both.ecn),
        drops: own.drops.clone().or_else(|| both.drops.clone()).unwrap_or_default(),
    };
    profile.check().map_err(|error| format!("{direction}: {error}"))?;
    Ok(profile)
}

fn read_trace(path: &Path) -> Result<Trace, String> {
    let text = named_files::read_text(path)
        .map_err(|error| format!("rate: {}: {error}", path.display()))?;
    Trace::parse(&text).map_err(|error| format!("rate: {}: {error}", path.display()))
}
