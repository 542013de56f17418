//! Tests of the lab from outside, in one binary.

mod engines;
mod scenario_schema;
mod signals;
mod vectors;
