//! Flag values of both programs.

use std::num::NonZeroUsize;

/// Parses a number of at least one, for loads, threads or drawings.
pub fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| {
        "a whole number from 1 on is needed; leave out the flag for its default".to_owned()
    })
}

/// The number of loads that can run without waiting for each other.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
