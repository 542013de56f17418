//! Window and bytes in flight, and round-trip times: one panel a unit.

use super::{Plot, TOP};
use crate::figures::svg::Style;
use crate::figures::{bytes_text, milliseconds_text};
use crate::viewer::{Recording, Series, Unit};

const PANEL: f64 = 110.0;
const GAP: f64 = 28.0;
const LINES: [(&str, &str); 3] = [("#0072b2", ""), ("#b34a00", "6 3"), ("#00735c", "2 3")];

pub(super) fn draw(recording: &Recording) -> String {
    let panels: Vec<(Unit, Vec<&Series>)> = [Unit::Bytes, Unit::Us]
        .into_iter()
        .map(|unit| {
            (unit, recording.series.iter().filter(|it| it.unit == unit).collect::<Vec<_>>())
        })
        .filter(|(_, series)| !series.is_empty())
        .collect();
    let height = panels.len() as f64 * (PANEL + GAP);
    let mut plot = Plot::new(recording, "congestion", height);
    for (place, (unit, series)) in panels.into_iter().enumerate() {
        draw_panel(&mut plot, unit, &series, TOP + GAP + place as f64 * (PANEL + GAP));
    }
    plot.finish()
}

fn draw_panel(plot: &mut Plot, unit: Unit, series: &[&Series], top: f64) {
    let values = series.iter().flat_map(|it| &it.points).map(|point| point.1);
    let most = values.max().unwrap_or_default().max(1);
    let text = match unit {
        Unit::Bytes => bytes_text(most),
        Unit::Us => format!("{} ms", milliseconds_text(most as f64 / 1000.0)),
    };
    plot.label(top + 8.0, &text);
    plot.label(top + PANEL, "0");
    let mut left = super::LEFT + 4.0;
    for (series, (colour, dash)) in series.iter().zip(LINES.iter().cycle()) {
        let points = points(plot, series, most, top);
        plot.line(&points, colour, dash);
        plot.line(&[(left, top - 9.0), (left + 24.0, top - 9.0)], colour, dash);
        plot.svg.text(left + 30.0, top - 5.0, Style::PLAIN.size(11.0), series.name);
        left += 50.0 + 6.5 * series.name.len() as f64;
    }
}

/// The lowest and highest of each pixel column, as steps.
fn points(plot: &Plot, series: &Series, most: u64, top: f64) -> Vec<(f64, f64)> {
    let y = |value: u64| top + PANEL * (1.0 - value as f64 / most as f64);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for column in series.points.chunk_by(|one, next| plot.column(one.0) == plot.column(next.0)) {
        let x = plot.x(column[0].0);
        let before = points.last().map_or(y(column[0].1), |point| point.1);
        points.push((x, before));
        let lowest = column.iter().map(|point| point.1).min().unwrap_or_default();
        let highest = column.iter().map(|point| point.1).max().unwrap_or_default();
        let last = column.last().map_or(lowest, |point| point.1);
        points.extend([(x, y(lowest)), (x, y(highest)), (x, y(last))]);
    }
    points
}
