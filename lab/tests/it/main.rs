//! Tests of the lab from outside, in one binary.

mod scenario_schema;
mod vectors;
