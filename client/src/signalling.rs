//! What the client says about order, and to whom: the client half of a scheme, chosen by the user or adopted
//! from the server, in the forms that the server takes.

use corpus::PageResource;
use http3::{Extension, Session, Settings, Signal, StreamId};
use schedulers::{ClientHalf, Scheme, find_scheme};

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
}

/// Bytes for a stream.
pub(crate) type Writing = (StreamId, Vec<u8>);

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
        };
        if let Some(scheme) = scheme {
            signalling.take(scheme);
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
        self.early.drain(..).filter_map(|it| session.signal(&it)).collect()
    }

    /// The server prefers a scheme; its placeholders, if it is adopted.
    pub(crate) fn preferred(&mut self, name: &str, session: &Session) -> Vec<Writing> {
        if !self.adopts {
            return Vec::new();
        }
        // A preference that this client does not know is none.
        if let Ok(scheme) = find_scheme(name) {
            self.take(&scheme);
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
        let mut fields = Vec::new();
        let mut writings = Vec::new();
        if self.with_metadata {
            fields.push((http3::METADATA_FIELD, http3::metadata_field(&known)));
        }
        let signals = self.half.as_mut().map(|it| it.request(stream, &known)).unwrap_or_default();
        for signal in signals {
            match signal {
                Signal::Extensible { urgency, incremental, .. } => {
                    fields.push(("priority", http3::priority_field(urgency, incremental)));
                }
                other if self.server_spoke => writings.extend(session.signal(&other)),
                other if self.early.len() < EARLY_SIGNALS => self.early.push(other),
                _ => {}
            }
        }
        fields.retain(|(_, value)| !value.is_empty());
        (fields, writings)
    }

    /// A response is over.
    pub(crate) fn closed(&mut self, stream: StreamId) {
        if let Some(half) = &mut self.half {
            half.closed(stream);
        }
    }

    fn take(&mut self, scheme: &Scheme) {
        let mut half = scheme.client_half();
        self.early.extend(half.setup());
        self.half = Some(half);
    }
}
