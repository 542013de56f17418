//! Tests of the lab from outside, in one binary.

mod bounds;
mod engines;
mod link;
mod scenario_schema;
mod signals;
mod stack;
mod study;
mod trace;
mod vectors;
