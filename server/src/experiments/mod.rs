//! Experiments that join connections of one client ([`crate::together`]). The main path can be read and built without them:
//!
//! * Connection groups ([`group`]): several connections share an order.
//! * Stream migration ([`migrations`]): responses continue on other connections.

mod group;
mod migrations;

use crate::Options;
use crate::order::Joint;
use crate::together::{ConnectionEvent, Connections, Together};
use group::Groups;
use migrations::Migrations;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

struct Experiments {
    groups: Arc<Groups>,
    migrations: Option<Migrations>,
}

/// The experiments that an operator wants, if any: the part that admits connections to an order, and the part that joins them
/// otherwise.
pub(crate) fn wanted(options: &Options) -> Option<(Arc<dyn Joint>, Box<dyn Together>)> {
    let (connections, policy) = (options.experiments.group_connections, options.migration);
    if connections == 0 && policy.is_none() {
        return None;
    }
    let groups = Arc::new(Groups::new(connections));
    let migrations = policy.map(Migrations::new);
    Some((groups.clone(), Box::new(Experiments { groups, migrations })))
}

impl Together for Experiments {
    fn update(
        &mut self,
        serial: u64,
        event: ConnectionEvent,
        all: &mut dyn Connections,
        now: Instant,
    ) -> BTreeSet<u64> {
        let next = self.groups.update(serial, event, all.responder(serial));
        let mut touched = match &mut self.migrations {
            Some(migrations) => migrations.update(serial, event, all, now),
            None => BTreeSet::new(),
        };
        touched.extend(next);
        touched
    }

    fn turn(&self, serial: u64) -> Option<u64> {
        self.groups.turn(serial)
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.migrations.as_ref()?.next_timeout()
    }

    fn on_timeout(&mut self, all: &mut dyn Connections, now: Instant) -> BTreeSet<u64> {
        self.migrations.as_mut().map(|it| it.on_timeout(all, now)).unwrap_or_default()
    }
}
