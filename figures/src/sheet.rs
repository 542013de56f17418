//! The target of a figure: a screen, or a column or page of a paper; and the conditions of its numbers.

use super::Table;
use crate::palette::{line_stroke, print_stroke};

/// A figure with its text and its table of numbers.
pub trait Drawing {
    /// Its name for screen readers, and above it on a screen.
    fn title(&self) -> &str;

    /// The figure as SVG.
    fn draw(&self, sheet: &Sheet) -> String;

    /// The words below it.
    fn caption(&self) -> String;

    /// Its numbers.
    fn table(&self) -> Table;

    /// The figure on a screen, without conditions.
    fn svg(&self) -> String {
        self.draw(&Sheet::default())
    }
}

/// The target for which figures are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FigureStyle {
    /// Wide, with the title above and the conditions below.
    #[default]
    Screen,
    /// At its printed width. Title and conditions belong in the caption, so the drawing has neither.
    Paper(PaperWidth),
}

/// How wide a figure is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PaperWidth {
    /// One of two columns.
    #[default]
    Column,
    /// Both columns.
    Page,
}

impl PaperWidth {
    /// In PDF points, of which 72 are an inch: 3.33 and 7 inches, as in the two-column formats of ACM, IEEE and USENIX.
    pub fn points(self) -> f64 {
        match self {
            Self::Column => 240.0,
            Self::Page => 504.0,
        }
    }
}

/// Points per unit in print: most text is 12 units high, which makes 8 points.
pub(super) const POINTS_A_UNIT: f64 = 2.0 / 3.0;

/// The smallest text in print, 7 points.
pub(super) const SMALLEST_TEXT: f64 = 7.0 / POINTS_A_UNIT;

/// The width of most figures on a screen, in units.
const SCREEN_WIDTH: f64 = 1180.0;

/// The target of a figure.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    /// The target.
    pub style: FigureStyle,
    /// The conditions under which the figure's numbers were measured; empty if not stated.
    pub conditions: String,
}

impl Sheet {
    /// The width of most figures, in units.
    pub(super) fn width(&self) -> f64 {
        self.or_paper(SCREEN_WIDTH)
    }

    /// `screen` units on a screen; the whole width in print.
    pub(super) fn or_paper(&self, screen: f64) -> f64 {
        match self.style {
            FigureStyle::Screen => screen,
            FigureStyle::Paper(width) => width.points() / POINTS_A_UNIT,
        }
    }

    pub(super) fn is_paper(&self) -> bool {
        self.style != FigureStyle::Screen
    }

    /// `screen` on a screen, `paper` in print.
    pub(super) fn either<T>(&self, screen: T, paper: T) -> T {
        if self.is_paper() { paper } else { screen }
    }

    /// The stroke of the line at `place` of a figure. In print, dashes distinguish lines as well as colours do.
    pub(super) fn line_stroke(&self, place: usize) -> String {
        if self.is_paper() { print_stroke(place) } else { line_stroke(place) }
    }

    /// The size of a text that is `size` units high on a screen.
    pub(super) fn text_size(&self, size: f64) -> f64 {
        if self.is_paper() { size.clamp(SMALLEST_TEXT, 12.0) } else { size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_print_is_between_7_and_8_points() {
        let sheet = Sheet { style: FigureStyle::Paper(PaperWidth::Column), ..Sheet::default() };
        let points = [9.5, 11.0, 12.0, 14.0].map(|it| sheet.text_size(it) * POINTS_A_UNIT);
        let rounded = points.map(|it| format!("{it:.1}"));
        assert_eq!(rounded, ["7.0", "7.3", "8.0", "8.0"]);
        assert!((Sheet::default().text_size(9.5) - 9.5).abs() < 1e-9);
    }

    #[test]
    fn a_column_is_a_third_of_an_inch_more_than_three_and_a_page_seven() {
        let inches = [PaperWidth::Column, PaperWidth::Page].map(|it| it.points() / 72.0);
        assert!((inches[0] - 3.333).abs() < 0.001 && (inches[1] - 7.0).abs() < 1e-9, "{inches:?}");
    }
}
