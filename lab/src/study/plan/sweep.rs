//! A sweep: several values of one property of every network, as a dimension of the study.

use crate::network::{Amount, Property};
use crate::study::plan::setting::Settings;

/// `rtt_ms=10,50`: the values of one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    property: Property,
    values: Vec<Amount>,
}

impl Sweep {
    /// Parses a property's name, `=`, and its distinct values, separated by commas.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, list) = text.split_once('=').unwrap_or((text, ""));
        let name = name.trim();
        let property = Property::named(name).ok_or_else(|| unknown(name))?;
        if list.trim().is_empty() {
            return Err(format!("{name} has no values; use for example {}", property.example()));
        }
        let mut values = Vec::new();
        for text in list.split(',') {
            let value = Amount::parse(text).map_err(|error| format!("{name}: {error}"))?;
            if values.contains(&value) {
                return Err(format!("{name}: {value} occurs twice; name each value once"));
            }
            values.push(value);
        }
        Ok(Self { property, values })
    }
}

fn unknown(name: &str) -> String {
    if name == "queue" {
        return "the queue has its own flag: use --queue, for example --queue 64k,2bdp".to_owned();
    }
    let known = Property::ALL.map(Property::example).join(" or ");
    format!("`{name}` is not a property of a network that can be set; use {known}")
}

impl Settings {
    /// Adds these dimensions. Rejects a second list for one property.
    pub fn sweep(&mut self, sweeps: &[Sweep]) -> Result<(), String> {
        for Sweep { property, values } in sweeps {
            let list = match property {
                Property::RoundTrip => &mut self.rtts_ms,
                Property::Rate => &mut self.rates,
                Property::Loss => &mut self.losses,
            };
            if !list.is_empty() {
                return Err(format!(
                    "--set: {} occurs twice; name all its values in one list, as in --set {}",
                    property.name(),
                    property.example()
                ));
            }
            list.clone_from(values);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::study::carry_out::engines;

    fn sweep(text: &str) -> Sweep {
        Sweep::parse(text).expect(text)
    }

    #[test]
    fn a_sweep_names_a_property_and_its_values() {
        let cable = Network::find("cable").expect("built in");
        let mut settings = Settings::on(cable, engines::STACK);
        let sweeps = ["rtt_ms=10,50", "rate=5M", "loss = 0, 0.01"].map(sweep);
        settings.sweep(&sweeps).expect("three properties");
        let each = settings.each().into_iter().map(|(_, it)| it.labels(&settings.varied()));
        let expected = ["10 ms 0 % loss", "10 ms 1 % loss", "50 ms 0 % loss", "50 ms 1 % loss"];
        assert_eq!(each.collect::<Vec<_>>(), expected);
        assert_eq!(
            settings.sweep(&[sweep("rate=1M")]),
            Err(
                "--set: rate occurs twice; name all its values in one list, as in --set rate=1M,5M"
                    .to_owned()
            )
        );
    }

    #[test]
    fn what_is_not_a_sweep_is_refused_with_what_to_write() {
        for (text, expected) in [
            ("rtt_ms", "rtt_ms has no values; use for example rtt_ms=10,50,200"),
            ("rtt_ms=", "rtt_ms has no values; use for example rtt_ms=10,50,200"),
            (
                "rtt=10",
                "`rtt` is not a property of a network that can be set; use rtt_ms=10,50,200 or rate=1M,5M or loss=0,0.01",
            ),
            ("queue=64k", "the queue has its own flag: use --queue, for example --queue 64k,2bdp"),
            ("loss=0.1,0.10", "loss: 0.1 occurs twice; name each value once"),
            (
                "loss=1%",
                "loss: `1%` is not a number from 0 to 1e12 of at most six decimals; use 0.01 for 1 %",
            ),
            (
                "rate=1M,",
                "rate: `` is not a number from 0 to 1e12 of at most six decimals; use for example 0.01 or 5M",
            ),
        ] {
            assert_eq!(Sweep::parse(text), Err(expected.to_owned()));
        }
    }
}
