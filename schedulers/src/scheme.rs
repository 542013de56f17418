//! A scheme: a name, and its two halves.

use crate::limits::PLACEHOLDERS_MAX;
use crate::schemes;
use crate::{Element, PageGraph, Place, Resource, SchemeFailure, Signal, StreamId, Tree};
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, LazyLock};

/// The client's side of a scheme: the signals it sends. One value lives as long as its connection.
pub trait ClientHalf: Send {
    /// Signals before the first request: placeholders.
    fn setup(&mut self) -> Vec<Signal> {
        Vec::new()
    }
    /// Signals that go with the request of `resource` on `stream`.
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal>;
    /// Signals when the response on `stream` is complete or given up: other priorities for those that are left.
    fn closed(&mut self, _stream: StreamId) -> Vec<Signal> {
        Vec::new()
    }
    /// Where it notes that it failed, if it can.
    fn note_failures_in(&mut self, _failure: &SchemeFailure) {}
}

/// Where a server puts its streams. One value lives as long as its connection.
pub trait ServerHalf: Send {
    /// Placements before the first request: groups.
    fn setup(&mut self, _tree: &mut Tree) {}
    /// Places `stream` by the facts known of its resource.
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource);
    /// Moves an open stream or a placeholder as a client's signal asks. Ignores signals by default.
    fn signalled(&mut self, _tree: &mut Tree, _signal: Signal) {}
    /// Whether signals about streams that are not open go to [`ServerHalf::signalled`] at once. Otherwise
    /// the most recent of each stream waits until the stream opens.
    fn hears_early(&self) -> bool {
        false
    }
    /// `bytes` of `stream` were taken for sending and charged.
    fn sent(&mut self, _tree: &mut Tree, _stream: StreamId, _bytes: u64) {}
    /// `stream` is about to leave the tree.
    fn closed(&mut self, _tree: &mut Tree, _stream: StreamId) {}
    /// Where it notes that it failed, if it can.
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

/// The part of a scheme that follows its name: `NAME:PARAMETER:PARAMETER@VARIANT`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Args {
    /// The name with what followed it.
    pub name: String,
    /// The texts after the colons, in order.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// They say nothing, and get equal shares.
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

/// When a scheme places as another one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Whatever happens.
    Always,
    /// The server ignores signals.
    Ignored,
    /// The client signals, and the server takes it up.
    Heard,
    /// The server knows no priority of a browser ([`Resource::browser`]).
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

/// Makes the halves of a scheme for one connection, or says what is wrong with what followed its name, or
/// that it needs the page's graph.
pub type Build =
    Arc<dyn Fn(&Args, Option<&PageGraph>) -> Result<Halves, SchemeError> + Send + Sync>;

/// The name of a placeholder by its ID.
pub type GroupName = Arc<dyn Fn(u64) -> Option<String> + Send + Sync>;

/// A scheme, chosen by name: [`find_scheme`]. One of your own is a literal of this type.
#[derive(Clone)]
pub struct Scheme {
    /// As in `utmost schemes`, parameters and variant included.
    pub name: String,
    /// Its behaviour, in a line.
    pub about: Cow<'static, str>,
    /// Where it is described.
    pub source: Cow<'static, str>,
    /// The parameters and variants that may follow its name; empty when there are none.
    pub parameters: &'static str,
    /// Placeholders that a client needs to signal it, after Table 1 of the paper.
    pub placeholders: u32,
    /// The form in which clients signal it.
    pub signals: Language,
    /// What its source calls the placeholder of an ID, for those who look at its tree; `None`: by its number.
    pub group_name: GroupName,
    /// Bumped when the scheme's behaviour changes.
    pub revision: u32,
    /// The input that it needs besides its name.
    pub needs: Needs,
    /// Makes the halves for one connection.
    pub build: Build,
    /// The text after its name.
    pub args: Args,
    /// The page that it is for, if it was bound to one.
    pub page: Option<Arc<PageGraph>>,
    /// A guard against starvation (RFC 9218, section 10): every this many packets, one goes to the ready stream that has
    /// sent nothing for longest, whatever the order says.
    pub guard: Option<NonZeroU32>,
    /// The text of the file that it was read from; `None`: it is compiled in.
    pub text: Option<Arc<str>>,
    /// The schemes of the registry whose places it has, and when.
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
    /// A scheme that needs nothing but its name and takes nothing after it, revision 1.
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

