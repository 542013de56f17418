//! The properties of a network's links that a study can set: round trip, rate and loss.

use super::{Network, NetworkError, rounded};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use simulator::link::{Loss, Rate};
use std::fmt;

schedulers::named! {
    /// A property that [`Network::with`] sets. Its name is the key in files, tables and flags.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Property {
        /// The round-trip time without queues in milliseconds: the sum of both directions' delays.
        RoundTrip = "rtt_ms",
        /// The rate of the downlink, in bit/s.
        Rate = "rate",
        /// The share of datagrams that are lost on the downlink, each independently.
        Loss = "loss",
    }
}

impl Property {
    /// Example values.
    pub fn example(self) -> &'static str {
        match self {
            Self::RoundTrip => "rtt_ms=10,50,200",
            Self::Rate => "rate=1M,5M",
            Self::Loss => "loss=0,0.01",
        }
    }
}

/// A decimal number with at most six places, exact, and therefore usable as a key: `50`, `0.01`, `1360000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "Number")]
pub struct Amount {
    millionths: u64,
}

/// SI units, the largest first. Units of rates are the usual ones.
const UNITS: [(char, f64); 3] = [('G', 1e9), ('M', 1e6), ('k', 1e3)];

const MILLIONTHS: u64 = 1_000_000;

/// Larger than any property of a link: ten times the fastest rate.
const AMOUNT_MAX: f64 = 1e12;

impl Amount {
    /// A number, with an SI unit if it is large: `0.01`, `1360k`, `1.36M`, `25e6`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let mut units = UNITS.iter();
        let with_unit = units.find_map(|(unit, factor)| Some((text.strip_suffix(*unit)?, *factor)));
        let (digits, factor) = with_unit.unwrap_or((text, 1.0));
        let number: Result<f64, _> = digits.trim_end().parse();
        let share = text.strip_suffix('%').and_then(|it| it.trim_end().parse::<f64>().ok());
        let example = share.map(|it| format!("{} for {it} %", it / 100.0));
        let amount = number.ok().and_then(|it| Self::try_from(it * factor).ok());
        amount.ok_or_else(|| {
            let example = example.as_deref().unwrap_or("for example 0.01 or 5M");
            format!(
                "`{text}` is not a number from 0 to {AMOUNT_MAX:e} of at most six decimals; use {example}"
            )
        })
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.millionths as f64 / MILLIONTHS as f64
    }
}

impl TryFrom<f64> for Amount {
    type Error = String;

    /// Rejects values that would have to be rounded.
    fn try_from(value: f64) -> Result<Self, String> {
        let exact = value * MILLIONTHS as f64;
        let amount = Self { millionths: rounded(exact.clamp(0.0, AMOUNT_MAX * 1e6)) };
        // The product of two numbers with an error of half a unit in the last place each.
        let error = (amount.value() - value).abs();
        if value <= AMOUNT_MAX && error <= value.abs() * 4.0 * f64::EPSILON {
            return Ok(amount);
        }
        Err(format!("{value} is not a number from 0 to {AMOUNT_MAX:e} of at most six decimals"))
    }
}

/// A whole number stays whole in JSON.
impl From<Amount> for Number {
    fn from(amount: Amount) -> Self {
        if amount.millionths.is_multiple_of(MILLIONTHS) {
            return (amount.millionths / MILLIONTHS).into();
        }
        Self::from_f64(amount.value()).unwrap_or_else(|| 0.into())
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(formatter)
    }
}

impl Network {
    /// The network with this property changed.
    ///
    /// A round trip is divided between the directions in the network's own proportion, and equally if it has none. Rate
    /// and loss apply to the downlink; if the server paces, the rate is its pace. A loss replaces the network's own
    /// model of loss on the downlink.
    pub fn with(&self, property: Property, amount: Amount) -> Result<Self, NetworkError> {
        self.changed(property, amount)
            .map_err(|cause| NetworkError::Wrong(format!("network `{}`: {cause}", self.name)))
    }

    fn changed(&self, property: Property, amount: Amount) -> Result<Self, String> {
        let value = amount.value();
        let (mut down, mut up) = (self.down.clone(), self.up.clone());
        match property {
            Property::RoundTrip => {
                let share = self.down_share();
                (down.delay_ms, up.delay_ms) = (value * share, value * (1.0 - share));
            }
            Property::Rate if matches!(down.rate, Rate::Trace(_)) => {
                return Err(
                    "its rate is a trace, which --set rate cannot change; leave out --set rate, or use a network with a \
                     constant rate"
                        .to_owned(),
                );
            }
            Property::Rate => down.rate = Rate::Constant(value),
            Property::Loss if amount.millionths >= MILLIONTHS => {
                let share = amount.value() / 100.0;
                let hint = format!(", such as {share} for {amount} %");
                let hint = if share < 1.0 { &*hint } else { "" };
                return Err(format!(
                    "loss = {amount}: nothing would arrive; use a share below 1{hint}"
                ));
            }
            Property::Loss => down.loss = (value > 0.0).then_some(Loss::Independent(value)),
        }
        down.check().and_then(|()| up.check()).map_err(|error| match property {
            // The error concerns one of the delays into which the round trip was divided.
            Property::RoundTrip => format!("{} = {amount}: {error}", property.name()),
            Property::Rate | Property::Loss => error.to_string(),
        })?;
        Ok(Self { down, up, ..self.clone() })
    }

    fn down_share(&self) -> f64 {
        let round_trip_ms = self.round_trip_ms();
        if round_trip_ms > 0.0 { self.down.delay_ms / round_trip_ms } else { 0.5 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::file;
    use simulator::link::Queue;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).expect(text)
    }

