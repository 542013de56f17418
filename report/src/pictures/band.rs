//! The restraints of the sender: bytes and windows, and a lane for each restraint, as in the
//! report.

use qlog_tools::saturating_cast::to_usize;
use schedulers::Restraint;

use super::congestion::{GAP, PANEL, Panel, bytes, draw_panel};
use super::{LEFT, Plot, RIGHT, TOP};
use crate::viewer::{Band, Recording};
use figures::svg::Area;
use qlog_tools::restraints::Span;

const LANE: f64 = 17.0;
const BLOCK: f64 = 12.0;
/// For the path, the client, and the sender.
const COLOURS: [&str; 3] = ["#0072b2", "#b34a00", "#00735c"];
const SENDING: &str = "#5a5a5a";
/// The curves that are always fully within the figure; windows may be far higher.
const WHOLE: [&str; 2] = ["sent", "acknowledged"];

pub(super) fn draw(recording: &Recording, band: &Band) -> String {
    let lanes: Vec<usize> =
        (0..band.totals.len()).filter(|place| band.totals[*place].us > 0.0).collect();
    let height = GAP + PANEL + 10.0 + lanes.len() as f64 * LANE;
    let mut plot = Plot::new(recording, "what held the sender back", height);
    draw_panel(&mut plot, &curves(band), TOP + GAP);
    for (row, place) in lanes.into_iter().enumerate() {
        let top = TOP + GAP + PANEL + 10.0 + row as f64 * LANE;
        let total = &band.totals[place];
        plot.label(top + 10.0, &format!("{} {:.1} %", total.name, total.percent));
        plot.grid(top + BLOCK);
        let colour = total.colour.map_or(SENDING, |it| COLOURS[it]);
        let shares = shares(&plot, band, Restraint::ALL[place]);
        draw_lane(&mut plot, &shares, top, colour);
    }
    plot.finish()
}

fn curves(band: &Band) -> Panel {
    let whole = band.series.iter().filter(|it| WHOLE.contains(&it.name));
    let most = whole.flat_map(|it| &it.points).map(|point| point.1).max().unwrap_or_default();
    let most = most.saturating_add(most / 8);
    let lines = band.series.iter().map(|series| {
        let points = series.points.iter().map(|&(at_us, value)| (at_us, value.min(most) as f64));
        (series.name.to_owned(), points.collect())
    });
    Panel { lines: lines.collect(), text: bytes }
}

/// The share of each pixel column in which this restraint was in force.
fn shares(plot: &Plot, band: &Band, by: Restraint) -> Vec<f64> {
    let mut shares = vec![0.0; to_usize(RIGHT - LEFT)];
    for span in band.spans.iter().filter(|span| span.by == by) {
        let Span { from_us, to_us, .. } = *span;
        let (from, to) = (plot.x(from_us) - LEFT, plot.x(to_us) - LEFT);
        for (column, share) in shares.iter_mut().enumerate().skip(to_usize(from)) {
            let left = column as f64;
            if left >= to {
                break;
            }
            *share += (to.min(left + 1.0) - from.max(left)).max(0.0);
        }
    }
    shares
}

/// Draws a lane; adjacent columns of one height form one block.
fn draw_lane(plot: &mut Plot, shares: &[f64], top: f64, colour: &str) {
    let mut column = 0;
    for run in shares.chunk_by(|one, next| (height(*one) - height(*next)).abs() < 0.5) {
        let height = height(run[0]);
        if height > 0.0 {
            let (left, width) = (LEFT + column as f64, run.len() as f64);
            let area = Area { left, top: top + BLOCK - height, width, height };
            plot.svg.rect(area, &format!(r#"fill="{colour}""#));
        }
        column += run.len();
    }
}

fn height(share: f64) -> f64 {
    if share > 0.0 { (share * BLOCK).round().max(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::{Series, Total, Unit};
    use figures::svg::number;

    #[test]
    fn a_lane_has_a_block_where_its_restraint_held_and_a_wide_window_does_not_squash_the_curves() {
        let series = |name, points| Series { name, unit: Unit::Bytes, points };
        let total = |restraint, us| Total {
            name: qlog_tools::restraints::in_words(restraint),
            short_name: "",
            colour: None,
            us,
            percent: us / 1000.0,
        };
        let band = Band {
            series: vec![
                series("sent", vec![(0, 0), (50_000, 80_000)]),
                series("allowed by the congestion window", vec![(0, 900_000)]),
            ],
            spans: vec![
                Span { from_us: 0, to_us: 50_000, by: Restraint::CongestionWindow },
                Span { from_us: 50_000, to_us: 100_000, by: Restraint::Application },
            ],
            totals: Restraint::ALL
                .into_iter()
                .map(|it| {
                    let has_held =
                        matches!(it, Restraint::CongestionWindow | Restraint::Application);
                    total(it, if has_held { 50_000.0 } else { 0.0 })
                })
                .collect(),
            basis: "computed",
            assumed: Vec::new(),
        };
        let recording =
            Recording { name: "log".to_owned(), duration_us: 100_000, ..Recording::default() };
        let svg = draw(&recording, &band);
        assert!(svg.contains("congestion window 50.0 %") && !svg.contains("pacing"), "{svg}");
        // Each takes half of the plot.
        let half = number((RIGHT - LEFT) / 2.0);
        assert_eq!(svg.matches(&format!(r#"width="{half}" height="12""#)).count(), 2, "{svg}");
        assert!(svg.contains("80.0 kB") && !svg.contains("900.0 kB"), "{svg}");
    }
}
