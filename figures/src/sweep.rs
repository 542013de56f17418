//! Speedups by a number that a study varies: a panel for each scheme, with the interval of each mean
//! as a band.

use super::number_axis::NumberAxis;
use super::ratio_axis::{RatioAxis, in_reach};
use super::sheet::{Drawing, Sheet};
use super::small_multiples::{SmallMultiples, own_fill, own_stroke};
use super::svg::{Area, Svg, circle, number, polyline};
use super::table::{Table, row};
use crate::number_texts::{or_dash, ratio_number};

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    /// Distinguishes this figure's lines from other figures' on the same page.
    pub id: String,
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The varied quantity, with its unit: `send buffer (kB)`.
    pub across: String,
    /// The quantity of each point: `mean ByteIndex speedup over rr, above the fold`.
    pub what: String,
    /// The baseline of the speedups.
    pub baseline: String,
    /// The schemes.
    pub schemes: Vec<SweepOf>,
}

/// One scheme.
#[derive(Debug, Clone, Default)]
pub struct SweepOf {
    /// Its name.
    pub label: String,
    /// From the lowest value to the highest.
    pub points: Vec<SweepPoint>,
}

/// A mean at a value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SweepPoint {
    /// The value, in the unit of the axis.
    pub value: f64,
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
}

impl Drawing for Sweep {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: &Sheet) -> String {
        let mut svg = Svg::titled(sheet, &self.title);
        let grid = SmallMultiples::new(sheet, self.schemes.len());
        let Area { left, top, width, height } = grid.plot;
        let across = self.axis(left, width);
        let up = RatioAxis::new(self.ratios().into_iter(), top + height, top);
        let first: Vec<String> =
            self.schemes.iter().map(|it| line(&it.points, &across, &up, 0.0)).collect();
        for (place, scheme) in self.schemes.iter().enumerate() {
            let (right_by, down_by) = grid.shift(place);
            let (area, up) = (grid.area(place), up.shifted(down_by));
            up.draw_in(&mut svg, area, grid.is_first(place));
            across.draw(&mut svg, area, right_by, grid.is_last(place));
            grid.draw_behind(&mut svg, &self.id, place, &first);
            svg.path(&band(&scheme.points, &across, &up, right_by), &own_fill("0.22"), "");
            let d = line(&scheme.points, &across, &up, right_by);
            svg.path(&d, &own_stroke(sheet), &scheme.label);
            let marks = scheme.points.iter();
            let marks =
                marks.map(|it| circle(across.x(it.value) + right_by, up.place(it.ratio), 2.2));
            svg.path(&marks.collect::<String>(), &own_fill("1"), "");
            grid.draw_label(&mut svg, place, &scheme.label);
            if grid.is_first(place) {
                grid.draw_title_up(&mut svg, place, "speedup");
            }
        }
        grid.draw_title_across(&mut svg, &self.across);
        svg.finish(sheet.width(), grid.bottom(), &self.title)
    }

    fn caption(&self) -> String {
        let band = if self.points().any(|point| point.interval.is_some()) {
            " The band is the 95\u{202f}% interval; it can go on beyond the axis."
        } else {
            ""
        };
        let axes = if self.axis(0.0, 1.0).is_logarithmic {
            "Both axes are logarithmic"
        } else {
            "The axis of speedups is logarithmic"
        };
        format!(
            "{}, by {}.{band} {axes}. The other schemes are behind each one, in grey.",
            self.what, self.across
        )
    }

    fn table(&self) -> Table {
        let mut values: Vec<f64> = self.points().map(|it| it.value).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let headings = row("scheme", values.iter().map(|it| number(*it)));
        let rows = self.schemes.iter().map(|scheme| {
            let cells = values.iter().map(|value| {
                cell(scheme.points.iter().find(|it| it.value.total_cmp(value).is_eq()))
            });
            row(&scheme.label, cells)
        });
        Table::new(format!("{}, by {}", self.what, self.across), headings, rows)
    }
}

