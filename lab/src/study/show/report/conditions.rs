//! The conditions under which loads were made, in words.

use super::after_comma;
use crate::Metadata;
use crate::network::{Network, queue_text};
use crate::study::plan::dimension::{CONTROL, NETWORK, notable};
use crate::study::plan::setting::DIMENSIONS;
use crate::study::{Plan, Setting, Weights};
use corpus::PageSet;
use simulator::link::{Loss, Profile};
use std::collections::BTreeSet;

/// The conditions of all loads of a study.
pub fn conditions(plan: &Plan) -> String {
    let shown = match plan.seeds.len() {
        1 => String::new(),
        _ if plan.engine.repeats() => format!(
            "; figures of a page show the seed at which {} has its load in the middle",
            plan.baseline
        ),
        _ => "; figures of a page show the first load".to_owned(),
    };
    let weights = match plan.weights {
        Weights::Equal => "",
        Weights::Web => {
            "; means and intervals of schemes are weighted as the web's pages, figures of pages are not"
        }
    };
    let settings: Vec<Setting> = plan.settings.each().into_iter().map(|it| it.1).collect();
    let circumstances = circumstances(plan, &settings.iter().collect::<Vec<_>>());
    let twins: Vec<String> = plan.said_of_twins().iter().map(|it| format!("; {it}")).collect();
    let seeds = plan.said_of_seeds().map(|it| format!("; {it}")).unwrap_or_default();
    let twins = twins.concat();
    format!("{circumstances}; {}, {}{shown}{seeds}{weights}{twins}", pages(plan), loads(plan))
}

/// The content of a figure over pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Pages,
    Means,
}

/// The conditions of a figure over the study's pages in these settings.
pub(crate) fn of_study(plan: &Plan, settings: &[&Setting], over: Over) -> String {
    let pages = pages(plan);
    let weights = match (plan.weights, over) {
        (Weights::Web, Over::Means) => "; pages are weighted as the web's pages",
        _ => "",
    };
    format!("{}; {pages}, {}{weights}", circumstances(plan, settings), loads(plan))
}

/// `3 loads of each under each scheme (seeds 4 to 6)`.
fn loads(plan: &Plan) -> String {
    let loads = match plan.seeds.len() {
        1 => "a load".to_owned(),
        loads => format!("{loads} loads"),
    };
    let shard = plan.said_of_shard().map(|it| format!("; {it}")).unwrap_or_default();
    format!("{loads} of each under each scheme ({}){shard}", seeds(&plan.seeds))
}

/// How a page's numbers are made: `medians of 40 loads under each scheme; ...`.
pub(crate) fn of_numbers(plan: &Plan) -> String {
    match plan.seeds.len() {
        1 => "One load under each scheme.".to_owned(),
        _ if plan.shard.is_some() => {
            "Medians of this shard's loads under each scheme. A ratio is the geometric mean over pairs of these loads.".to_owned()
        }
        loads => format!(
            "Medians of {loads} loads under each scheme; the middle half lies between the quartiles. A ratio is the geometric mean over \
             pairs of these loads."
        ),
    }
}

/// `page davies-meenan`, `60 pages of 42 sites (@first-60)`.
fn pages(plan: &Plan) -> String {
    if let [only] = &plan.pages[..] {
        return format!("page {}", only.name);
    }
    let names: BTreeSet<&str> = plan.pages.iter().map(|it| it.name.as_str()).collect();
    let sites = names.iter().map(|it| plan.site_of(it)).collect::<BTreeSet<_>>().len();
    let set = PageSet::of(&names).map_or(String::new(), |it| format!(" (@{})", it.name));
    let sites = if sites == 1 { "1 site".to_owned() } else { format!("{sites} sites") };
    format!("{} pages of {sites}{set}", names.len())
}

/// The conditions of a figure of one page in a setting; `shown` has each scheme with the seed of the drawn load.
pub(crate) fn of_page(plan: &Plan, page: &str, setting: &Setting, shown: &[(&str, u64)]) -> String {
    let which = match (plan.seeds.len(), plan.engine.repeats()) {
        (1, _) => "the only load".to_owned(),
        (loads, true) => {
            let heading = plan.metric.heading;
            let loads = match plan.shard {
                Some(_) => "loads in this shard".to_owned(),
                None => loads.to_string(),
            };
            format!(
                "the load with the seed at which {} is in the middle of its {loads} by {heading},",
                plan.baseline
            )
        }
        (loads, false) => format!("the first of {loads} loads"),
    };
    let mut drawn: Vec<u64> = shown.iter().map(|it| it.1).collect();
    drawn.dedup();
    let seeds = if let [seed] = drawn[..] {
        format!("seed {seed}")
    } else {
        let each = shown.iter().map(|(scheme, seed)| format!("{scheme} {seed}"));
        format!("seeds: {}", each.collect::<Vec<_>>().join(", "))
    };
    let circumstances = circumstances(plan, &[setting]);
    format!("page {page}; {circumstances}; {which} under each scheme ({seeds})")
}

