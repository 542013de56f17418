//! The engineer's report: one or more logs as one HTML file that works offline, with figures that zoom from the
//! whole connection to a single frame.
//!
//! [`Recording`] is the page's data for one log, and [`report`] makes the page. The page's scripts are small
//! single-purpose files in `templates/view/`; they get the frames as compressed columns and draw only what is in
//! view.

mod band;
mod clocks;
mod columns;
mod delivered;
mod difference;
mod event_columns;
mod findings;
mod from_trace;
mod in_numbers;
mod listing;
mod over_time;
mod page;
mod recording;

pub use band::{Band, Total};
pub use difference::{ComparedResource, Difference, differences};
pub use event_columns::EventColumns;
pub use findings::Findings;
pub use from_trace::recordings;
pub use listing::{ListedFile, listing};
pub(crate) use over_time::{LOST, SENT_AGAIN};
pub use page::{Report, report};
pub use recording::{Answer, Events, Frame, Recording, Role, Series, Stream, Unit};

#[cfg(test)]
mod tests;
