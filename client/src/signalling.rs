//! What the client says about order, and to whom: the client half of a scheme, chosen by the user or adopted
//! from the server, in the forms that the server takes.

use corpus::PageResource;
use http3::{Extension, Session, Settings, Signal, StreamId};
use schedulers::{ClientHalf, Priority, Resource, Scheme, find_scheme};
use std::collections::BTreeMap;

/// Signals that wait for the server's SETTINGS, at most; a page that has more requests by then only loses
/// their order.
const EARLY_SIGNALS: usize = 1000;

/// The signalling of one connection.
pub(crate) struct Signalling {
    half: Option<Box<dyn ClientHalf>>,
    /// No scheme was chosen: the server's preference is taken.
    adopts: bool,
    with_metadata: bool,
    server_spoke: bool,
    /// Said before the server's SETTINGS told in which form.
    early: Vec<Signal>,
    /// The scheme whose client half speaks.
    scheme: Option<String>,
    /// Requests under way, for a scheme that is adopted later to say something about them, too.
    under_way: BTreeMap<StreamId, Resource>,
}

/// A signal as bytes for a stream.
pub(crate) struct Writing {
    pub(crate) signal: Signal,
    pub(crate) stream: StreamId,
    pub(crate) bytes: Vec<u8>,
}

/// Header fields of a request, and what to write on the control stream.
pub(crate) type Said = (Vec<(&'static str, String)>, Vec<Writing>);

impl Signalling {
    pub(crate) fn new(scheme: Option<&Scheme>, with_metadata: bool) -> Self {
        let mut signalling = Self {
            half: None,
            adopts: scheme.is_none(),
            with_metadata,
            server_spoke: false,
            early: Vec::new(),
            scheme: None,
            under_way: BTreeMap::new(),
        };
        if let Some(scheme) = scheme {
            signalling.half = Some(signalling.take(scheme));
        }
        signalling
    }

    /// What is offered: of the two revisions of the bucket byte, the one that the scheme speaks.
    pub(crate) fn settings(scheme: Option<&Scheme>) -> Settings {
        let other = match scheme {
            Some(scheme) if scheme.name == "bucket7" => Extension::BucketJanuary2019,
            _ => Extension::BucketJune2019,
        };
        let extensions = Extension::ALL.into_iter().filter(|it| *it != other).collect();
        Settings { extensions, ..Settings::default() }
    }

    /// The server's SETTINGS came: what was meant before can be said.
    pub(crate) fn settings_came(&mut self, session: &Session) -> Vec<Writing> {
        self.server_spoke = true;
        self.early.drain(..).filter_map(|it| writing(session, it)).collect()
    }

    /// The server prefers a scheme; if it is adopted, its placeholders, and what it says about requests that
    /// are under way.
    pub(crate) fn preferred(&mut self, name: &str, session: &Session) -> Vec<Writing> {
        if !self.adopts || self.scheme.as_deref() == Some(name) {
            return Vec::new();
        }
        // A preference that this client does not know is none.
        if let Ok(scheme) = find_scheme(name) {
            let mut half = self.take(&scheme);
            for (stream, resource) in &self.under_way {
                self.early.extend(half.request(*stream, resource));
            }
            self.half = Some(half);
        }
        if self.server_spoke { self.settings_came(session) } else { Vec::new() }
    }

    /// What is said with a request.
    pub(crate) fn request(
        &mut self,
        session: &Session,
        stream: StreamId,
        resource: &PageResource,
    ) -> Said {
        let known = resource.for_scheduler();
        if self.adopts {
            self.under_way.insert(stream, known);
        }
        let mut fields = Vec::new();
        let mut writings = Vec::new();
        if self.with_metadata {
            fields.push((schedulers::METADATA_FIELD, schedulers::metadata_field(&known)));
        }
        let signals = self.half.as_mut().map(|it| it.request(stream, &known)).unwrap_or_default();
        for signal in signals {
            match signal {
                Signal::Extensible { urgency, incremental, .. } => {
                    fields.push(("priority", Priority::new(urgency, incremental).request_field()));
                }
                other if self.server_spoke => writings.extend(writing(session, other)),
                other if self.early.len() < EARLY_SIGNALS => self.early.push(other),
                _ => {}
            }
        }
        fields.retain(|(_, value)| !value.is_empty());
        (fields, writings)
    }

    /// A response is over.
    pub(crate) fn closed(&mut self, stream: StreamId) {
        self.under_way.remove(&stream);
        if let Some(half) = &mut self.half {
            half.closed(stream);
        }
    }

    fn take(&mut self, scheme: &Scheme) -> Box<dyn ClientHalf> {
        let mut half = scheme.client_half();
        self.scheme = Some(scheme.name.clone());
        self.early.extend(half.setup());
        half
    }
}

fn writing(session: &Session, signal: Signal) -> Option<Writing> {
    let (stream, bytes) = session.signal(&signal)?;
    Some(Writing { signal, stream, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http3::{Limits, Role};

    /// A client's session whose server takes everything.
    fn session() -> Session {
        let all =
            Settings { extensions: Extension::ALL.into(), placeholders: 16, ..Settings::default() };
        let mut client = Session::new(Role::Client, Signalling::settings(None), Limits::default());
        for (stream, bytes) in Session::new(Role::Server, all, Limits::default()).opening() {
            client.receive(stream, &bytes, false).expect("a good server");
        }
        client
    }

    fn said(writings: &[Writing]) -> Vec<Signal> {
        writings.iter().map(|it| it.signal).collect()
    }

    #[test]
    fn a_scheme_that_is_adopted_says_what_it_thinks_of_requests_under_way_once() {
        let session = session();
        let page = corpus::bundled("davies-meenan").expect("bundled");
        let mut signalling = Signalling::new(None, false);
        signalling.settings_came(&session);
        for (stream, resource) in [StreamId(0), StreamId(4)].into_iter().zip(&page.resources) {
            signalling.request(&session, stream, resource);
        }
        signalling.closed(StreamId(4));
        let document = Signal::Bucket { stream: StreamId(0), byte: 63 << 2 | 2 };
        assert_eq!(said(&signalling.preferred("bucket-html", &session)), [document]);
        assert_eq!(said(&signalling.preferred("bucket-html", &session)), []);
        assert_eq!(said(&signalling.preferred("nonsense", &session)), []);
        let document = Signal::Extensible { stream: StreamId(0), urgency: 0, incremental: true };
        assert_eq!(said(&signalling.preferred("rfc9218", &session)), [document]);
    }

    #[test]
    fn a_scheme_that_was_chosen_is_kept() {
        let rr = find_scheme("rr").expect("a scheme");
        let mut signalling = Signalling::new(Some(&rr), false);
        assert_eq!(said(&signalling.preferred("bucket-html", &session())), []);
    }
}
