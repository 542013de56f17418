//! The engine `browser` in a study: a real browser and the real server over UDP on loopback, in real time.

use crate::Loaded;
use crate::browsing::{self, BrowsingError, Setup, Stage};
use crate::study::StudyError;
use crate::study::plan::Plan;
use crate::study::plan::engine::{Clock, Engine, Facts, Loads, Refusal, Task};
use server::Options;
use std::path::Path;

static FACTS: Facts = Facts {
    name: "browser",
    about: "Chromium and the real server over UDP on loopback, through the lab's links, in real time",
    clock: Clock::Real,
    has_browser: true,
    // A browser cannot be controlled in these ways: it rejects pushes, and its internals are hidden.
    refuses: &[
        Refusal::new("--push", "takes no pushes, as no browser does today"),
        Refusal::new("--gate", "takes no pushes, as no browser does today"),
        Refusal::new("--migration", "has a browser, which knows no migration"),
        Refusal::new("--warm-up", "loads one page a connection"),
        Refusal::new("--delivery-order connection", "hands over bytes by stream"),
        Refusal::of_versions("has a browser that loads over HTTP/3 here"),
        Refusal::of_cross_traffic("has one client"),
    ],
};

pub(crate) struct Browser;

impl Engine for Browser {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn check(&self, plan: &Plan) -> Result<(), StudyError> {
        browser(plan).map(|_| ())
    }

    fn jobs(&self, _plan: &Plan, _cores: usize) -> usize {
        1
    }

    fn open<'a>(&self, plan: &'a Plan) -> Result<Box<dyn Loads + 'a>, StudyError> {
        Ok(Box::new(Opened { browser: browser(plan)?, stage: Stage::new()? }))
    }
}

fn browser(plan: &Plan) -> Result<&dyn browsing::Browser, StudyError> {
    plan.browser.as_deref().ok_or_else(|| {
        StudyError::Impossible("engine browser: the plan names no browser".to_owned())
    })
}

/// With the certificate and the port that all loads use.
struct Opened<'a> {
    browser: &'a dyn browsing::Browser,
    stage: Stage,
}

impl Loads for Opened<'_> {
    fn load(&self, of: &Task<'_>) -> Result<Loaded, StudyError> {
        let page = of.cell.page;
        let qlog_dir = of.kept_logs().map(Path::to_owned);
        let bodies = self.browser.site(page).map_err(BrowsingError::from)?;
        let setup = Setup {
            browser: self.browser,
            options: Options { qlog_dir, ..of.server_options() },
            site: of.cell.setting.push_and_hints().site_with(&[page], bodies, of.plan.metadata),
            links: of.links(),
            is_filmed: of.plan.film_dir.is_some(),
        };
        Ok(self.stage.load(page, setup)?)
    }
}
