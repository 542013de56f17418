//! Values of flags that both programs have.

use std::num::NonZeroUsize;

/// A number of loads, threads or drawings.
pub fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| {
        "a whole number from 1 on is needed; leave out the flag for its default".to_owned()
    })
}

/// How many loads can be under way without waiting for each other.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
