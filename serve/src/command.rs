//! `utmost serve`: the server.

mod served;

use crate::explore::Explore;
use crate::failure::Faults;
use crate::listening::{Bound, Listening};
use crate::watch::{Watch, Watching};
use crate::{Failure, certificates, printable, values};
use ::gateway::access_log::Reopen;
use ::gateway::upstream::Address;
use ::server::event_loop::{EventLoop, Reload, Renewal};
use ::server::metrics::Metrics;
use ::server::{
    CongestionControl, Downloads, Identity, LoadBalancer, Options, Pace, ResetKey, Server,
    SignalUse, TicketKey, open_to_others, raise_descriptors,
};
use schedulers::Catalogue;
use served::{Served, served};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use std::time::SystemTime;

/// Serve a directory, a page or a backend over HTTP/3, HTTP/2 and HTTP/1.1, by a scheme
///
/// Prints a line `listening on ADDR:PORT` for each address when it is ready. On SIGTERM, responses in progress finish first. On SIGHUP, it
/// reads the certificate, the keys and the configuration again, for new connections.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  utmost serve --root site --listen 127.0.0.1:4433 --scheme bucket-html\n  \
utmost serve --page davies-meenan --scheme dfifo --pace 1400/10 --qlog logs\n  \
utmost serve --root site --scheme-file examples/schemes/fonts-first.toml --scheme fonts-first\n  \
utmost serve --root site --explore dfifo,bucket-html --explore-file explored.json\n  \
utmost serve --upstream http://127.0.0.1:8080 --websockets --cert cert.pem --key key.pem\n  \
utmost serve --root site --listen 0.0.0.0:443 --http-redirect 0.0.0.0:80 --self-signed www.site.test"
)]
#[expect(clippy::struct_excessive_bools, reason = "flags, independent of each other")]
#[command(group = clap::ArgGroup::new("what").required(true).args(["root", "page", "upstream", "config"]))]
pub struct Arguments {
    /// Serve the files below this directory
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Serve a page: a bundled name, or a file
    #[arg(long)]
    page: Option<String>,
    /// Pass requests on to this backend. An http backend gets HTTP/1.1; an https backend gets HTTP/2 or HTTP/1.1
    #[arg(long, value_name = "URL")]
    upstream: Option<Address>,
    /// Certificate authorities (PEM) that may vouch for a backend with https [default: the system's]
    #[arg(long, value_name = "FILE", requires = "upstream", hide_short_help = true)]
    upstream_ca: Option<PathBuf>,
    /// Let clients open WebSockets to the backend. Over HTTP/1.1 (RFC 6455), over HTTP/2 and HTTP/3 by extended CONNECT (RFC 8441, RFC 9220)
    #[arg(long, requires = "upstream")]
    websockets: bool,
    /// Read the configuration from a TOML file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scheme", "signals"])]
    config: Option<PathBuf>,
    /// List all mistakes in the configuration, and serve nothing. Also reads certificates, keys and folders. Exits with 2 if
    /// there is a mistake
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    listening: Listening,
    /// Make a self-signed certificate that also names these hosts. It is valid for 30 days. For testing only: browsers do not trust it
    /// unless told to
    #[arg(long, value_name = "HOST", num_args = 0.., value_delimiter = ',', value_parser = values::host, conflicts_with = "cert")]
    self_signed: Vec<String>,
    /// Certificate chain (PEM) [default: as with --self-signed]. Can be repeated, each followed by its --key: a client gets the certificate
    /// that names its host, otherwise the first
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Vec<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Vec<PathBuf>,
    /// The scheme [default: rfc9218; with --page bucket-html]. A scheme is an order of sending
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// How to use clients' signals [default: obey; with --page ignore]
    #[arg(long, value_parser = values::choice(values::SIGNALS))]
    signals: Option<SignalUse>,
    /// Size of the send buffer. At most this many bytes leave ahead of a more urgent response, besides the packet being built
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = corpus::size::parse, hide_short_help = true)]
    send_buffer: u64,
    /// Congestion control. Each of them paces its packets
    #[arg(long, hide_short_help = true, value_parser = values::choice(values::CONGESTION_CONTROLS), default_value = "bbr2")]
    cc: CongestionControl,
    /// Begin with the initial congestion window again after a pause (RFC 5681, 4.1). Only for cubic and reno: bbr2 paces by
    /// the rate that it has measured
    #[arg(long, hide_short_help = true)]
    idle_reset: bool,
    /// Treat a response as a download once it has sent this much over at least 2 seconds. Downloads go behind all other responses, under
    /// schemes that use the priorities of RFC 9218. 0 turns this off
    #[arg(long, value_name = "SIZE", default_value = "4Mi", value_parser = corpus::size::parse, hide_short_help = true)]
    downloads_from: u64,
    /// Initial congestion window, which is paced. RFC 9002, 7.2 recommends 10 [default: 32, or as large as needed with --pace]
    #[arg(long, value_name = "PACKETS", hide_short_help = true, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    initial_window: Option<u32>,
    /// Send one packet of BYTES stream bytes every MS milliseconds; the paper uses 1400/10
    #[arg(long, value_name = "BYTES/MS", hide_short_help = true, value_parser = values::pace)]
    pace: Option<Pace>,
    /// Answer returning clients before the handshake (0-RTT). An attacker can replay such a
    /// request, so methods other than GET, HEAD, OPTIONS and TRACE get 425 (RFC 8470)
    #[arg(long, hide_short_help = true)]
    early_data: bool,
    /// File with 48 random bytes that seal sessions, so that clients can resume them after a restart or in another process. Replace it
    /// regularly [default: generated at startup, and again every two days; with several shards, on SIGHUP]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    ticket_key: Option<PathBuf>,
    /// Seconds after SIGTERM in which responses in progress must finish
    #[arg(long, value_name = "SECONDS", default_value_t = 10, hide_short_help = true)]
    drain_within: u32,
    /// Number of threads. They share the address. Each connection stays on one of them [default: one for each
    /// core; 1 with [migration], which moves responses between connections of one thread]
    #[arg(long, value_name = "COUNT", hide_short_help = true, value_parser = clap::value_parser!(u8).range(1..))]
    shards: Option<u8>,
    /// Write a qlog for each connection into this directory
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
    #[command(flatten)]
    explore: Explore,
    #[command(flatten)]
    watch: Watch,
}

