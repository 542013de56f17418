//! The figures of a log's report as single pictures: the whole connection, for papers and for the command line.

mod congestion;
mod curve;
mod multiplexing;
mod stacks;
mod waterfall;

use std::fmt::Write as _;

use schedulers::Kind;

use super::axis::Axis;
use super::paint::Paints;
use super::palette::{LOOKS, Look};
use super::svg::{Area, Style, Svg, number, whole};
use super::{PageResource, legend};
use crate::viewer::Recording;

const WIDTH: f64 = 1180.0;
const LEFT: f64 = 240.0;
const RIGHT: f64 = 1160.0;
const TOP: f64 = 42.0;
/// Below the plot: the ticks and the axis' title.
const BOTTOM: f64 = 44.0;
/// The prefix of pattern IDs; the figures are files of their own.
const ID: &str = "still";

/// Each figure that the log allows: its name, and the SVG. More columns than pixels are never drawn.
pub fn stills(recording: &Recording) -> Vec<(&'static str, String)> {
    let mut figures = Vec::new();
    if !recording.frames.is_empty() {
        figures.push(("multiplexing", multiplexing::draw(recording)));
        figures.push(("waterfall", waterfall::draw(recording)));
    }
    if !recording.frames.is_empty() && recording.no_stacks.is_none() {
        figures.push(("head-of-line-blocking", stacks::draw(recording)));
    }
    if recording.metrics.is_some() {
        figures.push(("byte-index", curve::draw(recording)));
    }
    if !recording.series.is_empty() || !recording.frames.is_empty() {
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
    paints: Paints,
    /// What the legend takes below the axis.
    legend: f64,
}

impl Plot {
    fn new(recording: &Recording, title: &str, height: f64) -> Self {
        let title = format!("{}: {title}", recording.name);
        let end_us = recording.duration_us;
        let looks = recording.streams.iter().take(LOOKS).map(|it| it.look.clone());
        let paints = Paints::new(ID, &looks.collect::<Vec<Look>>());
        let mut plot = Self { svg: Svg::new(), title, height, end_us, paints, legend: 0.0 };
        plot.svg.raw(&plot.paints.definitions);
        plot.svg.text(14.0, 22.0, Style::PLAIN.size(14.0).bold(), &plot.title.clone());
        plot.draw_axis();
        plot
    }

    fn x(&self, time_us: u64) -> f64 {
        LEFT + (RIGHT - LEFT) * (time_us as f64 / self.end_us as f64).min(1.0)
    }

    /// The pixel column of a time.
    fn column(&self, time_us: u64) -> usize {
        whole(self.x(time_us) - LEFT)
    }

    fn draw_axis(&mut self) {
        let bottom = TOP + self.height;
        let (ticks, title) = Axis::Time.ticks(self.end_us as f64 / 1000.0);
        for tick in ticks {
            let x = self.x(whole(tick.value * 1000.0) as u64);
            self.svg.raw(&format!(
                r##"<path d="M{} {TOP}V{}" class="grid" stroke="#d9d9d9"/>"##,
                number(x),
                number(bottom)
            ));
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

    /// Draws a block in the look of the stream at `place`; looks repeat after [`LOOKS`].
    fn block(&mut self, area: Area, place: usize) {
        self.svg.rect(area, &format!(r#"fill="{}""#, self.paints.of(Some(place % LOOKS))));
    }

    /// The streams with their looks, below the axis.
    fn draw_legend(&mut self, recording: &Recording) {
        let resources: Vec<PageResource> = recording
            .streams
            .iter()
            .map(|stream| PageResource {
                url: stream.named_url(),
                kind: Kind::Other,
                above_fold: false,
                body_bytes: Some(stream.bytes),
                streams: vec![stream.id],
            })
            .collect();
        let paint = |place: usize| self.paints.of(Some(place % LOOKS)).to_owned();
        let paints: Vec<String> = (0..resources.len()).map(paint).collect();
        let top = TOP + self.height + BOTTOM;
        let area = Area { left: 14.0, top, width: RIGHT - 14.0, height: 0.0 };
        self.legend = legend::draw(&mut self.svg, area, &resources, &paints) + 10.0;
    }

    /// Where the log ends.
    fn end(&self) -> f64 {
        self.x(self.end_us)
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
        self.svg.finish(WIDTH, TOP + self.height + BOTTOM + self.legend, &self.title)
    }
}
