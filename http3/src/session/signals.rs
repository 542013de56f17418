//! Signals about order: how they are written, parsed, checked and delayed.

use super::Session;
use crate::Role;
use crate::control::PrioritySignal;
use crate::error::{Code, Error};
use crate::event::WIRE_IDS_END;
use crate::scheme_name::is_name;
use crate::tree_frame::{Reach, TreeFrame};
use crate::unidirectional::control_stream;
use crate::waiting::MayBeOpened;
use crate::{Event, Extension, Prioritized, Signal, StreamId};
use crate::{bucket_frame, frame, priority_update};
use schedulers::Priority;

impl Session {
    /// The bytes for a client's `signal`, and their stream (its control stream). `None`: this connection cannot express it.
    ///
    /// A signal of RFC 9218 can always be sent, the tree and the bucket byte once both sides have offered them
    /// ([`Settings::extensions`]). The tree uses the first usable form of [`Extension::ALL`] that can express the signal:
    /// only draft 22 has exclusive, only `TreeZeroWeight` has weight 0. Signals that the server would answer with an error
    /// are not sent: about the root, or about a placeholder that the server does not have. Only the tree can name a push
    /// ([`PushId::node`]).
    pub fn signal(&self, signal: &Signal) -> Option<(StreamId, Vec<u8>)> {
        if self.role == Role::Server {
            return None;
        }
        let is_of_push = signal.stream().is_some_and(|it| it.0 >= WIRE_IDS_END);
        if is_of_push && !matches!(signal, Signal::Depend { .. }) {
            return None;
        }
        let bytes = match *signal {
            Signal::Extensible { stream, urgency, incremental } => {
                priority_update(stream, urgency, incremental)
            }
            Signal::Bucket { stream, byte } => {
                let revision = [Extension::BucketJanuary2019, Extension::BucketJune2019]
                    .into_iter()
                    .find(|it| self.in_use(*it))?;
                frame::whole(revision.codepoint(), &bucket_frame::payload(stream, byte))
            }
            Signal::Depend { .. } => self.tree_frame(TreeFrame::of(signal)?)?,
        };
        Some((control_stream(self.role), bytes))
    }

    /// The bytes with which a server announces its preferred scheme for this connection, and their stream (its control
    /// stream). `None`: one side has not offered [`Extension::SchemeAnnouncement`] (the client's settings may not have
    /// arrived), a scheme was already announced, or `name` is not a valid scheme name (1 to 64 letters, digits and `+-_.:@`).
    pub fn announce_scheme(&mut self, name: &str) -> Option<(StreamId, Vec<u8>)> {
        let may = self.role == Role::Server
            && self.in_use(Extension::SchemeAnnouncement)
            && !self.scheme_announced
            && is_name(name);
        may.then(|| {
            self.scheme_announced = true;
            let codepoint = Extension::SchemeAnnouncement.codepoint();
            (control_stream(self.role), frame::whole(codepoint, name.as_bytes()))
        })
    }

    /// Whether both sides have offered `extension`; false until the peer's settings arrive. At most one revision of the
    /// bucket byte is in use; it determines the meaning of [`Signal::Bucket`].
    pub fn in_use(&self, extension: Extension) -> bool {
        self.control.in_use().contains(&extension)
    }

    pub(super) fn take_update(
        &mut self,
        prioritized: Prioritized,
        priority: Priority,
    ) -> Result<(), Error> {
        self.signals.spend(&self.limits)?;
        let urgency = priority.urgency_or_default();
        let incremental = priority.incremental_or_default();
        match prioritized {
            Prioritized::Request(stream) => {
                return self.place(Signal::Extensible { stream, urgency, incremental });
            }
            Prioritized::Push(push) if push.0 >= self.reach().pushes => {
                return Code::Id
                    .fail("PRIORITY_UPDATE of a push that was never promised (RFC 9218, 7.2)");
            }
            Prioritized::Push(push) => {
                self.events.push_back(Event::PushPriority { push, urgency, incremental });
            }
        }
        Ok(())
    }

    pub(super) fn take_signal(&mut self, said: PrioritySignal) -> Result<(), Error> {
        self.signals.spend(&self.limits)?;
        match said {
            PrioritySignal::Tree(frame) => match frame.on_control(self.reach())? {
                Event::Priority(signal) => return self.place(signal),
                about_push => self.events.push_back(about_push),
            },
            PrioritySignal::Bucket(stream, byte) => {
                return self.place(Signal::Bucket { stream, byte });
            }
        }
        Ok(())
    }

    /// Applies a server's rules to a signal of any kind (RFC 9218, 7.2). About a stream that can never be opened, it is an
    /// error. About a future stream, it waits (tree signals are reported at once). About a closed stream, it is ignored.
    fn place(&mut self, signal: Signal) -> Result<(), Error> {
        let event = Event::Priority(signal);
        let Some(stream) = signal.stream() else {
            self.events.push_back(event);
            return Ok(());
        };
        let may_be_opened = self.signals.may_be_opened(stream, self.limits.concurrent_requests);
        match self.requests.get(&stream) {
            Some(request) if request.header_seen() => self.events.push_back(event),
            Some(request) if request.awaits_header() => self.place_early(stream, signal),
            Some(_) => {}
            None => {
                match may_be_opened {
                    MayBeOpened::Yes => self.place_early(stream, signal),
                    MayBeOpened::NoMore => {}
                    MayBeOpened::Never => {
                        return Code::Id.fail("a priority signal of a request beyond the stream limit (RFC 9218, 7.2)");
                    }
                }
            }
        }
        Ok(())
    }

    /// A signal that overtakes its request.
    fn place_early(&mut self, stream: StreamId, signal: Signal) {
        let event = Event::Priority(signal);
        if !matches!(signal, Signal::Depend { .. }) {
            self.signals.keep(stream, event, &self.limits);
        } else if self.signals.name_node(stream, &self.limits) {
            self.events.push_back(event);
        }
    }

    /// The IDs that a client may name in a signal.
    pub(super) fn reach(&self) -> Reach {
        Reach {
            streams: self.signals.streams_end(self.limits.concurrent_requests),
            pushes: self.pushes_end.min(self.control.push_ids_end()),
            placeholders: self.settings.placeholders,
        }
    }

    /// A tree frame in the first usable form that can express it.
    fn tree_frame(&self, frame: TreeFrame) -> Option<Vec<u8>> {
        let announced = self.peer_settings()?.placeholders;
        if frame.placeholder().is_some_and(|id| id >= announced) {
            return None;
        }
        let mut in_use = Extension::ALL.into_iter().filter(|it| it.is_tree() && self.in_use(*it));
        in_use.find_map(|extension| {
            let payload = frame.to_payload(extension)?;
            Some(frame::whole(extension.codepoint(), &payload))
        })
    }
}