impl Arguments {
    /// The name of the chosen scheme.
    pub fn scheme(&self) -> Option<&str> {
        self.scheme.as_deref()
    }

    /// The schemes that the flags name, beside the built-in ones.
    pub fn catalogue(&self) -> Result<Catalogue, Failure> {
        self.own.catalogue(&[])
    }
}

/// quic-go and Chromium's own servers use as many; pages appear earlier (docs/serve-tuning.md#the-first-window). Until a client has proved
/// its address, it gets at most three times the bytes it sent; ten packets leave at once.
const INITIAL_WINDOW_PACKETS: usize = 32;

/// Serves until a signal ends it.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    raise_descriptors();
    if arguments.check {
        return check(arguments);
    }
    if let Some(folder) = &arguments.qlog {
        values::directory(folder, "--qlog")?;
    }
    let (Renewal { identity, site, options }, load_balancer) = loaded(arguments, None)?;
    let count = shards(arguments.shards, &options)?;
    let Bound { mut loops, listeners, addresses } = arguments.listening.bind(count)?;
    let watching = arguments.watch.begin()?;
    let observers = watching.observers.clone();
    let exploring =
        options.exploration.clone().map(|it| arguments.explore.begin(it)).transpose()?;
    let port = arguments.listening.port(addresses[0]);
    let options = Options { alt_svc_port: Some(port), observers, ..options };
    show(watching.metrics.as_ref(), &identity, arguments);
    let advice = arguments.listening.advice(&identity, port);
    let pin = identity.public_key_pin().map_err(Failure::elsewhere)?;
    let places: Result<Vec<_>, _> = loops.iter().map(EventLoop::local_addr).collect();
    let places = places.map_err(Failure::elsewhere)?;
    let servers = Server::shards(&places, load_balancer, &identity, site, &options);
    let mut servers = servers.map_err(Failure::elsewhere)?;
    // The access log ends when its last writer is dropped.
    drop(options);
    if let Some(listeners) = listeners {
        gateway::serve_tcp(&mut servers[0], listeners, &identity, count)
            .map_err(Failure::elsewhere)?;
    }
    for server in &mut servers {
        server.report_with(Box::new(|line| eprintln!("{line}")));
    }
    loops[0]
        .heed_signals(reload(arguments.clone(), port, identity, &watching))
        .map_err(Failure::elsewhere)?;
    if arguments.cert.is_empty() {
        eprintln!("{}", certificates::self_signed(&arguments.self_signed, &pin));
    }
    for line in advice {
        eprintln!("{line}");
    }
    for address in addresses {
        writeln!(std::io::stdout().lock(), "listening on {address}").map_err(Failure::elsewhere)?;
    }
    match EventLoop::run_all(loops, servers).map_err(Failure::elsewhere)? {
        0 => {}
        1 => eprintln!("1 connection cut: see --drain-within"),
        cut => eprintln!("{cut} connections cut: see --drain-within"),
    }
    watching.finish();
    if let Some(exploring) = exploring {
        exploring.finish();
    }
    Ok(())
}

