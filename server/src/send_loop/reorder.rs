//! Another scheduler takes over, once a client's SETTINGS say which one it is.

use super::SendLoop;
use crate::order::Order;
use crate::qlog_events;
use schedulers::{Resource, Scheme, Signal, StreamId};

/// What a scheduler was told that another one would have to know.
pub(super) enum Told {
    Opened(StreamId, Resource),
    Signalled(Signal),
}

impl Told {
    pub(super) fn stream(&self) -> Option<StreamId> {
        match self {
            Self::Opened(stream, _) => Some(*stream),
            Self::Signalled(signal) => signal.stream(),
        }
    }
}

impl SendLoop {
    /// From now on another scheduler orders what is under way and what comes: it is told what the one before
    /// was told of responses that are still under way. Not after [`Self::settle_order`].
    pub(crate) fn reorder(&mut self, quic: &mut quiche::Connection, scheme: &Scheme, order: Order) {
        qlog_events::scheme(quic, &scheme.name, matches!(order, Order::Shared(_)));
        self.order = order;
        self.scheme.clone_from(&scheme.name);
        let history = self.history.take();
        for told in history.iter().flatten() {
            match told {
                Told::Opened(stream, resource) => {
                    qlog_events::opened(quic, *stream, resource);
                    self.order.open(*stream, resource);
                }
                Told::Signalled(signal) => {
                    qlog_events::signalled(quic, signal);
                    self.order.signal(*signal);
                }
            }
        }
        self.history = history;
        let waiting = |it: &StreamId| self.queue.pending(*it) > 0;
        let waiting: Vec<StreamId> = self.queue.streams().filter(waiting).collect();
        for stream in waiting {
            self.set_ready_if_open(quic, stream);
        }
    }

    /// Sends in the order of `scheme` from now on, unless responses are under way or others share the order.
    pub(crate) fn adopt(&mut self, quic: &mut quiche::Connection, scheme: &Scheme) {
        let alone = matches!(self.order, Order::Alone(_));
        if alone && self.queue.is_empty() && self.buffer.bytes() == 0 {
            self.reorder(quic, scheme, Order::alone(scheme));
        }
    }

    /// The scheduler stays the one that it is.
    pub(crate) fn settle_order(&mut self) {
        self.history = None;
    }
}
