//! `utmost play`: page loads over one connection.

mod cancels;
mod own_server;
mod pages;
mod push_log;
mod session;

use crate::limits::{PROBLEMS_MAX, VISITS_MAX};
use crate::output::number;
use crate::values::Spare;
use crate::{output, values};
use ::client::event_loop::play;
use ::client::profile::Profile;
use ::client::{ClientConfig, HttpVersion, Migrating, Options, Outcome, Says, Verify};
use ::corpus::Page;
use ::serve::Failure;
use lab::study::{FORMAT, RunRecord, Setting, Study, engines};
use lab::{DeliveryOrder, Navigation};
use migration::{History, Visit};
use qlog_tools::metrics::{METRICS, byte_index};
use qlog_tools::reader::read_file;
use qlog_tools::short_texts::shown;
use schedulers::{Scheme, find_page_scheme, find_scheme};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Load a page once, and show when each resource arrived
///
/// Loads several pages one after another on the same connection, with one HTTP cache and one set of cookies. Without --server, a server in
/// this process sends the page in the order of --scheme (default: `rr`).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost play gentelella-index --scheme bucket-html\n  \
utmost play page.json --server 127.0.0.1:4433 --insecure --qlog logs --json\n  \
utmost play davies-meenan --scheme dfifo --delivery-order connection\n  \
utmost play davies-meenan --engine stack --network 3g --leave-after 800\n  \
utmost play agency-index creative-home --think 2000 --engine stack --network 3g\n  \
utmost play page.json --server 127.0.0.1:4433 --insecure --push-log --visits 2\n  \
utmost play page.json --server 127.0.0.1:4433 --insecure --session session.json\n  \
utmost play page.json --server 127.0.0.1:4433 --insecure --migrate idle")]
#[expect(clippy::struct_excessive_bools, reason = "flags, independent of each other")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pages: pages::Pages,
    /// The server to load from
    #[arg(long, value_name = "ADDR:PORT", value_parser = values::server_address)]
    server: Option<SocketAddr>,
    #[command(flatten)]
    trust: values::Trust,
    /// The version of HTTP. The page, its causes and its metrics do not depend on it
    #[arg(long, value_name = "VERSION", value_parser = values::choice(values::HTTP_VERSIONS), default_value = "3")]
    http: HttpVersion,
    #[command(flatten)]
    own: own_server::OwnServer,
    #[command(flatten)]
    cancels: cancels::GivingUp,
    /// The scheme that decides the client's signals. With --server, clients must be able to signal it (see `utmost schemes`)
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// Signal the priorities of this browser. One of chromium-156, chrome-2023, firefox-2023, firefox-132, firefox-153, safari-2023
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Describe each resource in its request, so that any scheme of the server can place it
    #[arg(long, hide_short_help = true, requires = "server")]
    metadata: bool,
    /// The order in which the client hands over arrived bytes. `connection` uses the order of first sending, which is known only for a
    /// server in this process
    #[arg(long, hide_short_help = true, value_parser = values::choice(values::DELIVERY_ORDERS), default_value = "stream")]
    delivery_order: DeliveryOrder,
    /// Write the qlog into this directory
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
    /// Write the bodies below this directory
    #[arg(long, hide_short_help = true, value_name = "DIR", requires = "server")]
    bodies: Option<PathBuf>,
    /// Accept pushes, and list the pushed responses
    #[arg(long, requires = "server")]
    push_log: bool,
    /// Load the page N times. Each visit opens a new connection and keeps the cookies and HTTP cache of earlier visits
    #[arg(long, value_name = "N", requires = "server", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=VISITS_MAX))]
    visits: u32,
    /// Send a digest of the cache with the request for the document (`Cache-Digest`)
    #[arg(long, hide_short_help = true, requires = "server")]
    cache_digest: bool,
    /// Resume the session in this file, and store the new one. Requests leave in the first packet if the server accepts early data. Keep
    /// the file secret
    #[arg(long, value_name = "FILE", requires = "server")]
    session: Option<PathBuf>,
    /// Let responses move to another connection of this client
    #[arg(long, hide_short_help = true, value_name = "WHERE", requires = "server", value_parser = values::choice(values::MIGRATE))]
    migrate: Option<Spare>,
    /// Ask the server to move each response after this many bytes have arrived
    #[arg(long, hide_short_help = true, value_name = "SIZE", requires = "migrate", value_parser = corpus::size::parse)]
    migrate_after: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The most pushes that a server may have open. Chromium used to allow 100 streams.
