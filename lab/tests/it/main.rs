//! Tests of the lab from outside, in one binary.

mod vectors;
