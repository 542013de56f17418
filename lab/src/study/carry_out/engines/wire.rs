//! The engine `wire` in a study: the real programs over UDP on loopback, in real time.

use crate::study::StudyError;
use crate::study::plan::Plan;
use crate::study::plan::engine::{Clock, Engine, Facts, Loaded, Loads, Refusal, Task};
use crate::wire::{Setup, WireLoad, load};
use server::Options;
use std::path::Path;

/// Loads at a time if the server paces: such loads mostly wait.
const PACED_JOBS: usize = 16;

static FACTS: Facts = Facts {
    name: "wire",
    about: "The real server and client over UDP on loopback, through the lab's links, in real time",
    clock: Clock::Real,
    has_browser: false,
    refuses: &[Refusal::of_cross_traffic("has one client")],
};

pub(crate) struct Wire;

impl Engine for Wire {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    /// A link in real time must not be late: it has a core to itself.
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
            metadata: of.plan.metadata,
            delivery_order: of.plan.delivery_order,
            log_dir,
        };
        let WireLoad { load, problems, outcome } = load(&first, setup)?;
        Ok(Loaded::last(&first, &then, load, problems, outcome))
    }
}
