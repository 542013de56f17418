//! Tests of the lab from outside, in one binary.

mod bounds;
mod engines;
mod scenario_schema;
mod vectors;
