//! The figures of a log's report as single pictures: the whole connection, for papers and for the command line.

mod congestion;
mod curve;
mod multiplexing;
mod stacks;
mod waterfall;

use std::fmt::Write as _;

use super::axis::Axis;
use super::palette::Look;
use super::svg::{Area, Style, Svg, number};
use crate::viewer::Recording;

const WIDTH: f64 = 1180.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 1160.0;
const TOP: f64 = 42.0;
/// Below the plot: the ticks and the axis' title.
const BOTTOM: f64 = 44.0;

/// Each figure that the log allows: its name, and the SVG. More columns than pixels are never drawn.
pub fn stills(recording: &Recording) -> Vec<(&'static str, String)> {
    let mut figures = Vec::new();
    if !recording.frames.is_empty() {
        figures.push(("multiplexing", multiplexing::draw(recording)));
        figures.push(("waterfall", waterfall::draw(recording)));
    }
    if recording.stacks.is_ok() {
        figures.push(("head-of-line-blocking", stacks::draw(recording)));
    }
    if recording.byte_index.is_ok() {
        figures.push(("byte-index", curve::draw(recording)));
    }
    if !recording.series.is_empty() {
        figures.push(("congestion", congestion::draw(recording)));
    }
    figures
}

/// A plot with time across: title, axis, and where times are.
struct Plot {
    svg: Svg,
    title: String,
    height: f64,
    end_us: u64,
}

impl Plot {
    fn new(recording: &Recording, title: &str, height: f64) -> Self {
        let title = format!("{}: {title}", recording.name);
        let end_us = recording.duration_us.max(1);
        let mut plot = Self { svg: Svg::new(), title, height, end_us };
        plot.svg.text(14.0, 22.0, Style::PLAIN.size(14.0).bold(), &plot.title.clone());
        plot.draw_axis();
        plot
    }

    fn x(&self, time_us: u64) -> f64 {
        LEFT + (RIGHT - LEFT) * (time_us as f64 / self.end_us as f64).min(1.0)
    }

    /// The pixel column of a time.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the plot")]
    fn column(&self, time_us: u64) -> usize {
        (self.x(time_us) - LEFT) as usize
    }

    fn draw_axis(&mut self) {
        let bottom = TOP + self.height;
        let (ticks, title) = Axis::Time.ticks(self.end_us as f64 / 1000.0);
        for tick in ticks {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "of an axis"
            )]
            let x = number(self.x((tick.value * 1000.0) as u64));
            self.svg.raw(&format!(
                r##"<path d="M{x} {TOP}V{}" class="grid" stroke="#d9d9d9"/>"##,
                number(bottom)
            ));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "of an axis"
            )]
            let x = self.x((tick.value * 1000.0) as u64);
            self.svg.text(x, bottom + 16.0, Style::PLAIN.size(11.0).middle().muted(), &tick.label);
        }
        let style = Style::PLAIN.size(11.0).middle().muted();
        self.svg.text(
            f64::midpoint(LEFT, RIGHT),
            bottom + 34.0,
            style,
            &title.replace("the first request", "the log's start"),
        );
    }

    /// A label to the left of the plot.
    fn label(&mut self, baseline: f64, text: &str) {
        self.svg.text(LEFT - 8.0, baseline, Style::PLAIN.size(11.0).end(), text);
    }

    fn block(&mut self, area: Area, look: &Look) {
        self.svg.rect(area, &format!(r#"fill="{}""#, look.colour));
    }

    /// A line through points on the plot.
    fn line(&mut self, points: &[(f64, f64)], colour: &str, dash: &str) {
        let Some(((x, y), rest)) = points.split_first() else { return };
        let mut d = format!("M{} {}", number(*x), number(*y));
        for (x, y) in rest {
            // Writing to a string cannot fail.
            let _ = write!(d, "L{} {}", number(*x), number(*y));
        }
        let attributes = format!(
            r#"fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}""#
        );
        self.svg.path(&d, &attributes, "");
    }

    fn finish(self) -> String {
        self.svg.finish(WIDTH, TOP + self.height + BOTTOM, &self.title)
    }
}
