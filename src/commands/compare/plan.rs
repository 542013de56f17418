//! From flags to a plan.

use super::{Arguments, Asked};
use crate::commands::browser::Which;
use crate::{output, values};
use ::corpus::{Page, Query};
use ::serve::Failure;
use lab::study::{BASELINE, Engine, Plan, Settings, Stopping, engines, manifest};
use lab::{Contender, Metadata};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Defaults {
    pages: &'static str,
    engine: &'static dyn Engine,
    networks: &'static [&'static str],
    baseline: &'static str,
    /// Loads of each page where chance decides.
    seeds: u64,
}

/// The default study: the networks that visitors have, and a server's default behaviour.
const TODAY: Defaults = Defaults {
    pages: "@web",
    engine: engines::STACK,
    networks: &["cable", "3g"],
    baseline: "rfc9218",
    seeds: 9,
};

/// The most seeds of a study whose width of intervals decides on them.
const SEEDS_MAX: u64 = 64;

const PAPER: Defaults = Defaults {
    pages: "@first-60",
    engine: engines::IDEAL,
    networks: &["paper"],
    baseline: BASELINE,
    seeds: 1,
};

fn defaults(arguments: &Arguments) -> &'static Defaults {
    if arguments.asked.paper { &PAPER } else { &TODAY }
}

pub(super) fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let plan = match &arguments.from {
        Some(path) => of_manifest(&manifest::file(path))?,
        None => asked_for(arguments)?,
    };
    let default_jobs = plan.engine.jobs(&plan, values::cores());
    let mut plan = Plan {
        jobs: arguments.jobs.map_or(default_jobs, NonZeroUsize::get),
        qlog_dir: arguments
            .out
            .as_ref()
            .filter(|_| arguments.keep_qlogs)
            .map(|it| it.join("qlogs")),
        unfinished_dir: Some(unfinished_dir(arguments)),
        metric: arguments.metric.unwrap_or(plan.metric),
        baseline: arguments.baseline.clone().unwrap_or(plan.baseline),
        weights: arguments.weights.unwrap_or(plan.weights),
        browser: plan.engine.has_browser().then(|| which(arguments)?.installed()).transpose()?,
        ..plan
    };
    if arguments.asked.which.imitate && !plan.engine.has_browser() {
        let engine = plan.engine.name();
        return Err(Failure::BadInput(format!(
            "--imitate: engine {engine} loads no files that could be imitated; leave it out, or use --engine browser"
        )));
    }
    super::policy::prepare(arguments, &mut plan)?;
    if arguments.from.is_none() {
        let own = [&*plan.baseline, &*arguments.policy_default].map(str::to_owned);
        let listed =
            arguments.asked.schemes.as_deref().unwrap_or_default().split(',').map(str::trim);
        let named: BTreeSet<String> = listed.map(str::to_owned).chain(own).collect();
        if named.contains("all") {
            plan.leave_out_twins(|it| named.contains(it));
        }
    }
    plan.check().map_err(super::failure)?;
    Ok(plan)
}

/// Prints a note about flags that have no effect: where nothing is random, and on engine `ideal`.
pub(super) fn note_what_changes_nothing(arguments: &Arguments, plan: &Plan) {
    if arguments.asked.width.is_some() && plan.stopping.is_none() {
        output::note(
            "note: --width: nothing is random on engine ideal without jitter, so more seeds would give the same loads",
        );
    }
    if plan.engine.has_transport() {
        return;
    }
    let needless = [
        (
            arguments.keep_qlogs,
            "--keep-qlogs: engine ideal has no transport, so it writes no qlogs",
        ),
        (
            plan.seeds.len() > 1 && !plan.has_chance(),
            "--seeds: engine ideal gives the same load with each seed on a network without jitter",
        ),
        (
            arguments.asked.first_seed > 0 && !plan.has_chance(),
            "--first-seed: engine ideal gives the same load with each seed on a network without jitter",
        ),
    ];
    for (is_said, why) in needless {
        if is_said {
            output::note(&format!("note: {why}"));
        }
    }
}

fn of_manifest(file: &Path) -> Result<Plan, Failure> {
    let plan = manifest::plan(file).map_err(Failure::bad_input)?;
    if let Some(program) = manifest::other_program(file, &output::provenance()) {
        let file = file.display();
        eprintln!("note: {file} was made by {program}; results of this program can differ");
    }
    Ok(plan)
}

/// The browser that the flags name, or the one of the repeated study, with the same bodies.
fn which(arguments: &Arguments) -> Result<Which, Failure> {
    let Some(path) = &arguments.from else { return Ok(arguments.asked.which) };
    let file = manifest::file(path);
    let said = manifest::browser(&file).unwrap_or_default();
    Which::described(&said).ok_or_else(|| {
        let file = file.display();
        Failure::BadInput(format!(
            "{file}: `browser` does not describe a browser that this program drives: {said:?}; use the version of utmost that wrote it"
        ))
    })
}

