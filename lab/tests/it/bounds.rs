//! The brackets and the lower bound.

use corpus::Page;
use lab::bounds::{Effort, lower_bound_ms, oracle, anti_oracle, packets_of, replay, Schedule};
use lab::network::Network;
use lab::study::RunRecord;
use lab::ideal;
use schedulers::SCHEMES;
use std::sync::Arc;

#[test]
fn measure() {
    for network in ["paper", "cable", "3g"] {
        let network = Network::find(network).expect("built in");
        for name in corpus::bundled_names() {
            let page = Arc::new(corpus::bundled(name).expect("bundled").clone());
            let mut best = (f64::MAX, "");
            let mut worst = (0.0, "");
            for scheme in SCHEMES.iter() {
                let load = ideal::load(&page, scheme, &network, 0);
                let index = RunRecord::of_load(&page, &load).byte_index.atf.expect("atf");
                let replayed = replay(&page, &network, &Schedule::of_packets(packets_of(&page, &load)), &scheme.name);
                assert_eq!(replayed.timeline, load.timeline);
                if index < best.0 { best = (index, &scheme.name) }
                if index > worst.0 { worst = (index, &scheme.name) }
            }
            let t = std::time::SystemTime::now();
            let bound = lower_bound_ms(&page, &network).expect("atf");
            let took = t.elapsed().expect("t");
            let t = std::time::SystemTime::now();
            let o = oracle(&page, &network, Effort::default()).expect("atf");
            let took_o = t.elapsed().expect("t");
            let t = std::time::SystemTime::now();
            let a = anti_oracle(&page, &network, Effort::default()).expect("atf");
            let took_a = t.elapsed().expect("t");
            println!("{} {name}: bound {bound:.1} ({took:?}) oracle {:.1} {} gap {:.4} ({took_o:?}) best {best:?} worst {worst:?} anti {:.1} {} ({took_a:?})", network.name, o.index_ms, o.proven, o.index_ms / bound, a.index_ms, a.proven);
        }
    }
}
