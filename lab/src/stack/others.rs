//! The clients and the server of [`CrossTraffic`] on the links of a page load.

use super::busy_server::BusyServer;
use super::{CLIENT, SERVER, Setup, StackError, patient, patient_server};
use crate::cross_traffic::{CrossTraffic, Flow, WebFlows};
use crate::limits::CROSS_FLOWS_MAX;
use crate::network::Network;
use client::Client;
use connection::{ClientConfig, Endpoint, Path, Transmit};
use gateway::site::RuledSite;
use http3::{Code, Event};
use schedulers::SCHEMES;
use server::site::{Body, Request, Response, Site};
use server::{CongestionControl, Options, Server};
use simulator::{BareClient, World};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The minimum lead of the traffic over the page load.
const LEAD_MIN: Duration = Duration::from_secs(5);

/// Round trips after which a download has found its rate, even over a satellite.
const LEAD_ROUND_TRIPS: f64 = 20.0;

/// More than a link carries in the time of a world.
const ENDLESS_BYTES: u64 = 1 << 40;

/// The congestion control of short downloads, as on most servers.
const WEB_CONTROL: CongestionControl = CongestionControl::Cubic;

/// The page's server and the cross traffic's server, behind the same links.
pub(super) struct Servers {
    page: Server,
    others: Option<BusyServer>,
}

/// Answers `/BYTES`.
struct Sizes;

impl Site for Sizes {
    fn respond(&self, request: &Request) -> Response {
        let bytes = request.path.trim_start_matches('/').parse().unwrap_or(0);
        Response { body: Body::synthetic(bytes, 1), ..Response::empty(200) }
    }
}

impl Servers {
    /// `page` alone, or with the server of the cross traffic in `setup`.
    pub(super) fn new(page: Server, setup: &Setup<'_>) -> Result<Self, StackError> {
        let control = match setup.cross {
            CrossTraffic::None => return Ok(Self { page, others: None }),
            CrossTraffic::Bulk(control) => control,
            CrossTraffic::Web(_) => WEB_CONTROL,
        };
        // A connection has one response, so every scheme sends the same.
        let scheme = SCHEMES[0].clone();
        let options = Options { congestion_control: control, ..Options::new(scheme) };
        let server = patient_server(RuledSite::of(Sizes), options, setup.identity)?;
        let others = Some(BusyServer::new(server, setup.network, setup.seed));
        Ok(Self { page, others })
    }
}

impl Endpoint for Servers {
    fn local_addr(&self) -> SocketAddr {
        self.page.local_addr()
    }

    fn receive(&mut self, datagram: &mut [u8], path: Path, now: Instant) {
        match &mut self.others {
            Some(others) if path.peer != CLIENT.into() => others.receive(datagram, path, now),
            _ => self.page.receive(datagram, path, now),
        }
    }

    fn transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        let of_page = self.page.transmit(now, out);
        of_page.or_else(|| self.others.as_mut()?.transmit(now, out))
    }

    fn on_timeout(&mut self, now: Instant) {
        self.page.on_timeout(now);
        if let Some(others) = &mut self.others {
            others.on_timeout(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let others = self.others.as_ref().and_then(Endpoint::next_timeout);
        self.page.next_timeout().into_iter().chain(others).min()
    }
}

/// The cross traffic's clients, and the downloads that they will begin.
pub(super) struct Others {
    flows: Box<dyn Iterator<Item = Flow>>,
    next: Option<Flow>,
    downloads: Vec<Download>,
    /// The number of downloads that have begun; each has its own address.
    begun: u32,
    config: ClientConfig,
    /// When the page load begins, if there is cross traffic.
    lead: Duration,
}

struct Download {
    client: BareClient,
    bytes: u64,
    is_requested: bool,
}

impl Others {
    /// The clients of `traffic`; none has sent anything yet.
    pub(super) fn new(traffic: CrossTraffic, network: &Network, seed: u64) -> Self {
        let mut flows: Box<dyn Iterator<Item = Flow>> = match traffic {
            CrossTraffic::None => Box::new(std::iter::empty()),
            CrossTraffic::Bulk(_) => {
                Box::new(std::iter::once(Flow { at: Duration::ZERO, bytes: ENDLESS_BYTES }))
            }
            CrossTraffic::Web(share) => Box::new(WebFlows::new(share, network, seed)),
        };
        let next = flows.next();
        let config = patient(ClientConfig::default());
        let lead = Duration::from_secs_f64(LEAD_ROUND_TRIPS * network.round_trip_ms() / 1e3);
        let lead = lead.max(LEAD_MIN);
        Self { flows, next, downloads: Vec::new(), begun: 0, config, lead }
    }

    fn is_nobody(&self) -> bool {
        self.next.is_none() && self.downloads.is_empty()
    }

    /// Runs the traffic without the page, so that it has found its rate when the page load begins.
    pub(super) fn lead(&mut self, world: &mut World<Servers>) -> Result<(), StackError> {
        while !self.is_nobody() && world.elapsed() < self.lead {
            self.step(world, None, Some(self.lead))?;
        }
        Ok(())
    }

    /// Advances `world` with the page's client and the cross traffic, at most to `until`. Returns `false` if nothing is left
    /// to happen.
    pub(super) fn step(
        &mut self,
        world: &mut World<Servers>,
        page: Option<&mut Client>,
        until: Option<Duration>,
    ) -> Result<bool, StackError> {
        self.begin_due(world)?;
        self.downloads.iter_mut().for_each(Download::progress);
        self.downloads.retain(|it| !it.client.connection.is_over());
        let wakeup = self.next.map(|it| it.at).into_iter().chain(until).min();
        let page = page.map(|it| it as &mut dyn Endpoint);
        let others = self.downloads.iter_mut().map(|it| &mut it.client as &mut dyn Endpoint);
        let mut clients: Vec<&mut dyn Endpoint> = page.into_iter().chain(others).collect();
        Ok(world.step(&mut clients, wakeup))
    }

    /// Begins due downloads. Skips a download if too many others are in progress.
    fn begin_due(&mut self, world: &World<Servers>) -> Result<(), StackError> {
        while let Some(Flow { at, bytes }) = self.next
            && at <= world.elapsed()
        {
            self.next = self.flows.next();
            if self.downloads.len() >= CROSS_FLOWS_MAX {
                continue;
            }
            self.begun += 1;
            let [_, high, middle, low] = self.begun.to_be_bytes();
            let local = SocketAddr::from(([10, high, middle, low], CLIENT.1));
            let client = BareClient::connect(local, SERVER.into(), &self.config, world.now())?;
            self.downloads.push(Download { client, bytes, is_requested: false });
        }
        Ok(())
    }
}

impl Download {
    /// Sends its request once possible, drops arrived data, and closes the connection at the end.
    fn progress(&mut self) {
        if !self.is_requested && self.client.connection.is_connected() {
            let stream = self.client.connection.next_request();
            self.is_requested =
                self.client.get(stream, "localhost", &format!("/{}", self.bytes), &[]);
        }
        if self.client.events().any(|event| matches!(event, Event::Finished { .. })) {
            self.client.connection.close(Code::NoError, "");
        }
    }
}
