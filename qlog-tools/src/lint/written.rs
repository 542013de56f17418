//! When a response had bytes to send, from a sender's log that records its application's writes (`stream_data_moved`).

use schedulers::StreamId;

use super::story::{Event, What};

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
            state.written_bytes = state.written_bytes.max(end);
            // Before the packets of that time.
            kept.extend(state.change().map(|ready| (0, Event::ready(stream, time_us, ready))));
        }
        let (time_us, mut after) = (event.time_us, place);
        match event.what {
            What::Ready(_, ready) => state.is_inferred = ready,
            What::Sent(_, bytes) | What::ToppedUp(_, bytes) => {
                state.sent_bytes = state.sent_bytes.saturating_add(bytes);
                // Events after a packet follow it.
                after += 1;
            }
            _ => {}
        }
        if !matches!(event.what, What::Ready(..)) {
            kept.push((place, event));
        }
        kept.extend(state.change().map(|ready| (after, Event::ready(stream, time_us, ready))));
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
    fn change(&mut self) -> Option<bool> {
        let is_ready = self.is_inferred && self.written_bytes > self.sent_bytes;
        let is_new = is_ready != std::mem::replace(&mut self.is_ready, is_ready);
        is_new.then_some(is_ready)
    }
}
