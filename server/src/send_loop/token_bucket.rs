//! Pacing for congestion controls that the transport does not pace: a token bucket (RFC 9002, 7.7).
//!
//! The bucket fills at 1.25 times the congestion window per round trip, so that a paced sender still fills its
//! window. It holds at most an initial window of 10 packets, the largest burst that the RFC recommends.

use std::time::{Duration, Instant};

/// The rate, as a multiple of the congestion window per round trip.
const RATE: f64 = 1.25;

/// The largest burst, in packets (RFC 9002, 7.2).
const BURST_PACKETS: usize = 10;

#[derive(Debug)]
pub(crate) struct TokenBucket {
    /// Bytes that may be sent at once. Below zero after an event loop sent ahead of time.
    bytes: f64,
    burst_bytes: f64,
    filled: Option<Instant>,
}

impl TokenBucket {
    /// A full bucket of [`BURST_PACKETS`].
    pub(crate) fn new(packet_bytes: usize) -> Self {
        let burst_bytes = (BURST_PACKETS * packet_bytes) as f64;
        Self { bytes: burst_bytes, burst_bytes, filled: None }
    }

    /// When a packet of `packet_bytes` may be sent, with this congestion window and round trip.
    pub(crate) fn release(
        &mut self,
        now: Instant,
        packet_bytes: usize,
        window_bytes: usize,
        rtt: Duration,
    ) -> Instant {
        let bytes_per_second = RATE * window_bytes as f64 / rtt.as_secs_f64();
        let since = now.saturating_duration_since(self.filled.unwrap_or(now));
        self.filled = Some(now);
        let filled_bytes = self.bytes + bytes_per_second * since.as_secs_f64();
        self.bytes = filled_bytes.min(self.burst_bytes);
        let missing_bytes = (packet_bytes as f64 - self.bytes).max(0.0);
        let wait = Duration::try_from_secs_f64(missing_bytes / bytes_per_second);
        now + wait.unwrap_or(rtt)
    }

    pub(crate) fn sent(&mut self, packet_bytes: usize) {
        self.bytes -= packet_bytes as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW_BYTES: usize = 40_000;
    const RTT: Duration = Duration::from_millis(50);

    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant can only be had from the clock; only differences matter"
    )]
    fn now() -> Instant {
        Instant::now()
    }

    /// The times in ms at which packets of 1000 bytes are sent, if the sender has one whenever it may send.
    fn sent_ms(bucket: &mut TokenBucket, start: Instant, packets: usize) -> String {
        let mut now = start;
        let mut times = Vec::new();
        for _ in 0..packets {
            now = bucket.release(now, 1000, WINDOW_BYTES, RTT);
            bucket.sent(1000);
            times.push((now - start).as_millis().to_string());
        }
        times.join(",")
    }

    #[test]
    fn ten_packets_go_at_once_and_then_a_window_and_a_quarter_in_a_round_trip() {
        // 1.25 x 40 packets in 50 ms: one per millisecond.
        let mut bucket = TokenBucket::new(1000);
        assert_eq!(sent_ms(&mut bucket, now(), 14), "0,0,0,0,0,0,0,0,0,0,1,2,3,4");
    }

    #[test]
    fn a_pause_fills_the_bucket_again_but_never_beyond_ten_packets() {
        let mut bucket = TokenBucket::new(1000);
        let start = now();
        sent_ms(&mut bucket, start, 10);
        let later = start + Duration::from_secs(10);
        assert_eq!(sent_ms(&mut bucket, later, 12), "0,0,0,0,0,0,0,0,0,0,1,2");
    }

    #[test]
    fn bytes_sent_ahead_of_time_are_owed() {
        let mut bucket = TokenBucket::new(1000);
        let start = now();
        bucket.release(start, 1000, WINDOW_BYTES, RTT);
        for _ in 0..12 {
            bucket.sent(1000);
        }
        let release = bucket.release(start, 1000, WINDOW_BYTES, RTT);
        assert_eq!((release - start).as_millis(), 3);
    }

    #[test]
    fn a_round_trip_of_zero_delays_nothing() {
        let mut bucket = TokenBucket::new(1000);
        let start = now();
        for _ in 0..100 {
            assert_eq!(bucket.release(start, 1000, WINDOW_BYTES, Duration::ZERO), start);
            bucket.sent(1000);
        }
    }
}
