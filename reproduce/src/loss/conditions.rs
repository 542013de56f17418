//! The conditions of loads: a network that loses packets, and a congestion control.

use crate::ReproduceError;
use lab::network::Network;
use server::CongestionControl;
use simulator::link::{GilbertElliott, Loss};

/// Bundled networks without loss: one at home and one on the move.
pub(super) const NETWORKS: [&str; 2] = ["cable", "lte"];

schedulers::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Model {
        /// Each by itself.
        Independent = "independent",
        /// Gilbert and Elliott's, as `lte-lossy` has it: half of the packets are lost in a state that lasts for 3 on average.
        Bursts = "bursts",
    }
}

/// The lowest and the highest share, and those between, in percent of the server's packets.
pub(super) const PERCENTS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 5.0];

/// In the bad state: the share that is lost, and the probability of leaving it at each packet.
const LOST_IN_BURST: f64 = 0.5;
const BURST_ENDS: f64 = 0.33;

impl Model {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Independent => "independent losses",
            Self::Bursts => "losses in bursts",
        }
    }

    /// The loss of `percent` of all packets on average.
    fn loss(self, percent: f64) -> Option<Loss> {
        let share = percent / 100.0;
        if share <= 0.0 {
            return None;
        }
        if self == Self::Independent {
            return Some(Loss::Independent(share));
        }
        // The bad state takes this share of the time.
        let bad = share / LOST_IN_BURST;
        let (to_bad, to_good) = (BURST_ENDS * bad / (1.0 - bad), BURST_ENDS);
        let burst = GilbertElliott { good: 0.0, bad: LOST_IN_BURST, to_bad, to_good };
        Some(Loss::GilbertElliott(burst))
    }
}

/// Loads are compared within one condition only.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) network: Network,
    pub(super) control: CongestionControl,
}

impl Condition {
    pub(super) fn new(
        network: &str,
        model: Model,
        percent: f64,
        control: CongestionControl,
    ) -> Result<Self, ReproduceError> {
        let mut network = Network::find(network).map_err(ReproduceError::unusable)?;
        network.down.loss = model.loss(percent);
        Ok(Self { network, control })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::link::{Link, Profile, Way};

    /// How many percent of many datagrams are lost.
    fn lost_percent(model: Model, percent: f64) -> f64 {
        let profile = Profile { loss: model.loss(percent), ..Profile::plain(1e10, 0.0) };
        let mut link: Link<Vec<u8>> = Link::new(&profile, Way::Down, 1);
        let mut came = 0;
        for number in 0..400_000 {
            link.offer(number * 1000, vec![0]);
            came += std::iter::from_fn(|| link.arrival(number * 1000 + 999)).count();
        }
        100.0 - came as f64 / 4000.0
    }

    #[test]
    fn both_models_lose_the_same_share() {
        for model in Model::ALL {
            for percent in PERCENTS {
                let lost = lost_percent(model, percent);
                assert!((lost - percent).abs() <= 0.05 * percent, "{model:?} {percent}: {lost}");
            }
        }
    }
}
