//! A scenario from its first slot to its last, with its events.

use super::{Request, Scenario, TreeSignal};
use schedulers::{Element, Scheduler, Scheme, StreamId};
use std::collections::BTreeMap;
use std::fmt;

/// An event of a slot, in this order: requests arrive, signals arrive, responses become ready, a packet is sent, its
/// stream is closed if that was the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The request of this stream arrived.
    Opened(u64),
    /// The request of this stream arrived, and its response is empty.
    Empty(u64),
    /// A signal about this node arrived.
    Signalled(Element),
    /// The response of this stream is available.
    Ready(u64),
    /// This stream got the slot's packet, with this many bytes.
    Sent(u64, u64),
    /// The response of this stream is completely sent.
    Closed(u64),
}

impl What {
    /// Whether it happens before the packet of its slot is decided.
    pub fn is_before_packet(self) -> bool {
        !matches!(self, Self::Sent(..) | Self::Closed(_))
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened(stream) => write!(f, "stream {stream} opened"),
            Self::Empty(stream) => write!(f, "stream {stream} opened and closed, empty"),
            Self::Signalled(element) => write!(f, "{element} signalled"),
            Self::Ready(stream) => write!(f, "stream {stream} ready"),
            Self::Sent(stream, bytes) => write!(f, "stream {stream} sent {bytes} bytes"),
            Self::Closed(stream) => write!(f, "stream {stream} closed"),
        }
    }
}

/// Schedules a scenario under `scheme` and passes slot, event, and the scheduler's state after it to `watch`; an error
/// from `watch` ends it.
pub(super) fn play<E>(
    scenario: &Scenario,
    scheme: &Scheme,
    mut watch: impl FnMut(u64, What, &Scheduler) -> Result<(), E>,
) -> Result<(), E> {
    let mut playing = Playing::new(scenario, scheme);
    let mut slot = 0;
    loop {
        playing.arrive(slot, &mut |what, scheduler: &Scheduler| watch(slot, what, scheduler))?;
        if playing.send(&mut |what, scheduler: &Scheduler| watch(slot, what, scheduler))? {
            slot += 1;
        } else if let Some(next) = playing.next_event() {
            slot = next;
        } else {
            return Ok(());
        }
    }
}

/// A scenario at some slot.
struct Playing<'a> {
    scheduler: Scheduler,
    packet_bytes: u64,
    /// By slot: its requests, then its signals.
    to_arrive: BTreeMap<u64, (Vec<&'a Request>, Vec<&'a TreeSignal>)>,
    /// Streams by the slot at which their responses are available.
    to_be_ready: BTreeMap<u64, Vec<u64>>,
    /// Bytes left of each open stream.
    left: BTreeMap<u64, u64>,
}

impl<'a> Playing<'a> {
    fn new(scenario: &'a Scenario, scheme: &Scheme) -> Self {
        Self {
            scheduler: Scheduler::new(scheme),
            packet_bytes: scenario.packet_bytes,
            to_arrive: scenario.arrivals(),
            to_be_ready: BTreeMap::new(),
            left: BTreeMap::new(),
        }
    }

    /// Handles arrivals and available responses up to `slot`.
    fn arrive<E>(
        &mut self,
        slot: u64,
        watch: &mut impl FnMut(What, &Scheduler) -> Result<(), E>,
    ) -> Result<(), E> {
        let (requests, signals) = self.to_arrive.remove(&slot).unwrap_or_default();
        for request in requests {
            let stream = StreamId(request.stream);
            self.scheduler.open(stream, &request.resource);
            if request.bytes == 0 {
                self.scheduler.close(stream);
                watch(What::Empty(request.stream), &self.scheduler)?;
                continue;
            }
            watch(What::Opened(request.stream), &self.scheduler)?;
            self.left.insert(request.stream, request.bytes);
            let available = request.arrival_slot + request.wait_slots;
            self.to_be_ready.entry(available).or_default().push(request.stream);
        }
        for signal in signals {
            self.scheduler.signal(signal.in_tree());
            watch(What::Signalled(signal.element), &self.scheduler)?;
        }
        while let Some(entry) = self.to_be_ready.first_entry()
            && *entry.key() <= slot
        {
            for stream in entry.remove() {
                self.scheduler.set_ready(StreamId(stream), true);
                watch(What::Ready(stream), &self.scheduler)?;
            }
        }
        Ok(())
    }

    /// Sends the slot's packet, if there is one.
    fn send<E>(
        &mut self,
        watch: &mut impl FnMut(What, &Scheduler) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(stream) = self.scheduler.pick() else { return Ok(false) };
        let Some(left) = self.left.get_mut(&stream.0) else { return Ok(false) };
        let bytes = self.packet_bytes.min(*left);
        *left -= bytes;
        let is_whole = *left == 0;
        self.scheduler.sent(stream, bytes);
        watch(What::Sent(stream.0, bytes), &self.scheduler)?;
        if is_whole {
            self.left.remove(&stream.0);
            self.scheduler.close(stream);
            watch(What::Closed(stream.0), &self.scheduler)?;
        }
        Ok(true)
    }

    /// The next slot in which something arrives or becomes available.
    fn next_event(&self) -> Option<u64> {
        let arrival = self.to_arrive.first_key_value().map(|(slot, _)| *slot);
        let ready = self.to_be_ready.first_key_value().map(|(slot, _)| *slot);
        arrival.into_iter().chain(ready).min()
    }
}
