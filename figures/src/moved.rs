//! How resources moved between two runs of a page: a line for each resource, from its time in the first run to its
//! time in the other.

use super::axis::{Across, Axis};
use super::sheet::Sheet;
use super::svg::{Area, BAND, SMALL, Style, Svg, WIDTH, circle, d, hollow};
use qlog_tools::alignment::{AlignedResource, Alignment, ResourceRun, path_of};
use qlog_tools::short_texts::shorten;

/// Two runs of a page.
#[derive(Debug, Clone, Copy)]
pub struct MovedResources<'a> {
    /// The names of both.
    pub names: [&'a str; 2],
    /// Their resources.
    pub alignment: &'a Alignment,
    /// The index of the other run; the first run is at 0.
    pub run: usize,
}

const LEFT: f64 = 330.0;
const RIGHT: f64 = WIDTH - 90.0;
const TOP: f64 = 74.0;
const ROW: f64 = 20.0;
/// The most rows of a picture; the resources that moved least are omitted.
const ROWS: usize = 200;
const RADIUS: f64 = 4.0;
const LATER: &str = "#D55E00";
const EARLIER: &str = "#0072B2";
const SAME: &str = "#5a5a5a";
/// The smallest difference that counts as a change, in milliseconds.
const LEAST_MS: f64 = 0.05;

