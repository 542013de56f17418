//! Another certificate and site for a running server.

use super::Server;
use crate::responder::Shared;
use crate::site::Site;
use crate::tls::transport_config;
use crate::{Identity, Options, TlsError};
use std::sync::Arc;

impl Server {
    /// Serves new connections with another certificate, site and options from now on. Open ones keep theirs. After an error, nothing has
    /// changed.
    ///
    /// These options stay as they were: the folder of logs and its limits, migration, observers, the orders that visitors try, and the key of stateless resets.
    pub fn reload(
        &mut self,
        identity: &Identity,
        site: impl Site + 'static,
        options: Options,
    ) -> Result<(), TlsError> {
        let observers = self.shared.options.observers.clone();
        let exploration = self.shared.options.exploration.clone();
        let options = Options { observers, exploration, ..options };
        let site: Arc<dyn Site> = Arc::new(site);
        let config = transport_config(identity, &options)?;
        if let Some(beside) = &self.beside {
            beside.renew(identity, Arc::clone(&site), options.clone())?;
        }
        self.config = config;
        self.admission.limit(&options.limits);
        let (alarm, joint) = (self.shared.alarm.clone(), self.shared.joint.clone());
        let pages = self.shared.pages.of_connection();
        let ledger = self.shard.ledger();
        self.shared = Arc::new(Shared { site, options, alarm, joint, pages, ledger });
        Ok(())
    }
}
