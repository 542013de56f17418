//! Whether a scheme failed while it ran.

use std::sync::{Arc, OnceLock};

/// Remembers the first failure of a scheme's halves. A scheme and its clones share one.
///
/// A half that fails goes on with some other order, because a connection must not break. So code that measures an order asks
/// afterwards whether it was the scheme's.
#[derive(Debug, Clone, Default)]
pub struct SchemeFailure {
    first: Arc<OnceLock<String>>,
    /// Where the scheme notes it that this one was made [from](crate::Scheme::watched).
    whole: Option<Arc<SchemeFailure>>,
}

impl SchemeFailure {
    /// Nothing failed yet; what fails here fails there, too.
    pub(crate) fn within(&self) -> Self {
        Self { first: Arc::default(), whole: Some(Arc::new(self.clone())) }
    }

    /// A half failed: the cause in a line. Only the first one is kept.
    pub fn note(&self, cause: &str) {
        self.first.get_or_init(|| cause.to_owned());
        if let Some(whole) = &self.whole {
            whole.note(cause);
        }
    }

    /// The first cause; `None`: nothing failed.
    pub fn cause(&self) -> Option<&str> {
        self.first.get().map(String::as_str)
    }
}