/// Reports everything that would keep the server from starting, as far as it can be checked without starting it.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    let mut faults = Faults::default();
    let loaded = load(arguments, None, &mut faults);
    let options = loaded.map(|(renewal, _)| renewal.options);
    let count = options.and_then(|it| faults.kept(shards(arguments.shards, &it)));
    faults.kept(arguments.listening.check(count.unwrap_or(1)));
    let mistakes = faults.in_order();
    for mistake in &mistakes {
        println!("{}", printable(&mistake.to_string()));
    }
    match mistakes.len() {
        0 => println!("no mistakes: the server can start"),
        1 => return Err(Failure::bad_input("1 mistake: the server does not start")),
        count => {
            return Err(Failure::BadInput(format!("{count} mistakes: the server does not start")));
        }
    }
    Ok(())
}

/// How many servers share an address.
fn shards(asked: Option<u8>, options: &Options) -> Result<u8, Failure> {
    let cores = available_parallelism().map_or(1, |it| u8::try_from(it.get()).unwrap_or(u8::MAX));
    match (asked, options.migration) {
        (Some(2..), Some(_)) => Err(Failure::BadInput(
            "--shards: responses move between connections of one shard only; remove [migration], or use --shards 1"
                .to_owned(),
        )),
        (_, Some(_)) => Ok(1),
        (asked, None) => Ok(asked.unwrap_or(cores)),
    }
}

/// Everything that is read from files, at startup and on SIGHUP; fails if there is a mistake.
fn loaded(
    arguments: &Arguments,
    own: Option<&Identity>,
) -> Result<(Renewal, Option<LoadBalancer>), Failure> {
    let mut faults = Faults::default();
    let loaded = load(arguments, own, &mut faults);
    faults.or(loaded)
}

