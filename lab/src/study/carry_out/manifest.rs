//! A study's `manifest.json`: everything needed to repeat the study.

mod differences;

pub(crate) use differences::{FREE, OF_SUMMARIES, difference, has_more_rounds, set_by};

use crate::ideal::SendBufferModel;
use crate::network::Network;
use crate::study::plan::engine::Engine;
use crate::study::{
    BASELINE, Plan, Round, Setting, Settings, Shard, Stopping, StudyError, Weights, page_sha256,
};
use crate::{Contender, DeliveryOrder, FileError, Metadata, write_file};
use client::profile::Profile;
use corpus::Page;
use qlog_tools::metrics;
use schedulers::{Catalogue, Scheme};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the manifest in a study's folder.
pub const FILE: &str = "manifest.json";

/// The format, which is the file's first key. Old manifests do not have it.
const FORMAT: &str = "utmost-manifest/1";

/// The folder beside it with the pages that are not bundled.
const PAGES: &str = "pages";

/// The folder beside it with the files of schemes that are not built in.
const SCHEMES: &str = "schemes";

/// The keys of a plan in the manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Recorded {
    engine: &'static dyn Engine,
    /// The browser of engine `browser`, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    browser: Option<String>,
    /// The browser whose delayed requests the playback imitates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    networks: Vec<Value>,
    pages: Vec<RecordedPage>,
    schemes: Vec<RecordedScheme>,
    /// Schemes that were omitted because they place streams as others do.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, String>,
    #[serde(flatten)]
    settings: Settings,
    send_buffer_model: SendBufferModel,
    metadata: Metadata,
    delivery_order: DeliveryOrder,
    seeds: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopping: Option<Stopping>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rounds: Vec<Round>,
    shard: Option<String>,
    /// By network, in order; empty without a transport.
    initial_window_packets: Vec<usize>,
    client_receive_bytes: Option<Value>,
    /// The metric of speedups. Old manifests do not have it.
    #[serde(default)]
    metric: Option<String>,
    /// The baseline of speedups. Old manifests do not have it.
    #[serde(default = "old_baseline")]
    baseline: String,
    /// How pages count in means.
    #[serde(default, skip_serializing_if = "Weights::are_equal")]
    weights: Weights,
}

