//! RFC 9218, section 10: the lowest urgency number goes first; of equal urgency, non-incremental responses go one
//! after another in the order of their streams, and incremental ones share. It does not define the order of a mix of
//! both.

use std::collections::BTreeMap;

use schedulers::{Call, Signal, StreamId};

use super::story::{Event, Story, What};
use super::{Allowance, Lint, Violation};

/// RFC 9218 states that incremental responses share, but not how finely: this many consecutive bytes still count as
/// sharing.
const SHARE_BYTES: u64 = 65_536;
const URGENCY: u8 = 3;

pub(super) fn judge(story: &Story, allowance: Allowance) -> Lint {
    let grace = if story.is_exact { 1 } else { allowance.packets };
    let has_urgencies_only = story.has_urgencies_only;
    let mut judge = Judge { grace, has_urgencies_only, ..Judge::default() };
    for event in &story.events {
        judge.event(event);
    }
    judge.lint
}

#[derive(Default)]
struct Judge {
    streams: BTreeMap<StreamId, State>,
    /// The stream that sent last, and its number of consecutive bytes.
    row: Option<(StreamId, u64)>,
    grace: u64,
    has_urgencies_only: bool,
    lint: Lint,
}

struct State {
    urgency: u8,
    incremental: bool,
    is_ready: bool,
    /// Whether it may have nothing to send although it is ready.
    is_doubtful: bool,
    /// Packets of all streams since it became ready, or was placed again.
    packets_since: u64,
}

impl State {
    fn priority(&self) -> String {
        format!("u={}{}", self.urgency, if self.incremental { ", i" } else { "" })
    }
}

impl Judge {
    fn event(&mut self, event: &Event) {
        match event.what {
            What::Call(ref call) => self.call(call),
            What::Doubtful(stream) => self.state(stream).is_doubtful = true,
            // A stream that fills up a packet gets these bytes.
            What::ToppedUp(stream, bytes) => {
                self.state(stream).is_doubtful = false;
                if self.row.is_some_and(|(last, _)| last != stream) {
                    self.row = Some((stream, bytes));
                }
            }
            What::Ready(stream, is_ready) => {
                let state = self.state(stream);
                if is_ready && !state.is_ready {
                    state.packets_since = 0;
                }
                state.is_ready = is_ready;
            }
            What::Sent(stream, bytes) => self.sent(event.time_us, stream, bytes),
            What::Closed(stream) => {
                self.streams.remove(&stream);
            }
        }
    }

    fn call(&mut self, call: &Call) {
        match *call {
            Call::Open(stream, _) => {
                self.state(stream);
            }
            Call::Signal(Signal::Extensible { stream, urgency, incremental }) => {
                let state = self.state(stream);
                if (state.urgency, state.incremental) != (urgency, incremental) {
                    *state = State { urgency, incremental, packets_since: 0, ..*state };
                }
            }
            _ => {}
        }
    }

    fn state(&mut self, stream: StreamId) -> &mut State {
        self.streams.entry(stream).or_insert(State {
            urgency: URGENCY,
            incremental: false,
            is_ready: false,
            is_doubtful: false,
            packets_since: 0,
        })
    }

    fn sent(&mut self, time_us: u64, stream: StreamId, bytes: u64) {
        self.lint.packets_checked += 1;
        let row = match self.row {
            Some((last, row)) if last == stream => row.saturating_add(bytes),
            _ => bytes,
        };
        self.row = Some((stream, row));
        self.state(stream).is_doubtful = false;
        if let Some((expected, rule)) = self.broken(stream, row) {
            let (stream, expected_stream) = (stream.0, expected.0);
            self.lint.add(bytes, || Violation { time_us, stream, expected_stream, bytes, rule });
        }
        self.streams.values_mut().for_each(|state| state.packets_since += 1);
    }

    /// The stream that should have gone before a packet of `stream`, and why.
    fn broken(&self, stream: StreamId, row_bytes: u64) -> Option<(StreamId, String)> {
        let this = self.streams.get(&stream)?;
        let waiting = self
            .streams
            .iter()
            .filter(|(other, state)| **other != stream && state.is_ready && !state.is_doubtful)
            .filter(|(_, state)| state.packets_since >= self.grace);
        let first = waiting.clone().min_by_key(|(other, state)| (state.urgency, **other));
        if let Some((other, state)) = first.filter(|(_, state)| state.urgency < this.urgency) {
            let rule = format!(
                "RFC 9218, section 10: lower urgency numbers first; stream {} ({}) waited while stream {} ({}) was sent",
                other.0,
                state.priority(),
                stream.0,
                this.priority()
            );
            return Some((*other, rule));
        }
        if self.has_urgencies_only {
            return None;
        }
        let mut alike = waiting.filter(|(_, state)| {
            state.urgency == this.urgency && state.incremental == this.incremental
        });
        if !this.incremental {
            let (other, state) = alike.find(|(other, _)| **other < stream)?;
            let rule = format!(
                "RFC 9218, section 10: of one urgency, one after another by stream ID; stream {} ({}) was not complete",
                other.0,
                state.priority()
            );
            return Some((*other, rule));
        }
        let (other, state) = alike.next().filter(|_| row_bytes > SHARE_BYTES)?;
        let rule = format!(
            "RFC 9218, section 10: incremental responses share; stream {} ({}) got nothing while {row_bytes} bytes of stream {} went",
            other.0,
            state.priority(),
            stream.0
        );
        Some((*other, rule))
    }
}
