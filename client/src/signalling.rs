//! The client's signals about order: the client half of a scheme, chosen by the user or adopted from the server, in
//! forms that the server supports.

use crate::limits::EARLY_SIGNALS;
use corpus::PageResource;
use http3::{Extension, PushId, Settings, Signal, StreamId};
use schedulers::{ClientHalf, Language, Priority, Resource, Scheme, find_scheme};
use std::collections::BTreeMap;

/// How much a client says about order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Says {
    /// Nothing; it also ignores announcements. Its bytes are the same under every scheme.
    Nothing,
    /// The signals of its scheme.
    #[default]
    Signals,
    /// Also each resource's purpose (`utmost-metadata`).
    Metadata,
}

#[derive(Default)]
pub(crate) struct Signalling {
    /// `None`: no scheme yet, or a scheme that no client can signal.
    half: Option<Box<dyn ClientHalf>>,
    /// Without a chosen scheme, the server's announcement is adopted.
    adopts: bool,
    says: Says,
    server_spoke: bool,
    /// Signals that wait for the server's SETTINGS, which determine their form.
    early: Vec<Signal>,
    /// The scheme whose client half speaks.
    scheme: Option<String>,
    /// Whether the scheme was read from a file. Its signals are then sent even if they are RFC 9218's defaults.
    is_of_file: bool,
    /// The form of its signals. In tree frames it can name pushes before their streams open.
    language: Option<Language>,
    /// Open requests, about which a scheme adopted later may also send signals.
    under_way: BTreeMap<StreamId, Resource>,
}

#[derive(Debug, Default)]
pub(crate) struct SentSignals {
    pub(crate) fields: Vec<(&'static str, String)>,
    /// Frames for the control stream. A connection may not support all of them.
    pub(crate) signals: Vec<Signal>,
}

impl Signalling {
    pub(crate) fn new(scheme: Option<&Scheme>, says: Says) -> Self {
        let is_silent = says == Says::Nothing;
        let adopts = scheme.is_none() && !is_silent;
        let mut signalling = Self { adopts, says, ..Self::default() };
        signalling.half = scheme.filter(|_| !is_silent).and_then(|it| signalling.take(it));
        signalling
    }

    /// The settings to offer: of the two revisions of the bucket byte, the scheme's. A client that sends no signals
    /// offers nothing.
    pub(crate) fn settings(scheme: Option<&Scheme>, says: Says) -> Settings {
        if says == Says::Nothing {
            return Settings::default();
        }
        let other = match scheme {
            Some(scheme) if scheme.name == "bucket7" => Extension::BucketJanuary2019,
            _ => Extension::BucketJune2019,
        };
        let extensions = Extension::ALL.into_iter().filter(|it| *it != other).collect();
        Settings { extensions, ..Settings::default() }
    }

    /// The server's SETTINGS came: returns the signals that waited for them.
    pub(crate) fn settings_came(&mut self) -> Vec<Signal> {
        self.server_spoke = true;
        std::mem::take(&mut self.early)
    }

    /// The server announces a scheme. If it is adopted, returns its placeholders and its signals about open requests.
    pub(crate) fn preferred(&mut self, name: &str) -> Vec<Signal> {
        if !self.adopts || self.scheme.as_deref() == Some(name) {
            return Vec::new();
        }
        // A scheme that this client does not know is ignored.
        if let Ok(scheme) = find_scheme(name) {
            let mut half = self.take(&scheme);
            for (stream, resource) in &self.under_way {
                self.early.extend(half.iter_mut().flat_map(|it| it.request(*stream, resource)));
            }
            self.half = half;
        }
        if self.server_spoke { self.settings_came() } else { Vec::new() }
    }