const PUSHES: u64 = 100;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    check_server(arguments)?;
    check_http(arguments)?;
    let profile =
        arguments.profile.as_deref().map(Profile::find).transpose().map_err(Failure::bad_input)?;
    let pages = arguments.pages.read(profile.as_ref())?;
    let [page, then @ ..] = pages.as_slice() else {
        return Err(Failure::bad_input("no page"));
    };
    // Browsers signal in RFC 9218's terms.
    let scheme = arguments.scheme.as_deref().or(profile.as_ref().map(|_| "rfc9218"));
    let scheme = match arguments.server {
        Some(_) => scheme.map(|it| signalled(it, page)).transpose()?,
        None => scheme.map(find_scheme).transpose().map_err(values::no_scheme)?,
    };
    let scratch = tempfile::tempdir().map_err(Failure::elsewhere)?;
    let logs = arguments.qlog.clone().unwrap_or_else(|| scratch.path().to_owned());
    values::directory(&logs, "--qlog")?;
    arguments.bodies.iter().try_for_each(|it| values::directory(it, "--bodies"))?;
    arguments.session.iter().try_for_each(|it| values::writable(it, "--session"))?;
    let client = Options {
        http: arguments.http,
        scheme: scheme.clone(),
        hold_back: profile.and_then(|it| it.hold_back),
        pushes: if arguments.push_log { PUSHES } else { 0 },
        cancels: arguments.cancels.of(page, arguments.pages.are_several())?,
        then: arguments.pages.after_think_time(then),
        ..Options::default()
    };
    let own = arguments.server.is_none();
    let delivery_order = arguments.delivery_order;
    if !own && delivery_order == DeliveryOrder::Connection {
        let cause = "--delivery-order connection: the send order of another process is not known; leave out --server";
        return Err(Failure::BadInput(cause.to_owned()));
    }
    let visits = if let Some(server) = arguments.server {
        from_server(arguments, page, server, client, &logs)?
    } else {
        let fresh_s = arguments.pages.fresh_s();
        arguments.own.load(page, client, fresh_s, delivery_order, &logs)?
    };
    // The server in this process runs `rr` by default. Another server's order is known only if it announces it.
    let unsaid = scheme.map_or(if own { "rr" } else { "" }.to_owned(), |it| it.name);
    let setting = if own {
        arguments.own.setting()?
    } else {
        Setting { network: "loopback".to_owned(), ..Setting::default() }
    };
    let http = Some(arguments.http).filter(|it| it.is_over_tcp());
    let setting = Setting { http, ..setting };
    let engine = if own { arguments.own.engine() } else { engines::WIRE };
    let runs = visits.iter().map(|played| RunRecord {
        engine,
        setting: setting.clone(),
        ..run_of(played, &unsaid)
    });
    let runs = runs.collect();
    let problems: Vec<String> = visits.iter().flat_map(|it| it.problems.clone()).collect();
    show_all(arguments, visits, runs)?;
    told(&problems)
}

/// Rejects flags that apply only to another server. clap does not enforce `requires` where an argument conflicts with `--server`.
fn check_server(arguments: &Arguments) -> Result<(), Failure> {
    let given = [
        ("--metadata", arguments.metadata),
        ("--bodies", arguments.bodies.is_some()),
        ("--push-log", arguments.push_log),
        ("--visits", arguments.visits > 1),
        ("--cache-digest", arguments.cache_digest),
        ("--session", arguments.session.is_some()),
        ("--migrate", arguments.migrate.is_some()),
    ];
    let wrong = given.iter().find(|(_, is_given)| *is_given && arguments.server.is_none());
    wrong.map_or(Ok(()), |(flag, _)| {
        Err(Failure::bad_input(format!("{flag} needs --server; without it, use `utmost compare`")))
    })
}

/// Rejects flags that apply only to HTTP/3.
fn check_http(arguments: &Arguments) -> Result<(), Failure> {
    let given = [
        ("--push-log", arguments.push_log),
        ("--session", arguments.session.is_some()),
        ("--migrate", arguments.migrate.is_some()),
        ("--leave-after or --cancel", arguments.cancels.are_any()),
        ("--delivery-order connection", arguments.delivery_order == DeliveryOrder::Connection),
        ("--engine stack", arguments.own.engine() == engines::STACK),
    ];
    let wrong = given.iter().find(|it| it.1 && arguments.http.is_over_tcp());
    wrong.map_or(Ok(()), |(flag, _)| {
        let http = arguments.http;
        Err(Failure::BadInput(format!(
            "--http {http}: {flag} is for HTTP/3; leave it out, or use --http 3"
        )))
    })
}

