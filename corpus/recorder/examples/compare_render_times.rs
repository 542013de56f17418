//! Render times as the playback predicts them, beside those of Chromium: both load the same page from the same server
//! over the same network.
//!
//! ```sh
//! cargo run -p utmost-recorder --example compare_render_times -- cable,3g 3 [PAGE...]
//! ```
//!
//! It needs Chromium. The numbers are the networks and the loads of each page, of which the median counts. Without
//! pages, all are loaded that our recorder made. Chromium gets the page's imitation (`page_site`), whose stylesheets take
//! no time to apply and whose images are small, so Chromium signals other priorities than it did on the page itself. The
//! prediction is for the same stylesheets and signals. The engine is `stack`.

use client::Options;
use client::profile::Profile;
use corpus::Page;
use corpus::page::SourceKind;
use gateway::site::RuledSite;
use lab::network::Network;
use lab::relay::Relay;
use lab::stack::{self, Ends, Setup};
use lab::study::RunRecord;
use lab::study::statistics::{median, spearman};
use page_site::PageSite;
use qlog_tools::metrics::find;
use recorder::browser::Chromium;
use recorder::session::LocalServer;
use recorder::site::HOST;
use recorder::visit::{RenderTimes, render_times};
use schedulers::{Kind, Priority, find_scheme};
use server::site::{Request, Response, Site};
use server::{Identity, SignalUse};
use std::collections::BTreeMap;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ends early, for want of a better end.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// A render time: its metric, and what Chromium says of it.
type Time = (&'static str, fn(&RenderTimes) -> Option<f64>);

const TIMES: [Time; 3] = [
    ("first_render", |it| it.first_render_ms),
    ("dom_content_loaded", |it| it.dom_ready_ms),
    ("load", |it| it.load_ms),
];

/// Each time of a load, in the order of [`TIMES`].
type Times = [Option<f64>; TIMES.len()];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [networks, loads, names @ ..] = &arguments[..] else {
        return Err("NETWORKS LOADS [PAGE...]".into());
    };
    let (loads, pages) = (loads.parse()?, pages(names)?);
    for network in networks.split(',') {
        compare(&Network::find(network)?, loads, &pages)?;
    }
    Ok(())
}

/// The pages as their imitations behave.
fn pages(names: &[String]) -> Outcome<Vec<Arc<Page>>> {
    let all = corpus::bundled_names().into_iter().filter_map(corpus::bundled);
    let is_ours =
        |it: &&Page| it.source.kind == SourceKind::Recorded && it.source.recording.is_some();
    let chosen: Vec<&Page> = match names {
        [] => all.filter(is_ours).collect(),
        names => {
            let page = |it: &String| corpus::bundled(it).ok_or(format!("{it}: not a bundled page"));
            names.iter().map(page).collect::<Result<_, _>>()?
        }
    };
    let imitated = |page: &Page| {
        let mut page = page.clone();
        for sheet in page.resources.iter_mut().filter(|it| it.kind == Kind::Css) {
            sheet.exec_ms = 0.0;
        }
        Arc::new(page)
    };
    Ok(chosen.into_iter().map(imitated).collect())
}