    /// Its name without what followed it.
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

    /// The same scheme for one load: its `failure` says what happened in this load.
    #[must_use]
    pub fn watched(self) -> Self {
        Self { failure: self.failure.within(), ..self }
    }

    /// Both halves, for one connection.
    ///
    /// # Panics
    /// When [`Scheme::try_halves`] has an error: never for what [`find_scheme`] gives.
    pub fn halves(&self) -> Halves {
        self.try_halves().expect("find_scheme gives schemes that can be built")
    }

    /// The client's half, for one connection, or why there is none.
    pub fn client_half(&self) -> Result<Box<dyn ClientHalf>, SchemeError> {
        let unsignalled = |cause| SchemeError::Unsignalled { name: self.name.clone(), cause };
        self.try_halves()?.client.map_err(unsignalled)
    }

    /// The same scheme for a page; only those that look ahead (`cpl`) care.
    #[must_use]
    pub fn for_page(self, graph: &PageGraph) -> Self {
        Self { page: Some(Arc::new(graph.clone())), ..self }
    }
}

/// No scheme of that name, or not with what followed it.
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
    /// The scheme looks ahead in the page, and has none.
    NeedsPage { name: String },
    /// No client can signal the scheme.
    Unsignalled { name: String, cause: &'static str },
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
            Self::Unsignalled { name, cause } => {
                let can = REGISTRY.iter().filter(|it| it.signals != Language::None);
                let can = can.map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "no client can signal scheme `{name}`: {cause}; these can be signalled: {can}"
                )
            }
        }
    }
}

impl std::error::Error for SchemeError {}

/// Every row: the paper's eleven in its order, then the others. Some do not run by their plain name:
/// [`Scheme::needs`].
pub static REGISTRY: LazyLock<Vec<Scheme>> = LazyLock::new(schemes::all);

/// Every scheme that runs by its plain name on any page or none: what `all` stands for.
pub static SCHEMES: LazyLock<Vec<Scheme>> = LazyLock::new(|| {
    REGISTRY.iter().filter(|scheme| scheme.needs == Needs::Nothing).cloned().collect()
});

/// The eleven schemes of the paper, in its order.
pub fn paper_schemes() -> &'static [Scheme] {
    &SCHEMES[..schemes::PAPER_SCHEMES]
}

/// The schemes that can be found by name: those of the registry, and a caller's own, which go first.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    own: Vec<Scheme>,
}

impl Catalogue {
    /// The registry and `own`.
    pub fn with(own: Vec<Scheme>) -> Self {
        Self { own }
    }

    /// The caller's own schemes.
    pub fn own(&self) -> &[Scheme] {
        &self.own
    }

    /// Finds a scheme by its name, which parameters (`:`), a variant (`@`), and `@guard` or `@guard:PACKETS`
    /// ([`Scheme::guard`]) may follow. What it gives can be built; a scheme that needs a page is
    /// [`SchemeError::NeedsPage`].
    pub fn find(&self, name: &str) -> Result<Scheme, SchemeError> {
        let scheme = self.parse(name)?;
        scheme.try_halves()?;
        Ok(scheme)
    }

    /// As [`Catalogue::find`], for a caller that has pages: what it gives can be built once it is
    /// [for a page](Scheme::for_page).
    pub fn find_for_page(&self, name: &str) -> Result<Scheme, SchemeError> {
        let scheme = self.parse(name)?;
        scheme.clone().for_page(&PageGraph::default()).try_halves()?;
        Ok(scheme)
    }
}

/// As [`Catalogue::find`], in the registry alone.
pub fn find_scheme(name: &str) -> Result<Scheme, SchemeError> {
    Catalogue::default().find(name)
}

/// As [`Catalogue::find_for_page`], in the registry alone.
pub fn find_page_scheme(name: &str) -> Result<Scheme, SchemeError> {
    Catalogue::default().find_for_page(name)
}

/// Under `@guard`, one of this many packets goes to the starved.
const GUARD_PACKETS: NonZeroU32 = NonZeroU32::new(20).expect("not zero");