impl MovedResources<'_> {
    /// The figure.
    pub fn svg(&self) -> String {
        let resources = self.alignment.by_weight(self.run);
        let shown = &resources[..resources.len().min(ROWS)];
        let [first, other] = self.names.map(|it| shorten(it, 60));
        let title = format!("What moved from {first} to {other}");
        let mut svg = Svg::on(&Sheet::default());
        svg.text(14.0, 22.0, Style::PLAIN.size(14.0).bold(), &title);
        draw_keys(&mut svg, [&first, &other]);
        let across = self.across(shown);
        let bottom = TOP + shown.len() as f64 * ROW;
        for place in (1..shown.len()).step_by(2) {
            let top = TOP + place as f64 * ROW;
            svg.rect(Area { left: 14.0, top, width: WIDTH - 28.0, height: ROW }, BAND);
        }
        let lines = [bottom + 16.0, bottom + 34.0];
        across.draw(&mut svg, lines, |x| Some(d!("M{x} {TOP}V{}", bottom)));
        for (place, resource) in shown.iter().enumerate() {
            self.draw_row(&mut svg, &across, resource, TOP + (place as f64 + 0.5) * ROW);
        }
        let left_out = resources.len() - shown.len();
        if left_out > 0 {
            let words = format!("{left_out} more that moved less");
            svg.text(LEFT - 10.0, bottom + 16.0, SMALL.end().muted(), &words);
        }
        svg.finish(WIDTH, bottom + 48.0, &title)
    }

    fn runs(&self, resource: &AlignedResource) -> [Option<ResourceRun>; 2] {
        [resource.runs[0], resource.runs[self.run]]
    }

    fn across(&self, resources: &[&AlignedResource]) -> Across {
        let runs = resources.iter().flat_map(|it| self.runs(it)).flatten();
        let end = runs.filter_map(|it| it.complete_ms).fold(0.0, f64::max);
        Across::new(Axis::Time, LEFT, RIGHT, end.max(1.0))
    }

    fn draw_row(&self, svg: &mut Svg, across: &Across, resource: &AlignedResource, middle: f64) {
        svg.text(LEFT - 10.0, middle + 4.0, SMALL.end(), &shorten(path_of(&resource.url), 48));
        let later_ms = resource.moved(self.run).later_ms;
        let colour = match later_ms {
            Some(ms) if ms > LEAST_MS => LATER,
            Some(ms) if ms < -LEAST_MS => EARLIER,
            _ => SAME,
        };
        let runs = self.runs(resource);
        let first = runs.map(|it| it.and_then(|it| it.first_ms));
        let complete = runs.map(|it| it.and_then(|it| it.complete_ms));
        draw_change(svg, across, first, middle - 5.0, SAME, "1");
        draw_change(svg, across, complete, middle + 2.0, colour, "2.5");
        let marks = [hollow(colour, "2"), format!(r#"fill="{colour}""#)];
        for ((ms, attributes), name) in complete.into_iter().zip(marks).zip(self.names) {
            let Some(ms) = ms else { continue };
            let about = format!("{}: {ms:.1} ms in {name}", resource.url);
            svg.path(&circle(across.x(ms), middle + 2.0, RADIUS), &attributes, &about);
        }
        let end = complete.into_iter().flatten().fold(0.0, f64::max);
        let words = match (later_ms, runs) {
            (Some(ms), _) => format!("{ms:+.1} ms"),
            (_, [None, _]) => format!("only in {}", shorten(self.names[1], 12)),
            (_, [_, None]) => format!("only in {}", shorten(self.names[0], 12)),
            _ => "not complete".to_owned(),
        };
        svg.text(across.x(end) + 10.0, middle + 6.0, SMALL.muted(), &words);
    }
}

fn draw_change(
    svg: &mut Svg,
    across: &Across,
    moments: [Option<f64>; 2],
    y: f64,
    colour: &str,
    width: &str,
) {
    let [Some(from), Some(to)] = moments else { return };
    let d = d!("M{} {}H{}", across.x(from), y, across.x(to));
    svg.path(&d, &format!(r#"stroke="{colour}" stroke-width="{width}" fill="none""#), "");
    svg.path(&circle(across.x(to), y, 2.0), &format!(r#"fill="{colour}""#), "");
}

/// Draws the meaning of rings, dots and colours.
fn draw_keys(svg: &mut Svg, [first, other]: [&str; 2]) {
    let y = 48.0;
    svg.path(&circle(20.0, y, RADIUS), &hollow(SAME, "2"), "");
    svg.text(32.0, y + 4.0, SMALL, &format!("last byte in {first}"));
    svg.path(&circle(420.0, y, RADIUS), &format!(r#"fill="{SAME}""#), "");
    svg.text(432.0, y + 4.0, SMALL, &format!("in {other}"));
    for (left, colour, words) in [(820.0, LATER, "later"), (900.0, EARLIER, "earlier")] {
        let d = format!("M{left} {y}h24");
        svg.path(&d, &format!(r#"stroke="{colour}" stroke-width="2.5" fill="none""#), "");
        svg.text(left + 30.0, y + 4.0, SMALL, words);
    }
    svg.path(&format!("M990 {y}h24"), &format!(r#"stroke="{SAME}" fill="none""#), "");
    svg.path(&circle(1014.0, y, 2.0), &format!(r#"fill="{SAME}""#), "");
    svg.text(1022.0, y + 4.0, SMALL, "first byte");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(complete_ms: f64) -> ResourceRun {
        ResourceRun {
            first_ms: Some(complete_ms / 2.0),
            complete_ms: Some(complete_ms),
            index_ms: Some(complete_ms),
            ..ResourceRun::default()
        }
    }

    #[test]
    fn a_line_goes_from_the_first_run_to_the_other() {
        let resource = |url: &str, runs: Vec<Option<ResourceRun>>| AlignedResource {
            url: url.to_owned(),
            bytes: None,
            runs,
        };
        let alignment = Alignment {
            resources: vec![
                resource("/later", vec![Some(run(50.0)), Some(run(100.0))]),
                resource("/<b>", vec![Some(run(100.0)), Some(run(25.0))]),
                resource("/alone", vec![None, Some(run(10.0))]),
            ],
        };
        let figure = MovedResources { names: ["rr", "fifo"], alignment: &alignment, run: 1 };
        let svg = figure.svg();
        // 0 to 100 ms are 330 to 1090.
        assert!(svg.contains("H1090\" stroke=\"#D55E00\""), "{svg}");
        assert!(
            svg.contains("+50.0 ms") && svg.contains("-75.0 ms") && svg.contains("only in fifo")
        );
        assert!(svg.contains("/later: 50.0 ms in rr") && !svg.contains("<b>"));
    }
}
