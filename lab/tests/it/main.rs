//! Tests of the lab from outside, in one binary.

mod bounds;
mod cancels;
mod corpus_pages;
mod cross_traffic;
mod early_data;
mod early_hints;
mod engines;
mod export_orders;
mod export_servers;
mod exports;
mod navigations;
mod parallel_connections;
mod policy;
mod probe;
mod push;
mod restraints;
mod scenario_schema;
mod signals;
mod stack;
mod study;
mod summary;
mod sweeps;
mod trace;
mod trees;
mod vectors;
mod what_if;
