//! The pages to play, one after another on the same connection.

use crate::limits::PAGES_MAX;
use crate::values;
use ::client::NextPage;
use ::client::profile::Profile;
use ::corpus::Page;
use ::serve::Failure;
use std::sync::Arc;
use std::time::Duration;

/// The pages, and the pauses and caching between them.
#[derive(Debug, clap::Args)]
pub(super) struct Pages {
    /// A page: a bundled name, or a file. Several pages load one after another on the same connection
    #[arg(required = true, value_name = "PAGE", num_args = 1..=PAGES_MAX)]
    names: Vec<String>,
    /// Milliseconds that the user spends on each page
    #[arg(long, value_name = "MS", value_parser = super::cancels::milliseconds, default_value = "0")]
    think: Duration,
    /// How many seconds responses of the server in this process stay fresh, except documents, if there are several
    /// pages
    #[arg(
        long,
        hide_short_help = true,
        value_name = "SECONDS",
        default_value_t = 3600,
        conflicts_with = "server"
    )]
    fresh: u64,
}

impl Pages {
    /// Reads the pages as the client of `profile` would load them.
    pub(super) fn read(&self, profile: Option<&Profile>) -> Result<Vec<Arc<Page>>, Failure> {
        let mut pages = Vec::new();
        for name in &self.names {
            let page = values::page(name)?;
            pages.push(Arc::new(match profile {
                Some(profile) => profile.applied_to(page),
                None => page,
            }));
        }
        Ok(pages)
    }

    pub(super) fn are_several(&self) -> bool {
        self.names.len() > 1
    }

    pub(super) fn after_think_time(&self, pages: &[Arc<Page>]) -> Vec<NextPage> {
        pages.iter().map(|it| NextPage { page: Arc::clone(it), think: self.think }).collect()
    }

    pub(super) fn fresh_s(&self) -> Option<u64> {
        self.are_several().then_some(self.fresh)
    }
}
