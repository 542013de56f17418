//! Whether a scheme failed while it ran.

use std::sync::{Arc, OnceLock};

/// Stores the first failure of a scheme's halves. A scheme and its clones share one.
///
/// A half that fails continues with some other order, because a connection must not break. So code that measures an order
/// must check afterwards whether it was the scheme's.
#[derive(Debug, Clone, Default)]
pub struct SchemeFailure {
    first: Arc<OnceLock<String>>,
    /// The failure of the original scheme, if this one was made [from it](crate::Scheme::watched).
    whole: Option<Arc<SchemeFailure>>,
}

impl SchemeFailure {
    /// An empty failure whose entries are also recorded in this one.
    pub(crate) fn within(&self) -> Self {
        Self { first: Arc::default(), whole: Some(Arc::new(self.clone())) }
    }

    /// Records the failure of a half, with a one-line cause. Only the first one is kept.
    pub fn note(&self, cause: &str) {
        self.first.get_or_init(|| cause.to_owned());
        if let Some(whole) = &self.whole {
            whole.note(cause);
        }
    }

    /// The first cause; `None` if nothing failed.
    pub fn cause(&self) -> Option<&str> {
        self.first.get().map(String::as_str)
    }
}