impl Sweep {
    fn points(&self) -> impl Iterator<Item = &SweepPoint> {
        self.schemes.iter().flat_map(|it| &it.points)
    }

    fn ratios(&self) -> Vec<f64> {
        let means: Vec<f64> = self.points().map(|it| it.ratio).collect();
        in_reach(&means, self.points().filter_map(|it| it.interval))
    }

    fn axis(&self, left: f64, width: f64) -> NumberAxis {
        // Keeps points off the frame.
        let aside = width * 0.06;
        NumberAxis::over(self.points().map(|it| it.value), left + aside, left + width - aside)
    }
}

fn cell(point: Option<&SweepPoint>) -> String {
    let Some(point) = point else { return or_dash(None) };
    let mean = ratio_number(point.ratio);
    match point.interval {
        Some(ends) => format!("{mean} ({})", ends.map(ratio_number).join(" to ")),
        None => mean,
    }
}

fn line(points: &[SweepPoint], across: &NumberAxis, up: &RatioAxis, right_by: f64) -> String {
    polyline(points.iter().map(|it| (across.x(it.value) + right_by, up.place(it.ratio))))
}

/// Goes along the upper ends and back along the lower ones; empty without intervals.
fn band(points: &[SweepPoint], across: &NumberAxis, up: &RatioAxis, right_by: f64) -> String {
    let known = points.iter().filter_map(|it| Some((across.x(it.value) + right_by, it.interval?)));
    let upper = known.clone().map(|(x, [_, high])| (x, up.place(high)));
    let lower: Vec<(f64, f64)> = known.map(|(x, [low, _])| (x, up.place(low))).collect();
    polyline(upper.chain(lower.into_iter().rev())) + "z"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(values: [f64; 3]) -> Sweep {
        let of = |label: &str, most: f64| SweepOf {
            label: label.to_owned(),
            points: values
                .iter()
                .zip([1.0, f64::midpoint(1.0, most), most])
                .map(|(value, ratio)| SweepPoint {
                    value: *value,
                    ratio,
                    interval: Some([ratio / 1.25, ratio * 1.25]),
                })
                .collect(),
        };
        Sweep {
            id: "s".to_owned(),
            title: "t".to_owned(),
            across: "send buffer (kB)".to_owned(),
            what: "Mean speedup over rr".to_owned(),
            baseline: "rr".to_owned(),
            schemes: vec![of("fifo", 0.5), of("dfifo", 3.0)],
        }
    }

    #[test]
    fn every_scheme_has_its_line_its_band_and_its_points() {
        let svg = figure([0.0, 14.0, 28.0]).svg();
        assert_eq!(svg.matches(r#"fill-opacity="0.22""#).count(), 2, "{svg}");
        assert_eq!(svg.matches("<title>dfifo</title>").count(), 1);
        assert!(svg.contains(">send buffer (kB)<") && svg.contains(">28<"));
    }

    #[test]
    fn the_caption_says_which_axes_are_logarithmic() {
        assert!(figure([0.0, 14.0, 28.0]).caption().contains("The axis of speedups is log"));
        // Few large numbers, and numbers that are even on a logarithmic axis.
        for values in [[1.0, 14.0, 2800.0], [10.0, 50.0, 200.0], [2.0, 10.0, 40.0]] {
            let caption = figure(values).caption();
            assert!(caption.contains("Both axes are logarithmic"), "{values:?}: {caption}");
        }
        let even = figure([10.0, 60.0, 110.0]).caption();
        assert!(even.contains("The axis of speedups is log"), "{even}");
    }

    #[test]
    fn the_table_has_means_with_their_intervals() {
        let row = figure([0.0, 14.0, 28.0]).table().rows[1].join(" ");
        assert_eq!(row, "dfifo 1.00 (0.80 to 1.25) 2.00 (1.60 to 2.50) 3.00 (2.40 to 3.75)");
    }
}
