//! What loads meet beside page, scheme and seed: a [`Setting`]. Only loads that met the same one are compared.
//!
//! A new dimension is a field of [`Setting`], a list with a line of [`Settings::each`], and a row of [`DIMENSIONS`].
//! Tables, JSON, figures, manifests, shards and the names of log folders follow from these.

use super::dimension::{DIMENSIONS, Dimension, File, columns, varied};
use super::plan::Engine;
use crate::CrossTraffic;
use crate::ahead::{Ahead, Hints};
use crate::network::{Amount, Network, NetworkError, Property, QueueDepth};
use push::{Gate, Policy};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use server::{CongestionControl, SignalUse};

/// One combination of the dimensions. A field that a file lacks has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// The network's name.
    pub network: String,
    /// The server's send buffer.
    pub send_buffer_bytes: u64,
    /// Congestion control; `None` without a transport.
    pub cc: Option<CongestionControl>,
    /// The bottleneck's queue; `None`: the network's own.
    pub queue: Option<QueueDepth>,
    /// [`Property::RoundTrip`]; `None`, here and below: the network's own.
    pub rtt_ms: Option<Amount>,
    /// [`Property::Rate`].
    pub rate: Option<Amount>,
    /// [`Property::Loss`].
    pub loss: Option<Amount>,
    /// What others do on the links; `None`: nothing.
    pub cross: Option<CrossTraffic>,
    /// What the server pushes; `None`: nothing.
    pub push: Option<Policy>,
    /// When pushed bytes may go; `None`: nothing is pushed, or the server's default holds.
    pub gate: Option<Gate>,
    /// What the document's response names; `None`: nothing.
    pub hints: Option<Hints>,
    /// How the server uses signals; `None`: its default.
    pub signals: Option<SignalUse>,
    /// Bytes of a document that the client loads before the page on the same connection; `None`: nothing.
    pub warm_up_bytes: Option<u64>,
}

/// The values of each dimension. A study has all combinations.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// The networks. A manifest resolves them itself.
    #[serde(skip)]
    pub networks: Vec<Network>,
    /// Send buffers in bytes.
    pub send_buffers_bytes: Vec<u64>,
    /// Empty without a transport. Manifests of old name one, or none, under `congestion_control`.
    #[serde(alias = "congestion_control", deserialize_with = "one_or_several")]
    pub congestion_controls: Vec<CongestionControl>,
    /// Depths of the bottleneck's queue; empty: each network's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueDepth>,
    /// Round trips; empty, here and below: each network's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rtts_ms: Vec<Amount>,
    /// Rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Amount>,
    /// Shares that are lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Amount>,
    /// Traffic of others; empty: there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crosses: Vec<CrossTraffic>,
    /// Push policies; empty: nothing is pushed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushes: Vec<Policy>,
    /// Gates of the policies that push; empty: the server's default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// What the documents' responses name; empty: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hints>,
    /// Uses of signals; empty: the server's default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalUse>,
    /// Bytes of documents loaded before; empty: none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_ups_bytes: Vec<u64>,
}

impl Settings {
    /// A network as it is, without a send buffer.
    pub fn on(network: Network, engine: Engine) -> Self {
        let with_transport = engine != Engine::Ideal;
        Self {
            networks: vec![network],
            send_buffers_bytes: vec![0],
            congestion_controls: with_transport
                .then_some(CongestionControl::Bbr2)
                .into_iter()
                .collect(),
            queues: Vec::new(),
            rtts_ms: Vec::new(),
            rates: Vec::new(),
            losses: Vec::new(),
            crosses: Vec::new(),
            pushes: Vec::new(),
            gates: Vec::new(),
            hints: Vec::new(),
            signals: Vec::new(),
            warm_ups_bytes: Vec::new(),
        }
    }

    /// Every combination, with its network.
    pub fn each(&self) -> Vec<(&Network, Setting)> {
        let on = |network: &Network| {
            let one = vec![Setting { network: network.name.clone(), ..Setting::default() }];
            let all =
                spread(one, &self.send_buffers_bytes, |it, bytes| it.send_buffer_bytes = bytes);
            let all = spread(all, &self.congestion_controls, |it, cc| it.cc = Some(cc));
            let all = spread(all, &self.queues, |it, queue| it.queue = Some(queue));
            let all = spread(all, &self.rtts_ms, |it, amount| it.rtt_ms = Some(amount));
            let all = spread(all, &self.rates, |it, amount| it.rate = Some(amount));
            let all = spread(all, &self.losses, |it, amount| it.loss = Some(amount));
            let all = spread(all, &self.crosses, |it, traffic| it.cross = Some(traffic));
            let all = spread(all, &self.pushes, |it, policy| it.push = Some(policy));
            let all =
                spread_where(Setting::pushes, all, &self.gates, |it, gate| it.gate = Some(gate));
            let all = spread(all, &self.hints, |it, hints| it.hints = Some(hints));
            let all = spread(all, &self.signals, |it, signals| it.signals = Some(signals));
            spread(all, &self.warm_ups_bytes, |it, bytes| it.warm_up_bytes = Some(bytes))
        };
        let networks = self.networks.iter();
        networks.flat_map(|it| on(it).into_iter().map(move |setting| (it, setting))).collect()
    }

