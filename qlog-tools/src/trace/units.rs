//! The units of round trips and delays, which differ by stack.

use super::Header;

/// The default exponent of a peer (RFC 9000, section 18.2).
const ACK_DELAY_EXPONENT: u32 = 3;

impl Header {
    /// The milliseconds in one unit of the log's `ack_delay`: qlog's schema has milliseconds or the unit that the log names. mvfst writes
    /// microseconds. quiche and our programs write a thousandth of the number in the frame; picoquic writes this number itself, which the
    /// sender's exponent scales.
    pub(crate) fn ack_delay_unit_ms(&self, exponent: Option<u32>) -> f64 {
        let encoded_us = f64::from(exponent.unwrap_or(ACK_DELAY_EXPONENT)).exp2();
        match self.stack.name.as_deref() {
            Some("mvfst") => 0.001,
            Some("picoquic") => encoded_us / 1000.0,
            Some("quiche" | "utmost") => encoded_us,
            Some("neqo") => 1.0,
            _ => self.time_unit_ms.unwrap_or(1.0),
        }
    }

    /// The milliseconds in one unit of the log's round-trip times.
    pub(crate) fn rtt_unit_ms(&self) -> f64 {
        let format = self.format.as_deref().unwrap_or_default();
        match self.stack.name.as_deref() {
            // quinn's crate wrote RTTs in seconds until it wrote qlog's newer schema.
            Some("quinn") if format.starts_with("0.") => 1000.0,
            // mvfst's, whose events are arrays, are in microseconds.
            Some("mvfst") if format.starts_with("draft-") => 0.001,
            Some("picoquic") => 0.001,
            // neqo's are in milliseconds, whatever the unit of its events' times.
            Some("neqo") => 1.0,
            _ => self.time_unit_ms.unwrap_or(1.0),
        }
    }
}
