//! Cross traffic on the links of a page load: its kinds, and its random events. The engine `stack` carries it.

use crate::network::{Amount, Network, rounded};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use server::CongestionControl;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The cross traffic. In text and files: `none`, `bulk:cubic`, `web:0.3`.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    SerializeDisplay,
    DeserializeFromStr,
)]
pub enum CrossTraffic {
    /// The page has the links to itself.
    #[default]
    None,
    /// One endless download, under this congestion control.
    Bulk(CongestionControl),
    /// Short downloads ([`WebFlows`]) that together use this share of the downlink's rate.
    Web(Amount),
}

/// The default share of `web`.
const WEB_SHARE: &str = "0.3";

const CONGESTION_CONTROLS: [CongestionControl; 3] =
    [CongestionControl::Bbr2, CongestionControl::Cubic, CongestionControl::Reno];

impl FromStr for CrossTraffic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let traffic = match text.trim().split_once(':').unwrap_or((text.trim(), "")) {
            ("none", "") => Some(Self::None),
            ("bulk", name) => {
                let mut known = CONGESTION_CONTROLS.into_iter();
                known.find(|it| it.name() == name).map(Self::Bulk)
            }
            ("web", share) => {
                let share = if share.is_empty() { WEB_SHARE } else { share };
                let share = Amount::parse(share).ok();
                share.filter(|it| (0.01..=1.0).contains(&it.value())).map(Self::Web)
            }
            _ => None,
        };
        traffic.ok_or_else(|| {
            format!(
                "`{text}` is not cross traffic; use none, bulk:bbr2, bulk:cubic, bulk:reno, or web:SHARE with a share of the \
                 rate from 0.01 to 1"
            )
        })
    }
}

impl fmt::Display for CrossTraffic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Bulk(control) => write!(formatter, "bulk:{}", control.name()),
            Self::Web(share) => write!(formatter, "web:{share}"),
        }
    }
}

/// One download of the cross traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flow {
    /// When it begins, counted from the beginning of the traffic.
    pub(crate) at: Duration,
    pub(crate) bytes: u64,
}

/// An endless series of short downloads, each over its own connection.
///
/// They begin independently of each other: the pauses between beginnings are exponential, as Paxson and Floyd found for
/// connections that users start (Wide-area traffic: the failure of Poisson modeling, 1995). They do not wait for the
/// link, so every scheme meets the same downloads. Sizes follow Pareto's distribution with the exponent that Barford and
/// Crovella measured for the tail of web files (Generating representative web workloads, 1998), from [`BYTES_MIN`] to
/// [`BYTES_MAX`]. The mean pause follows from the mean size and the share of the rate.
#[derive(Debug, Clone)]
pub(crate) struct WebFlows {
    chance: ChaCha8Rng,
    mean_pause_s: f64,
    at_us: f64,
}

const EXPONENT: f64 = 1.1;

/// The smallest download.
const BYTES_MIN: f64 = 10e3;

/// The largest download. Without it, the exponent would put half of all bytes into downloads that no page load ever
/// meets.
const BYTES_MAX: f64 = 1e6;

/// The random stream of this traffic, apart from the links' own, which have the lowest numbers.
const CHANCE: u64 = 1000;

impl WebFlows {
    /// The downloads that use `share` of the rate of `network`. The same seed gives the same downloads.
    pub(crate) fn new(share: Amount, network: &Network, seed: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        chance.set_stream(CHANCE);
        let bytes_per_s = share.value() * network.down.rate.mean() / 8.0;
        Self { chance, mean_pause_s: mean_bytes() / bytes_per_s, at_us: 0.0 }
    }

