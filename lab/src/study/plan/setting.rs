//! The conditions of loads besides page, scheme and seed: a [`Setting`]. Only loads with the same setting are compared.
//!
//! A new dimension is a row of [`DIMENSIONS`]. Tables, JSON, figures, manifests, shards and the names of log folders follow from it.

mod lists;
mod words;

use crate::network::{Amount, Network, NetworkError, Property, QueueDepth};
use crate::push_and_hints::{Hints, PushAndHints};
use crate::study::plan::dimension::{
    CONTROL, File, NETWORK, PLAIN, SEND_BUFFER, buffer_mark, cross_label, hints_label, http_label,
    loss_label, migration_label, percent, push_label, rate_label, warm_up_label,
};
use crate::study::plan::engine::Engine;
use crate::study::{Axis, Dimension, varied};
use crate::{CrossTraffic, StreamMigration};
use client::HttpVersion;
use lists::{add, by_name, spread};
use push::{Gate, Policy};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use server::{CongestionControl, SignalUse};
use std::str::FromStr;

/// Turns each row into a field of [`Setting`], a list of [`Settings`], and a [`Dimension`] after network, send buffer and congestion
/// control, which every manifest records. A row has the field, its type, the list, the parser of a flag's value, and words.
macro_rules! dimensions {
    ($($(#[$doc:meta])* $field:ident: $type:ty, $list:ident, $parse:expr, $dimension:expr;)*) => {
        /// One combination of the dimensions. A field that is missing in a file has its default.
        #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        #[serde(default)]
        pub struct Setting {
            /// The network's name.
            pub network: String,
            /// The server's send buffer.
            pub send_buffer_bytes: u64,
            /// Congestion control; `None` without a transport.
            pub cc: Option<CongestionControl>,
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        /// The values of each dimension. A study has all combinations.
        #[derive(Debug, Clone, Default, Serialize, Deserialize)]
        pub struct Settings {
            /// The networks. A manifest resolves them separately.
            #[serde(skip)]
            pub networks: Vec<Network>,
            /// Send buffers in bytes.
            pub send_buffers_bytes: Vec<u64>,
            /// Empty without a transport. Old manifests have one or none, under `congestion_control`.
            #[serde(alias = "congestion_control", deserialize_with = "one_or_several")]
            pub congestion_controls: Vec<CongestionControl>,
            $(
                #[doc = concat!("Values of [`Setting::", stringify!($field), "`]; empty: as without one.")]
                #[serde(default, skip_serializing_if = "Vec::is_empty")]
                pub $list: Vec<$type>,
            )*
        }

        impl Settings {
            /// Every combination on a network.
            fn on_network(&self, network: &Network) -> Vec<Setting> {
                let all = vec![Setting { network: network.name.clone(), ..Setting::default() }];
                let all = spread(&PLAIN, all, &self.send_buffers_bytes, |it, bytes| it.send_buffer_bytes = bytes);
                let all = spread(&PLAIN, all, &self.congestion_controls, |it, cc| it.cc = Some(cc));
                $(let all = spread(&$dimension, all, &self.$list, |it, value| it.$field = Some(value));)*
                all
            }
        }

        /// All dimensions, in the order of columns.
        pub static DIMENSIONS: &[Dimension] = &[
            Dimension {
                column: NETWORK,
                list: "networks",
                flag: "--network",
                name: "network",
                always_in: &[File::Runs, File::Summary],
                value: |it| json!(it.network),
                copy: |to, from| to.network.clone_from(&from.network),
                ..PLAIN
            },
            Dimension {
                column: SEND_BUFFER,
                list: "send_buffers_bytes",
                flag: "--send-buffer",
                help: "Send buffers, separated by commas [default: 0]",
                name: "send buffer",
                unit: " bytes",
                always_in: &[File::Runs, File::Summary],
                value: |it| json!(it.send_buffer_bytes),
                mark: buffer_mark,
                copy: |to, from| to.send_buffer_bytes = from.send_buffer_bytes,
                add: |settings, text| add(&mut settings.send_buffers_bytes, corpus::size::parse(text)),
                clear: |it| it.send_buffers_bytes.clear(),
                axes: &[Axis { title: "send buffer, kB", at: |it| Some(it.send_buffer_bytes as f64 / 1e3) }],
                ..PLAIN
            },
            Dimension {
                column: CONTROL,
                list: "congestion_controls",
                flag: "--cc",
                help: "Congestion controls, separated by commas, on engines with a transport [default: bbr2]",
                name: "congestion control",
                usual: "bbr2",
                always_in: &[File::Runs],
                value: |it| json!(it.cc),
                copy: |to, from| to.cc = from.cc,
                is_listed: |it| !it.congestion_controls.is_empty(),
                add: |settings, text| add(&mut settings.congestion_controls, by_name(text)),
                clear: |it| it.congestion_controls.clear(),
                ..PLAIN
            },
            $(Dimension {
                column: stringify!($field),
                list: stringify!($list),
                value: |it| json!(it.$field),
                copy: |to, from| to.$field = from.$field,
                is_listed: |it| !it.$list.is_empty(),
                add: |settings, text| add(&mut settings.$list, ($parse)(text)),
                clear: |it| it.$list.clear(),
                ..$dimension
            },)*
        ];
    };
}

dimensions! {
    /// The version of HTTP; `None`: HTTP/3, the default.
    http: HttpVersion, http_versions, HttpVersion::from_str, Dimension {
        name: "HTTP version",
        flag: "--http",
        help: "Versions of HTTP, separated by commas, on engine wire: 1.1 and 2 over the system's TCP, 3 over QUIC. All cross \
               the same link between network namespaces, like that of utmost link --tun [default: 3, over the link's UDP relay]",
        usual: "3",
        label: http_label,
        mark: http_label,
        ..PLAIN
    };
    /// The bottleneck's queue; `None`: the network's own.
    queue: QueueDepth, queues, QueueDepth::from_str, Dimension {
        name: "queue",
        flag: "--queue",
        help: "Depths of the bottleneck's queue, separated by commas, on engines with a transport: sizes, or multiples of \
               the network's bandwidth-delay product, such as 64k,2bdp [default: the network's own]",
        label: |it| format!("queue {it}"),
        // A no-break space, so that headings are not divided there.
        mark: |it| format!("queue\u{a0}{it}"),
        axes: &[
            Axis { title: "queue, kB", at: |it| it.queue?.kilobytes() },
            Axis { title: "queue, bandwidth-delay products", at: |it| it.queue?.products() },
        ],
        ..PLAIN
    };
    /// [`Property::RoundTrip`]; `None`, here and below: the network's own.
    rtt_ms: Amount, rtts_ms, Amount::parse, Dimension {
        name: "round trip",
        flag: "--set rtt_ms",
        unit: " ms",
        label: |it| format!("{it} ms"),
        mark: |it| format!("{it}\u{a0}ms"),
        axes: &[Axis { title: "round trip, ms", at: |it| Some(it.rtt_ms?.value()) }],
        ..PLAIN
    };
    /// [`Property::Rate`].
    rate: Amount, rates, Amount::parse, Dimension {
        name: "rate",
        flag: "--set rate",
        unit: " bit/s",
        label: rate_label,
        mark: |it| rate_label(it).replace(' ', "\u{a0}"),
        axes: &[Axis { title: "rate, Mbit/s", at: |it| Some(it.rate?.value() / 1e6) }],
        ..PLAIN
    };
    /// [`Property::Loss`].
    loss: Amount, losses, Amount::parse, Dimension {
        name: "loss",
        flag: "--set loss",
        label: loss_label,
        mark: |it| loss_label(it).replace(' ', "\u{a0}"),
        axes: &[Axis { title: "loss, %", at: |it| Some(percent(it.loss?.value())) }],
        ..PLAIN
    };
    /// Cross traffic on the links; `None`: none.
    cross: CrossTraffic, crosses, CrossTraffic::from_str, Dimension {
        name: "cross traffic",
        flag: "--cross",
        help: "What others do on the links meanwhile, separated by commas, on engine stack: none, bulk:CC (one endless download with the congestion control bbr2, cubic or reno), web:SHARE (short downloads that request this share of the rate; `web` is web:0.3) [default: none]",
        usual: "none",
        label: cross_label,
        mark: cross_label,
        ..PLAIN
    };
    /// The push policy of the server; `None`: nothing is pushed.
    push: Policy, pushes, Policy::from_str, Dimension {
        name: "push",
        flag: "--push",
        help: "What the server pushes, separated by commas, on engines with a transport: the policies of `push_policy` of `utmost serve`, with each page's graph [default: none]",
        usual: "none",
        label: push_label,
        mark: push_label,
        ..PLAIN
    };
    /// When pushed bytes may be sent; `None`: nothing is pushed, or the server's default applies.
    gate: Gate, gates, Gate::from_str, Dimension {
        name: "gate",
        flag: "--gate",
        help: "When pushed bytes may go, separated by commas: preempt, strict, throttle:BYTES, eager-fifo:BYTES, \
               shuffle:SEED [default: preempt]",
        applies: Setting::pushes,
        ..PLAIN
    };
    /// The hints in the document's response; `None`: none.
    hints: Hints, hints, by_name, Dimension {
        name: "hints",
        flag: "--hints",
        help: "What the response of a page's document names, separated by commas, on engines with a transport [default: \
               none]",
        usual: "none",
        label: hints_label,
        mark: hints_label,
        ..PLAIN
    };
    /// The responses that leave the connection of their request; `None`: none.
    migration: StreamMigration, migrations, by_name, Dimension {
        name: "migration",
        flag: "--migration",
        help: "Which responses leave the connection of their request for an idle one, as in SMig, separated by commas, on \
               engines with a transport: none, MigSW (the server moves responses of more than 500 kB), MigSP (all but their \
               first 100 kB), MigCP (the client asks to move each response after its first 100 kB) [default: none]",
        usual: "none",
        label: migration_label,
        mark: migration_label,
        ..PLAIN
    };
    /// How the server uses signals; `None`: its default.
    signals: SignalUse, signals, by_name, Dimension {
        name: "signals",
        flag: "--signals",
        help: "How the server uses the client's signals, separated by commas, on engines with a transport [default: ignore]",
        ..PLAIN
    };
    /// Bytes of a document that the client loads before the page on the same connection; `None`: nothing.
    warm_up_bytes: u64, warm_ups_bytes, corpus::size::parse, Dimension {
        name: "warm-up",
        flag: "--warm-up",
        help: "What the client loads before each page on the same connection, separated by commas, on engines with a \
               transport: documents of these sizes, such as 0,300k. Their traffic has then grown the windows [default: 0]",
        unit: " bytes",
        usual: "0",
        label: warm_up_label,
        mark: warm_up_label,
        axes: &[Axis { title: "warm-up, kB", at: |it| Some(it.warm_up_bytes? as f64 / 1e3) }],
        ..PLAIN
    };
}

impl Settings {
    /// An unchanged network, without a send buffer.
    pub fn on(network: Network, engine: &'static dyn Engine) -> Self {
        let control = engine.has_transport().then_some(CongestionControl::Bbr2);
        Self {
            networks: vec![network],
            send_buffers_bytes: vec![0],
            congestion_controls: control.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Every combination, with its network.
    pub fn each(&self) -> Vec<(&Network, Setting)> {
        let mut each = Vec::new();
        for network in &self.networks {
            each.extend(self.on_network(network).into_iter().map(|it| (network, it)));
        }
        each
    }

    /// Replaces the listed values of a dimension. Rejects duplicates, which are probably mistakes.
    pub fn list(&mut self, dimension: &Dimension, values: &[String]) -> Result<(), String> {
        (dimension.clear)(self);
        for (place, value) in values.iter().enumerate() {
            if !(dimension.add)(self, value)? {
                let (flag, place) = (dimension.flag, place + 1);
                return Err(format!(
                    "{flag}: value {place} is the same as an earlier one; name each once"
                ));
            }
        }
        self.send_buffers_bytes.sort_unstable();
        Ok(())
    }

    /// The dimensions with several values.
    pub fn varied(&self) -> Vec<&'static Dimension> {
        let each = self.each();
        varied(each.iter().map(|(_, setting)| setting))
    }
}

impl Setting {
    /// `network`, which has the setting's name, as changed by the setting. A queue in bandwidth-delay products refers to the changed
    /// network.
    pub(crate) fn network_of(&self, network: &Network) -> Result<Network, NetworkError> {
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

    /// The part of it that determines how soon bytes can arrive: the network's name, rate and round trip.
    pub(crate) fn pace(&self) -> Self {
        let Self { network, rtt_ms, rate, .. } = self.clone();
        Self { network, rtt_ms, rate, ..Self::default() }
    }

    /// Whether they differ only in the send buffer.
    pub(crate) fn differs_in_buffer(&self, other: &Self) -> bool {
        *self == Self { send_buffer_bytes: self.send_buffer_bytes, ..other.clone() }
    }

    /// The server's pushes and hints.
    pub fn push_and_hints(&self) -> PushAndHints {
        PushAndHints { policy: self.push, gate: self.gate, hints: self.hints.unwrap_or_default() }
    }

    fn pushes(&self) -> bool {
        self.push.is_some_and(Policy::pushes)
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
    use crate::study::carry_out::engines;

    fn settings() -> Settings {
        let network = Network::find("cable").expect("built in");
        Settings {
            send_buffers_bytes: vec![0, 14_000],
            congestion_controls: vec![CongestionControl::Cubic, CongestionControl::Reno],
            ..Settings::on(network, engines::STACK)
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
            ..Settings::on(Network::find("cable").expect("built in"), engines::STACK)
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
            ..Settings::on(Network::find("cable").expect("built in"), engines::STACK)
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
            queue: "1bdp".parse().ok(),
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
