//! A logarithmic vertical axis of ratios: ×2 lies as far above ×1 as /2 below.

use super::svg::{SMALL, Svg, number};

/// Where ratios stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct RatioAxis {
    pub(super) top: f64,
    height: f64,
    lowest: f64,
    highest: f64,
}

/// Ticks of an axis on which all lies close to ×1, and how far its ends may be apart.
const FINE_TICKS: [f64; 8] = [1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0];
const FINE_SPAN: f64 = 3.0;

/// Ticks at and above ×1; below it are their inverses.
const TICKS: [f64; 13] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0];

impl RatioAxis {
    /// An axis that shows all of `ratios`, and ×1.
    pub(super) fn over(ratios: impl Iterator<Item = f64>, top: f64, height: f64) -> Self {
        let usable = ratios.filter(|it| it.is_finite() && *it > 0.0);
        let (lowest, highest) =
            usable.fold((1.0_f64, 1.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        Self { top, height, lowest: lowest.min(0.9) / 1.04, highest: highest.max(1.1) * 1.04 }
    }

    pub(super) fn shifted(self, down: f64) -> Self {
        Self { top: self.top + down, ..self }
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn y(&self, ratio: f64) -> f64 {
        let share = (ratio.clamp(self.lowest, self.highest) / self.lowest).ln()
            / (self.highest / self.lowest).ln();
        self.bottom() - share * self.height
    }

    /// The grid with its labels, and the axis' title, if there is one, at the figure's left edge.
    pub(super) fn draw(&self, svg: &mut Svg, left: f64, right: f64, title: &str) {
        if !title.is_empty() {
            let middle = number(self.top + self.height / 2.0);
            svg.raw(&format!(r#"<g transform="rotate(-90 14 {middle})">"#));
            svg.text(14.0, self.top + self.height / 2.0, SMALL.middle().muted(), title);
            svg.raw("</g>");
        }
        for (ratio, label) in self.ticks() {
            let y = self.y(ratio);
            let width = if is_one(ratio) { "1.8" } else { "1" };
            let grid =
                format!(r##"class="grid" stroke="#d9d9d9" stroke-width="{width}" fill="none""##);
            svg.path(&format!("M{} {}H{}", number(left), number(y), number(right)), &grid, "");
            svg.text(left - 8.0, y + 4.0, SMALL.end(), &label);
        }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let is_fine = self.highest / self.lowest < FINE_SPAN;
        let ticks: &[f64] = if is_fine { &FINE_TICKS } else { &TICKS };
        let slower = ticks[1..].iter().rev().map(|tick| (1.0 / tick, format!("/{tick}")));
        let faster = ticks.iter().map(|tick| (*tick, format!("×{tick}")));
        let mut shown: Vec<(f64, String)> = Vec::new();
        for (ratio, label) in slower.chain(faster) {
            let inside = (self.lowest..=self.highest).contains(&ratio);
            let clear = shown.last().is_none_or(|(last, _)| self.y(*last) - self.y(ratio) > 13.0);
            if inside && (clear || is_one(ratio)) {
                shown.push((ratio, label));
            }
        }
        shown
    }
}

fn is_one(ratio: f64) -> bool {
    (ratio - 1.0).abs() < 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_fast_is_as_far_from_the_middle_as_twice_as_slow() {
        let axis = RatioAxis::over([0.5, 2.0, 0.25, 4.0].into_iter(), 10.0, 200.0);
        let (up, down) = (axis.y(1.0) - axis.y(2.0), axis.y(0.5) - axis.y(1.0));
        assert!((up - down).abs() < 1e-9, "{up} {down}");
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["/4", "/3", "/2", "/1.5", "×1", "×1.5", "×2", "×3", "×4"]);
        let close = RatioAxis::over([0.9, 1.2].into_iter(), 10.0, 200.0).ticks();
        assert!(close.iter().any(|(_, label)| label == "×1.1"), "{close:?}");
    }

    #[test]
    fn an_axis_without_ratios_shows_the_baseline() {
        let axis = RatioAxis::over([f64::NAN, 0.0].into_iter(), 0.0, 100.0);
        assert!(axis.ticks().iter().any(|(_, label)| label == "×1"));
    }
}