/// The same, as far as it can be read. `own`: the self-signed certificate, if one was made.
fn load(
    arguments: &Arguments,
    own: Option<&Identity>,
    faults: &mut Faults,
) -> Option<(Renewal, Option<LoadBalancer>)> {
    let what = served(arguments, faults);
    let ticket_key = arguments.ticket_key.as_deref().map(TicketKey::load).transpose();
    let ticket_key = faults.kept(ticket_key.map_err(Failure::in_flag("--ticket-key")));
    let idle_reset = faults.kept(values::idle_reset(arguments.idle_reset, arguments.cc));
    let identity = match (certificates::of_flags(&arguments.cert, &arguments.key, faults), own) {
        (Some(loaded), _) => loaded,
        (None, Some(own)) => own.clone(),
        (None, None) => {
            let own = Identity::self_signed_for(&arguments.self_signed);
            faults.kept(own.map_err(Failure::elsewhere))?
        }
    };
    let what = what?;
    let options = options(arguments, &what, ticket_key?);
    let mut options = Options { wall_clock: Some(now), idle_reset: idle_reset?, ..options };
    // A client can come back to another shard.
    if faults.kept(shards(arguments.shards, &options))? > 1 {
        options.ticket_key = options.ticket_key.or_else(TicketKey::random);
    }
    let secrets = arguments.key.iter().chain(&arguments.ticket_key);
    let hosts = if what.is_page { BTreeSet::new() } else { what.site.hosts() };
    let certificates = certificates::named(&identity, &arguments.cert);
    let of_certificates = certificates::warnings(&certificates, &hosts, now());
    let of_secrets = secrets.filter_map(|it| open_to_others(it));
    // If the server does not start, it only prints why.
    if arguments.check || faults.is_empty() {
        for warning in of_secrets.chain(of_certificates) {
            eprintln!("warning: {warning}");
        }
    }
    Some((
        Renewal { site: Arc::new(what.site_of(&identity)), identity, options },
        what.load_balancer,
    ))
}

#[expect(clippy::disallowed_methods, reason = "responses say when they were made")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Reopens the access log, and serves new connections from the current files if they are valid.
fn reload(arguments: Arguments, port: u16, first: Identity, watching: &Watching) -> Reload {
    let (access_log, metrics) = (watching.reopener(), watching.metrics.clone());
    let own = arguments.cert.is_empty().then_some(first);
    Box::new(move |server| {
        if let Some(Err(error)) = access_log.as_ref().map(Reopen::reopen) {
            eprintln!(
                "--access-log: not reopened, lines are still written to the old file: {error}"
            );
        }
        let changed = loaded(&arguments, own.as_ref()).and_then(|(mut renewal, _)| {
            renewal.options.alt_svc_port = Some(port);
            let Renewal { identity, site, options } = renewal.clone();
            server.reload(&identity, site, options).map_err(Failure::elsewhere)?;
            show(metrics.as_ref(), &identity, &arguments);
            Ok(renewal)
        });
        match &changed {
            Ok(_) => eprintln!("reloaded: new connections use the current files"),
            Err(error) => eprintln!("not reloaded, nothing has changed: {error}"),
        }
        changed.ok()
    })
}

/// Updates the metrics with the certificates that new connections get.
fn show(metrics: Option<&Arc<Metrics>>, identity: &Identity, arguments: &Arguments) {
    if let Some(metrics) = metrics {
        metrics.shows(certificates::named(identity, &arguments.cert));
    }
}

fn options(arguments: &Arguments, served: &Served, ticket_key: Option<TicketKey>) -> Options {
    let mut options = Options {
        negotiated: served.negotiated.clone(),
        signals: served.signals,
        exploration: served.exploration.clone(),
        migration: served.migration,
        send_buffer_bytes: arguments.send_buffer,
        congestion_control: arguments.cc,
        downloads: (arguments.downloads_from > 0)
            .then(|| Downloads { bytes: arguments.downloads_from, ..Downloads::default() }),
        qlog_dir: arguments.qlog.clone(),
        early_data: arguments.early_data,
        websockets: served.websockets,
        proxies: served.proxies.clone(),
        reset_key: ticket_key.as_ref().map(ResetKey::of).or_else(ResetKey::random),
        ticket_key,
        ..Options::new(served.scheme.clone()).over_networks()
    };
    options.limits = served.limits.of_server(options.limits);
    options.limits.addresses = server::limits::SERVED_ADDRESSES;
    options.limits.drain = Duration::from_secs(arguments.drain_within.into());
    if let Some(pace) = arguments.pace {
        options = options.paced(pace);
    } else {
        options.initial_window_packets = INITIAL_WINDOW_PACKETS;
    }
    if let Some(packets) = arguments.initial_window {
        options.initial_window_packets = packets as usize;
    }
    options
}
