//! The depth of the queue at a network's bottleneck, if a study sets it.

use super::{Network, NetworkError, rounded};
use corpus::size;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use simulator::link::{Profile, Queue};
use std::fmt;
use std::str::FromStr;

/// The depth of the downlink's queue. In text and files: `64k`, `2bdp`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr,
)]
pub enum QueueDepth {
    /// Bytes.
    Bytes(u64),
    /// Thousandths of the network's bandwidth-delay product: its mean rate times its round trip.
    BdpThousandths(u32),
}

/// The suffix of a depth in bandwidth-delay products.
const BDP: &str = "bdp";

/// A deeper queue holds minutes of traffic.
const BDPS_MAX: f64 = 1000.0;

impl FromStr for QueueDepth {
    type Err = String;

    /// Parses a size such as `64k`, or `2bdp`.
    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let Some(number) = lower.strip_suffix(BDP) else {
            return match size::parse(text.trim())? {
                0 => Err(format!(
                    "`{text}`: a queue without room drops everything; use for example 64k or 1bdp"
                )),
                bytes => Ok(Self::Bytes(bytes)),
            };
        };
        let products: Option<f64> = number.trim().parse().ok();
        let products = products.filter(|it| (0.001..=BDPS_MAX).contains(it));
        let products = products.ok_or_else(|| {
            format!(
                "`{text}` is not a queue: use 0.001bdp to {BDPS_MAX:.0}bdp, or a size such as 64k"
            )
        })?;
        // At most a million.
        Ok(Self::BdpThousandths(u32::try_from(rounded(products * 1000.0)).unwrap_or(u32::MAX)))
    }
}

impl QueueDepth {
    /// Its size in thousands of bytes, if it is a size.
    pub(crate) fn kilobytes(self) -> Option<f64> {
        match self {
            Self::Bytes(bytes) => Some(bytes as f64 / 1e3),
            Self::BdpThousandths(_) => None,
        }
    }

    /// Its size in bandwidth-delay products, if given in these.
    pub(crate) fn products(self) -> Option<f64> {
        match self {
            Self::Bytes(_) => None,
            Self::BdpThousandths(it) => Some(f64::from(it) / 1000.0),
        }
    }

    fn bytes(self, network: &Network) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::BdpThousandths(thousandths) => {
                let round_trip_s = network.round_trip_ms() / 1000.0;
                let product = network.down.rate.mean() / 8.0 * round_trip_s;
                rounded(product * f64::from(thousandths) / 1000.0)
            }
        }
    }
}

impl fmt::Display for QueueDepth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => formatter.write_str(&size::text(*bytes)),
            Self::BdpThousandths(it) => write!(formatter, "{}{BDP}", f64::from(*it) / 1000.0),
        }
    }
}

impl Network {
    /// The network with this queue on the downlink.
    pub fn with_queue(&self, depth: QueueDepth) -> Result<Self, NetworkError> {
        let queue = Queue::Bytes(depth.bytes(self));
        let down = Profile { queue, ..self.down.clone() };
        let cause = match down.check() {
            _ if self.server_pace => {
                "its server paces, so no queue forms; leave out --queue, or use another network"
                    .to_owned()
            }
            Err(error) => format!("queue {depth}: {error}"),
            Ok(()) => return Ok(Self { down, ..self.clone() }),
        };
        Err(NetworkError::Wrong(format!("network `{}`: {cause}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_is_a_size_or_a_multiple_of_the_bandwidth_delay_product() {
        let read = |text: &str| text.parse().map(|it: QueueDepth| it.to_string());
        for (text, expected) in
            [("64k", "64k"), ("64000", "64k"), ("1m", "1M"), ("2BDP", "2bdp"), ("0.5bdp", "0.5bdp")]
        {
            assert_eq!(read(text).as_deref(), Ok(expected));
        }
        for (wrong, expected) in [
            ("0", "`0`: a queue without room drops everything; use for example 64k or 1bdp"),
            ("0bdp", "`0bdp` is not a queue: use 0.001bdp to 1000bdp, or a size such as 64k"),
            ("nanbdp", "`nanbdp` is not a queue: use 0.001bdp to 1000bdp, or a size such as 64k"),
            ("deep", "unit `deep`: use k, M, Ki, Mi or leave it out"),
        ] {
            assert_eq!(read(wrong), Err(expected.to_owned()));
        }
    }

    #[test]
    fn a_network_has_the_queue_on_its_way_down() {
        let with = |name: &str, depth: &str| {
            let network = Network::find(name).expect("built in");
            let depth = depth.parse().expect("a depth");
            network.with_queue(depth).map(|it| (it.down.queue, it.up == network.up))
        };
        // 25 Mbit/s times 50 ms.
        assert_eq!(with("cable", "2bdp").ok(), Some((Queue::Bytes(312_500), true)));
        assert_eq!(with("cable", "64k").ok(), Some((Queue::Bytes(64_000), true)));
        for (name, depth, expected) in [
            ("paper", "64k", "network `paper`: its server paces, so no queue forms; "),
            ("cable", "1", "network `cable`: queue 1: queue.bytes = 1: room for one datagram"),
            ("loopback", "0.1bdp", "network `loopback`: queue 0.1bdp: queue.bytes = 1250: room"),
        ] {
            let message = with(name, depth).expect_err("no room").to_string();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