    pub(crate) fn request(&mut self, stream: StreamId, resource: &PageResource) -> SentSignals {
        let known = resource.for_scheduler();
        if self.adopts {
            self.under_way.insert(stream, known);
        }
        let mut said = SentSignals::default();
        if self.says == Says::Metadata {
            said.fields.push((schedulers::METADATA_FIELD, schedulers::metadata_field(&known)));
        }
        let signals = self.half.as_mut().map(|it| it.request(stream, &known)).unwrap_or_default();
        for signal in signals {
            match signal {
                Signal::Extensible { urgency, incremental, .. } => {
                    let priority = Priority::new(urgency, incremental);
                    let short = priority.request_field();
                    let is_lost = self.is_of_file && short.is_empty();
                    said.fields
                        .push(("priority", if is_lost { priority.to_string() } else { short }));
                }
                other => said.signals.push(other),
            }
        }
        said.signals = self.once_server_spoke(said.signals);
        said.fields.retain(|(_, value)| !value.is_empty());
        said
    }

    /// The server promises `push`, which the page takes: returns the signals about it.
    pub(crate) fn promised(&mut self, push: PushId, resource: &PageResource) -> Vec<Signal> {
        match self.language {
            Some(Language::Tree) => self.request(push.node(), resource).signals,
            _ => Vec::new(),
        }
    }

    /// The response to a push is complete or abandoned.
    pub(crate) fn push_closed(&mut self, push: PushId) -> Vec<Signal> {
        match self.language {
            Some(Language::Tree) => self.closed(push.node()),
            _ => Vec::new(),
        }
    }

    /// The response on `stream` is complete or abandoned: returns the signals that follow.
    pub(crate) fn closed(&mut self, stream: StreamId) -> Vec<Signal> {
        self.under_way.remove(&stream);
        let signals = self.half.as_mut().map(|it| it.closed(stream)).unwrap_or_default();
        self.once_server_spoke(signals)
    }

    /// The signals to send now. Before the server's SETTINGS arrive there are none: signals wait, as far as there is
    /// room.
    fn once_server_spoke(&mut self, signals: Vec<Signal>) -> Vec<Signal> {
        if self.server_spoke {
            return signals;
        }
        let room = EARLY_SIGNALS.saturating_sub(self.early.len());
        self.early.extend(signals.into_iter().take(room));
        Vec::new()
    }

    fn take(&mut self, scheme: &Scheme) -> Option<Box<dyn ClientHalf>> {
        self.scheme = Some(scheme.name.clone());
        self.is_of_file = scheme.text.is_some();
        self.language = Some(scheme.signals);
        let mut half = scheme.client_half().ok()?;
        self.early.extend(half.setup());
        Some(half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn an_adopted_scheme_signals_about_requests_under_way_once() {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let mut signalling = Signalling::new(None, Says::Signals);
        signalling.settings_came();
        for (stream, resource) in [StreamId(0), StreamId(4)].into_iter().zip(&page.resources) {
            signalling.request(stream, resource);
        }
        signalling.closed(StreamId(4));
        let document = Signal::Bucket { stream: StreamId(0), byte: 63 << 2 | 2 };
        assert_eq!(signalling.preferred("bucket-html"), [document]);
        assert_eq!(signalling.preferred("bucket-html"), []);
        assert_eq!(signalling.preferred("nonsense"), []);
        assert_eq!(signalling.preferred("srpt"), []);
        let document = Signal::Extensible { stream: StreamId(0), urgency: 0, incremental: true };
        assert_eq!(signalling.preferred("rfc9218"), [document]);
    }

    #[test]
    fn a_complete_response_changes_the_priorities_of_others() {
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let plus = find_scheme("p+").expect("a scheme");
        let mut signalling = Signalling::new(Some(&plus), Says::Signals);
        signalling.request(StreamId(0), &page.resources[0]);
        assert_eq!(signalling.closed(StreamId(0)), []);
        let weights = signalling.settings_came().into_iter().map(|it| match it {
            Signal::Depend { weight, .. } => weight,
            other => panic!("{other:?}"),
        });
        // HIGH, NORMAL and LOW; NORMAL while the document is in HIGH; the document; NORMAL after it.
        assert_eq!(weights.collect::<Vec<_>>(), [256, 256, 1, 1, 256, 256]);
    }

    #[test]
    fn a_scheme_that_was_chosen_is_kept() {
        let rr = find_scheme("rr").expect("a scheme");
        let mut signalling = Signalling::new(Some(&rr), Says::Signals);
        assert_eq!(signalling.preferred("bucket-html"), []);
    }
}
