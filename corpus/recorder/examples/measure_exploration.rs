//! How many visits of Chromium `utmost serve --explore` needs to find the better one of two schemes.
//!
//! ```sh
//! cargo build --workspace --example measure_exploration
//! target/debug/examples/measure_exploration agency-index cable rr dfifo 10
//! ```
//!
//! It needs Chromium. The words are the page, the network, the present scheme, the one that a fifth of the visitors try, and the
//! number of runs. A run ends when the other scheme is the favourite, or after 60 visits. Each visit is a new profile.

use gateway::site::RuledSite;
use lab::network::Network;
use lab::relay::Relay;
use page_site::PageSite;
use recorder::browser::Chromium;
use recorder::session::LocalServer;
use recorder::site::HOST;
use recorder::visit::render_times;
use schedulers::{Scheme, find_scheme};
use server::site::{Request, Response, Site};
use server::{Candidate, Exploration, SignalUse};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

type Outcome<T> = Result<T, Box<dyn Error>>;

const MOST_VISITS: usize = 60;
/// As `--explore-share` has it by default.
const SHARE: f64 = 0.2;
/// Chromium keeps a connection; a load counts when the connection ends.
const IDLE: Duration = Duration::from_secs(2);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [page, network, present, other, runs] = &arguments[..] else {
        return Err("PAGE NETWORK PRESENT OTHER RUNS".into());
    };
    let (network, runs) = (Network::find(network)?, runs.parse()?);
    let page = corpus::bundled(page).ok_or(format!("{page}: not a bundled page"))?;
    println!("{} on {}: {present}, and visitors try {other}", page.name, network.name);
    println!("| run | visits | found |");
    println!("|---:|---:|---|");
    let mut within = 0;
    for run in 0..runs {
        let run = Run { page, network: &network, seed: run };
        let (visits, found) = run.visits(&find_scheme(present)?, &find_scheme(other)?)?;
        within += usize::from(visits.is_some());
        let visits = visits.map_or("-".to_owned(), |it| it.to_string());
        println!("| {} | {visits} | {found} |", run.seed);
    }
    println!("found within {MOST_VISITS} visits in {within} of {runs} runs");
    Ok(())
}

struct Run<'a> {
    page: &'a corpus::Page,
    network: &'a Network,
    seed: u64,
}

impl Run<'_> {
    /// How many visits it took until `other` was the favourite, and what the server says.
    fn visits(&self, present: &Scheme, other: &Scheme) -> Outcome<(Option<usize>, String)> {
        let candidate = Candidate {
            name: other.name.clone(),
            scheme: other.clone(),
            signals: SignalUse::Ignore,
        };
        let exploration = Arc::new(Exploration::new(vec![candidate], SHARE, self.seed));
        let page_site = PageSite::new(self.page.clone()).for_browsers();
        let site = Arc::new(Counted { page: page_site, requests: AtomicUsize::new(0) });
        let (shared, explored) = (RuledSite::of(Arc::clone(&site)), Arc::clone(&exploration));
        let mut server = LocalServer::start_with(shared, |options| {
            options.scheme = present.clone();
            options.signals = SignalUse::Ignore;
            options.exploration = Some(explored);
            options.limits.idle = IDLE;
        })?;
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut relay =
            Relay::bind(address(0), address(server.port), self.network.clone(), self.seed)?;
        server.port = relay.local_addr()?.port();
        // It relays until the program ends.
        std::thread::spawn(move || relay.run(&mut |_| ()));
        let chromium = Chromium::start(HOST, server.port, &server.pin)?;
        let requests = || site.requests.load(Ordering::SeqCst);
        let mut found = String::new();
        for visit in 1..=MOST_VISITS {
            render_times(&chromium, self.page, None, &requests)?;
            let report = exploration.report();
            let Some(page) = report.pages.first() else { continue };
            found.clone_from(&page.found);
            if page.favourite == other.name {
                return Ok((Some(visit), found));
            }
        }
        Ok((None, found))
    }
}

/// Counts requests.
struct Counted {
    page: PageSite,
    requests: AtomicUsize,
}

impl Site for Counted {
    fn respond(&self, request: &Request) -> Response {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.page.respond(request)
    }
}
