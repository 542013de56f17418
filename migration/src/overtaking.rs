//! Frames that overtake the connection they name.
//!
//! A client names a new connection in its settings there, and in MIGRATE on the source. These travel in packets of
//! two connections, so the frame can arrive first. It waits, and later frames about its response wait behind it.

use crate::limits::{OVERTAKING, OVERTAKING_MAX};
use crate::{Destination, Error, Migrate, Name};
use std::collections::VecDeque;
use std::time::Instant;

/// The frames of one source that wait (server only).
#[derive(Debug, Default)]
pub struct Overtaking {
    /// Each with its deadline; deadlines never decrease.
    frames: VecDeque<(Instant, Migrate)>,
}

impl Overtaking {
    /// Takes a frame. [`Self::release`] returns it, perhaps at once.
    pub fn hold(&mut self, frame: Migrate, now: Instant) -> Result<(), Error> {
        if self.frames.len() >= OVERTAKING_MAX {
            return Err(Error::TooMany);
        }
        self.frames.push_back((now + OVERTAKING, frame));
        Ok(())
    }

    /// The frames that need not wait any longer, in order: their connection is `known`, or did not arrive in time.
    pub fn release(&mut self, known: &dyn Fn(Name) -> bool, now: Instant) -> Vec<Migrate> {
        let mut released = Vec::new();
        let mut waiting: VecDeque<(Instant, Migrate)> = VecDeque::new();
        for (until, frame) in self.frames.drain(..) {
            let is_behind = waiting.iter().any(|(_, it)| it.subject == frame.subject);
            let is_due = until <= now || is_known(frame.destination, known);
            if is_due && !is_behind {
                released.push(frame);
            } else {
                waiting.push_back((until, frame));
            }
        }
        self.frames = waiting;
        released
    }

    /// When to call [`Self::release`], besides when a connection becomes known.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.frames.front().map(|(until, _)| *until)
    }
}

fn is_known(destination: Destination, known: &dyn Fn(Name) -> bool) -> bool {
    match destination {
        Destination::Any => true,
        Destination::Named(name) => known(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Rest, Subject, base_time};
    use http3::StreamId;

    const NEW: Name = Name { application: 1, own: 7 };
    const OLD: Name = Name { application: 1, own: 5 };

    fn frame(stream: u64, destination: Name) -> Migrate {
        Migrate {
            subject: Subject::Request(StreamId(stream)),
            destination: Destination::Named(destination),
            offset: 0,
            kind: Kind::Start,
            rest: Rest::Nothing,
        }
    }

    fn three() -> Overtaking {
        let mut overtaking = Overtaking::default();
        for it in [frame(0, NEW), frame(0, OLD), frame(4, OLD)] {
            overtaking.hold(it, base_time()).unwrap();
        }
        overtaking
    }

    #[test]
    fn a_frame_waits_for_its_connection_and_others_about_the_response_wait_behind_it() {
        let mut waiting = three();
        assert_eq!(waiting.release(&|it| it == OLD, base_time()), [frame(4, OLD)]);
        assert_eq!(waiting.release(&|_| true, base_time()), [frame(0, NEW), frame(0, OLD)]);
    }

    #[test]
    fn a_frame_waits_for_a_second_at_most() {
        let mut waiting = three();
        let until = waiting.next_timeout().unwrap();
        assert_eq!(until, base_time() + OVERTAKING);
        assert_eq!(waiting.release(&|_| false, until).len(), 3);
        assert_eq!(waiting.next_timeout(), None);
    }

    #[test]
    fn a_flood_of_frames_is_an_error() {
        let mut waiting = Overtaking::default();
        let outcomes = (0..33).map(|it| waiting.hold(frame(4 * it, NEW), base_time()));
        assert_eq!(outcomes.filter(Result::is_err).count(), 1);
    }
}
