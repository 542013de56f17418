//! Engines, links and experiments: a page loaded under a scheme, on a network, many times.

pub mod scenario;
