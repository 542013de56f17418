//! HTTP/3 on the wire, for both ends: frames, settings, priority signals, errors. No I/O.
//!
//! Bytes in, events out: the owner of a QUIC connection creates a [`Session`], sends the bytes of
//! [`Session::opening`], passes arriving bytes of every stream to [`Session::receive`], and takes [`Event`]s
//! from [`Session::poll`]. [`Session::encode_headers`] and the free functions make the bytes to send;
//! outgoing body bytes never pass through here.
//!
//! ```
//! use http3::{Event, Header, Limits, Role, Session, Settings, StreamId};
//!
//! let mut client = Session::new(Role::Client, Settings::default(), Limits::default());
//! let mut server = Session::new(Role::Server, Settings::default(), Limits::default());
//! for (stream, bytes) in client.opening() {
//!     server.receive(stream, &bytes, false)?;
//! }
//! let request = [(":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")]
//!     .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()));
//! server.receive(StreamId(0), &client.encode_headers(&request)?, true)?;
//!
//! assert!(matches!(server.poll(), Some(Event::Settings(_))));
//! assert_eq!(server.poll(), Some(Event::Headers { stream: StreamId(0), headers: request.to_vec() }));
//! assert_eq!(server.poll(), Some(Event::Finished { stream: StreamId(0) }));
//! # Ok::<(), http3::Error>(())
//! ```
//!
//! RFC 9114 (HTTP/3), RFC 9204 (QPACK, static table only), RFC 9218 (priorities).
//!
//! Signals that HTTP/3 lacks travel in extension frames that both sides must have offered in their settings:
//! the dependency tree of the drafts, Meenan's bucket byte, and the name of the scheme that a server prefers
//! ([`Extension`], [`Session::signal`], [`Session::announce_scheme`]). A client's facts about a resource
//! travel in a request header field ([`schedulers::metadata_field`]).

mod authority;
mod bucket_frame;
mod control;
mod error;
mod event;
mod extensions;
mod frame;
mod headers;
mod limits;
pub mod log;
mod priority;
mod pushes;
mod qpack;
mod remembered;
mod role;
mod scheme_name;
mod secrets;
mod session;
mod settings;
mod stream;
mod tree_frame;
mod unidirectional;
mod waiting;

pub use authority::{host, is_authority};
pub use error::{Code, Error};
pub use event::{Event, Prioritized, PushDepend, PushId, TreeNode};
pub use extensions::Extension;
pub use frame::{data_frame_header, put_varint, whole as whole_frame};
pub use headers::{get_request, malformed_field, malformed_request, status, values};
pub use limits::Limits;
pub use priority::priority_update;
pub use quiche::h3::{Header, NameValue};
pub use role::Role;
pub use schedulers::{Signal, StreamId};
pub use scheme_name::{SCHEME_FIELD, parse_scheme_field};
pub use session::Session;
pub use settings::Settings;