/// A scheme that this client can signal.
fn signalled(name: &str, page: &Page) -> Result<Scheme, Failure> {
    let scheme = find_page_scheme(name).map_err(values::no_scheme)?.for_page(&page.graph());
    scheme.client_half().map_err(Failure::bad_input)?;
    Ok(scheme)
}

/// The record of a page load, in the form of a study's.
fn run_of(Played { navigation, .. }: &Played, unsaid: &str) -> RunRecord {
    let Navigation { page, load, outcome, .. } = navigation;
    RunRecord {
        page: page.name.clone(),
        scheme: outcome.announced.clone().unwrap_or_else(|| unsaid.to_owned()),
        ..RunRecord::of_load(page, load).with_outcome(outcome)
    }
}

fn show_all(
    arguments: &Arguments,
    visits: Vec<Played>,
    runs: Vec<RunRecord>,
) -> Result<(), Failure> {
    if arguments.json {
        let provenance = output::provenance();
        return output::json(&Study {
            format: FORMAT,
            provenance,
            metric: byte_index().name,
            runs,
            loads: visits.into_iter().map(|it| Some(it.navigation.load)).collect(),
            ..Study::default()
        });
    }
    for (played, run) in visits.iter().zip(&runs) {
        show_one(arguments, played, run)?;
    }
    Ok(())
}

fn show_one(arguments: &Arguments, played: &Played, run: &RunRecord) -> Result<(), Failure> {
    let Navigation { page, load, outcome, .. } = &played.navigation;
    let visit = (arguments.visits > 1).then(|| format!("visit {}", played.visit));
    let name = arguments.pages.are_several().then(|| format!("page {}", page.name));
    let title: Vec<String> = visit.into_iter().chain(name).collect();
    if !title.is_empty() {
        output::line(&title.join(", "))?;
    }
    if let Some(name) = &outcome.announced {
        output::line(&format!("the server sends in the order of {name}"))?;
    }
    if let Some(said) = session::said(outcome.early_data) {
        output::line(said)?;
    }
    if arguments.migrate.is_some() {
        output::line(&format!("{} bytes came on another connection", outcome.moved_bytes))?;
    }
    // A response without a body is complete without a first byte.
    let came = run.resources.iter().any(|it| it.first_byte_ms.or(it.complete_ms).is_some());
    if came && arguments.push_log {
        push_log::show(run, &load.timeline, outcome)?;
    } else if came {
        show(run, page.resources.len(), arguments.cancels.left())?;
    }
    if !run.reused.is_empty() {
        let (reused, all) = (run.reused.len(), page.resources.len());
        output::line(&format!(
            "not requested, because the client had them: {reused} of {all} resources"
        ))?;
    }
    if let Some(tail) = run.tail {
        output::line(&tail.to_string())?;
    }
    Ok(())
}

fn told(problems: &[String]) -> Result<(), Failure> {
    let Some((last, others)) = problems[..problems.len().min(PROBLEMS_MAX)].split_last() else {
        return Ok(());
    };
    for problem in others {
        eprintln!("utmost: {problem}");
    }
    let rest = problems.len().saturating_sub(PROBLEMS_MAX);
    let more = if rest > 0 { format!(" (and {rest} more)") } else { String::new() };
    Err(Failure::Elsewhere(format!("{last}{more}")))
}

struct Played {
    /// Counted from 1.
    visit: u32,
    navigation: Navigation,
    problems: Vec<String>,
}

