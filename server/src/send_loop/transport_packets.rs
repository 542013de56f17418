//! Asks the transport for packets.

use super::{Datagram, SendLoop};
use crate::streams::OWN_STREAMS;
use connection::Path;

impl SendLoop {
    /// Asks the transport for a packet until it is certain that it has none.
    ///
    /// quiche keeps a stream in its queue if its lost bytes were acknowledged before they were sent again. At such a
    /// stream, quiche makes no packet, reports that it is done, and puts the stream after the others. It continues with
    /// the others only when asked again. Only streams with an open end can be in that state: our own three, streams of
    /// responses in progress, and streams whose responses have moved.
    pub(super) fn send(&mut self, out: &mut [u8]) -> Result<Option<Datagram>, quiche::Error> {
        let quic = &mut self.connection.quic;
        let open_ended = OWN_STREAMS.len() + self.streams.responses();
        #[cfg(feature = "experiments")]
        let open_ended = open_ended + self.streams.open_ended();
        let others = if self.measures.is_lossy { open_ended } else { 0 };
        for _ in 0..others {
            if let Some(datagram) = send_once(quic, self.home, out)? {
                return Ok(Some(datagram));
            }
        }
        send_once(quic, self.home, out)
    }

    /// Requests a packet in a buffer that is too small for it.
    pub(super) fn poke(&mut self, out: &mut [u8]) -> Result<Option<Datagram>, quiche::Error> {
        let quic = &mut self.connection.quic;
        let size = (1 + quic.destination_id().len() + 8).min(out.len());
        send_once(quic, self.home, &mut out[..size])
    }
}

/// Requests a packet to `to`. Without it, the transport chooses: that may be a path with a challenge for which it has
/// no credit left, and then it sends nothing at all.
fn send_once(
    quic: &mut connection::Quic,
    to: Option<Path>,
    out: &mut [u8],
) -> Result<Option<Datagram>, quiche::Error> {
    let to = to.filter(|_| quic.local_error().is_none());
    match quic.send_on_path(out, to.map(|it| it.local), to.map(|it| it.peer)) {
        Ok((bytes, info)) => Ok(Some((bytes, info.into()))),
        Err(quiche::Error::Done) => Ok(None),
        Err(error) => Err(error),
    }
}
