//! The writer of a log, and the form in which it wrote.

/// The program that wrote a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stack {
    /// Its name (`quiche`), as recognized, otherwise as logged.
    pub name: Option<String>,
    /// Its version, when the log gives one.
    pub version: Option<String>,
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

schedulers::named! {
    /// How a file is divided into events.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Container {
        /// JSON text sequences (RFC 7464).
        #[default]
        Sequence = "JSON-SEQ",
        /// One JSON object per line.
        Lines = "NDJSON",
        /// One JSON document with all events inside.
        Contained = "contained JSON",
    }
}

schedulers::named! {
    /// The side that wrote the log.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Vantage {
        /// The side that sends requests.
        Client = "client",
        /// The side that sends responses.
        Server = "server",
        /// A point between the ends. Its packets are sent and received as the client saw them,
        /// unless the log states that they flow as the server's.
        Network = "network",
        /// The log does not state it, and nothing in it shows it.
        #[default]
        Unknown = "unknown",
    }
}
