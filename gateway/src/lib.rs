//! The sources behind the server: files and backends under the rules of an operator, over HTTP/3 and, on a thread of its own,
//! HTTP/2 and HTTP/1.1.
//!
//! [`site::RuledSite`] is the [`server::site::Site`] that a [`server::Server`] uses. [`serve_tcp`] uses it beside that
//! server. [`Config`] is the operator's file.

pub mod access_log;
mod config;
mod limits;
mod passes_on;
pub mod site;
mod tcp;
pub mod upstream;

pub use config::{
    Config, ConfigError, ConfigLimits, ConfigLines, ConfigRoute, ConfigScheme, ConfigSite,
    ConfigSource, is_one_path, line_of,
};
pub use limits::UpstreamLimits;
pub use tcp::{Listeners, Sending, StartError as TcpStartError, serve_tcp};
