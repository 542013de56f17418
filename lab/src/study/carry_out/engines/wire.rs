//! The engine `wire` in a study: the real programs over UDP on loopback, in real time.

use crate::study::StudyError;
use crate::study::plan::Plan;
use crate::study::plan::engine::{Clock, Engine, Facts, Loads, Refusal, Task};
use crate::wire::{Setup, check_namespaces, load};
use crate::{DeliveryOrder, Loaded};
use server::Options;
use std::path::Path;

/// Concurrent loads if the server paces, because such loads mostly wait.
const PACED_JOBS: usize = 16;

static FACTS: Facts = Facts {
    name: "wire",
    about: "The real server and client over UDP or TCP, through the lab's links, in real time",
    clock: Clock::Real,
    has_browser: false,
    refuses: &[Refusal::of_cross_traffic("has one client")],
};

pub(crate) struct Wire;

impl Engine for Wire {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    /// Rejects several HTTP versions unless the links carry TCP.
    fn check(&self, plan: &Plan) -> Result<(), StudyError> {
        let settings = &plan.settings;
        let over_tcp = settings.http_versions.iter().any(|it| it.is_over_tcp());
        let pushes = settings.pushes.iter().any(|it| it.pushes());
        let migrates = settings.migrations.iter().any(|it| it.policy().is_some());
        let cause = if settings.http_versions.is_empty() {
            return Ok(());
        } else if over_tcp && pushes {
            "pushes need HTTP/3; leave out --push and --gate, or use --http 3"
        } else if over_tcp && migrates {
            "migration needs HTTP/3; leave out --migration, or use --http 3"
        } else if over_tcp && plan.delivery_order == DeliveryOrder::Connection {
            "TCP has the order of its connection; leave out --delivery-order, or use --http 3"
        } else if settings.networks.iter().any(|it| it.server_pace) {
            "a server over TCP does not pace as on the paper's networks; use another --network"
        } else {
            return Ok(check_namespaces()?);
        };
        Err(StudyError::Impossible(format!("--http: {cause}")))
    }

    /// A link in real time must not be late, so it needs its own core.
    fn jobs(&self, plan: &Plan, cores: usize) -> usize {
        let is_paced = plan.settings.networks.iter().all(|it| it.server_pace);
        if is_paced { PACED_JOBS } else { (cores / 2).max(1) }
    }

    fn open<'a>(&self, _plan: &'a Plan) -> Result<Box<dyn Loads + 'a>, StudyError> {
        Ok(Box::new(Self))
    }
}

impl Loads for Wire {
    fn load(&self, of: &Task<'_>) -> Result<Loaded, StudyError> {
        let log_dir = of.logs.unwrap_or_else(|| Path::new("."));
        let qlog_dir = of.plan.qlog_dir.as_ref().map(|_| log_dir.to_owned());
        let (first, client) = of.client();
        let then = client.then.clone();
        let setup = Setup {
            options: Options { qlog_dir, ..of.server_options() },
            client,
            push_and_hints: of.cell.setting.push_and_hints(),
            fresh_s: None,
            links: of.links(),
            carries_tcp: of.cell.setting.http.is_some(),
            metadata: of.plan.metadata,
            delivery_order: of.plan.delivery_order,
            log_dir,
        };
        Ok(load(&first, setup)?.last(&first, &then))
    }
}