fn from_server(
    arguments: &Arguments,
    page: &Arc<Page>,
    server: SocketAddr,
    client: Options,
    logs: &Path,
) -> Result<Vec<Played>, Failure> {
    let mut options = Options {
        transport: ClientConfig { verify: Verify::from(&arguments.trust), ..client.transport },
        keep_bodies: arguments.bodies.is_some(),
        says: if arguments.metadata { Says::Metadata } else { Says::Signals },
        cache_digest: arguments.cache_digest,
        ..client
    };
    let mut visits = Vec::new();
    let mut history = History::default();
    let host = server.to_string();
    for number in 1..=arguments.visits {
        options.migration = arguments.migrate.map(|spare| Migrating {
            keeps_spare: spare == Spare::Idle
                || (spare == Spare::Expected && history.expects(&host)),
            ask_after_bytes: arguments.migrate_after,
        });
        let name =
            if number == 1 { "client.sqlog".into() } else { format!("client-{number}.sqlog") };
        options.qlog_file = Some(logs.join(name));
        options.session = arguments.session.as_deref().map(session::load).transpose()?.flatten();
        let outcome = visit(arguments, page, server, &options)?;
        let log = options.qlog_file.as_deref().unwrap_or(logs);
        let timeline = read_file(log).map_err(Failure::elsewhere)?.timeline;
        let moved = if outcome.moved_bytes > 0 { Visit::Migrated } else { Visit::Stayed };
        history.visited(&host, moved);
        (options.cookies, options.cache) = (outcome.cookies.clone(), outcome.cache.clone());
        for mut navigation in Navigation::all(page, &options.then, &timeline, outcome) {
            // Prints differences from the page; they do not make a load from another server incomplete.
            navigation.load.completed = navigation.outcome.completed;
            let problems = &navigation.outcome.problems;
            let problems = problems.iter().map(|it| format!("{server}: {it}")).collect();
            visits.push(Played { visit: number, navigation, problems });
        }
    }
    Ok(visits)
}

fn visit(
    arguments: &Arguments,
    page: &Arc<Page>,
    server: SocketAddr,
    options: &Options,
) -> Result<Outcome, Failure> {
    let outcome = play(Arc::clone(page), server, options)?;
    if let Some(file) = &arguments.session {
        session::store(file, outcome.session.as_ref())?;
    }
    if let Some(folder) = &arguments.bodies {
        let pages = [page].into_iter().chain(options.then.iter().map(|it| &it.page));
        for (page, outcome) in pages.zip(outcome.earlier.iter().chain([&outcome])) {
            write_bodies(page, outcome, folder)?;
        }
    }
    Ok(outcome)
}

/// Writes the bodies. Fails if a URL's path leads out of the folder.
fn write_bodies(page: &Page, outcome: &Outcome, folder: &Path) -> Result<(), Failure> {
    for (resource, body) in &outcome.bodies {
        let url = &page.resources[*resource].url;
        let relative =
            Path::new(url.trim_start_matches('/').split(['?', '#']).next().unwrap_or_default());
        let mut parts = relative.components();
        if !parts.all(|part| matches!(part, std::path::Component::Normal(_))) {
            return Err(Failure::BadInput(format!("{url}: not a path below --bodies")));
        }
        let mut path = folder.join(relative);
        if url.ends_with('/') {
            path.push("index.html");
        }
        let made = std::fs::create_dir_all(path.parent().unwrap_or(folder));
        made.and_then(|()| std::fs::write(&path, body))
            .map_err(|error| Failure::Elsewhere(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

fn show(run: &RunRecord, resources: usize, left: Option<String>) -> Result<(), Failure> {
    let rows = run.resources.iter().map(|resource| {
        vec![
            resource.id.to_string(),
            shown(&resource.url, 60),
            number(Some(resource.requested_ms), 1),
            number(resource.first_byte_ms, 1),
            number(resource.complete_ms, 1),
            resource.bytes.to_string(),
        ]
    });
    let header = ["id", "url", "requested ms", "first byte ms", "complete ms", "bytes"];
    output::line(&output::table(&header, &[1], rows).to_string())?;
    let index = run.byte_index();
    let end = if run.completed {
        format!("complete after {:.1} ms", run.duration_ms)
    } else {
        let there = run.resources.iter().filter(|it| it.complete_ms.is_some()).count();
        let how = left.unwrap_or_else(|| "not complete".to_owned());
        format!("{how}: {there} of {resources} resources arrived")
    };
    output::line(&format!(
        "ByteIndex {} ms, above the fold {} ms; {end}",
        number(index.all, 1),
        number(index.atf, 1),
    ))?;
    let mut of_page: Vec<String> = Vec::new();
    for metric in METRICS.iter().filter(|metric| metric.is_of_page()) {
        let value = run.metrics.get(metric).all;
        of_page.extend(value.map(|it| format!("{} {it:.1} {}", metric.heading, metric.unit)));
    }
    let seen = of_page.join(", ");
    if seen.is_empty() { Ok(()) } else { output::line(&seen) }
}
