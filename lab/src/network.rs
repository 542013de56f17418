//! Networks by name: the rate and the delay of a link.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// A network, resolved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Network {
    /// Its name, or the file that it was read from.
    pub name: String,
    /// Bits of stream data a second.
    pub rate: f64,
    /// One way, in milliseconds.
    pub delay_ms: f64,
}

/// Stream bytes of one packet.
pub const PACKET_BYTES: u64 = 1400;

const BUILT_IN: [(&str, &str); 4] = [
    ("paper", include_str!("../networks/paper.toml")),
    ("2g", include_str!("../networks/2g.toml")),
    ("3g", include_str!("../networks/3g.toml")),
    ("cable", include_str!("../networks/cable.toml")),
];

/// A network file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    #[serde(rename = "about")]
    _about: Option<String>,
    rate: f64,
    #[serde(default)]
    delay_ms: f64,
    #[serde(rename = "queue")]
    _queue: Option<Queue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Queue {
    Unlimited,
}

/// A network that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// No such name.
    #[error(
        "no network named `{name}`; there are {known}, or a file whose name has a `/` or ends in `.toml`"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no network.
    #[error("{file}: {cause}")]
    Malformed {
        /// The file.
        file: String,
        /// Place and cause.
        cause: String,
    },
}

impl Network {
    /// A built-in network by its name, or a file.
    pub fn find(argument: &str) -> Result<Self, NetworkError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == argument) {
            return Self::parse(name, text);
        }
        let is_file = argument.contains('/')
            || Path::new(argument).extension().is_some_and(|it| it == "toml");
        if !is_file {
            let known = BUILT_IN.map(|(name, _)| name).join(", ");
            return Err(NetworkError::Unknown { name: argument.to_owned(), known });
        }
        let text = std::fs::read_to_string(argument)
            .map_err(|source| NetworkError::Unreadable { file: argument.to_owned(), source })?;
        Self::parse(argument, &text)
    }

    /// Microseconds that one packet takes.
    pub fn tick_us(&self) -> f64 {
        PACKET_BYTES as f64 * 8.0 * 1e6 / self.rate
    }

    fn parse(name: &str, text: &str) -> Result<Self, NetworkError> {
        let malformed = |cause: String| NetworkError::Malformed { file: name.to_owned(), cause };
        let profile: Profile = toml::from_str(text).map_err(|error| {
            let line = server::line_of(&error, text);
            malformed(format!("line {line}: {}", error.message()))
        })?;
        if !(1e3..=1e11).contains(&profile.rate) {
            return Err(malformed(format!(
                "rate = {}: bits a second, from 1e3 to 1e11",
                profile.rate
            )));
        }
        if !(0.0..=60_000.0).contains(&profile.delay_ms) {
            return Err(malformed(format!("delay_ms = {}: from 0 to 60000", profile.delay_ms)));
        }
        Ok(Self { name: name.to_owned(), rate: profile.rate, delay_ms: profile.delay_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_of_the_papers_network_takes_ten_milliseconds() {
        let network = Network::find("paper").expect("built in");
        assert!((network.tick_us() - 10_000.0).abs() < 1e-9);
        for (name, _) in BUILT_IN {
            assert!(Network::find(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_bad_network_is_refused_by_file_line_and_cause() {
        let cases = [
            ("rate = 1e6\nloss = 0.1", "x.toml: line 2: unknown field `loss`"),
            ("rate = 0", "x.toml: rate = 0: bits a second"),
            ("delay_ms = 1", "x.toml: line 1: missing field `rate`"),
        ];
        for (text, expected) in cases {
            let message = Network::parse("x.toml", text).expect_err(text).to_string();
            assert!(message.starts_with(expected), "{message}");
        }
        assert!(
            Network::find("4g")
                .expect_err("unknown")
                .to_string()
                .contains("there are paper, 2g, 3g, cable")
        );
    }
}
