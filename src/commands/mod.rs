//! One file for each subcommand.

pub(crate) mod browser;
pub(crate) mod compare;
pub(crate) mod corpus;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod find;
pub(crate) mod link;
pub(crate) mod merge;
pub(crate) mod order;
pub(crate) mod play;
pub(crate) mod probe;
pub(crate) mod qlog;
pub(crate) mod schemes;
pub(crate) mod serve;
pub(crate) mod view;
pub(crate) mod what_if;
