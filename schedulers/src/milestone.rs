//! The moments of a page load that a user notices, with their names in logs.

/// A moment of a page load that a user notices. `docs/metrics.md` has the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Milestone {
    /// A part of the page is shown for the first time.
    FirstRender,
    /// The hero images are shown.
    HeroRender,
    /// `DOMContentLoaded`.
    DomContentLoaded,
    /// The load event.
    Load,
    /// A region above the fold reaches its final form.
    Region {
        /// Its weight among the regions.
        weight: u64,
        /// The weights of all regions together.
        of: u64,
    },
}

impl Milestone {
    /// The event that logs a milestone.
    pub const EVENT: &'static str = "utmost:milestone";

    /// Its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstRender => "first_render",
            Self::HeroRender => "hero_render",
            Self::DomContentLoaded => "dom_content_loaded",
            Self::Load => "load",
            Self::Region { .. } => "region",
        }
    }

    /// The milestone of this name; `weight` and `of` belong to regions.
    pub fn named(name: &str, weight: u64, of: u64) -> Option<Self> {
        let all = [
            Self::FirstRender,
            Self::HeroRender,
            Self::DomContentLoaded,
            Self::Load,
            Self::Region { weight, of },
        ];
        all.into_iter().find(|it| it.name() == name)
    }
}
