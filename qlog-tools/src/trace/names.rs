//! What logs, commands and figures call the parts of a trace.

use super::{Container, Stack, StreamRole, Vantage};

impl Vantage {
    /// As qlog writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Network => "network",
            Self::Unknown => "unknown",
        }
    }
}

impl Container {
    /// For readers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequence => "JSON-SEQ",
            Self::Lines => "NDJSON",
            Self::Contained => "contained JSON",
        }
    }
}

impl StreamRole {
    /// For readers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Push => "push",
            Self::Control => "control",
            Self::Qpack => "qpack",
            Self::Other => "other",
        }
    }
}

impl std::fmt::Display for Stack {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name.as_deref().unwrap_or("an unnamed program"))?;
        match (&self.version, &self.name) {
            (Some(version), Some(_)) => write!(formatter, " {version}"),
            (Some(version), None) => write!(formatter, " of version {version}"),
            (None, _) => Ok(()),
        }
    }
}
