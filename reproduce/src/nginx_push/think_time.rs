//! Early hints against pushes, while the document is being made.

use super::setup::{self, RTT_MS};
use crate::bench::{Bench, Case, Times};
use crate::{ReproduceError, Row};
use push::Gate;

const TABLE: &str = "Early hints and pushes while the document is made";

/// Bits a second.
const RATE: f64 = 20e6;

/// More packets than anything here fills.
const OPEN_WINDOW_PACKETS: usize = 1000;

const TOLERANCE: f64 = 0.15;

/// How far early hints may be from a push with the response, in round trips, once the document takes one to make.
const EQUAL: f64 = 0.1;

const THINK: [f64; 4] = [0.0, 0.5, 1.0, 2.0];

schedulers::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Way {
        Nothing = "nothing",
        LinkOnResponse = "Link on the 200",
        EarlyHints = "103",
        PushWithResponse = "push with the 200",
        PushWhileThinking = "push while thinking",
    }
}

impl Way {
    fn case(self, think: f64) -> Case {
        let case = setup::case(setup::hinted(think * RTT_MS), RATE, OPEN_WINDOW_PACKETS);
        let mut case = match self {
            Self::Nothing => case,
            // A navigation whose response has these fields is hinted: here only the response must have them.
            Self::LinkOnResponse => {
                let fields = vec![setup::preloads(&case.page)];
                Case { fields, acts_on_fields: false, ..case }
            }
            Self::EarlyHints => setup::linked(case),
            Self::PushWithResponse | Self::PushWhileThinking => setup::pushing(case),
        };
        // The gate opens when the document has gone.
        case.pushing.gate = (self == Self::PushWithResponse).then_some(Gate::Strict);
        case
    }

    /// The model: round trips from the request until everything is complete. One resource takes `one` of them on the link.
    fn model(self, think: f64, one: f64) -> f64 {
        match self {
            Self::Nothing => 3.0 + think + 2.0 * one,
            Self::LinkOnResponse => 2.0 + think + 2.0 * one,
            Self::EarlyHints if think == 0.0 => 2.0 + 2.0 * one,
            Self::EarlyHints => one_after_the_other([(1.0 + think, one), (2.0, 2.0 * one)]),
            Self::PushWithResponse => 1.0 + think + 3.0 * one,
            Self::PushWhileThinking => one_after_the_other([(1.0 + think, one), (1.0, 2.0 * one)]),
        }
    }
}

/// When two jobs are done, each given by when it can begin and how long it takes, on one link.
fn one_after_the_other(mut jobs: [(f64, f64); 2]) -> f64 {
    jobs.sort_by(|a, b| a.0.total_cmp(&b.0));
    jobs.iter().fold(0.0, |free: f64, (begins, takes)| free.max(*begins) + takes)
}

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let conditions: Vec<(f64, Way)> = THINK.map(|think| Way::ALL.map(|way| (think, way))).concat();
    let cases: Vec<Case> = conditions.iter().map(|(think, way)| way.case(*think)).collect();
    let loaded = bench.once(&cases)?;
    let one = setup::HINTED_BYTES as f64 * 8.0 / RATE * 1000.0 / RTT_MS;
    let mut rows: Vec<Row> = conditions
        .iter()
        .zip(&loaded)
        .map(|((think, way), times)| row(*think, *way, times, way.model(*think, one)))
        .collect();
    rows.extend(THINK.iter().enumerate().map(|(place, think)| {
        let [hints, push] = [Way::EarlyHints, Way::PushWithResponse].map(|way| {
            let loaded = &loaded[place * Way::ALL.len() + way as usize];
            setup::round_trips(loaded.warm_ms())
        });
        equal(*think, hints - push)
    }));
    Ok(rows)
}

fn row(think: f64, way: Way, times: &Times, model: f64) -> Row {
    let ours = Some(setup::round_trips(times.warm_ms()));
    let metric = "round trips from the request until the script is there";
    Row::shown(format!("think {think} RTT, {}", way.name()), metric, ours)
        .in_table(TABLE)
        .model(model)
        .within_of_model(TOLERANCE, "")
}

fn equal(think: f64, difference: f64) -> Row {
    let metric = "round trips that early hints take longer than a push with the 200";
    let row = Row::shown(format!("think {think} RTT, 103 against push"), metric, Some(difference));
    let row = row.in_table(TABLE);
    if think < 1.0 {
        return row.note("The document is there before the requests that the hints cause.");
    }
    row.required().at_most(EQUAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_one_link_that_never_rests() {
        let row = |think| Way::ALL.map(|way| format!("{:.2}", way.model(think, 0.082))).join(" ");
        assert_eq!(
            THINK.map(row),
            [
                "3.16 2.16 2.16 1.25 1.25",
                "3.66 2.66 2.16 1.75 1.58",
                "4.16 3.16 2.25 2.25 2.08",
                "5.16 4.16 3.08 3.25 3.08",
            ]
        );
    }
}
