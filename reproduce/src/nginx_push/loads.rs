//! Page loads on the engine `stack`, and what is left of them: times in round trips.

use crate::ReproduceError;
use client::CookieJar;
use corpus::Page;
use lab::network::Network;
use lab::stack::{Ends, Setup, StackLoad, load_between};
use page_site::PageSite;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use schedulers::find_scheme;
use server::site::{PushRoute, PushingSite, Request, Response, Site};
use server::{CongestionControl, Identity, Options, TicketKey};
use simulator::link::Profile;
use std::sync::Arc;

/// The round trip of all loads, in milliseconds.
pub(super) const RTT_MS: f64 = 100.0;

/// How many pushes the client allows, and a route.
const PUSHES: u64 = 100;

/// A page under one condition.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) page: Arc<Page>,
    /// Fields of the document's response, as NGINX's `add_header` makes them.
    pub(super) fields: Vec<(&'static str, String)>,
    /// What goes with the document.
    pub(super) route: PushRoute,
    /// The client was there before: it sends early data.
    pub(super) returning: bool,
    pub(super) cookies: CookieJar,
    /// Whether what the fields preload goes in early hints too, where the document takes time.
    pub(super) hints: bool,
    /// Bits a second, down.
    pub(super) rate: f64,
    pub(super) window_packets: usize,
}

impl Case {
    /// No limit of bandwidth, NGINX's initial window, a first visit without pushes and fields.
    pub(super) fn new(page: Arc<Page>) -> Self {
        let route = PushRoute {
            path: page.resources[0].url.clone(),
            max_concurrent_pushes: Some(PUSHES),
            ..PushRoute::default()
        };
        Self {
            page,
            fields: Vec::new(),
            route,
            returning: false,
            cookies: CookieJar::default(),
            hints: true,
            rate: f64::INFINITY,
            window_packets: 10,
        }
    }

    /// The same with a `Link` field that preloads all of the page.
    pub(super) fn linked(self) -> Self {
        let links = self.preloads();
        self.field("link", links)
    }

    /// The same with a field of the document's response.
    pub(super) fn field(mut self, name: &'static str, value: String) -> Self {
        self.fields.push((name, value));
        self
    }

    /// The same with all of the page pushed with the document.
    pub(super) fn pushing(mut self) -> Self {
        self.route.push = self.page.resources[1..].iter().map(|it| it.url.clone()).collect();
        self
    }

    /// `Link` values that preload all but the document.
    fn preloads(&self) -> String {
        let link = |it: &corpus::PageResource| {
            let destination = match it.kind {
                schedulers::Kind::Css => "style",
                schedulers::Kind::Js => "script",
                _ => "image",
            };
            format!("<{}>; as={destination}; rel=preload", it.url)
        };
        self.page.resources[1..].iter().map(link).collect::<Vec<_>>().join(", ")
    }
}

/// One load.
#[derive(Debug, Clone)]
pub(super) struct Loaded {
    /// When the document was asked for, in round trips from the client's first packet.
    pub(super) start: f64,
    /// When each resource was complete, the same.
    pub(super) complete: Vec<f64>,
    /// Resources that were pushed, and used.
    pub(super) pushed: Vec<usize>,
    /// What is left of the load beside its times.
    pub(super) outcome: client::Outcome,
}

impl Loaded {
    fn of(page: &Page, load: StackLoad) -> Result<Self, ReproduceError> {
        let round_trips = |us: u64| us as f64 / 1000.0 / RTT_MS;
        let timeline = &load.load.timeline;
        let deliveries = timeline.deliveries();
        let complete = (0..page.resources.len()).map(|id| {
            let url = lab::resource_url(page, id);
            let place = timeline.transfers.iter().position(|it| it.url == url)?;
            deliveries[place].complete_us.map(round_trips)
        });
        let complete = complete.collect::<Option<Vec<f64>>>().filter(|_| load.load.completed);
        Ok(Self {
            start: round_trips(timeline.start_us().unwrap_or(0)),
            complete: complete.ok_or_else(|| {
                let problems = load.problems.join("; ");
                ReproduceError::Unusable(format!("{}: not loaded: {problems}", page.name))
            })?,
            pushed: load
                .outcome
                .pushed
                .iter()
                .filter(|(_, used)| *used)
                .map(|(id, _)| *id)
                .collect(),
            outcome: load.outcome,
        })
    }