impl Catalogue {
    fn parse(&self, name: &str) -> Result<Scheme, SchemeError> {
        let refuse = |takes: String| Err(SchemeError::Arguments { name: name.to_owned(), takes });
        let (plain, guard) = match name.split_once("@guard") {
            None => (name, None),
            Some((plain, "")) => (plain, Some(GUARD_PACKETS)),
            Some((plain, packets)) => match packets.strip_prefix(':').map(str::parse) {
                Some(Ok(packets)) => (plain, Some(packets)),
                _ => return refuse("`@guard` takes packets, as in `@guard:20`".to_owned()),
            },
        };
        let (head, variant) = match plain.split_once('@') {
            Some((head, variant)) => (head, Some(variant.to_owned())),
            None => (plain, None),
        };
        let mut parts = head.split(':');
        let base = parts.next().unwrap_or_default();
        let parameters: Vec<String> = parts.map(str::to_owned).collect();
        let Some(scheme) = self.all().find(|scheme| scheme.name == base) else {
            return Err(SchemeError::Unknown { name: name.to_owned(), near: self.near(base) });
        };
        if scheme.parameters.is_empty() && (variant.is_some() || !parameters.is_empty()) {
            return refuse(format!("`{base}` takes no parameters and has no variants"));
        }
        let args = Args { name: plain.to_owned(), parameters, variant };
        Ok(Scheme { name: name.to_owned(), args, guard, ..scheme.clone() })
    }

    fn all(&self) -> impl Iterator<Item = &Scheme> {
        self.own.iter().chain(REGISTRY.iter())
    }

    fn near(&self, name: &str) -> Vec<String> {
        near_names(name, self.all().map(|scheme| scheme.name.as_str()))
    }
}

impl Args {
    /// The parameter at `index` as a number within `range`, or `default` when it is absent.
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

    /// The error of a scheme that takes something else.
    pub fn refuse<T>(&self, takes: &str) -> Result<T, SchemeError> {
        Err(SchemeError::Arguments { name: self.name.clone(), takes: takes.to_owned() })
    }

    /// An error if there is a variant, or more than `parameters` parameters.
    pub fn at_most(&self, parameters: usize, takes: &str) -> Result<(), SchemeError> {
        if self.variant.is_some() || self.parameters.len() > parameters {
            return self.refuse(takes);
        }
        Ok(())
    }
}

/// The names among `names` that look most like `name`: within two edits and less than the name's own length, the nearest
/// first.
pub fn near_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = name.to_ascii_lowercase();
    let longest = wanted.chars().count().min(64);
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (edits(&wanted, &name.to_ascii_lowercase()), name))
        .filter(|(edits, _)| *edits <= 2 && *edits < longest)
        .collect();
    near.sort_by_key(|(edits, _)| *edits);
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Levenshtein's distance; of long names only the first 64 characters count.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(schemes: &[Scheme]) -> String {
        schemes.iter().map(|scheme| scheme.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_papers_schemes_come_in_its_order() {
        let paper = "rr wrr fifo dfifo firefox p+ s+ spdyrr bucket bucket-html zeroweight";
        assert_eq!(names(paper_schemes()), paper);
        assert!(names(&SCHEMES).starts_with(&format!("{paper} rfc9218")));
    }

    #[test]
    fn every_scheme_is_found_by_its_name_and_says_what_it_is() {
        for scheme in SCHEMES.iter() {
            assert_eq!(find_scheme(&scheme.name).unwrap().name, scheme.name);
            assert!(!scheme.about.is_empty() && !scheme.source.is_empty() && scheme.revision > 0);
        }
    }

    #[test]
    fn a_misspelt_name_gets_near_ones() {
        let message = |name: &str| find_scheme(name).unwrap_err().to_string();
        assert_eq!(
            message("bucket_html"),
            "no scheme is named `bucket_html`; near it: bucket-html"
        );
        assert_eq!(message("FIFO2"), "no scheme is named `FIFO2`; near it: fifo, dfifo, lifo");
        assert_eq!(
            message("nonsense"),
            "no scheme is named `nonsense`: `utmost schemes` lists them"
        );
        assert_eq!(message(""), "a scheme has a name: `utmost schemes` lists them");
    }

    #[test]
    fn parameters_and_variants_that_a_scheme_does_not_have_are_refused() {
        let message = |name: &str| find_scheme(name).unwrap_err().to_string();
        assert_eq!(message("rr:4"), "scheme `rr:4`: `rr` takes no parameters and has no variants");
        assert_eq!(
            message("rr@new"),
            "scheme `rr@new`: `rr` takes no parameters and has no variants"
        );
    }
}
