//! The migrations of SMig (Mi, Qian, Wang 2016, section 4): a large response leaves the connection of its request.

use client::Migrating;
use migration::{Policy, SizeRule};
use serde::{Deserialize, Serialize};

const KB: u64 = 1000;
/// "All but the first 100 KB".
const FIRST_BYTES: u64 = 100 * KB;
/// The paper's servers move responses above this size.
const ABOVE_BYTES: u64 = 500 * KB;

schedulers::named! {
    /// The end that starts a migration, and the part of the response that moves.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum StreamMigration {
        /// All responses stay.
        #[default]
        #[serde(rename = "none")]
        None = "none",
        /// The server moves each response of more than 500 KB.
        #[serde(rename = "MigSW")]
        ServerWhole = "MigSW",
        /// The server moves all but the first 100 KB of such a response.
        #[serde(rename = "MigSP")]
        ServerPart = "MigSP",
        /// The client asks to move each response after its first 100 KB.
        #[serde(rename = "MigCP")]
        ClientPart = "MigCP",
    }
}

impl StreamMigration {
    /// The server's rules.
    pub fn policy(self) -> Option<Policy> {
        let size = Some(SizeRule { above_bytes: ABOVE_BYTES, beside: 0 });
        match self {
            Self::None => None,
            Self::ServerWhole => Some(Policy { size, ..Policy::default() }),
            Self::ServerPart => {
                Some(Policy { size, after_bytes: FIRST_BYTES, ..Policy::default() })
            }
            Self::ClientPart => Some(Policy::default()),
        }
    }

    /// The client's part, with an idle connection ready, or without one.
    pub fn migrating(self, keeps_spare: bool) -> Option<Migrating> {
        let ask_after_bytes = (self == Self::ClientPart).then_some(FIRST_BYTES);
        (self != Self::None).then_some(Migrating { keeps_spare, ask_after_bytes })
    }
}
