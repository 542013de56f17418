//! Answers for requests that a backend did not answer.

use server::site::BackendFailure;

/// A request that was not answered.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) trouble: BackendFailure,
    /// The backend may have seen it.
    pub(super) was_sent: bool,
}

impl Unanswered {
    pub(super) fn sent(trouble: BackendFailure) -> Self {
        Self { trouble, was_sent: true }
    }
}
