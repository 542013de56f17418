//! How a server uses its clients' priority signals.

use schedulers::{Metadata, Priority, Resource, Signal};

schedulers::named! {
    /// How a server uses its clients' priority signals.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum SignalUse {
        /// The client's signals place its streams; the server's own knowledge of the page is not used.
        Obey = "obey",
        /// The server places streams by its own knowledge of the page.
        Ignore = "ignore",
        /// The client's signals, in addition to the server's knowledge.
        Override = "override",
    }
}

impl SignalUse {
    /// Whether the server's own knowledge of a resource is used.
    pub fn uses_knowledge(self) -> bool {
        self != Self::Obey
    }

    /// Whether the client's signals are used.
    pub fn uses_signals(self) -> bool {
        self != Self::Ignore
    }

    /// The resource as the scheduler sees it: the site provides `known`, and the client `said` the rest.
    pub fn resource(self, known: &Resource, said: Option<Metadata>) -> Resource {
        let known = if self.uses_knowledge() {
            *known
        } else {
            Resource { body_bytes: known.body_bytes, ..Resource::default() }
        };
        let said = said.filter(|_| self.uses_signals());
        said.map_or(known, |it| it.refine(&known))
    }

    /// The signal that the scheduler gets when the client sends `signal`. The operator's directive replaces its part of it (RFC
    /// 9218, 8). `None`: the scheduler gets nothing.
    pub fn heard(self, signal: Signal, directive: Option<Priority>) -> Option<Signal> {
        if !self.uses_signals() {
            return None;
        }
        let Signal::Extensible { stream, urgency, incremental } = signal else {
            return Some(signal);
        };
        let said = Priority::new(urgency, incremental);
        let merged = said.overridden_by(directive.unwrap_or_default());
        let (urgency, incremental) = (merged.urgency_or_default(), merged.incremental_or_default());
        Some(Signal::Extensible { stream, urgency, incremental })
    }
}

/// How the signals of a connection are used, from page to page.
#[derive(Debug)]
pub struct PageSignals {
    used: SignalUse,
    has_page: bool,
}

impl PageSignals {
    /// `used`: until a page begins.
    pub fn new(used: SignalUse) -> Self {
        Self { used, has_page: false }
    }

    /// A page begins, with a use of signals of its own. `None`: it joins the pages in progress.
    pub fn begin_page(&mut self, used: Option<SignalUse>) {
        self.used = used.unwrap_or(self.used);
        self.has_page = true;
    }

    /// How they are used now.
    pub fn used(&self) -> SignalUse {
        self.used
    }

    /// A response's directive, if it holds. A browser that changes to HTTP/3 during a page asks for the rest of the page on a connection
    /// that has not seen the document, so all directives hold there.
    pub fn directive(&self, directive: Option<Priority>) -> Option<Priority> {
        directive.filter(|_| self.used == SignalUse::Override || !self.has_page)
    }
}