/// Engine, networks, the other dimensions of `settings`, and the server's knowledge.
fn circumstances(plan: &Plan, settings: &[&Setting]) -> String {
    let mut networks = Vec::new();
    for network in &plan.settings.networks {
        if settings.iter().any(|setting| setting.network == network.name) {
            networks.push(network_words(network, plan));
        }
    }
    let networks = networks.join(", ");
    let notable: Vec<&str> = notable(settings).iter().map(|it| it.column).collect();
    let mut others = Vec::new();
    for dimension in DIMENSIONS {
        let is_said = match dimension.column {
            NETWORK => false,
            CONTROL if plan.engine.has_transport() => true,
            column => notable.contains(&column),
        };
        if is_said {
            others.push(dimension.all_words(settings));
        }
    }
    let others = after_comma(&others.join(", "));
    let browser = plan.browser_description().map(|it| format!(" ({it})")).unwrap_or_default();
    let engine = plan.engine.name();
    format!("engine {engine}{browser}, {networks}{others}, {}", known(plan.metadata))
}

/// `network cable (25000000 bit/s, 25 ms one way, queue 156000 bytes)`: the properties that the study does not change.
fn network_words(network: &Network, plan: &Plan) -> String {
    let Network { name, down, .. } = network;
    let settings = &plan.settings;
    let own = [
        (settings.rates.is_empty(), format!("{} bit/s", down.rate.mean())),
        (settings.rtts_ms.is_empty(), format!("{} ms one way", down.delay_ms)),
        // Engine ideal sends one packet per tick, so it has no queue.
        (
            settings.queues.is_empty() && plan.engine.has_transport(),
            format!("queue {}", queue_text(down.queue)),
        ),
    ];
    let own = own.into_iter().filter(|it| it.0).map(|it| it.1);
    let events =
        events(down).into_iter().filter(|it| settings.losses.is_empty() || !it.starts_with("loss"));
    let own: Vec<String> = own.chain(events).collect();
    let own = if own.is_empty() { String::new() } else { format!(" ({})", own.join(", ")) };
    format!("network {name}{own}")
}

/// The random events on a link.
fn events(link: &Profile) -> Vec<String> {
    let loss = link.loss.as_ref().map(|loss| match loss {
        Loss::Independent(share) => format!("loss {share} of the datagrams"),
        Loss::Capped(it) => {
            format!("loss {} of the datagrams, at most {} together", it.share, it.burst_max)
        }
        Loss::GilbertElliott(it) => format!(
            "loss {} and {} in two states, to the worse with {} and back with {}",
            it.good, it.bad, it.to_bad, it.to_good
        ),
    });
    let shares = [("duplicates", link.duplicate), ("damage", link.corrupt)];
    let shares =
        shares.into_iter().filter(|it| it.1 > 0.0).map(|(what, share)| format!("{what} {share}"));
    let jitter = link.jitter.is_some().then(|| "jitter".to_owned());
    let reorder = link.reorder.is_some().then(|| "reordering".to_owned());
    loss.into_iter().chain(jitter).chain(reorder).chain(shares).collect()
}

/// The facts about resources that the server knew. It must be stated if it had the labels by which it is judged.
fn known(metadata: Metadata) -> String {
    let labels = match metadata {
        Metadata::Full => {
            " (the server was told what is above the fold and which images are heroes, which the metrics reward)"
        }
        Metadata::None | Metadata::Browser => "",
    };
    format!("metadata {}{labels}", metadata.name())
}

/// `seed 3`, `seeds 0 to 8`, `seeds 1, 5`.
fn seeds(seeds: &[u64]) -> String {
    let one_after_another = seeds.windows(2).all(|it| it[0].checked_add(1) == Some(it[1]));
    match seeds {
        [seed] => format!("seed {seed}"),
        [first, .., last] if one_after_another => format!("seeds {first} to {last}"),
        _ => {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            format!("seeds {}", seeds.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::study::carry_out::engines;
    use std::sync::Arc;

    fn plan() -> Plan {
        let page = Arc::new(corpus::bundled("davies-meenan").expect("bundled").clone());
        let schemes = ["rr", "fifo"].map(|it| Contender::find(it).expect("a scheme"));
        let network = Network::find("cable").expect("built in");
        let plan = Plan::new(vec![page], schemes.into(), engines::STACK, network);
        Plan { seeds: vec![4, 5, 6], ..plan }
    }

    #[test]
    fn a_figure_says_engine_network_transport_knowledge_loads_and_seeds() {
        let plan = plan();
        let setting = plan.settings.each()[0].1.clone();
        assert_eq!(
            of_study(&plan, &[&setting], Over::Means),
            "engine stack, network cable (25000000 bit/s, 25 ms one way, queue 156000 bytes), send buffer 0 bytes, \
             congestion control bbr2, metadata browser; page davies-meenan, 3 loads of each under each scheme (seeds 4 to 6)"
        );
        let words = of_page(&plan, "davies-meenan", &setting, &[("rr", 6), ("fifo", 6)]);
        let end = "; the load with the seed at which rr is in the middle of its 3 by ByteIndex, under each scheme (seed 6)";
        assert!(
            words.starts_with("page davies-meenan; engine stack") && words.ends_with(end),
            "{words}"
        );
    }

    #[test]
    fn what_full_metadata_tells_the_server_is_said_in_words() {
        let plan = Plan { metadata: Metadata::Full, ..plan() };
        let words = conditions(&plan);
        assert!(
            words.contains("metadata full (the server was told what is above the fold"),
            "{words}"
        );
    }
}
