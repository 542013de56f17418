//! The figures of a log's report as single pictures: the whole connection, for papers and for the command
//! line.

mod band;
mod congestion;
mod curve;
mod multiplexing;
mod stacks;
mod waterfall;

use qlog_tools::saturating_cast::to_usize;
use schedulers::Kind;

use crate::viewer::Recording;
use figures::Sheet;
use figures::axis::{Across, Axis};
use figures::legend;
use figures::paint::Paints;
use figures::palette::{LOOKS, Look};
use figures::svg::{Area, SMALL, Style, Svg, WIDTH, number, polyline};
use qlog_tools::page_resources::PageResource;

const LEFT: f64 = 240.0;
const RIGHT: f64 = 1160.0;
const TOP: f64 = 42.0;
/// The height below the plot: the ticks and the axis' title.
const BOTTOM: f64 = 44.0;
/// The prefix of pattern IDs; each figure is a separate file.
const ID: &str = "still";

/// Each figure that the log allows: its name, and the SVG. Never draws more columns than pixels.
pub fn pictures(recording: &Recording) -> Vec<(&'static str, String)> {
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
    if let Some(band) = &recording.band {
        figures.push(("limits", band::draw(recording, band)));
    }
    figures
}

/// A plot with time across: title, axis, and the mapping of times.
struct Plot {
    svg: Svg,
    title: String,
    height: f64,
    end_us: u64,
    across: Across,
    paints: Paints,
    /// The height of the legend below the axis.
    legend: f64,
}

impl Plot {
    fn new(recording: &Recording, title: &str, height: f64) -> Self {
        let title = format!("{}: {title}", recording.name);
        let end_us = recording.duration_us;
        let looks = recording.streams.iter().take(LOOKS).map(|it| it.look.clone());
        let paints = Paints::new(ID, &looks.collect::<Vec<Look>>());
        let across = Across {
            origin: recording.start_us as f64 / 1000.0,
            words: |it| it.replace("time since the first request", "the log's clock"),
            ..Across::new(Axis::Time, LEFT, RIGHT, end_us as f64 / 1000.0)
        };
        let mut svg = Svg::on(&Sheet::default());
        svg.raw(&paints.definitions);
        svg.text(14.0, 22.0, Style::PLAIN.size(14.0).bold(), &title);
        let bottom = TOP + height;
        across.draw(&mut svg, [bottom + 16.0, bottom + 34.0], |x| {
            Some(format!("M{x} {TOP}V{}", number(bottom)))
        });
        Self { svg, title, height, end_us, across, paints, legend: 0.0 }
    }

    fn x(&self, time_us: u64) -> f64 {
        self.across.x(time_us.min(self.end_us) as f64 / 1000.0)
    }

    fn column(&self, time_us: u64) -> usize {
        to_usize(self.x(time_us) - LEFT)
    }

    /// Draws a mark in each pixel column that has one of these times, starting `left` of it.
    fn marks(
        &mut self,
        times_us: impl Iterator<Item = u64>,
        left: f64,
        top: f64,
        attributes: &str,
    ) {
        let mut columns: Vec<usize> = times_us.map(|at_us| self.column(at_us)).collect();
        columns.dedup();
        for column in columns {
            let area = Area { left: LEFT + column as f64 + left, top, width: 2.0, height: 10.0 };
            self.svg.rect(area, attributes);
        }
    }

    fn grid(&mut self, y: f64) {
        let d = format!("M{LEFT} {}H{RIGHT}", number(y));
        self.svg.path(&d, r##"class="grid" stroke="#e6e6e6""##, "");
    }

    /// Draws a line of the plot for the legend.
    fn key(&mut self, left: f64, middle: f64, colour: &str, dash: &str, name: &str) {
        self.line(&[(left, middle), (left + 24.0, middle)], colour, dash);
        self.svg.text(left + 30.0, middle + 4.0, SMALL, name);
    }

    /// Draws a label to the left of the plot.
    fn label(&mut self, baseline: f64, text: &str) {
        self.svg.text(LEFT - 8.0, baseline, SMALL.end(), text);
    }

    /// Draws a block in the look of the stream at `place`; looks repeat after [`LOOKS`].
    fn block(&mut self, area: Area, place: usize) {
        self.svg.rect(area, &format!(r#"fill="{}""#, self.paints.of(Some(place % LOOKS))));
    }

    /// Draws the streams with their looks, below the axis.
    fn draw_legend(&mut self, recording: &Recording) {
        let (mut resources, mut paints) = (Vec::new(), Vec::new());
        for (place, stream) in recording.streams.iter().enumerate() {
            resources.push(PageResource {
                url: stream.named_url(),
                kind: Kind::Other,
                above_fold: false,
                body_bytes: Some(stream.bytes),
                streams: vec![stream.id],
            });
            paints.push(self.paints.of(Some(place % LOOKS)).to_owned());
        }
        let top = TOP + self.height + BOTTOM;
        self.legend = legend::draw(&mut self.svg, top, RIGHT, &resources, &paints) + 10.0;
    }

    fn line(&mut self, points: &[(f64, f64)], colour: &str, dash: &str) {
        if points.is_empty() {
            return;
        }
        let attributes = format!(
            r#"fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}""#
        );
        self.svg.path(&polyline(points.iter().copied()), &attributes, "");
    }

    fn finish(self) -> String {
        self.svg.finish(WIDTH, TOP + self.height + BOTTOM + self.legend, &self.title)
    }
}
