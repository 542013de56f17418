//! The distribution of speedups over pages: a panel for each scheme, with the cumulative share of
//! pages upwards.

use super::ratio_axis::RatioAxis;
use super::sheet::{Drawing, Sheet};
use super::small_multiples::{SmallMultiples, own_stroke};
use super::svg::{Area, GRID, SMALL, Svg, d};
use super::table::{Table, row};
use crate::number_texts::{or_dash, ratio_number};

/// The figure.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    /// Distinguishes this figure's lines from others on the same page.
    pub id: String,
    /// Above the figure, and its name for screen readers.
    pub title: String,
    /// The baseline of the speedups.
    pub baseline: String,
    /// The schemes.
    pub schemes: Vec<DistributionOf>,
}

/// One scheme.
#[derive(Debug, Clone, Default)]
pub struct DistributionOf {
    /// Its name.
    pub label: String,
    /// The speedup of each page, in any order.
    pub speedups: Vec<f64>,
}

/// The share of all speedups that may lie beyond an end of the axis.
const FEW: f64 = 0.003;
/// The most steps that are drawn of a line.
const STEPS_MAX: usize = 400;

impl Drawing for Distribution {
    fn title(&self) -> &str {
        &self.title
    }

    fn draw(&self, sheet: &Sheet) -> String {
        let mut svg = Svg::titled(sheet, &self.title);
        let grid = SmallMultiples::new(sheet, self.schemes.len());
        let Area { left, width, .. } = grid.plot;
        let axis = RatioAxis::new(self.range().into_iter(), left, left + width);
        let steps: Vec<Vec<(f64, f64)>> =
            self.schemes.iter().map(|it| cumulative(&it.speedups)).collect();
        let first: Vec<String> = steps.iter().map(|it| staircase(it, &axis, grid.plot)).collect();
        for (place, scheme) in self.schemes.iter().enumerate() {
            let area = grid.area(place);
            let axis = axis.shifted(area.left - left);
            axis.draw_across(&mut svg, area, grid.is_last(place));
            draw_shares(&mut svg, area, grid.is_first(place));
            grid.draw_behind(&mut svg, &self.id, place, &first);
            let d = staircase(&steps[place], &axis, area);
            svg.path(&d, &own_stroke(sheet), &scheme.label);
            grid.draw_label(&mut svg, place, &scheme.label);
            if grid.is_first(place) {
                grid.draw_title_up(&mut svg, place, "pages");
            }
        }
        grid.draw_title_across(&mut svg, &format!("speedup over {}", self.baseline));
        svg.finish(sheet.width(), grid.bottom(), &self.title)
    }

    fn caption(&self) -> String {
        let baseline = &self.baseline;
        let [low, high] = self.range();
        let all = self.schemes.iter().flat_map(|it| &it.speedups);
        let beyond = all.clone().filter(|it| !(low..=high).contains(*it)).count();
        let beyond = match beyond {
            0 => String::new(),
            beyond => format!(" The axis excludes {beyond} of {} speedups.", all.count()),
        };
        format!(
            "The share of pages whose speedup over {baseline} is at most that on the logarithmic axis: the farther right a line, the better. Left of ×1 are the pages that a scheme makes slower. The other schemes are behind each one, in grey.{beyond}"
        )
    }

    fn table(&self) -> Table {
        const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
        let shares = SHARES.map(|it| format!("{:.0}\u{202f}%", it * 100.0));
        let headings = ["scheme", "slower pages"].map(str::to_owned).into_iter().chain(shares);
        let rows = self.schemes.iter().map(|scheme| {
            let slower = scheme.speedups.iter().filter(|it| **it < 1.0).count();
            let steps = cumulative(&scheme.speedups);
            let reached = SHARES.map(|share| steps.iter().find(|it| it.1 >= share - 1e-9));
            let speedups = reached.map(|it| or_dash(it.map(|it| ratio_number(it.0))));
            row(&scheme.label, std::iter::once(slower.to_string()).chain(speedups))
        });
        Table::new("The speedup that each share of pages stays below", headings, rows)
    }
}

