//! The schemes that can be found by name.

use crate::scheme::{Args, Language, Needs, Scheme, SchemeError, refuse};
use crate::{ClientHalf, PageGraph, schemes};
use std::num::NonZeroU32;
use std::sync::LazyLock;

/// Every scheme: the paper's eleven in its order, then the others. Some cannot run by their plain name:
/// [`Scheme::needs`].
pub static REGISTRY: LazyLock<Vec<Scheme>> = LazyLock::new(schemes::all);

/// Every scheme that can run by its plain name on any page, or without one: the meaning of `all`.
pub static SCHEMES: LazyLock<Vec<Scheme>> = LazyLock::new(|| {
    REGISTRY.iter().filter(|scheme| scheme.needs == Needs::Nothing).cloned().collect()
});

/// The eleven schemes of the paper, in its order.
pub fn paper_schemes() -> &'static [Scheme] {
    &SCHEMES[..schemes::PAPER_SCHEMES]
}

/// The schemes that can be found by name: the caller's own, which have precedence, and the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    own: Vec<Scheme>,
}

impl Catalogue {
    /// The built-in schemes and `own`.
    pub fn with(own: Vec<Scheme>) -> Self {
        Self { own }
    }

    /// The caller's own schemes.
    pub fn own(&self) -> &[Scheme] {
        &self.own
    }

    /// Finds a scheme by its name, which parameters (`:`), a variant (`@`), and `@guard` or `@guard:PACKETS`
    /// ([`Scheme::guard`]) may follow. The result can always be built; for a scheme that needs a page, returns
    /// [`SchemeError::NeedsPage`].
    pub fn find(&self, name: &str) -> Result<Scheme, SchemeError> {
        let scheme = self.parse(name)?;
        scheme.try_halves()?;
        Ok(scheme)
    }

    /// Like [`Catalogue::find`], for a caller that has pages: the result can be built once it is [for a
    /// page](Scheme::for_page).
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

/// Under `@guard`, one in this many packets goes to a starved stream.
const GUARD_PACKETS: NonZeroU32 = NonZeroU32::new(20).expect("not zero");

impl Catalogue {
    fn parse(&self, name: &str) -> Result<Scheme, SchemeError> {
        let (plain, guard) = match name.split_once("@guard") {
            None => (name, None),
            Some((plain, "")) => (plain, Some(GUARD_PACKETS)),
            Some((plain, packets)) => match packets.strip_prefix(':').map(str::parse) {
                Some(Ok(packets)) => (plain, Some(packets)),
                _ => return refuse(name, "`@guard` takes packets, as in `@guard:20`"),
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
            let takes = format!("`{base}` takes no parameters and has no variants");
            return refuse(name, &takes);
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

impl Scheme {
    /// The client's half, for one connection, or why there is none.
    pub fn client_half(&self) -> Result<Box<dyn ClientHalf>, SchemeError> {
        self.try_halves()?.client.map_err(|cause| {
            let can = REGISTRY.iter().filter(|it| it.signals != Language::None);
            let others = can.map(|it| it.name.clone()).collect();
            SchemeError::Unsignalled { name: self.name.clone(), cause, others }
        })
    }
}

/// The most similar names: within two edits and less than the length of `name`, the nearest first.
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

/// Levenshtein's distance; for long names, only the first 64 characters count.
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
