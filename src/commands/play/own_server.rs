//! A page load from a server in this process.

use super::Played;
use crate::values::{self, Choices};
use ::client::Options;
use ::corpus::Page;
use ::serve::Failure;
use ::server::{CongestionControl, Identity, Options as ServerOptions};
use lab::network::Network;
use lab::push_and_hints::PushAndHints;
use lab::stack::{self, Ends};
use lab::study::{Engine, Setting, engines};
use lab::{DeliveryOrder, Metadata, Navigation, wire};
use schedulers::find_scheme;
use std::path::Path;
use std::sync::Arc;

/// The server in this process, and the link to it.
#[derive(Debug, clap::Args)]
pub(super) struct OwnServer {
    /// How to load the page without --server
    #[arg(long, value_parser = values::choice(ENGINES), default_value = "wire", conflicts_with = "server")]
    engine: &'static dyn Engine,
    /// The network: paper, 2g, 3g, lte, cable, satellite, ..., or a file. Without this flag, engine wire uses
    /// no network, and engine stack uses loopback
    #[arg(long, visible_alias = "networks", value_name = "NAME|FILE", conflicts_with = "server")]
    network: Option<String>,
    /// The send buffer of the server in this process
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value = "0", value_parser = corpus::size::parse, conflicts_with = "server")]
    send_buffer: u64,
    /// The congestion control of the server in this process
    #[arg(long, hide_short_help = true, value_parser = values::choice(values::CONGESTION_CONTROLS), default_value = "bbr2", conflicts_with = "server")]
    cc: CongestionControl,
    /// Reset the congestion window to its initial size after a pause, for the server in this process; with
    /// --cc cubic or reno
    #[arg(long, hide_short_help = true, conflicts_with = "server")]
    idle_reset: bool,
}

const ENGINES: Choices<&'static dyn Engine> = &[
    ("stack", "In virtual time: exact and repeatable", engines::STACK),
    ("wire", "Over UDP on loopback, in real time", engines::WIRE),
];

impl OwnServer {
    pub(super) fn engine(&self) -> &'static dyn Engine {
        self.engine
    }

    fn network(&self) -> Result<Option<Network>, Failure> {
        let name =
            self.network.as_deref().or((self.engine == engines::STACK).then_some("loopback"));
        name.map(Network::find).transpose().map_err(Failure::bad_input)
    }

    /// The conditions of the load, as a study records them.
    pub(super) fn setting(&self) -> Result<Setting, Failure> {
        let network = self.network()?.map_or_else(|| "loopback".to_owned(), |it| it.name);
        let send_buffer_bytes = self.send_buffer;
        Ok(Setting { network, send_buffer_bytes, cc: Some(self.cc), ..Setting::default() })
    }

    pub(super) fn load(
        &self,
        page: &Arc<Page>,
        client: Options,
        fresh_s: Option<u64>,
        delivery_order: DeliveryOrder,
        log_dir: &Path,
    ) -> Result<Vec<Played>, Failure> {
        let then = client.then.clone();
        let scheme = client.scheme.clone().map_or_else(|| find_scheme("rr"), Ok);
        let options = ServerOptions {
            qlog_dir: Some(log_dir.to_owned()),
            send_buffer_bytes: self.send_buffer,
            congestion_control: self.cc,
            idle_reset: values::idle_reset(self.idle_reset, self.cc)?,
            ..ServerOptions::new(scheme.map_err(Failure::bad_input)?)
        };
        let network = self.network()?;
        let options = match network.as_ref().and_then(Network::pace) {
            Some(pace) => options.paced(pace),
            None => options,
        };
        let (load, outcome) = match &network {
            Some(network) if self.engine == engines::STACK => {
                let identity = Identity::self_signed().map_err(Failure::elsewhere)?;
                let setup = stack::Setup {
                    delivery_order,
                    log_dir: Some(log_dir),
                    ..stack::Setup::new(options, network, &identity)
                };
                let pages = [page].into_iter().chain(then.iter().map(|it| &it.page));
                let pages: Vec<&Page> = pages.map(Arc::as_ref).collect();
                let site = PushAndHints::default().site_of(&pages, fresh_s, Metadata::Full);
                let ends = Ends { site, client };
                let loaded = stack::load_between(page, &ends, setup).map_err(Failure::elsewhere)?;
                (loaded.load, loaded.outcome)
            }
            network => {
                let links = network.as_ref().map(|it| (it, 0));
                let carries_tcp = client.http.is_over_tcp();
                if carries_tcp && links.is_some() {
                    wire::check_namespaces().map_err(Failure::elsewhere)?;
                }
                let setup = wire::Setup {
                    client,
                    links,
                    carries_tcp,
                    fresh_s,
                    delivery_order,
                    ..wire::Setup::new(options, log_dir)
                };
                let loaded = wire::load(page, setup).map_err(Failure::elsewhere)?;
                (loaded.load, loaded.outcome)
            }
        };
        let all = Navigation::all(page, &then, &load.timeline, outcome);
        let played = all.into_iter().map(|mut navigation| {
            // The arguments say it.
            navigation.outcome.announced = None;
            Played { visit: 1, problems: navigation.problems.clone(), navigation }
        });
        Ok(played.collect())
    }
}
