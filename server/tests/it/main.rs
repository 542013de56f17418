//! Tests of the whole server core against a client over a simulated link, in virtual time.

mod addresses;
mod admission;
mod any_client;
mod bad_clients;
mod closing;
mod conformance;
mod datagrams;
mod deadlines;
mod downloads;
mod early_data;
mod exploring;
mod gaps;
mod groups;
mod migration;
mod negotiation;
mod observing;
mod order;
mod peers;
mod pushes;
mod rebinding;
mod reload;
mod shards;
mod simulation;
mod waiting;
mod window;
