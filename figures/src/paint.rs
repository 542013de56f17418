//! The fills of resources in an SVG: a colour, or a pattern that the SVG defines.

use std::fmt::Write as _;

use super::svg::Svg;
use crate::palette::{Look, Pattern};

/// The color of resources that the page does not list.
const UNLISTED: &str = "#BDBDBD";

/// In a cell of four by four, corners included, so that cells join.
const LINES_UP: &str = "M-1 5L5 -1M-1 1L1 -1M3 5L5 3";
const LINES_DOWN: &str = "M-1 -1L5 5M3 -1L5 1M-1 3L1 5";

/// One paint for each resource of a figure.
pub struct Paints {
    /// The patterns; they must precede their use in the SVG.
    pub definitions: String,
    /// The values of `fill`.
    pub(super) fills: Vec<String>,
}

impl Paints {
    /// `id` distinguishes the figure's patterns from other figures' on the same page; only its letters, digits
    /// and hyphens count.
    pub fn new(id: &str, looks: &[Look]) -> Self {
        let id = plain_id(id);
        let mut definitions = String::from("<defs>");
        let mut fills = Vec::with_capacity(looks.len());
        for (place, look) in looks.iter().enumerate() {
            match strokes(look.pattern) {
                None => fills.push(look.colour.clone()),
                Some((over, width)) => {
                    fills.push(format!("url(#{id}-{place})"));
                    // Writing to a string cannot fail.
                    let _ = write!(
                        definitions,
                        r#"<pattern id="{id}-{place}" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="{}"/><path d="{over}" stroke="{}" stroke-opacity="0.8" stroke-width="{width}" stroke-linecap="round"/></pattern>"#,
                        look.colour, look.ink
                    );
                }
            }
        }
        Self { definitions: definitions + "</defs>", fills }
    }

    /// Draws one path for each resource and, as the last, one for unlisted resources; `title` describes a path.
    pub(super) fn draw(&self, svg: &mut Svg, paths: &[String], title: impl Fn(usize) -> String) {
        for (place, d) in paths.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
            svg.path(d, &format!(r#"fill="{}""#, self.of(Some(place))), &title(place));
        }
    }

    /// The paint of a resource; grey for `None` and places beyond the last.
    pub fn of(&self, place: Option<usize>) -> &str {
        place.and_then(|it| self.fills.get(it)).map_or(UNLISTED, String::as_str)
    }
}

/// The letters, digits and hyphens of `id`, which are safe in any attribute.
pub(super) fn plain_id(id: &str) -> String {
    id.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '-').collect()
}

/// The strokes of a pattern over the colour, and their width; `None` for no pattern.
fn strokes(pattern: Pattern) -> Option<(&'static str, f64)> {
    match pattern {
        Pattern::Solid => None,
        Pattern::Hatched => Some((LINES_UP, 1.0)),
        Pattern::BackHatched => Some((LINES_DOWN, 1.0)),
        Pattern::Barred => Some(("M0 2H4", 1.0)),
        Pattern::Dotted => Some(("M2 2h0", 2.0)),
    }
}