    /// When the last resource was complete, in round trips from the request for the document.
    pub(super) fn after_request(&self) -> f64 {
        self.last() - self.start
    }

    /// When the last resource was complete.
    pub(super) fn last(&self) -> f64 {
        self.complete.iter().copied().fold(0.0, f64::max)
    }
}

/// Where loads are carried out.
pub(super) struct Bench {
    identity: Identity,
    pool: rayon::ThreadPool,
}

impl Bench {
    pub(super) fn new(jobs: usize) -> Result<Self, ReproduceError> {
        let identity =
            Identity::self_signed().map_err(|error| ReproduceError::Unusable(error.to_string()))?;
        Ok(Self {
            identity,
            pool: rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build()?,
        })
    }

    /// One load of each case, in the order of `cases`.
    pub(super) fn measure(&self, cases: &[Case]) -> Result<Vec<Loaded>, ReproduceError> {
        self.pool.install(|| cases.par_iter().map(|it| self.load(it)).collect())
    }

    fn load(&self, case: &Case) -> Result<Loaded, ReproduceError> {
        let first = Case { returning: false, ..case.clone() };
        let session = if case.returning { self.once(&first, None)?.outcome.session } else { None };
        Loaded::of(&case.page, self.once(case, session)?)
    }

    fn once(
        &self,
        case: &Case,
        session: Option<client::SavedSession>,
    ) -> Result<StackLoad, ReproduceError> {
        let unusable = |error: &dyn std::fmt::Display| ReproduceError::Unusable(error.to_string());
        let scheme = find_scheme("fifo").map_err(|error| unusable(&error))?;
        let options = Options {
            congestion_control: CongestionControl::Cubic,
            initial_window_packets: case.window_packets,
            early_data: true,
            ticket_key: Some(TicketKey::new([0; TicketKey::BYTES])),
            ..Options::new(scheme)
        };
        let ends = Ends {
            site: site(case),
            client: client::Options {
                pushes: PUSHES,
                session,
                cookies: case.cookies.clone(),
                ..client::Options::default()
            },
        };
        let network = network(case.rate);
        let setup = Setup::new(options, &network, &self.identity);
        load_between(&case.page, &ends, setup).map_err(|error| unusable(&error))
    }
}

/// Fields that are added outside are not known when hints are made.
fn site(case: &Case) -> Arc<dyn Site> {
    let page: Arc<dyn Site> = Arc::new(PageSite::new(Page::clone(&case.page)));
    let routes = vec![case.route.clone()];
    let (path, fields) = (case.page.resources[0].url.clone(), case.fields.clone());
    if case.hints {
        let inner = Arc::new(WithFields { inner: page, path, fields });
        return Arc::new(PushingSite::new(inner, routes));
    }
    Arc::new(WithFields { inner: Arc::new(PushingSite::new(page, routes)), path, fields })
}

/// Requests and acknowledgements never wait.
fn network(rate: f64) -> Network {
    Network {
        name: "nginx-push".into(),
        server_pace: false,
        down: Profile::plain(rate, RTT_MS / 2.0),
        up: Profile::plain(f64::INFINITY, RTT_MS / 2.0),
    }
}

/// A site whose document has further fields.
struct WithFields {
    inner: Arc<dyn Site>,
    path: String,
    fields: Vec<(&'static str, String)>,
}

impl Site for WithFields {
    fn respond(&self, request: &Request) -> Response {
        let mut response = self.inner.respond(request);
        if request.path == self.path {
            let fields = self.fields.iter().map(|(name, value)| ((*name).into(), value.clone()));
            response.headers.extend(fields);
        }
        response
    }
}