    fn json(text: &str) -> String {
        serde_json::to_string(&amount(text)).expect("JSON")
    }

    #[test]
    fn an_amount_is_exact_and_a_whole_one_stays_whole_in_files() {
        for (text, expected) in [
            ("50", "50"),
            ("0.1", "0.1"),
            ("0.01", "0.01"),
            ("0.000001", "1e-6"),
            ("1.36M", "1360000"),
            ("1360 k", "1360000"),
            ("25e6", "25000000"),
            ("100G", "100000000000"),
            ("0", "0"),
        ] {
            assert_eq!(json(text), expected, "{text}");
            let back: Amount = serde_json::from_str(&json(text)).expect("an amount");
            assert_eq!(back, amount(text), "{text}");
        }
        assert_eq!(amount("0.10"), amount("0.1"));
        for wrong in ["", "k", "-1", "%", "fast", "nan", "inf", "0.0000001", "1e30", "5m"] {
            let expected = format!(
                "`{wrong}` is not a number from 0 to 1e12 of at most six decimals; use for example 0.01 or 5M"
            );
            assert_eq!(Amount::parse(wrong), Err(expected));
        }
        for (percent, share) in [("5%", "0.05 for 5 %"), ("0.5 %", "0.005 for 0.5 %")] {
            let expected = format!(
                "`{percent}` is not a number from 0 to 1e12 of at most six decimals; use {share}"
            );
            assert_eq!(Amount::parse(percent), Err(expected));
        }
    }

    #[test]
    fn a_property_changes_and_everything_else_stays() {
        let network = Network::find("cable").expect("built in");
        let with = |property, text| network.with(property, amount(text)).expect(text);
        let near = with(Property::RoundTrip, "10");
        assert_eq!((near.down.delay_ms, near.up.delay_ms), (5.0, 5.0));
        assert_eq!(near.down.queue, Queue::Bytes(156_000), "as many bytes as before");
        let slow = with(Property::Rate, "5M");
        assert_eq!((slow.down.rate.mean(), slow.up.rate.mean()), (5e6, 25e6));
        let lossy = with(Property::Loss, "0.01");
        assert_eq!((lossy.down.loss, lossy.up.loss), (Some(Loss::Independent(0.01)), None));
        let other = Network { down: network.down.clone(), ..lossy };
        assert_eq!(other, network);
    }

    #[test]
    fn a_round_trip_is_divided_as_the_networks_own_and_equally_where_it_has_none() {
        let text = "rate = 1e6\nqueue = \"unlimited\"\ndelay_ms = 30\n[up]\ndelay_ms = 10";
        let uneven = file::parse("x.toml", text).expect("a network");
        let far = uneven.with(Property::RoundTrip, amount("200")).expect("a network");
        assert_eq!((far.down.delay_ms, far.up.delay_ms), (150.0, 50.0));
        let paper = Network::find("paper").expect("built in");
        let far = paper.with(Property::RoundTrip, amount("200")).expect("a network");
        assert_eq!((far.down.delay_ms, far.up.delay_ms), (100.0, 100.0));
    }

    #[test]
    fn the_rate_of_a_server_that_paces_is_its_pace() {
        let paper = Network::find("paper").expect("built in");
        let twice = paper.with(Property::Rate, amount("2240k")).expect("a network");
        assert!((twice.tick_us() - 5000.0).abs() < 1e-9);
        assert_eq!(twice.pace().map(|it| it.interval.as_micros()), Some(5000));
    }

    #[test]
    fn a_loss_takes_the_place_of_the_networks_own_and_none_removes_it() {
        let lossy = Network::find("cable-lossy").expect("built in");
        let with = |text| lossy.with(Property::Loss, amount(text)).expect(text).down.loss;
        assert_eq!((with("0.02"), with("0")), (Some(Loss::Independent(0.02)), None));
    }

    #[test]
    fn what_no_link_can_have_is_refused_by_network_key_and_value() {
        let refusal = |property, text| {
            let network = Network::find("cable").expect("built in");
            network.with(property, amount(text)).expect_err(text).to_string()
        };
        assert_eq!(
            refusal(Property::RoundTrip, "200k"),
            "network `cable`: rtt_ms = 200000: delay_ms = 100000: from 0 to 60000"
        );
        assert_eq!(
            refusal(Property::Rate, "5"),
            "network `cable`: rate = 5: bits a second, from 1e3 to 1e11"
        );
        assert_eq!(
            refusal(Property::Loss, "1.5"),
            "network `cable`: loss = 1.5: nothing would arrive; use a share below 1, such as 0.015 for 1.5 %"
        );
        assert_eq!(
            refusal(Property::Loss, "1"),
            "network `cable`: loss = 1: nothing would arrive; use a share below 1, such as 0.01 for 1 %"
        );
    }

    #[test]
    fn a_trace_has_no_rate_to_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write("steady.trace", "1\n");
        write("mobile.toml", "rate = \"steady.trace\"\nqueue = \"unlimited\"");
        let path = folder.path().join("mobile.toml").display().to_string();
        let network = Network::find(&path).expect("a network");
        let message = network.with(Property::Rate, amount("5M")).expect_err("a trace").to_string();
        assert!(message.ends_with(
            "mobile.toml`: its rate is a trace, which --set rate cannot change; leave out --set rate, or use a network \
             with a constant rate"
        ), "{message}");
        assert!(network.with(Property::RoundTrip, amount("50")).is_ok());
    }
}
