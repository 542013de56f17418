//! Sources of content, and the rules of their operator.

pub(crate) mod codings;
mod compressed;
mod conditions;
mod directory;
mod hot_files;
mod last_answers;
mod pushing;
mod ranges;
mod rule;
mod rules;
mod substitutes;
pub(crate) mod types;

pub use directory::{DirectorySite, OpenError};
pub use pushing::{CacheEvidence, ConditionalPushes, Pushing, as_many_as_fit};
pub use rule::{Directive, Rule, fits};
pub use rules::RuledSite;
pub use substitutes::Redirect;
