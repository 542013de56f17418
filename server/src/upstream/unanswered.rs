//! Requests that a backend did not answer.

use crate::site::Trouble;
use std::error::Error;

impl Trouble {
    /// A response that the HTTP library does not take, with the causes.
    pub(super) fn improper(error: &dyn Error) -> Self {
        Self::Improper(causes(error))
    }
}

/// A request that was not answered.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) trouble: Trouble,
    /// The backend may have seen it.
    pub(super) was_sent: bool,
}

impl Unanswered {
    pub(super) fn sent(trouble: Trouble) -> Self {
        Self { trouble, was_sent: true }
    }

    pub(super) fn unsent(trouble: Trouble) -> Self {
        Self { trouble, was_sent: false }
    }
}

fn causes(error: &dyn Error) -> String {
    let cause = error.source().map(causes);
    cause.map_or_else(|| error.to_string(), |it| format!("{error}: {it}"))
}
