//! Connections that the event loop must call although no datagram arrived for them.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Rings when something has arrived. The server shares it with the threads that deliver.
#[derive(Clone, Default)]
pub struct Alarm(Arc<State>);

#[derive(Default)]
struct State {
    rung: Mutex<BTreeSet<u64>>,
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Alarm {
    /// Wakes the server's thread from now on. Only the first call counts.
    pub(crate) fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        self.0.wake.set(wake).ok();
        if !self.0.rung.lock().is_empty() {
            self.wake();
        }
    }

    /// The alarm of one connection, as the router numbers it.
    pub(crate) fn bell(&self, serial: u64) -> Arc<dyn Fn() + Send + Sync> {
        let alarm = self.clone();
        Arc::new(move || {
            // An earlier ring has woken the server already, or it has reacted.
            if alarm.0.rung.lock().insert(serial) {
                alarm.wake();
            }
        })
    }

    pub(crate) fn take(&self) -> BTreeSet<u64> {
        std::mem::take(&mut *self.0.rung.lock())
    }

    /// Wakes the server without naming a connection.
    pub fn wake(&self) {
        if let Some(wake) = self.0.wake.get() {
            wake();
        }
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Alarm").field(&*self.0.rung.lock()).finish()
    }
}
