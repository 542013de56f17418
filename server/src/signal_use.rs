//! How a server uses its clients' priority signals.

/// How a server uses its clients' priority signals.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum SignalUse {
    /// The client's signals place its streams; the server's own knowledge of the page is not used.
    Obey,
    /// The server places streams by its own knowledge of the page.
    Ignore,
    /// The client's signals, on top of what the server knows.
    Override,
}

impl SignalUse {
    /// The name that flags and configuration files use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Obey => "obey",
            Self::Ignore => "ignore",
            Self::Override => "override",
        }
    }

    /// Whether the server's own knowledge of a resource is used.
    pub fn uses_knowledge(self) -> bool {
        self != Self::Obey
    }

    /// Whether the client's signals are used.
    pub fn uses_signals(self) -> bool {
        self != Self::Ignore
    }
}
