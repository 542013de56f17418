//! A server of the same site beside this one, on a transport other than QUIC.

use super::Server;
use crate::account::Ledger;
use crate::alarm::Alarm;
use crate::population::Population;
use crate::qlog_files::QlogFolder;
use crate::site::Site;
use crate::{Identity, Options, TlsError};
use parking_lot::Mutex;
use std::sync::Arc;

/// A server that is reloaded and ends with another one, on a thread of its own.
pub trait Companion: Send {
    /// Serves new connections with this from now on. After an error, nothing has changed.
    fn renew(
        &self,
        identity: &Identity,
        site: Arc<dyn Site>,
        options: Options,
    ) -> Result<(), TlsError>;

    /// Accepts no more connections, and lets responses in progress finish.
    fn drain(&self);

    /// Whether all connections have ended. [`Alarm::wake`] signals that this has changed.
    fn is_over(&self) -> bool;

    /// Ends everything. Returns how many connections there were.
    fn cut(&self) -> usize;
}

/// The state shared by servers beside each other.
pub struct Common {
    /// The site that they serve.
    pub site: Arc<dyn Site>,
    /// How they run.
    pub options: Options,
    /// The admitted clients, whose limits apply to all servers together.
    pub population: Arc<Mutex<Population>>,
    /// The accounts of clients, for all servers together.
    pub ledger: Arc<Ledger>,
    /// Wakes the first server.
    pub alarm: Alarm,
    /// The folder of logs, if there is one.
    pub qlogs: Option<QlogFolder>,
}

impl Server {
    /// The state that a server beside this one shares with it.
    pub fn common(&self) -> Common {
        Common {
            site: Arc::clone(&self.shared.site),
            options: self.shared.options.clone(),
            population: self.shard.population(),
            ledger: self.shard.ledger(),
            alarm: self.shard.alarm(),
            qlogs: self.qlogs.clone(),
        }
    }

    /// Reloads and ends another server together with this one.
    pub fn stand_beside(&mut self, other: impl Companion + 'static) {
        self.beside = Some(Box::new(other));
    }
}
