//! Both ends together.

mod model;
mod scenarios;
