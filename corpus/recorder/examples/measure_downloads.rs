//! When Chromium shows a page while its user downloads a file of 2 GB from the same server, with the rule that puts downloads
//! behind everything else and without it.
//!
//! ```sh
//! cargo build --workspace --example measure_downloads
//! target/debug/examples/measure_downloads cable 5 [PAGE...]
//! ```
//!
//! It needs Chromium. The number is the loads of each kind, of which the median counts. The download is a navigation, as
//! a click on a link to a file is, and is 10 s old when the page is asked for. Both are on one connection.

use corpus::Page;
use gateway::site::RuledSite;
use lab::network::Network;
use lab::relay::Relay;
use lab::study::statistics::median;
use page_site::PageSite;
use recorder::browser::{Chromium, Download};
use recorder::session::LocalServer;
use recorder::site::HOST;
use recorder::visit::{RenderTimes, render_times};
use server::Downloads;
use server::site::{Body, Request, Response, Site};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

type Outcome<T> = Result<T, Box<dyn Error>>;

const DOWNLOAD_BYTES: u64 = 2_000_000_000;
const HEAD_START: Duration = Duration::from_secs(10);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, loads, names @ ..] = &arguments[..] else {
        return Err("NETWORK LOADS [PAGE...]".into());
    };
    let (network, loads) = (Network::find(network)?, loads.parse()?);
    let names = if names.is_empty() { &["agency-index".to_owned()][..] } else { names };
    println!("{}: first contentful paint in ms, medians of {loads} loads", network.name);
    println!("| page | alone | beside a download | without the rule |");
    println!("|---|---:|---:|---:|");
    for name in names {
        let page = corpus::bundled(name).ok_or(format!("{name}: not a bundled page"))?;
        let with_rule = Stage::start(page, &network, Some(Downloads::default()))?;
        let without = Stage::start(page, &network, None)?;
        let paints = [
            with_rule.first_paint(loads, false)?,
            with_rule.first_paint(loads, true)?,
            without.first_paint(loads, true)?,
        ];
        let cells =
            paints.map(|it| it.map_or("not within 60 s".to_owned(), |ms| format!("{ms:.0}")));
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// Chromium, our server, and the network between them.
struct Stage<'a> {
    page: &'a Page,
    site: Arc<Shelf>,
    chromium: Chromium,
    _server: LocalServer,
}

impl<'a> Stage<'a> {
    fn start(page: &'a Page, network: &Network, rule: Option<Downloads>) -> Outcome<Self> {
        let page_site = PageSite::new(page.clone()).for_browsers();
        let site = Arc::new(Shelf { page: page_site, requests: AtomicUsize::new(0) });
        let shared = RuledSite::of(Arc::clone(&site));
        let mut server = LocalServer::start_with(shared, |it| it.downloads = rule)?;
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut relay = Relay::bind(address(0), address(server.port), network.clone(), 0)?;
        server.port = relay.local_addr()?.port();
        // It relays until the program ends.
        std::thread::spawn(move || relay.run(&mut |_| ()));
        let chromium = Chromium::start(HOST, server.port, &server.pin)?;
        Ok(Self { page, site, chromium, _server: server })
    }

    /// The median of the loads that showed something.
    fn first_paint(&self, loads: usize, beside: bool) -> Outcome<Option<f64>> {
        let folder = tempfile::tempdir()?;
        let url = format!("https://{HOST}{DOWNLOAD}");
        let download = Download { url: &url, folder: folder.path(), head_start: HEAD_START };
        let requests = || self.site.requests.load(Ordering::SeqCst);
        let beside = beside.then_some(&download);
        let load = |_| render_times(&self.chromium, self.page, beside, &requests);
        let seen: Vec<RenderTimes> = (0..loads).map(load).collect::<Result<_, _>>()?;
        Ok(median(&seen.iter().filter_map(|it| it.first_render_ms).collect::<Vec<_>>()))
    }
}

const DOWNLOAD: &str = "/a-download.bin";

/// A page, and a file to download.
struct Shelf {
    page: PageSite,
    requests: AtomicUsize,
}

impl Site for Shelf {
    fn respond(&self, request: &Request) -> Response {
        if request.path == DOWNLOAD {
            return Response {
                headers: server::site::fields::fields([(
                    "content-type",
                    "application/octet-stream",
                )]),
                body: Body::synthetic(DOWNLOAD_BYTES, 0),
                ..Response::empty(200)
            };
        }
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.page.respond(request)
    }
}