    /// From 0 to below 1.
    fn draw(&mut self) -> f64 {
        (self.chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Iterator for WebFlows {
    type Item = Flow;

    /// The next download, in whole microseconds and bytes, by inversion of the two distributions.
    fn next(&mut self) -> Option<Flow> {
        let pause_s = -(1.0 - self.draw()).ln() * self.mean_pause_s;
        self.at_us += (pause_s * 1e6).round();
        let beyond_max = (BYTES_MIN / BYTES_MAX).powf(EXPONENT);
        let beyond = 1.0 - self.draw() * (1.0 - beyond_max);
        let bytes = rounded(BYTES_MIN * beyond.powf(-1.0 / EXPONENT));
        Some(Flow { at: Duration::from_micros(rounded(self.at_us)), bytes })
    }
}

fn mean_bytes() -> f64 {
    let ratio = BYTES_MIN / BYTES_MAX;
    let scale = EXPONENT / (EXPONENT - 1.0) / (1.0 - ratio.powf(EXPONENT));
    BYTES_MIN * scale * (1.0 - ratio.powf(EXPONENT - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse().map(|it: CrossTraffic| it.to_string())
    }

    #[test]
    fn traffic_is_written_as_it_is_read_and_web_alone_asks_for_three_tenths() {
        for text in ["none", "bulk:bbr2", "bulk:cubic", "bulk:reno", "web:0.05"] {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
        assert_eq!(read("web").as_deref(), Ok("web:0.3"));
        for wrong in ["", "bulk", "bulk:vegas", "none:1", "web:0", "web:1.1", "web:30%", "tcp"] {
            let message = read(wrong).expect_err(wrong);
            assert!(message.starts_with(&format!("`{wrong}` is not cross traffic; use none, ")));
        }
    }

    #[test]
    fn downloads_ask_for_their_share_of_the_rate_whatever_it_is() {
        for (name, share) in [("3g", "0.3"), ("cable", "0.3"), ("cable", "0.8")] {
            let network = Network::find(name).expect("built in");
            let amount = Amount::parse(share).expect("a share");
            let flows: Vec<Flow> = WebFlows::new(amount, &network, 1).take(100_000).collect();
            let bits = flows.iter().map(|it| it.bytes).sum::<u64>() as f64 * 8.0;
            let rate = bits / flows.last().expect("some").at.as_secs_f64();
            let asked = rate / network.down.rate.mean() / amount.value();
            assert!((0.98..1.02).contains(&asked), "{name} {share}: {asked}");
        }
    }

    #[test]
    fn sizes_have_a_heavy_tail_and_pauses_are_exponential() {
        let network = Network::find("cable").expect("built in");
        let share = Amount::parse("0.3").expect("a share");
        let flows: Vec<Flow> = WebFlows::new(share, &network, 2).take(20_000).collect();
        let mut bytes: Vec<u64> = flows.iter().map(|it| it.bytes).collect();
        bytes.sort_unstable();
        assert!(bytes[0] >= 10_000 && bytes[19_999] <= 1_000_000);
        // Pareto's median is the least times 2^(1/1.1), its mean here 41 kB.
        assert!((18_000..20_000).contains(&bytes[10_000]), "{}", bytes[10_000]);
        assert!((mean_bytes() - 40.8e3).abs() < 100.0, "{}", mean_bytes());
        let largest: u64 = bytes[18_000..].iter().sum();
        let share = largest as f64 / bytes.iter().sum::<u64>() as f64;
        assert!(share > 0.4, "a tenth of the downloads has {share} of the bytes");
        let pauses = flows.windows(2).map(|it| it[1].at.saturating_sub(it[0].at).as_secs_f64());
        let pauses: Vec<f64> = pauses.collect();
        let mean = pauses.iter().sum::<f64>() / pauses.len() as f64;
        let above = pauses.iter().filter(|it| **it > mean).count() as f64 / pauses.len() as f64;
        // 1/e of exponential pauses are longer than their mean.
        assert!((0.36..0.376).contains(&above), "{above}");
    }

    #[test]
    fn a_seed_gives_the_same_downloads_and_another_seed_others() {
        let network = Network::find("3g").expect("built in");
        let share = Amount::parse("0.3").expect("a share");
        let flows = |seed| WebFlows::new(share, &network, seed).take(5).collect::<Vec<_>>();
        assert_eq!(flows(1), flows(1));
        assert_ne!(flows(1), flows(2));
    }
}