fn unfinished_dir(arguments: &Arguments) -> PathBuf {
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("utmost-{}", std::process::id())));
    folder.join("unfinished")
}

fn asked_for(arguments: &Arguments) -> Result<Plan, Failure> {
    let asked = &arguments.asked;
    let defaults = defaults(arguments);
    let engine = asked.engine.unwrap_or(defaults.engine);
    let named = defaults.networks.iter().map(|it| (*it).to_owned());
    let named = if asked.network.is_empty() { named.collect() } else { asked.network.clone() };
    let networks = values::networks(&named)?;
    let first = networks
        .first()
        .cloned()
        .ok_or_else(|| Failure::BadInput("--network: name at least one network".to_owned()))?;
    let mut settings = Settings { networks, ..Settings::on(first.clone(), engine) };
    asked.dimensions.set_in(&mut settings).map_err(Failure::BadInput)?;
    settings.sweep(&asked.set).map_err(Failure::BadInput)?;
    let plan = Plan {
        settings,
        send_buffer_model: asked.send_buffer_model,
        metadata: metadata(arguments)?,
        delivery_order: asked.delivery_order,
        baseline: arguments.baseline.as_deref().unwrap_or(defaults.baseline).to_owned(),
        initial_window_packets: asked.initial_window.map(|it| it as usize),
        shard: asked.shard,
        ..Plan::new(
            pages(&asked.page_names, asked.pages.as_ref(), defaults)?,
            schemes(arguments)?,
            engine,
            first,
        )
    };
    Ok(seeded(plan, asked, defaults))
}

/// The plan with its seeds, or with the rule that decides on them.
fn seeded(plan: Plan, asked: &Asked, defaults: &Defaults) -> Plan {
    let has_chance = plan.has_chance();
    let rule = asked.width.filter(|_| has_chance).map(|width_percent| Stopping {
        width_percent,
        seeds_max: usize::try_from(asked.seeds.unwrap_or(SEEDS_MAX)).unwrap_or(usize::MAX),
    });
    let default = if has_chance && plan.engine.repeats() { defaults.seeds } else { 1 };
    let loads = asked.seeds.filter(|_| asked.width.is_none()).unwrap_or(default);
    let plan = Plan { seeds: (asked.first_seed..asked.first_seed + loads).collect(), ..plan };
    match rule {
        Some(rule) => plan.stopped_by(rule),
        None => plan,
    }
}

/// The facts that the server knows. A server that obeys signals does not use them.
fn metadata(arguments: &Arguments) -> Result<Metadata, Failure> {
    match arguments.asked.metadata {
        Some(_) if arguments.asked.dimensions.has("signals", "obey") => Err(Failure::BadInput(
            "--signals obey: the server places by signals alone, so --metadata changes nothing; leave it out, or use \
             --signals ignore or override"
                .to_owned(),
        )),
        metadata => Ok(metadata.unwrap_or_default()),
    }
}

/// The pages that the query selects; without named pages, from all bundled ones.
fn pages(
    names: &[String],
    query: Option<&Query>,
    defaults: &Defaults,
) -> Result<Vec<Arc<Page>>, Failure> {
    let default = [query.map_or(defaults.pages, |_| "@all").to_owned()];
    let names = if names.is_empty() { &default } else { names };
    let mut pages = values::each_page(names, values::pages)?;
    pages.retain(|page| query.is_none_or(|it| it.matches(page)));
    if pages.is_empty() { Err(values::no_page()) } else { Ok(pages) }
}

/// The requested schemes, after the baseline and a policy's default. `all` leaves out schemes that know too little, or
/// more than a policy's server.
fn schemes(arguments: &Arguments) -> Result<Vec<Contender>, Failure> {
    let catalogue = arguments.asked.own.catalogue(&[])?;
    let own = values::own_names(&catalogue);
    let names = match &arguments.asked.schemes {
        Some(list) => list.clone(),
        None if own.is_empty() => "paper".to_owned(),
        None => format!("paper,{own}"),
    };
    let mut asked = values::contenders("--schemes", &names, &catalogue)?;
    if arguments.asked.metadata != Some(Metadata::Full) || arguments.policy.is_some() {
        let named: Vec<&str> = names.split(',').map(str::trim).collect();
        asked.retain(|it| !it.looks_ahead() || named.contains(&it.name()));
    }
    let mut all = Vec::new();
    let default = arguments.policy.as_ref().map(|_| arguments.policy_default.as_str());
    let baseline = arguments.baseline.as_deref().unwrap_or(defaults(arguments).baseline);
    for (flag, name) in [("--baseline", Some(baseline)), ("--policy-default", default)] {
        let missing = name.filter(|name| !asked.iter().any(|it| it.name() == *name));
        if let Some(name) = missing {
            let found = Contender::find_in(&catalogue, name)
                .map_err(|error| Failure::BadInput(format!("{flag} needs one scheme: {error}")))?;
            all.push(found);
        }
    }
    all.extend(asked);
    values::note_unused(&catalogue, "--schemes", all.iter().map(Contender::name));
    Ok(all)
}
