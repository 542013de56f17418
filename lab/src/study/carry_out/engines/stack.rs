//! The engine `stack` in a study: the real cores through the lab's links, in virtual time.

use crate::Loaded;
use crate::stack::{Ends, Setup, StackLoad, load_between};
use crate::study::StudyError;
use crate::study::plan::Plan;
use crate::study::plan::engine::{Clock, Engine, Facts, Loads, Refusal, Task};
use server::Identity;

static FACTS: Facts = Facts {
    name: "stack",
    about: "The real server and client through the lab's links, in virtual time",
    clock: Clock::Virtual,
    has_browser: false,
    refuses: &[Refusal::of_versions(
        "plays pages back over HTTP/3 only, because TCP is the system's",
    )],
};

pub(crate) struct Stack;

impl Engine for Stack {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn open<'a>(&self, _plan: &'a Plan) -> Result<Box<dyn Loads + 'a>, StudyError> {
        Ok(Box::new(Certified { identity: Identity::self_signed()? }))
    }
}

/// With the certificate that all its servers use.
struct Certified {
    identity: Identity,
}

impl Loads for Certified {
    fn load(&self, of: &Task<'_>) -> Result<Loaded, StudyError> {
        let (plan, setting) = (of.plan, &of.cell.setting);
        let setup = Setup {
            options: of.server_options(),
            network: of.network,
            cross: setting.cross.unwrap_or_default(),
            metadata: plan.metadata,
            delivery_order: plan.delivery_order,
            seed: of.cell.seed,
            identity: &self.identity,
            log_dir: of.kept_logs(),
            unfinished_log_dir: of.logs,
        };
        let (first, client) = of.client();
        let pages = [of.cell.page.as_ref(), first.as_ref()];
        let pages = if client.then.is_empty() { &pages[..1] } else { &pages };
        let site = setting.push_and_hints().site_of(pages, None, plan.metadata);
        let ends = Ends { site, client };
        let StackLoad { load, problems, outcome, .. } = load_between(&first, &ends, setup)?;
        let loaded = Loaded { problems, outcome, ..load.into() };
        Ok(loaded.last(&first, &ends.client.then))
    }
}