fn old_baseline() -> String {
    BASELINE.to_owned()
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RecordedPage {
    name: String,
    sha256: String,
    /// The site or template to which it belongs, the unit of tests. Old manifests do not have it.
    #[serde(default)]
    site: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RecordedScheme {
    name: String,
    revision: u32,
    /// The hash of its file; `None` if it is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// The manifest: the plan, and `program`, which describes the program.
pub fn provenance(plan: &Plan, mut program: Value) -> Value {
    let recorded = serde_json::to_value(recorded(plan)).unwrap_or_default();
    if let (Some(program), Value::Object(recorded)) = (program.as_object_mut(), recorded) {
        program.extend(recorded);
    }
    program
}

fn recorded(plan: &Plan) -> Recorded {
    let transport = plan.engine.has_transport();
    let scheme = plan.schemes.iter().find_map(Contender::scheme).filter(|_| transport);
    let mut initial_window_packets = Vec::new();
    for network in &plan.settings.networks {
        let options = scheme.map(|it| plan.options(it, network, &Setting::default()));
        initial_window_packets.extend(options.map(|it| it.initial_window_packets));
    }
    let client = client::ClientConfig::default();
    let receive =
        json!({"connection": client.receive_bytes, "stream": client.stream_receive_bytes});
    let pages = plan.pages.iter().map(|page| RecordedPage {
        name: page.name.clone(),
        sha256: page_sha256(page),
        site: page.site().to_owned(),
    });
    let schemes = plan.schemes.iter().map(|scheme| RecordedScheme {
        name: scheme.name().to_owned(),
        revision: scheme.revision(),
        sha256: text_of(scheme).map(|text| corpus::sha256_hex(text.as_bytes())),
    });
    Recorded {
        engine: plan.engine,
        browser: plan.browser_description(),
        profile: plan.profile.as_ref().map(|it| it.name.clone()),
        networks: plan.settings.networks.iter().map(|it| json!(it)).collect(),
        pages: pages.collect(),
        schemes: schemes.collect(),
        left_out: plan.left_out.clone(),
        settings: plan.settings.clone(),
        send_buffer_model: plan.send_buffer_model,
        metadata: plan.metadata,
        delivery_order: plan.delivery_order,
        seeds: plan.seeds.clone(),
        stopping: plan.stopping.clone(),
        rounds: plan.rounds.clone(),
        shard: plan.shard.map(|it| it.to_string()),
        initial_window_packets,
        client_receive_bytes: transport.then_some(receive),
        metric: Some(plan.metric.name.to_owned()),
        baseline: plan.baseline.clone(),
        weights: plan.weights,
    }
}

/// Writes the output of [`provenance`], after the format.
pub(crate) fn write(provenance: &Value, folder: &Path) -> Result<(), FileError> {
    write_json(&folder.join(FILE), &Formatted { format: FORMAT, provenance })
}

pub(crate) fn write_json(path: &Path, document: &impl Serialize) -> Result<(), FileError> {
    let text = serde_json::to_vec_pretty(document).map_err(io::Error::from);
    write_file(path, text.map_err(FileError::at(path))?)
}

#[derive(Serialize)]
struct Formatted<'a> {
    format: &'static str,
    #[serde(flatten)]
    provenance: &'a Value,
}

/// The contents of a manifest, without its format.
pub(crate) fn read(path: &Path) -> Result<Value, StudyError> {
    let text = named_files::read_text(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => unusable(path, format!("there is no such file: {EXPECTED}")),
        _ => unusable(path, format!("{error}: {EXPECTED}")),
    })?;
    let mut manifest: Value = serde_json::from_str(&text).map_err(|error| {
        let what = if error.is_eof() { "ends too early" } else { "is not JSON" };
        let (line, column) = (error.line(), error.column());
        unusable(path, format!("{what}, in line {line}, column {column}: {EXPECTED}"))
    })?;
    // The other keys keep their order.
    let format = manifest.as_object_mut().and_then(|it| it.shift_remove("format"));
    match format {
        Some(other) if other != FORMAT => {
            Err(unusable(path, format!("has the format {other}, not \"{FORMAT}\": {EXPECTED}")))
        }
        _ => Ok(manifest),
    }
}

/// The error for a file that is not a manifest.
const EXPECTED: &str = "a study's manifest is needed, the file manifest.json that `utmost compare --out` writes; copy it again, or run the study again";

fn text_of(contender: &Contender) -> Option<&str> {
    contender.scheme()?.text.as_deref()
}

/// Copies the pages of `plan` that are not bundled, and its schemes that are not built in, to the folder of its
/// manifest.
pub(crate) fn keep_inputs(plan: &Plan, folder: &Path) -> std::io::Result<()> {
    for page in &plan.pages {
        if corpus::bundled(&page.name) == Some(page.as_ref()) {
            continue;
        }
        std::fs::create_dir_all(folder.join(PAGES))?;
        std::fs::write(page_file(folder, &page.name), page.to_text())?;
    }
    for scheme in plan.schemes.iter().filter_map(Contender::scheme) {
        if let Some(text) = &scheme.text {
            std::fs::create_dir_all(folder.join(SCHEMES))?;
            std::fs::write(scheme_file(folder, scheme.base_name()), text.as_bytes())?;
        }
    }
    Ok(())
}

fn scheme_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(SCHEMES).join(format!("{}.toml", crate::file_name(name)))
}

fn page_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(PAGES).join(format!("{}.json", crate::file_name(name)))
}

/// The manifest that an argument names: a file, or the folder of a study.
pub fn file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE) } else { path.to_owned() }
}

/// The program that made the manifest in `path`, if it differs from `program`.
pub fn other_program(path: &Path, program: &Value) -> Option<String> {
    let manifest = read(path).ok()?;
    let [theirs, ours] = [&manifest, program].map(|provenance| {
        let keys = ["utmost", "git_commit", "quiche", "boring"];
        keys.map(|key| provenance[key].as_str().unwrap_or("unknown").to_owned())
    });
    (theirs != ours).then(|| {
        let [version, commit, quiche, boring] = theirs;
        format!("utmost {version} of commit {commit}, with quiche {quiche} and boring {boring}")
    })
}

/// The description of the browser in the manifest at `path`; `None` if it has none.
pub fn browser(path: &Path) -> Option<String> {
    read(path).ok()?["browser"].as_str().map(str::to_owned)
}

/// The plan in the manifest at `path`: one load at a time, without qlogs. It has no browser ([`browser`]).
pub fn plan(path: &Path) -> Result<Plan, StudyError> {
    let recorded: Recorded = serde_json::from_value(read(path)?)
        .map_err(|error| unusable(path, format!("not a study's manifest: {error}; {EXPECTED}")))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    planned(&recorded, folder).map_err(|cause| unusable(path, cause))
}

