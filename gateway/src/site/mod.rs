//! Sources of content, and the rules of their operator.

pub(crate) mod codings;
mod compressed;
mod conditions;
mod directory;
mod hot_files;
mod last_answers;
mod pushing;
mod ranges;
mod rules;
mod substitutes;
pub(crate) mod types;

pub use directory::{DirectorySite, OpenError};
pub use pushing::{CacheEvidence, ConditionalPushes, Pushing, as_many_as_fit};
pub use rules::{Directive, Rule, RuledSite, fits};
pub use substitutes::Redirect;
