//! The contenders of a study: schemes, and the brackets that enclose all of them.

use schedulers::{Catalogue, Needs, Scheme, SchemeError};

/// A scheme, or a bracket: the best or the worst order of a page, found with full knowledge.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "contenders are few, and nearly all are schemes")]
pub enum Contender {
    /// A scheme.
    Scheme(Scheme),
    /// The order with the lowest ATF index ([`crate::bounds::oracle`]).
    Oracle,
    /// The work-conserving order with the highest ATF index ([`crate::bounds::anti_oracle`]).
    AntiOracle,
}

impl Contender {
    /// The contenders that are not schemes.
    pub const BRACKETS: [Self; 2] = [Self::Oracle, Self::AntiOracle];

    /// A built-in scheme or a bracket by name.
    pub fn find(name: &str) -> Result<Self, SchemeError> {
        Self::find_in(&Catalogue::default(), name)
    }

    /// A scheme of a catalogue or a bracket by name.
    pub fn find_in(catalogue: &Catalogue, name: &str) -> Result<Self, SchemeError> {
        match name {
            "oracle" => Ok(Self::Oracle),
            "anti-oracle" => Ok(Self::AntiOracle),
            name => Ok(Self::Scheme(catalogue.find_for_page(name)?)),
        }
    }

    /// The name on the command line and in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Scheme(scheme) => &scheme.name,
            Self::Oracle => "oracle",
            Self::AntiOracle => "anti-oracle",
        }
    }

    /// Its behaviour, in a line.
    pub fn about(&self) -> &str {
        match self {
            Self::Scheme(scheme) => &scheme.about,
            Self::Oracle => {
                "The best order that is found, above the fold, often proven (docs/bounds.md)"
            }
            Self::AntiOracle => {
                "The worst work-conserving order that is found, above the fold (docs/bounds.md)"
            }
        }
    }

    /// Bumped when its behaviour changes.
    pub fn revision(&self) -> u32 {
        match self {
            Self::Scheme(scheme) => scheme.revision,
            Self::Oracle | Self::AntiOracle => crate::bounds::REVISION,
        }
    }

    /// The scheme, unless it is a bracket.
    pub fn scheme(&self) -> Option<&Scheme> {
        match self {
            Self::Scheme(scheme) => Some(scheme),
            Self::Oracle | Self::AntiOracle => None,
        }
    }

    /// Whether it is a scheme that must know the whole page. A bracket comes from a search, which knows it
    /// anyway.
    pub fn looks_ahead(&self) -> bool {
        self.scheme().is_some_and(|it| it.needs == Needs::Page)
    }
}

impl From<Scheme> for Contender {
    fn from(scheme: Scheme) -> Self {
        Self::Scheme(scheme)
    }
}
