//! Replays events to a scheme's scheduler, and compares its choice before each packet.

use std::collections::BTreeSet;

use schedulers::{Call, Scheduler, Scheme, StreamId, find_page_scheme};

use super::story::{Story, What};
use super::{Allowance, Lint, Violation};

/// Judges the story by `scheme`, otherwise by the schemes that the log names.
pub(super) fn judge(
    story: &Story,
    scheme: Option<&Scheme>,
    allowance: Allowance,
) -> Result<Lint, String> {
    let mut judge = Judge {
        // Inferred stories are imprecise by what a sender passes to the system at once.
        grace: if story.is_exact { 0 } else { allowance.packets },
        ordering: scheme.map(built).transpose()?,
        ..Judge::default()
    };
    for event in &story.events {
        match event.what.call() {
            // Another scheduler takes over; the following calls tell it about responses in progress.
            Some(Call::Start { scheme: own, in_group }) => {
                let ordering = match scheme {
                    Some(scheme) => built(scheme),
                    None => own_scheduler(own, *in_group),
                };
                judge.ordering = Some(ordering?);
            }
            _ => judge.event(event.time_us, &event.what)?,
        }
    }
    Ok(judge.lint)
}

fn built(scheme: &Scheme) -> Result<(String, Scheduler), String> {
    let scheduler = Scheduler::build(scheme).map_err(|error| error.to_string())?;
    Ok((scheme.name.clone(), scheduler))
}

/// The scheduler of a scheme that a log names.
fn own_scheduler(name: &str, in_group: bool) -> Result<(String, Scheduler), String> {
    let remedy = "name the rules (--scheme)";
    if in_group {
        let cause = "several connections are ordered as one, and their calls are in several logs";
        return Err(format!("{name}, which the log names: {cause}; {remedy}"));
    }
    let scheme = find_page_scheme(name).map_err(|error| error.to_string())?;
    built(&scheme).map_err(|error| {
        format!(
            "{name}, which the log names: {error}; {remedy}, and the page if it needs one (--page)"
        )
    })
}

#[derive(Default)]
struct Judge {
    ordering: Option<(String, Scheduler)>,
    /// Streams that may have nothing to send although they are ready.
    doubtful: BTreeSet<StreamId>,
    overdue: Overdue,
    grace: u64,
    lint: Lint,
}

impl Judge {
    fn event(&mut self, time_us: u64, what: &What) -> Result<(), String> {
        let Some((_, scheduler)) = &mut self.ordering else {
            return Err(
                "the log does not name its scheme from the start: name it (--scheme)".to_owned()
            );
        };
        match *what {
            What::Sent(stream, bytes) => {
                self.doubtful.remove(&stream);
                self.sent(time_us, stream, bytes);
            }
            What::Ready(stream, is_ready) => scheduler.set_ready(stream, is_ready),
            What::Closed(stream) => scheduler.close(stream),
            What::Call(ref call) => call.make(scheduler),
            What::ToppedUp(stream, bytes) => {
                self.doubtful.remove(&stream);
                scheduler.sent(stream, bytes);
            }
            What::Doubtful(stream) => {
                self.doubtful.insert(stream);
            }
        }
        Ok(())
    }

    fn sent(&mut self, time_us: u64, stream: StreamId, bytes: u64) {
        let Some((scheme, scheduler)) = &mut self.ordering else { return };
        self.lint.packets_checked += 1;
        let expected = scheduler.pick().filter(|it| !self.doubtful.contains(it));
        let packets = self.overdue.packets(expected, stream);
        if let Some(expected) = expected
            && expected != stream
            && packets > self.grace
        {
            self.lint.add(bytes, || Violation {
                time_us,
                stream: stream.0,
                expected_stream: expected.0,
                bytes,
                rule: format!("{scheme}: stream {} is next", expected.0),
            });
        }
        scheduler.sent(stream, bytes);
    }
}

/// The number of consecutive packets for which a stream has been next without being sent.
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