    /// The dimensions with several values.
    pub fn varied(&self) -> Vec<&'static Dimension> {
        let each = self.each();
        varied(each.iter().map(|(_, setting)| setting))
    }
}

/// Every one of `settings` with every one of `values`; without values, `settings` as they are.
fn spread<T: Copy>(settings: Vec<Setting>, values: &[T], set: fn(&mut Setting, T)) -> Vec<Setting> {
    if values.is_empty() {
        return settings;
    }
    let with = |setting: Setting| {
        values.iter().map(move |value| {
            let mut setting = setting.clone();
            set(&mut setting, *value);
            setting
        })
    };
    settings.into_iter().flat_map(with).collect()
}

/// As [`spread`], for those settings in which the dimension means something.
fn spread_where<T: Copy>(
    applies: fn(&Setting) -> bool,
    settings: Vec<Setting>,
    values: &[T],
    set: fn(&mut Setting, T),
) -> Vec<Setting> {
    let each = settings.into_iter().flat_map(|it| {
        let values = if applies(&it) { values } else { &[] };
        spread(vec![it], values, set)
    });
    each.collect()
}

impl Setting {
    /// `network`, which has the setting's name, as the setting changes it. A queue in bandwidth-delay products is one of the
    /// changed network.
    pub(super) fn network_of(&self, network: &Network) -> Result<Network, NetworkError> {
        let mut network = network.clone();
        for property in Property::ALL {
            if let Some(amount) = self.amount(property) {
                network = network.with(property, amount)?;
            }
        }
        self.queue.map_or_else(|| Ok(network.clone()), |it| network.with_queue(it))
    }

    /// The setting's value of a property of its network.
    fn amount(&self, property: Property) -> Option<Amount> {
        match property {
            Property::RoundTrip => self.rtt_ms,
            Property::Rate => self.rate,
            Property::Loss => self.loss,
        }
    }

    /// What of it decides how soon bytes can arrive: the network's name, rate and round trip.
    pub(super) fn pace(&self) -> Self {
        let Self { network, rtt_ms, rate, .. } = self.clone();
        Self { network, rtt_ms, rate, ..Self::default() }
    }

    /// Whether nothing but the send buffer differs.
    pub(super) fn differs_in_buffer(&self, other: &Self) -> bool {
        *self == Self { send_buffer_bytes: self.send_buffer_bytes, ..other.clone() }
    }

    /// What a row that stands for many loads says: network and send buffer, and what else the study varies.
    pub(super) fn told(&self, varied: &[&Dimension]) -> Self {
        let told = DIMENSIONS.iter().filter(|it| {
            it.always_in.contains(&File::Summary)
                || varied.iter().any(|other| other.column == it.column)
        });
        let mut setting = Self::default();
        told.for_each(|it| (it.copy)(&mut setting, self));
        setting
    }

    /// `network cable, send buffer 14000 bytes`: these `dimensions` in a sentence.
    pub(super) fn words(&self, dimensions: &[&Dimension]) -> String {
        let said = dimensions.iter().filter(|it| !it.cell(self).is_empty());
        let words: Vec<String> = said.map(|it| it.words(self)).collect();
        words.join(", ")
    }

    /// What a row that stands for many loads says, in a sentence.
    pub fn sentence(&self) -> String {
        self.words(&columns(File::Summary, &[self]))
    }

    /// `cable 14K`: these `dimensions` in a figure.
    pub(super) fn marks(&self, dimensions: &[&Dimension]) -> String {
        let marks = dimensions.iter().map(|it| it.mark(self));
        marks.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// `14000 cubic`: these `dimensions` in a table.
    pub fn labels(&self, dimensions: &[&Dimension]) -> String {
        let labels = dimensions.iter().map(|it| it.label(self));
        labels.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// What the server does before it is asked.
    pub fn ahead(&self) -> Ahead {
        Ahead { policy: self.push, gate: self.gate, hints: self.hints.unwrap_or_default() }
    }

    /// Whether anything is pushed.
    fn pushes(&self) -> bool {
        self.push.is_some_and(Policy::pushes)
    }

    fn keys<S: Serializer>(&self, file: File, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = columns(file, &[self]);
        serializer.collect_map(columns.iter().map(|it| (it.column, (it.value)(self))))
    }

    /// The keys of a load's record.
    pub(super) fn keys_of_run<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys(File::Runs, serializer)
    }
}

/// The keys of a row that stands for many loads.
impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys(File::Summary, serializer)
    }
}

