//! The engine `ideal` in a study: no transport, one packet per tick.

use crate::Loaded;
use crate::bounds;
use crate::ideal::{self, Conditions};
use crate::network::Network;
use crate::study::StudyError;
use crate::study::plan::Plan;
use crate::study::plan::engine::{Clock, Engine, Facts, Loads, Refusal, Task};
use corpus::Page;
use std::sync::Arc;

static FACTS: Facts = Facts {
    name: "ideal",
    about: "No transport, one packet a tick: exact and fast",
    clock: Clock::Packets,
    has_browser: false,
    // Without a transport there are no windows and queues, and nothing is pushed, hinted or signalled.
    refuses: &[
        Refusal::new("--cc", "has no congestion control"),
        Refusal::new("--queue", "sends a packet a tick, so no queue forms"),
        Refusal::new("--push", "has no streams to push on"),
        Refusal::new("--gate", "has no streams to push on"),
        Refusal::new("--hints", "has no responses that could name resources"),
        Refusal::new("--signals", "has no client that signals"),
        Refusal::new("--migration", "has no connections"),
        Refusal::new("--warm-up", "has no connection that could be warm"),
        Refusal::new("an initial window", "has none"),
        Refusal::of_versions("has no transport"),
        Refusal::of_cross_traffic("has no connections that could share a link"),
    ],
};

pub(crate) struct Ideal;

impl Engine for Ideal {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn check(&self, plan: &Plan) -> Result<(), StudyError> {
        for (network, setting) in plan.settings.each() {
            setting.network_of(network)?.check_ideal()?;
        }
        Ok(())
    }

    fn lower_bound_ms(&self, page: &Arc<Page>, network: &Network) -> Option<f64> {
        bounds::lower_bound_ms(page, network)
    }

    fn open<'a>(&self, _plan: &'a Plan) -> Result<Box<dyn Loads + 'a>, StudyError> {
        Ok(Box::new(Self))
    }
}

impl Loads for Ideal {
    fn load(&self, of: &Task<'_>) -> Result<Loaded, StudyError> {
        let conditions = Conditions {
            send_buffer_bytes: of.cell.setting.send_buffer_bytes,
            send_buffer_model: of.plan.send_buffer_model,
            metadata: of.plan.metadata,
            delivery_order: of.plan.delivery_order,
            seed: of.cell.seed,
        };
        Ok(ideal::load(of.cell.page, of.scheme, of.network, conditions).into())
    }
}