fn planned(recorded: &Recorded, folder: &Path) -> Result<Plan, String> {
    let pages = recorded.pages.iter().map(|it| page(it, folder)).collect::<Result<_, _>>()?;
    let schemes = recorded.schemes.iter().map(|it| contender(it, folder));
    let schemes = schemes.collect::<Result<_, _>>()?;
    let networks: Vec<Network> = recorded.networks.iter().map(network).collect::<Result<_, _>>()?;
    let first = networks.first().cloned().filter(|_| !recorded.seeds.is_empty());
    let first = first.ok_or("no network or no seed")?;
    let shard = recorded.shard.as_deref().map(Shard::parse).transpose()?;
    let profile = recorded.profile.as_deref().map(Profile::find).transpose();
    let profile = profile.map_err(|it| it.to_string())?;
    let metric = recorded.metric.as_deref().map_or(Some(metrics::byte_index()), metrics::find);
    let metric = metric.ok_or("its metric is unknown")?;
    let mut plan = Plan {
        settings: Settings { networks, ..recorded.settings.clone() },
        send_buffer_model: recorded.send_buffer_model,
        metadata: recorded.metadata,
        delivery_order: recorded.delivery_order,
        seeds: recorded.seeds.clone(),
        stopping: recorded.stopping.clone(),
        rounds: recorded.rounds.clone(),
        shard,
        metric,
        baseline: recorded.baseline.clone(),
        left_out: recorded.left_out.clone(),
        weights: recorded.weights,
        profile,
        ..Plan::new(pages, schemes, recorded.engine, first)
    };
    // If the recorded window differs from the default, it was a choice.
    if self::recorded(&plan).initial_window_packets != recorded.initial_window_packets {
        plan.initial_window_packets = recorded.initial_window_packets.first().copied();
    }
    Ok(plan)
}

/// The file is not a study's manifest, or a file that it names is missing.
pub(crate) fn unusable(path: &Path, cause: impl Display) -> StudyError {
    StudyError::Impossible(format!("{}: {cause}", path.display()))
}

fn page(recorded: &RecordedPage, folder: &Path) -> Result<Arc<Page>, String> {
    let file = page_file(folder, &recorded.name);
    let page = if file.exists() {
        corpus::page(&file.display().to_string()).map_err(|error| error.to_string())?
    } else {
        corpus::bundled(&recorded.name).cloned().ok_or_else(|| {
            format!(
                "page `{}` is neither bundled nor in {}; put it there",
                recorded.name,
                file.display()
            )
        })?
    };
    if page_sha256(&page) == recorded.sha256 {
        return Ok(Arc::new(page));
    }
    Err(format!("page `{}` has changed: its SHA-256 differs", recorded.name))
}

fn contender(recorded: &RecordedScheme, folder: &Path) -> Result<Contender, String> {
    let RecordedScheme { name, revision, sha256 } = recorded;
    let own = sha256.as_ref().map(|hash| own_scheme(name, hash, folder)).transpose()?;
    let catalogue = Catalogue::with(own.into_iter().collect());
    let found = Contender::find_in(&catalogue, name).map_err(|error| error.to_string())?;
    if found.revision() == *revision {
        return Ok(found);
    }
    let now = found.revision();
    Err(format!(
        "scheme `{name}` has revision {now} now, the study revision {revision}; use the version of utmost that it names"
    ))
}

/// A scheme from the file that the study kept.
fn own_scheme(name: &str, sha256: &str, folder: &Path) -> Result<Scheme, String> {
    let base = name.split(['@', ':']).next().unwrap_or_default();
    let file = scheme_file(folder, base);
    if !file.exists() {
        let file = file.display();
        return Err(format!("the file of scheme `{base}` is not in {file}; put it there"));
    }
    let read = scheme_files::read(&file, scheme_files::to_stderr()).map_err(|it| it.to_string())?;
    let text = read.scheme.text.as_deref().unwrap_or_default();
    if corpus::sha256_hex(text.as_bytes()) == sha256 {
        return Ok(read.scheme);
    }
    Err(format!("scheme `{base}` has changed: the SHA-256 of {} differs", file.display()))
}

