//! When a response had bytes to send, from a sender's log that records its application's writes (`stream_data_moved`).

use schedulers::StreamId;

use super::story::{Event, What};

enum Step {
    /// The application has written the stream up to here.
    Written(u64),
    /// This many more bytes were sent.
    Sent(u64),
    /// It is inferred to be ready, or not.
    Ready(bool),
    Other,
}

/// The stream's events, ready only while it has written but unsent bytes. `written` has the time and the end offset of
/// each write; `events` are the inferred ones, each with its rank among events of the same time.
pub(super) fn while_written(
    stream: StreamId,
    mut events: Vec<(u64, Event)>,
    written: &[(u64, u64)],
) -> Vec<(u64, Event)> {
    events.sort_by_key(|(place, event)| (event.time_us, *place, event.what.rank()));
    let mut writes = written.iter().copied().peekable();
    let mut kept = Vec::with_capacity(events.len());
    let mut state = State::default();
    for (place, event) in events {
        while let Some((time_us, end)) = writes.next_if(|write| write.0 <= event.time_us) {
            if let Some(ready) = state.take(&Step::Written(end)) {
                // Before the packets of that time.
                kept.push((0, Event::ready(stream, time_us, ready)));
            }
        }
        let step = match event.what {
            What::Ready(_, ready) => Step::Ready(ready),
            What::Sent(_, bytes) | What::ToppedUp(_, bytes) => Step::Sent(bytes),
            _ => Step::Other,
        };
        let time_us = event.time_us;
        if !matches!(step, Step::Ready(_)) {
            kept.push((place, event));
        }
        if let Some(ready) = state.take(&step) {
            // Events after a packet follow it.
            let after = if matches!(step, Step::Sent(_)) { place + 1 } else { place };
            kept.push((after, Event::ready(stream, time_us, ready)));
        }
    }
    kept
}

#[derive(Default)]
struct State {
    written_bytes: u64,
    sent_bytes: u64,
    is_inferred: bool,
    is_ready: bool,
}

impl State {
    /// Whether it is ready now, if that has changed.
    fn take(&mut self, step: &Step) -> Option<bool> {
        match *step {
            Step::Written(end) => self.written_bytes = self.written_bytes.max(end),
            Step::Sent(bytes) => self.sent_bytes = self.sent_bytes.saturating_add(bytes),
            Step::Ready(is_inferred) => self.is_inferred = is_inferred,
            Step::Other => {}
        }
        let is_ready = self.is_inferred && self.written_bytes > self.sent_bytes;
        let is_new = is_ready != std::mem::replace(&mut self.is_ready, is_ready);
        is_new.then_some(is_ready)
    }
}
