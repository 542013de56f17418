//! Stream migration for HTTP/3: a response leaves the connection of its request in the middle of its transfer and
//! continues on another connection. Pure: no sockets, no clocks, no QUIC.
//!
//! After *SMig: Stream Migration Extension for HTTP/2* (Mi, Qian, Wang, 2016). The *source* is the connection of the
//! request, the *destination* the one on which the response continues. Either end proposes with a [`Migrate`] frame, and
//! the other one answers. From the *cut*, an offset in the response's stream, the bytes arrive on a stream of the
//! destination that begins with a [`Continuation`]. [`Sending`] and [`Receiving`] are the two ends of one response.
//!
//! | who proposes | to | the response pauses for |
//! |---|---|---|
//! | server | an idle connection | nothing: its bytes go with the frame |
//! | client | an idle connection | nothing: it moves after one round trip |
//! | server | none: [`Destination::Any`] | the handshake and one round trip |
//! | client | a new connection, which it opens first | nothing: it moves after the handshake and one round trip |
//!
//! Four rules keep the ends in agreement. `tests/it/model.rs` checks them in every order of events:
//!
//! * The server answers each proposal of the client. If two proposals crossed, this answer decides: the smaller name
//!   wins.
//! * The client answers each proposal of the server, except one that crossed its own.
//! * The source's stream stays open, so a response can return. The client names the byte from which it continues, because
//!   only the client knows it.
//! * A response leaves once and returns once.
//!
//! Each way of failing has one end. A client rejects a proposal, or brings a response back, by naming the source. So does
//! a server that rejects. If the destination fails at the server, it asks the client to bring the response back. If the
//! lost bytes were not kept, or the source fails, or nobody answers, the response ends with an [`Error`]. Other streams
//! do not notice.
//!
//! # For the owner of the connections
//!
//! *Settings.* After the handshake both ends export a [`Secret`]. A client computes the connection's [`Name`] and appends
//! [`Offer::settings`] to its settings; a server appends the settings of [`Offer::Understood`]. The extension is used
//! only if [`Offer::read`] finds the peer's offer. A client that sends early data has no secret yet, and makes no offer.
//! At the server, [`Names::join`] checks the name. If it does not follow from TLS, the connection continues without the
//! extension.
//!
//! *Frames.* [`MIGRATE`] is sent on control streams, [`CONTINUATION`] is a type of stream that only servers open. Without
//! both offers they are unknown and ignored. A server passes frames through [`Overtaking`]. [`Migrate::too_late`] answers
//! a frame about a response that is over.
//!
//! *Server.* Offsets count the bytes of the response's stream. A push can move after the header of its stream has been
//! sent. When [`Policy::moves`] returns true, call [`Sending::start`] with [`Names::smallest_idle`], and send at
//! [`Sending::place`]. Do not end the source's stream at the cut: end it when the client stops it or brings the response
//! back. Pass the client's later priority signals to the continuation.
//!
//! *Client.* Read at [`Receiving::reads`], and pass the bytes and the end of a continuation to the source's session, as
//! bytes of the stream there. So messages, flow control and logs contain one response. Leave a continuation that arrives
//! early unread after its header. When the response is complete, stop the source's stream with `H3_NO_ERROR`.
//!
//! *Both.* Carry out each [`Action`]. After an [`Error`], end the stream or connection of its scope, with its code.
//!
//! ```
//! use http3::StreamId;
//! use migration::{Destination, Name, Place, Reads, Receiving, Secret, Sending, Subject};
//! use std::time::Instant;
//!
//! # #[expect(clippy::disallowed_methods, reason = "an example has no caller")]
//! # let now = Instant::now();
//! let [first, second] = [1, 2].map(|it| Secret::new(&[it; 32]));
//! let (source, idle) = (Name::first(&first), Name::next(&first, &second));
//! let subject = Subject::Request(StreamId(0));
//! let (mut server, mut client) = (Sending::new(source, subject), Receiving::new(source, subject));
//! server.sent(1000);
//! client.read(1000);
//!
//! let proposal = server.start(Destination::Named(idle), 65_536, now).expect("it never moved");
//! assert_eq!(server.place(), Place::Destination(idle, 66_536));
//!
//! let answers = client.receive(&proposal, &|name| name == idle, now)?;
//! assert_eq!(client.reads(), Reads::Destination(idle));
//! for answer in answers {
//!     let migration::Action::Send(frame) = answer else { continue };
//!     server.receive(&frame, &|name| name == idle, now)?;
//! }
//! assert_eq!(server.place(), Place::Destination(idle, u64::MAX));
//! # Ok::<(), migration::Error>(())
//! ```

mod action;
mod continuation;
mod error;
mod frame;
mod history;
mod limits;
mod name;
mod names;
mod overtaking;
mod policy;
mod receiving;
mod sending;

pub use action::Action;
pub use continuation::{CONTINUATION, Continuation};
pub use error::{Error, Scope};
pub use frame::{Destination, Kind, MIGRATE, Migrate, PAYLOAD_BYTES_MAX, Rest, Subject};
pub use history::{History, Visit};
pub use limits::{MEMBERS_MAX, OVERTAKING, OVERTAKING_MAX};
pub use name::{EXPORTER_LABEL, Name, Offer, Secret};
pub use names::Names;
pub use overtaking::Overtaking;
pub use policy::{BlockingRule, Candidate, Policy, SizeRule, blocking_time};
pub use receiving::{Reads, Receiving};
pub use sending::{Place, Sending};

/// A moment for tests to count from.
#[cfg(test)]
fn base_time() -> std::time::Instant {
    static BASE: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    #[expect(clippy::disallowed_methods, reason = "tests need some moment to count from")]
    *BASE.get_or_init(std::time::Instant::now)
}
