//! A scheme's scheduler is told what happened, and asked before each packet who is next.

use schedulers::{Scheduler, Scheme, StreamId};

use super::story::{Story, What};
use super::{Allowance, Lint, Violation};

pub(super) fn judge(story: &Story, scheme: &Scheme, allowance: Allowance) -> Result<Lint, String> {
    let mut scheduler = Scheduler::build(scheme).map_err(|error| error.to_string())?;
    // What is inferred is off by what a sender hands to the system at once.
    let grace = if story.is_exact { 0 } else { allowance.packets };
    let mut lint = Lint::default();
    let mut overdue = Overdue::default();
    for event in &story.events {
        match event.what {
            What::Opened(stream, resource) => scheduler.open(stream, &resource),
            What::Signalled(signal) => scheduler.signal(signal),
            What::Ready(stream, ready) => scheduler.set_ready(stream, ready),
            What::Closed(stream) => scheduler.close(stream),
            What::ToppedUp(stream, bytes) => scheduler.sent(stream, bytes),
            What::Sent(stream, bytes) => {
                lint.packets_checked += 1;
                let expected = scheduler.pick();
                let packets = overdue.packets(expected, stream);
                if let Some(expected) = expected.filter(|it| *it != stream && packets > grace) {
                    lint.inversion_bytes = lint.inversion_bytes.saturating_add(bytes);
                    lint.violations.push(Violation {
                        time_us: event.time_us,
                        stream: stream.0,
                        expected_stream: expected.0,
                        bytes,
                        rule: format!("{}: stream {} is next", scheme.name, expected.0),
                    });
                }
                scheduler.sent(stream, bytes);
            }
        }
    }
    Ok(lint)
}

/// For how many packets in a row a stream has been next without being sent.
#[derive(Default)]
struct Overdue {
    stream: Option<StreamId>,
    packets: u64,
}

impl Overdue {
    fn packets(&mut self, expected: Option<StreamId>, sent: StreamId) -> u64 {
        if expected != self.stream || expected == Some(sent) {
            self.stream = expected;
            self.packets = 0;
        }
        if expected != Some(sent) {
            self.packets += 1;
        }
        self.packets
    }
}
