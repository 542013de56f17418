//! Requests that go along with the first packet (0-RTT), when a session of before allows it.

use super::{Client, EarlyData};
use crate::{ConnectError, Options, SavedSession};
use http3::Session;

/// `ssl_early_data_accepted` of `BoringSSL`.
const ACCEPTED: u32 = 2;

/// Offers the session of an earlier connection to the server, if it is its.
pub(super) fn resume(
    (quic, session): (&mut quiche::Connection, &mut Session),
    host: &str,
    options: &Options,
) -> Result<(), ConnectError> {
    let saved = options.session.as_ref().filter(|it| it.suits(host, &options.verify));
    if let Some(saved) = saved {
        quic.set_session(&saved.transport).map_err(ConnectError::Session)?;
        session.remember(Some(saved.settings.clone()));
    }
    Ok(())
}

impl Client {
    /// Once the first packet is made it is known whether the session allows early data.
    pub(super) fn start_early(&mut self) {
        if self.started || !self.quic.is_in_early_data() {
            return;
        }
        self.outcome.early_data = EarlyData::Sent;
        // The first packet is made at once.
        self.start(self.epoch);
        self.request_due(self.epoch);
    }

    /// The handshake is complete: the server said whether it took early data. What it did not take, the transport sends
    /// again as soon as it counts as lost: when something that went later is acknowledged, so something goes. What was lost
    /// last goes first, so that the server would know of a request before it may push with it: our control streams go
    /// before all else.
    pub(super) fn settle_early_data(&mut self) {
        let accepted = self.quic.early_data_reason() == ACCEPTED;
        if self.outcome.early_data == EarlyData::Sent {
            self.outcome.early_data =
                if accepted { EarlyData::Accepted } else { EarlyData::Rejected };
            if !accepted {
                for (stream, _) in self.session.opening() {
                    self.quic.stream_priority(stream.0, 0, false).ok();
                }
                self.quic.send_ack_eliciting().ok();
            }
        }
        if !accepted {
            self.session.remember(None);
        }
    }

    /// What the server gave to come back with.
    pub(super) fn save_session(&mut self) {
        if let (Some(transport), Some(settings)) =
            (self.quic.session(), self.session.peer_settings())
        {
            let saved = SavedSession::new(&self.server_name, &self.verify, transport, settings);
            self.outcome.session = Some(saved);
        }
    }
}
