//! An HTTP/3 server with pluggable send order.
//!
//! [`Server`] is the core: datagrams in, datagrams out, and the time of the next call; it has no socket
//! and no clock. Only [`event_loop`] has both. The path of an incoming datagram: [`Server`] finds the
//! connection by its ID (`router`), quiche decrypts, `http3` parses, the [`site`] answers, and the
//! response waits in its stream's record (`responder`, `streams`). The path of an outgoing packet: the
//! scheduler picks a stream, the send loop offers one packet's worth of it to the transport, and quiche
//! encrypts it (`responder`, `send_loop`).

pub mod account;
mod addresses;
mod admission;
pub mod alarm;
pub mod client;
pub mod coming;
mod connection_ids;
pub mod early_data;
pub mod event_loop;
#[cfg(feature = "experiments")]
mod experiments;
mod exploration;
pub mod head;
pub mod http_date;
pub mod limits;
pub mod metrics;
pub mod observer;
mod options;
pub mod order;
mod outgoing;
mod pace;
pub mod population;
mod proxies;
mod pushes;
mod qlog_files;
mod read_ahead;
mod reset_key;
mod responder;
mod retry;
mod router;
mod secrets;
mod send_buffer;
mod send_loop;
mod shards;
mod signal_use;
pub mod site;
mod streams;
pub mod tls;
mod together;
mod unproven;

pub use account::Held;
pub use connection_ids::LoadBalancer;
pub use early_data::{TicketKey, TicketKeyError};
pub use exploration::{
    Candidate, Exploration, ExplorationReport, LeftOut, MemoryError, OrderReport, PageReport,
};
pub use limits::{FileLimits, Limits, QlogLimits, raise_descriptors};
pub use observer::{Answered, Event, Observer, Observers, Refusal};
pub use options::{CongestionControl, Datagrams, Downloads, Experiments, Options};
pub use pace::Pace;
pub use proxies::{Network, Proxies};
pub use qlog_files::QlogFolder;
pub use reset_key::ResetKey;
pub use router::{Common, Companion, Server};
pub use secrets::open_to_others;
pub use send_buffer::SendBuffer;
pub use signal_use::{PageSignals, SignalUse};
pub use tls::{Identity, TlsError, Validity, certificate_pin};
