//! A scheme: a name, and its two halves.

use crate::schemes;
use crate::{Element, Place, Resource, Signal, StreamId, Tree};
use std::fmt;
use std::sync::LazyLock;

/// What a client says. One value lives as long as its connection.
pub trait ClientHalf: Send {
    /// Signals before the first request: placeholders.
    fn setup(&mut self) -> Vec<Signal> {
        Vec::new()
    }
    /// Signals that go with the request of `resource` on `stream`.
    fn request(&mut self, stream: StreamId, resource: &Resource) -> Vec<Signal>;
    /// The response on `stream` is complete or given up.
    fn closed(&mut self, _stream: StreamId) {}
}

/// Where a server puts its streams. One value lives as long as its connection.
pub trait ServerHalf: Send {
    /// Placements before the first request: groups.
    fn setup(&mut self, _tree: &mut Tree) {}
    /// Places `stream` by what is known of its resource.
    fn opened(&mut self, tree: &mut Tree, stream: StreamId, resource: &Resource);
    /// Places anew what a client signalled about an open stream, or a placeholder. Deaf by default.
    fn signalled(&mut self, _tree: &mut Tree, _signal: Signal) {}
    /// `stream` is about to leave the tree.
    fn closed(&mut self, _tree: &mut Tree, _stream: StreamId) {}
}

/// The two halves of a scheme, for one connection.
pub struct Halves {
    /// What a client says.
    pub client: Box<dyn ClientHalf>,
    /// Where a server puts its streams.
    pub server: Box<dyn ServerHalf>,
}

impl Halves {
    /// Both halves.
    pub fn new(client: impl ClientHalf + 'static, server: impl ServerHalf + 'static) -> Self {
        Self { client: Box::new(client), server: Box::new(server) }
    }
}

/// What follows a scheme's name: `NAME:PARAMETER:PARAMETER@VARIANT`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Args {
    /// What stands after the colons, in order.
    pub parameters: Vec<String>,
    /// What stands after the at sign.
    pub variant: Option<String>,
}

/// A scheme, chosen by name. [`SCHEMES`] and [`find_scheme`] give them.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// As in `utmost schemes`, parameters and variant included.
    pub name: String,
    /// What it does, in a line.
    pub about: &'static str,
    /// Where it is described.
    pub source: &'static str,
    /// The parameters and variants that may follow its name; empty when there are none.
    pub parameters: &'static str,
    /// Placeholders that a client needs to signal it, after Table 2 of the paper.
    pub placeholders: u32,
    /// Bumped when the scheme's behaviour changes.
    pub revision: u32,
    /// Makes the halves for one connection, or says what is wrong with what followed the name.
    pub build: fn(&Args) -> Result<Halves, SchemeError>,
    /// What followed the name. Always such that `build` takes it: only [`find_scheme`] sets it.
    pub(crate) args: Args,
}

impl Scheme {
    /// Both halves, for one connection.
    ///
    /// # Panics
    /// Never: the arguments come from [`find_scheme`], which has built the halves with them once.
    pub fn halves(&self) -> Halves {
        (self.build)(&self.args).expect("find_scheme took these arguments")
    }

    /// What a client under this scheme says, for one connection.
    pub fn client_half(&self) -> Box<dyn ClientHalf> {
        self.halves().client
    }
}

/// No scheme of that name, or not with what followed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemeError {
    /// No such name.
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// The scheme exists, but not with this parameter or variant.
    Arguments {
        /// The name that was asked for, with what followed it.
        name: String,
        /// What it takes.
        takes: String,
    },
}

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, near } if near.is_empty() => {
                write!(f, "no scheme is named `{name}`: `utmost schemes` lists them")
            }
            Self::Unknown { name, near } => {
                write!(f, "no scheme is named `{name}`; near it: {}", near.join(", "))
            }
            Self::Arguments { name, takes } => write!(f, "scheme `{name}`: {takes}"),
        }
    }
}

impl std::error::Error for SchemeError {}

/// Every scheme without parameters and variants: the paper's eleven in its order, then the others.
pub static SCHEMES: LazyLock<Vec<Scheme>> = LazyLock::new(schemes::all);

/// The eleven schemes of the paper, in its order.
pub fn paper_schemes() -> &'static [Scheme] {
    &SCHEMES[..schemes::PAPER_SCHEMES]
}

/// Finds a scheme by its name, which parameters (`:`) and a variant (`@`) may follow.
pub fn find_scheme(name: &str) -> Result<Scheme, SchemeError> {
    let (head, variant) = match name.split_once('@') {
        Some((head, variant)) => (head, Some(variant.to_owned())),
        None => (name, None),
    };
    let mut parts = head.split(':');
    let base = parts.next().unwrap_or_default();
    let args = Args { parameters: parts.map(str::to_owned).collect(), variant };
    let Some(scheme) = SCHEMES.iter().find(|scheme| scheme.name == base) else {
        return Err(SchemeError::Unknown { name: name.to_owned(), near: near_names(base) });
    };
    let scheme = Scheme { name: name.to_owned(), args, ..scheme.clone() };
    if scheme.parameters.is_empty() && scheme.args != Args::default() {
        let takes = format!("`{base}` takes no parameters and has no variants");
        return Err(SchemeError::Arguments { name: name.to_owned(), takes });
    }
    (scheme.build)(&scheme.args)?;
    Ok(scheme)
}

/// The names that look most like `name`: within two edits and less than the name's own length, the nearest first.
fn near_names(name: &str) -> Vec<String> {
    let wanted = name.to_ascii_lowercase();
    let longest = wanted.chars().count().min(64);
    let mut near: Vec<(usize, &str)> = SCHEMES
        .iter()
        .map(|scheme| (edits(&wanted, &scheme.name), scheme.name.as_str()))
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

/// Placeholders that a client may make in one tree: eight times what the neediest scheme, `s+`, needs.
const MAX_PLACEHOLDERS: usize = 64;

/// Does in the tree what a [`Signal::Depend`] says; other signals are not its language.
///
/// An unknown parent stands for the root (RFC 7540, section 5.3.1). New placeholders beyond the limit are ignored.
pub(crate) fn obey(tree: &mut Tree, signal: Signal) {
    let Signal::Depend { element, parent, weight, exclusive } = signal else { return };
    let is_new_placeholder = matches!(element, Element::Placeholder(_)) && !tree.contains(element);
    if is_new_placeholder && tree.placeholders() >= MAX_PLACEHOLDERS {
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
        assert_eq!(names(&SCHEMES), format!("{paper} rfc9218"));
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
        assert_eq!(message("FIFO2"), "no scheme is named `FIFO2`; near it: fifo, dfifo");
        assert_eq!(
            message("nonsense"),
            "no scheme is named `nonsense`: `utmost schemes` lists them"
        );
        assert_eq!(message(""), "no scheme is named ``: `utmost schemes` lists them");
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