/// Prints a row for each page on a network, and how well the predictions agree.
fn compare(network: &Network, loads: usize, pages: &[Arc<Page>]) -> Outcome<()> {
    let browser = Browser::start(network)?;
    println!("\n{}, {}", network.name, browser.chromium.version());
    println!("| page | first render | Chromium | DOM ready | Chromium | load | Chromium |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut pairs: [Vec<(f64, f64)>; TIMES.len()] = Default::default();
    for page in pages {
        let seen = browser.load(page, loads)?;
        let predicted = predict(&browser.site.signalled(page), network)?;
        let text = |it: Option<f64>| it.map_or("-".to_owned(), |it| format!("{it:.0}"));
        let cells =
            predicted.iter().zip(&seen).flat_map(|(ours, theirs)| [text(*ours), text(*theirs)]);
        println!("| {} | {} |", page.name, cells.collect::<Vec<_>>().join(" | "));
        for (time, pairs) in pairs.iter_mut().enumerate() {
            pairs.extend(predicted[time].zip(seen[time]));
        }
    }
    for ((name, _), pairs) in TIMES.iter().zip(&pairs) {
        let errors: Vec<f64> =
            pairs.iter().map(|(ours, theirs)| 100.0 * (ours / theirs - 1.0)).collect();
        let sizes: Vec<f64> = errors.iter().map(|it| it.abs()).collect();
        println!(
            "{name}: {} pages, rank correlation {:.3}, median error {:.1} % (signed {:+.1} %)",
            pairs.len(),
            spearman(pairs).unwrap_or(f64::NAN),
            median(&sizes).unwrap_or(f64::NAN),
            median(&errors).unwrap_or(f64::NAN),
        );
    }
    Ok(())
}

fn predict(page: &Arc<Page>, network: &Network) -> Outcome<Times> {
    let scheme = find_scheme("rfc9218")?;
    let identity = Identity::self_signed()?;
    let options =
        server::Options { signals: SignalUse::Obey, ..server::Options::new(scheme.clone()) };
    let client = Options {
        scheme: Some(scheme),
        hold_back: Profile::find("chromium-156")?.hold_back,
        ..Options::default()
    };
    let ends = Ends { site: RuledSite::of(PageSite::new(Page::clone(page))), client };
    let loaded = stack::load_between(page, &ends, Setup::new(options, network, &identity))?;
    let run = RunRecord::of_load(page, &loaded.load);
    Ok(TIMES.map(|(name, _)| run.metrics.get(find(name)?).all))
}

/// Chromium, our server, and the network between them.
struct Browser {
    chromium: Chromium,
    site: Arc<Stage>,
    _server: LocalServer,
}

impl Browser {
    fn start(network: &Network) -> Outcome<Self> {
        let site = Arc::new(Stage::default());
        let mut server = LocalServer::start_with(RuledSite::of(Arc::clone(&site)), |_| ())?;
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut relay = Relay::bind(address(0), address(server.port), network.clone(), 0)?;
        server.port = relay.local_addr()?.port();
        // It relays until the program ends.
        std::thread::spawn(move || relay.run(&mut |_| ()));
        let chromium = Chromium::start(HOST, server.port, &server.pin)?;
        Ok(Self { chromium, site, _server: server })
    }

    /// The medians of `loads`.
    fn load(&self, page: &Arc<Page>, loads: usize) -> Outcome<Times> {
        self.site.show(PageSite::new(Page::clone(page)).for_browsers());
        let requests = || self.site.requests.load(Ordering::SeqCst);
        let seen = (0..loads).map(|_| render_times(&self.chromium, page, None, &requests));
        let seen: Vec<RenderTimes> = seen.collect::<Result<_, _>>()?;
        Ok(TIMES.map(|(_, of)| median(&seen.iter().filter_map(of).collect::<Vec<_>>())))
    }
}

/// One page after the other at the same address.
#[derive(Default)]
struct Stage {
    page: Mutex<Option<PageSite>>,
    requests: AtomicUsize,
    /// The latest `priority` field of each path.
    priorities: Mutex<BTreeMap<String, Priority>>,
}

impl Stage {
    fn show(&self, page: PageSite) {
        *locked(&self.page) = Some(page);
        locked(&self.priorities).clear();
    }

    /// The page with the signals that Chromium sent.
    fn signalled(&self, page: &Page) -> Arc<Page> {
        let (mut page, priorities) = (page.clone(), locked(&self.priorities));
        for resource in &mut page.resources {
            let said = priorities.get(&resource.url).map(|it| (*it).into());
            resource.browser = said.or(resource.browser);
        }
        Arc::new(page)
    }
}

impl Site for Stage {
    fn respond(&self, request: &Request) -> Response {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let said = request.priority().unwrap_or_default();
        locked(&self.priorities).insert(request.path.clone(), said);
        let page = locked(&self.page);
        page.as_ref().map_or_else(|| Response::empty(503), |it| it.respond(request))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