fn one_or_several<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<CongestionControl>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Named {
        One(Option<CongestionControl>),
        Several(Vec<CongestionControl>),
    }
    Ok(match Named::deserialize(deserializer)? {
        Named::One(one) => one.into_iter().collect(),
        Named::Several(several) => several,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        let network = Network::find("cable").expect("built in");
        Settings {
            send_buffers_bytes: vec![0, 14_000],
            congestion_controls: vec![CongestionControl::Cubic, CongestionControl::Reno],
            ..Settings::on(network, Engine::Stack)
        }
    }

    fn each(settings: &Settings) -> Vec<Setting> {
        settings.each().into_iter().map(|(_, it)| it).collect()
    }

    #[test]
    fn a_study_has_every_combination_and_names_what_it_varies() {
        let settings = settings();
        let varied = settings.varied();
        let each = each(&settings);
        let marks: Vec<String> = each.iter().map(|it| it.marks(&varied)).collect();
        assert_eq!(
            marks,
            ["0\u{a0}B cubic", "0\u{a0}B reno", "14\u{a0}kB cubic", "14\u{a0}kB reno"]
        );
        let words = "send buffer 14000 bytes, congestion control reno";
        assert_eq!(each[3].words(&varied), words);
    }

    #[test]
    fn a_row_for_many_loads_names_network_and_send_buffer_and_what_else_is_varied() {
        let mut settings = settings();
        let row = |settings: &Settings| {
            let told = each(settings)[0].told(&settings.varied());
            serde_json::to_string(&told).expect("JSON")
        };
        assert_eq!(row(&settings), r#"{"network":"cable","send_buffer_bytes":0,"cc":"cubic"}"#);
        settings.congestion_controls.truncate(1);
        assert_eq!(row(&settings), r#"{"network":"cable","send_buffer_bytes":0}"#);
    }

    #[test]
    fn a_gate_varies_only_where_something_is_pushed() {
        let settings = Settings {
            pushes: vec![Policy::NoOpt, Policy::Push],
            gates: vec![Gate::Strict, Gate::Throttle(8900)],
            ..Settings::on(Network::find("cable").expect("built in"), Engine::Stack)
        };
        let varied = settings.varied();
        let each = each(&settings);
        let labels: Vec<String> = each.iter().map(|it| it.labels(&varied)).collect();
        assert_eq!(labels, ["no push", "push strict", "push throttle:8900"]);
        assert_eq!(each[0].words(&varied), "push none");
        let json = r#"{"network":"cable","send_buffer_bytes":0,"push":"push","gate":"strict"}"#;
        let told = each[1].told(&varied);
        assert_eq!(serde_json::to_string(&told).expect("JSON"), json);
        assert_eq!(serde_json::from_str::<Setting>(json).expect("a setting"), told);
    }

    #[test]
    fn properties_of_the_links_vary_like_everything_else_and_are_numbers_in_files() {
        let amounts = |values: [&str; 2]| values.map(|it| Amount::parse(it).expect(it)).to_vec();
        let settings = Settings {
            rtts_ms: amounts(["10", "50"]),
            rates: amounts(["5M", "1.36M"]),
            losses: amounts(["0", "0.01"]),
            ..Settings::on(Network::find("cable").expect("built in"), Engine::Stack)
        };
        let varied = settings.varied();
        let each = each(&settings);
        assert_eq!(each.len(), 8);
        assert_eq!(each[1].labels(&varied), "10 ms 5 Mbit/s 1 % loss");
        assert_eq!(each[6].words(&varied), "round trip 50 ms, rate 1360000 bit/s, loss 0");
        let json =
            r#"{"network":"cable","send_buffer_bytes":0,"rtt_ms":50,"rate":1360000,"loss":0.01}"#;
        let told = each[7].told(&varied);
        assert_eq!(serde_json::to_string(&told).expect("JSON"), json);
        assert_eq!(serde_json::from_str::<Setting>(json).expect("a setting"), told);
        let at = |setting: &Setting| {
            let places = varied.iter().map(|it| (it.axes.first()?.at)(setting));
            places.collect::<Option<Vec<f64>>>()
        };
        assert_eq!(at(&each[7]), Some(vec![50.0, 1.36, 1.0]));
    }

    #[test]
    fn a_queue_in_bandwidth_delay_products_is_one_of_the_changed_network() {
        let network = Network::find("cable").expect("built in");
        let amount = |text| Some(Amount::parse(text).expect(text));
        let setting = Setting {
            rtt_ms: amount("100"),
            rate: amount("8M"),
            queue: QueueDepth::parse("1bdp").ok(),
            ..Setting::default()
        };
        let network = setting.network_of(&network).expect("a network");
        assert_eq!(network.down.queue, simulator::link::Queue::Bytes(100_000));
    }

    #[test]
    fn a_record_of_old_that_lacks_a_dimension_has_its_default() {
        let setting: Setting =
            serde_json::from_str(r#"{"network":"cable","send_buffer_bytes":7}"#).expect("JSON");
        assert_eq!(
            setting,
            Setting { send_buffer_bytes: 7, network: "cable".into(), ..Setting::default() }
        );
    }
}
