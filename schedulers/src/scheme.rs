//! A scheme: a name, and its two halves.

use crate::limits::PLACEHOLDERS_MAX;
use crate::{Element, PageGraph, Place, Resource, SchemeFailure, Signal, StreamId, Tree};
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The client's side of a scheme: the signals it sends. One value exists for each connection.
pub trait ClientHalf: Send {
    /// Signals before the first request: placeholders.
    fn setup(&mut self) -> Vec<Signal> {
        Vec::new()
    }
    /// Signals to send with the request for `resource` on `stream`.
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal>;
    /// Signals after the response on `stream` is complete or abandoned: changed priorities of the others.
    fn closed(&mut self, _stream: StreamId) -> Vec<Signal> {
        Vec::new()
    }
    /// Where it records its failures, if it can fail.
    fn note_failures_in(&mut self, _failure: &SchemeFailure) {}
}

/// The server's side of a scheme: the places of streams. One value exists for each connection.
pub trait ServerHalf: Send {
    /// Placements before the first request: groups.
    fn setup(&mut self, _tree: &mut Tree) {}
    /// Places `stream` by the known facts about its resource.
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource);
    /// Moves an open stream or a placeholder as a client's signal requests. Ignores signals by default.
    fn signalled(&mut self, _tree: &mut Tree, _signal: Signal) {}
    /// Whether signals about streams that are not open go to [`ServerHalf::signalled`] at once. Otherwise the latest one of each
    /// stream waits until the stream opens.
    fn hears_early(&self) -> bool {
        false
    }
    /// `bytes` of `stream` were taken for sending and charged.
    fn sent(&mut self, _tree: &mut Tree, _stream: StreamId, _bytes: u64) {}
    /// `stream` is about to leave the tree.
    fn closed(&mut self, _tree: &mut Tree, _stream: StreamId) {}
    /// Where it records its failures, if it can fail.
    fn note_failures_in(&mut self, _failure: &SchemeFailure) {}
}

/// The two halves of a scheme, for one connection.
pub struct Halves {
    /// The client's half, or why no client can signal the scheme.
    pub client: Result<Box<dyn ClientHalf>, &'static str>,
    /// Where a server puts its streams.
    pub server: Box<dyn ServerHalf>,
}

impl Halves {
    /// Both halves.
    pub fn new(client: impl ClientHalf + 'static, server: impl ServerHalf + 'static) -> Self {
        Self { client: Ok(Box::new(client)), server: Box::new(server) }
    }

    /// A server's half alone, and why no client can signal the scheme.
    pub fn of_server(cause: &'static str, server: impl ServerHalf + 'static) -> Self {
        Self { client: Err(cause), server: Box::new(server) }
    }
}

/// The part of a scheme after its name: `NAME:PARAMETER:PARAMETER@VARIANT`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Args {
    /// The name with its parameters and variant.
    pub name: String,
    /// The strings after the colons, in order.
    pub parameters: Vec<String>,
    /// The text after the at sign.
    pub variant: Option<String>,
}

/// The input that a scheme needs besides its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: its plain name runs.
    Nothing,
    /// A parameter after its name: `kway:4`.
    Parameter,
    /// The graph of the page: [`Scheme::for_page`].
    Page,
}

/// The form in which clients signal a scheme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// They send no signals, and get equal shares.
    #[default]
    Silence,
    /// Frames of the dependency tree ([`Signal::Depend`]).
    Tree,
    /// Meenan's byte ([`Signal::Bucket`]).
    Bucket,
    /// RFC 9218 ([`Signal::Extensible`]).
    Priority,
    /// No client can signal it.
    None,
}

/// The condition under which a scheme places streams like another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Whatever happens.
    Always,
    /// The server ignores signals.
    Ignored,
    /// The client signals, and the server obeys.
    Heard,
    /// The server does not know a browser's priority ([`Resource::browser`]).
    NoBrowserPriorities,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Silence => "silence",
            Self::Tree => "tree frames",
            Self::Bucket => "bucket byte",
            Self::Priority => "RFC 9218",
            Self::None => "no",
        })
    }
}

/// Makes the halves of a scheme for one connection. Fails if the parameters or variant are wrong, or if it needs the page's graph.
pub type Build =
    Arc<dyn Fn(&Args, Option<&PageGraph>) -> Result<Halves, SchemeError> + Send + Sync>;

/// The name of a placeholder by its ID.
pub type GroupName = Arc<dyn Fn(u64) -> Option<String> + Send + Sync>;