fn network(recorded: &Value) -> Result<Network, String> {
    let name = recorded["name"].as_str().unwrap_or_default();
    let found = Network::find(name).map_err(|error| error.to_string())?;
    if &json!(found) == recorded {
        return Ok(found);
    }
    Err(format!("network `{name}` has changed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::carry_out::engines;
    use server::CongestionControl;

    #[test]
    fn a_manifest_brings_its_plan_back_and_names_a_page_that_is_not_what_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.name = "mine".to_owned();
        let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("known")).to_vec();
        let cable = Network::find("cable").expect("built in");
        let plan = Plan {
            seeds: vec![0, 1],
            initial_window_packets: Some(32),
            settings: Settings {
                congestion_controls: vec![CongestionControl::Reno],
                ..Settings::on(cable.clone(), engines::STACK)
            },
            shard: Some(Shard { place: 1, count: 2 }),
            ..Plan::new(vec![Arc::new(page)], schemes, engines::STACK, cable)
        };
        let said = provenance(&plan, json!({"utmost": "0"}));
        let path = folder.path().join(FILE);
        std::fs::write(&path, said.to_string()).expect("written");
        keep_inputs(&plan, folder.path()).expect("written");
        let back = super::plan(&path).expect("a plan");
        assert_eq!(provenance(&back, json!({"utmost": "0"})), said);
        assert_eq!(back.initial_window_packets, Some(32));
        write(&said, folder.path()).expect("written");
        assert_eq!(provenance(&super::plan(&path).expect("a plan"), json!({"utmost": "0"})), said);

        let kept = folder.path().join("pages/mine.json");
        let text = std::fs::read_to_string(&kept).expect("a page");
        std::fs::write(&kept, text.replace("1366", "1367")).expect("written");
        let message = super::plan(&path).expect_err("changed").to_string();
        assert!(message.contains("page `mine` has changed: its SHA-256 differs"), "{message}");
    }

    #[test]
    fn a_manifest_names_its_format_and_one_of_another_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        let said = json!({"seeds": [0], "jobs": 1, "engine": "ideal"});
        write(&said, folder.path()).expect("written");
        let text = std::fs::read_to_string(&path).expect("a manifest");
        assert!(text.starts_with("{\n  \"format\": \"utmost-manifest/1\",\n"), "{text}");
        assert_eq!(read(&path).expect("a manifest").to_string(), said.to_string());
        std::fs::write(&path, text.replace("/1", "/2")).expect("written");
        let message = read(&path).expect_err("another").to_string();
        let expected = "manifest.json: has the format \"utmost-manifest/2\", not \"utmost-manifest/1\": a study's";
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn a_manifest_keeps_the_file_of_a_scheme_and_names_one_that_is_not_what_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let text =
            "[scheme]\nname = \"mine\"\nabout = \"mine\"\n[[place]]\nshare = \"sequential\"\n";
        let report = scheme_files::to_stderr();
        let own = scheme_files::parse(text, "mine.toml", report).expect("a scheme").scheme;
        let catalogue = Catalogue::with(vec![own]);
        let schemes = ["rr", "mine", "mine@guard:3"];
        let schemes = schemes.map(|it| Contender::find_in(&catalogue, it).expect("known")).to_vec();
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let paper = Network::find("paper").expect("built in");
        let plan = Plan::new(vec![page], schemes, engines::IDEAL, paper);
        let said = provenance(&plan, json!({"utmost": "0"}));
        assert_eq!(said["schemes"][0], json!({"name": "rr", "revision": 1}));
        assert_eq!(said["schemes"][2]["name"], "mine@guard:3");
        let path = folder.path().join(FILE);
        std::fs::write(&path, said.to_string()).expect("written");
        keep_inputs(&plan, folder.path()).expect("written");
        let back = super::plan(&path).expect("a plan");
        assert_eq!(provenance(&back, json!({"utmost": "0"})), said);

        let kept = folder.path().join("schemes/mine.toml");
        std::fs::write(&kept, text.replace("sequential", "shared")).expect("written");
        let message = super::plan(&path).expect_err("changed").to_string();
        assert!(message.contains("scheme `mine` has changed: the SHA-256 of "), "{message}");
        std::fs::remove_file(&kept).expect("removed");
        let message = super::plan(&path).expect_err("gone").to_string();
        assert!(message.contains("mine.toml; put it there"), "{message}");
    }

    #[test]
    fn a_manifest_of_old_names_one_congestion_control_or_none() {
        let old = |engine: &str, control: Value| {
            let mut manifest = json!({
                "engine": engine, "networks": [Network::find("cable").expect("built in")],
                "pages": [], "schemes": [], "send_buffers_bytes": [0], "send_buffer_model": "fifo",
                "metadata": "full", "delivery_order": "stream", "seeds": [0],
                "initial_window_packets": []
            });
            manifest["congestion_control"] = control;
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), manifest.to_string()).expect("written");
            super::plan(file.path()).expect("a plan").settings.congestion_controls
        };
        assert_eq!(old("stack", json!("reno")), [CongestionControl::Reno]);
        assert_eq!(old("ideal", Value::Null), []);
    }
}