impl Distribution {
    /// From the lowest to the highest speedup, without the few outliers that would squeeze all others.
    fn range(&self) -> [f64; 2] {
        let all = self.schemes.iter().flat_map(|it| it.speedups.iter().copied());
        let sorted = cumulative(&all.collect::<Vec<_>>());
        [FEW, 1.0 - FEW].map(|share| {
            let reached = sorted.iter().find(|it| it.1 >= share).or(sorted.last());
            reached.map_or(1.0, |it| it.0)
        })
    }
}

/// Each ratio with the share of ratios that are not higher; the last share is 1.
fn cumulative(ratios: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = ratios.iter().copied().filter(|it| it.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    sorted.iter().enumerate().map(|(place, it)| (*it, (place + 1) as f64 / count)).collect()
}

/// From 0 % at the left to 100 % at the right; if there are very many steps, every N-th and the last.
fn staircase(steps: &[(f64, f64)], axis: &RatioAxis, area: Area) -> String {
    let mut d = d!("M{} {}", area.left, area.top + area.height);
    let every = steps.len().div_ceil(STEPS_MAX).max(1);
    for (ratio, share) in steps.iter().rev().step_by(every).rev() {
        d.push_str(&d!("H{}V{}", axis.place(*ratio), area.top + area.height * (1.0 - share)));
    }
    d + &d!("H{}", area.left + area.width)
}

fn draw_shares(svg: &mut Svg, area: Area, is_labelled: bool) {
    for half in 0..=2 {
        let y = area.top + area.height * (1.0 - f64::from(half) / 2.0);
        svg.path(&d!("M{} {}h{}", area.left, y, area.width), GRID, "");
        if is_labelled {
            let label = format!("{}\u{202f}%", half * 50);
            svg.text(area.left - 6.0, y + 4.0, SMALL.end(), &label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::number;
    use super::*;

    fn figure() -> Distribution {
        let of = |label: &str, speedups: [f64; 4]| DistributionOf {
            label: label.to_owned(),
            speedups: speedups.into(),
        };
        Distribution {
            id: "d".to_owned(),
            title: "t".to_owned(),
            baseline: "rr".to_owned(),
            schemes: vec![of("fifo", [0.5, 2.0, 1.0, 4.0]), of("dfifo", [1.0, 1.0, 1.0, 1.0])],
        }
    }

    #[test]
    fn the_shares_reach_1() {
        let shares = |ratios: &[f64]| cumulative(ratios).iter().map(|it| it.1).collect::<Vec<_>>();
        assert_eq!(shares(&[3.0, 1.0, 2.0, 4.0]), [0.25, 0.5, 0.75, 1.0]);
        let many: Vec<f64> = (1..=1001).map(f64::from).collect();
        assert_eq!(shares(&many).last(), Some(&1.0));
        let axis = RatioAxis::new(many.iter().copied(), 0.0, 100.0);
        let area = Area { left: 0.0, top: 10.0, width: 100.0, height: 50.0 };
        let d = staircase(&cumulative(&many), &axis, area);
        assert!(d.ends_with("V10H100"), "the last step is drawn, at the top: {d}");
    }

    #[test]
    fn an_outlier_lies_beyond_the_axis_and_the_caption_says_so() {
        assert_eq!(figure().range().map(number), ["0.5", "4"]);
        let mut speedups = vec![2.0; 999];
        speedups[7] = 0.001;
        let of = DistributionOf { label: "fifo".to_owned(), speedups };
        let figure = Distribution { schemes: vec![of], ..figure() };
        assert_eq!(figure.range().map(number), ["2", "2"]);
        assert!(figure.caption().ends_with("The axis excludes 1 of 999 speedups."));
    }

    #[test]
    fn every_scheme_has_a_panel_with_the_others_behind() {
        let svg = figure().svg();
        assert_eq!(svg.matches("<use ").count(), 2);
        assert_eq!(svg.matches("<title>dfifo</title>").count(), 1);
    }

    #[test]
    fn the_table_counts_the_pages_that_became_slower() {
        let rows: Vec<String> = figure().table().rows.iter().map(|it| it.join(" ")).collect();
        assert_eq!(rows, ["fifo 1 0.50 0.50 1.00 2.00 4.00", "dfifo 0 1.00 1.00 1.00 1.00 1.00"]);
    }
}