/// A scheme, chosen by name: [`find_scheme`]. Your own scheme is a literal of this type. It has a field for each column of the tables
/// in `utmost schemes` and the documentation.
#[derive(Clone)]
pub struct Scheme {
    /// Its name as in `utmost schemes`, parameters and variant included.
    pub name: String,
    /// Its behaviour, in a line.
    pub about: Cow<'static, str>,
    /// The publication that describes it.
    pub source: Cow<'static, str>,
    /// The parameters and variants that may follow its name; empty if there are none.
    pub parameters: &'static str,
    /// Placeholders that a client needs to signal it, from Table 1 of the paper.
    pub placeholders: u32,
    /// The form in which clients signal it.
    pub signals: Language,
    /// The source's name for the placeholder with an ID, for displays of its tree; `None`: its number.
    pub group_name: GroupName,
    /// Bumped when the scheme's behaviour changes.
    pub revision: u32,
    /// The input that it needs besides its name.
    pub needs: Needs,
    /// Makes the halves for one connection.
    pub build: Build,
    /// The text after its name.
    pub args: Args,
    /// The page to which it is bound, if any.
    pub page: Option<Arc<PageGraph>>,
    /// A guard against starvation (RFC 9218, section 10): one in this many packets goes to the ready stream that has been waiting
    /// longest, whatever the order.
    pub guard: Option<NonZeroU32>,
    /// The text of the file from which it was read; `None` if it is compiled in.
    pub text: Option<Arc<str>>,
    /// The built-in schemes with the same places, and the conditions.
    pub same_as: &'static [(Given, &'static str)],
    /// Whether it failed on any connection.
    pub failure: SchemeFailure,
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheme").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Scheme {
    /// A scheme that needs only its name and takes no parameters, revision 1.
    pub fn new(
        name: &str,
        about: impl Into<Cow<'static, str>>,
        source: impl Into<Cow<'static, str>>,
        build: impl Fn(&Args, Option<&PageGraph>) -> Result<Halves, SchemeError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.to_owned(),
            about: about.into(),
            source: source.into(),
            parameters: "",
            placeholders: 0,
            signals: Language::Silence,
            group_name: Arc::new(|_| None),
            revision: 1,
            needs: Needs::Nothing,
            build: Arc::new(build),
            args: Args { name: name.to_owned(), ..Args::default() },
            page: None,
            guard: None,
            text: None,
            same_as: &[],
            failure: SchemeFailure::default(),
        }
    }

    /// Its name without parameters and variant.
    pub fn base_name(&self) -> &str {
        self.name.split([':', '@']).next().unwrap_or_default()
    }

    /// Both halves, for one connection.
    pub fn try_halves(&self) -> Result<Halves, SchemeError> {
        let mut halves = (self.build)(&self.args, self.page.as_deref())?;
        halves.server.note_failures_in(&self.failure);
        if let Ok(client) = &mut halves.client {
            client.note_failures_in(&self.failure);
        }
        Ok(halves)
    }

    /// The same scheme for one load: its `failure` records only failures in this load.
    #[must_use]
    pub fn watched(self) -> Self {
        Self { failure: self.failure.within(), ..self }
    }

    /// Both halves, for one connection.
    ///
    /// # Panics
    /// Panics if [`Scheme::try_halves`] fails, which never happens for a result of [`find_scheme`].
    pub fn halves(&self) -> Halves {
        self.try_halves().expect("find_scheme gives schemes that can be built")
    }

    /// The same scheme for a page; only schemes that look ahead (`cpl`) use it.
    #[must_use]
    pub fn for_page(self, graph: &PageGraph) -> Self {
        Self { page: Some(Arc::new(graph.clone())), ..self }
    }
}

/// No scheme has that name, or these parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SchemeError {
    Unknown {
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// The scheme exists, but not with this parameter or variant.
    Arguments { name: String, takes: String },
    /// The scheme looks ahead in the page, but has none.
    NeedsPage { name: String },
    /// No client can signal the scheme.
    Unsignalled { name: String, cause: &'static str, others: Vec<String> },
}

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, .. } if name.is_empty() => {
                write!(f, "a scheme has a name: `utmost schemes` lists them")
            }
            Self::Unknown { name, near } if near.is_empty() => {
                write!(f, "no scheme is named `{name}`: `utmost schemes` lists them")
            }
            Self::Unknown { name, near } => {
                write!(f, "no scheme is named `{name}`; near it: {}", near.join(", "))
            }
            Self::Arguments { name, takes } => write!(f, "scheme `{name}`: {takes}"),
            Self::NeedsPage { name } => write!(
                f,
                "scheme `{name}` orders by the page's dependencies, and there is no page here: \
                 use it where a page is played back"
            ),
            Self::Unsignalled { name, cause, others } => write!(
                f,
                "no client can signal scheme `{name}`: {cause}; these can be signalled: {}",
                others.join(", ")
            ),
        }
    }
}

impl std::error::Error for SchemeError {}

impl Args {
    /// The parameter at `index` as a number within `range`, or `default` if it is absent.
    pub fn number(
        &self,
        index: usize,
        default: Option<f64>,
        range: std::ops::RangeInclusive<f64>,
    ) -> Option<f64> {
        let number = match self.parameters.get(index) {
            Some(text) => text.parse().ok()?,
            None => default?,
        };
        range.contains(&number).then_some(number)
    }

    /// The error for wrong parameters or variants.
    pub fn refuse<T>(&self, takes: &str) -> Result<T, SchemeError> {
        refuse(&self.name, takes)
    }

    /// Fails if there is a variant, or more than `parameters` parameters.
    pub fn at_most(&self, parameters: usize, takes: &str) -> Result<(), SchemeError> {
        if self.variant.is_some() || self.parameters.len() > parameters {
            return self.refuse(takes);
        }
        Ok(())
    }
}

pub(crate) fn refuse<T>(name: &str, takes: &str) -> Result<T, SchemeError> {
    Err(SchemeError::Arguments { name: name.to_owned(), takes: takes.to_owned() })
}

/// Applies a [`Signal::Depend`] to the tree. Ignores other signals.
///
/// An unknown parent stands for the root (RFC 7540, section 5.3.1). New placeholders beyond the limit are ignored.
pub(crate) fn obey(tree: &mut Tree, signal: Signal) {
    let Signal::Depend { element, parent, weight, exclusive } = signal else { return };
    let is_new_placeholder = matches!(element, Element::Placeholder(_)) && !tree.contains(element);
    if is_new_placeholder && tree.placeholders() >= PLACEHOLDERS_MAX {
        return;
    }
    tree.put(element, Place::below(parent).weight(weight).exclusive(exclusive));
}
