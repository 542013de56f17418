//! A small SVG writer. It escapes all text.

use super::sheet::{FigureStyle, POINTS_A_UNIT, SMALLEST_TEXT, Sheet};
use super::text_lines::wrapped_to_width;
use std::fmt::Write as _;

/// Font names, at least one of which most systems have.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// The width of most figures, and the margins at their sides.
pub const WIDTH: f64 = 1180.0;
pub(super) const MARGIN: f64 = 14.0;

/// The stroke of the light lines behind a plot.
pub(super) const GRID: &str = r##"class="grid" stroke="#d9d9d9" stroke-width="1" fill="none""##;
/// The fill of marks in the colour of text.
pub const INK: &str = r##"class="ink" fill="#1a1a1a""##;

/// Most words of a figure.
pub const SMALL: Style = Style::PLAIN.size(11.0);
/// The background of every other group or row.
pub(super) const BAND: &str = r##"class="track" fill="#f3f3f3" fill-opacity="0.6""##;

/// The size of the conditions below a figure, and the distance of their lines.
const FOOT: f64 = 10.5;
const FOOT_LINE: f64 = 14.0;

/// The attribute `d` of a path with these numbers: `d!("M{} {}H{}", left, y, right)`.
macro_rules! d {
    ($form:literal $(, $number:expr)* $(,)?) => {
        format!($form $(, $crate::svg::number($number))*)
    };
}
pub(super) use d;

/// A drawing in the making.
pub struct Svg {
    body: String,
    pub(super) sheet: Sheet,
    /// In print, everything above this, such as the title, is cut off.
    head: f64,
}

/// How a text is set.
#[derive(Clone, Copy)]
pub struct Style {
    /// The height of its letters.
    pub size: f64,
    /// Which part of the text is at `left`: `start`, `middle`, `end`.
    pub anchor: &'static str,
    /// Whether it is bold.
    pub is_bold: bool,
    /// Whether it is greyer than other text.
    pub is_muted: bool,
}

impl Style {
    /// Text of 12 units that begins at its position.
    pub const PLAIN: Self = Self { size: 12.0, anchor: "start", is_bold: false, is_muted: false };

    /// In this height.
    #[must_use]
    pub const fn size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    /// The same, ending at its position.
    #[must_use]
    pub const fn end(self) -> Self {
        Self { anchor: "end", ..self }
    }

    /// The same, centred on its position.
    #[must_use]
    pub const fn middle(self) -> Self {
        Self { anchor: "middle", ..self }
    }

    /// In bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { is_bold: true, ..self }
    }

    /// The style for many names: this style on a screen, and small in print, where space is scarce.
    pub(super) fn for_names(self, sheet: &Sheet) -> Self {
        sheet.either(self, Self { anchor: self.anchor, ..Self::PLAIN.size(SMALLEST_TEXT) })
    }

    /// Greyer.
    #[must_use]
    pub const fn muted(self) -> Self {
        Self { is_muted: true, ..self }
    }
}

/// A rectangle.
#[derive(Clone, Copy)]
pub struct Area {
    /// Its left side.
    pub left: f64,
    /// Its upper side.
    pub top: f64,
    /// From left to right.
    pub width: f64,
    /// From above to below.
    pub height: f64,
}

impl Svg {
    /// An empty drawing.
    pub fn on(sheet: &Sheet) -> Self {
        Self { body: String::new(), sheet: sheet.clone(), head: 0.0 }
    }

    /// A drawing with its title at the top.
    pub(super) fn titled(sheet: &Sheet, title: &str) -> Self {
        let mut svg = Self::on(sheet);
        svg.head(&[title], 28.0);
        svg
    }

    /// Writes the title, and lines of text below it. In print, the drawing has neither and begins at `end`.
    pub(super) fn head(&mut self, lines: &[&str], end: f64) {
        let styles = [(22.0, Style::PLAIN.size(14.0).bold()), (40.0, SMALL.muted())];
        if self.sheet.is_paper() {
            self.head = end;
        } else {
            for (line, (y, style)) in lines.iter().zip(styles) {
                self.text(MARGIN, y, style, line);
            }
        }
    }

    /// Draws a rectangle. Attributes must be trusted text, never a log's.
    pub fn rect(&mut self, area: Area, attributes: &str) {
        let Area { left, top, width, height } = area;
        let [left, top, width, height] = [left, top, width, height].map(number);
        self.add(format_args!(
            r#"<rect x="{left}" y="{top}" width="{width}" height="{height}" {attributes}/>"#
        ));
    }

    /// Draws a path with a tooltip, if `title` is not empty.
    pub fn path(&mut self, d: &str, attributes: &str, title: &str) {
        if title.is_empty() {
            self.add(format_args!(r#"<path d="{d}" {attributes}/>"#));
        } else {
            self.add(format_args!(
                r#"<path d="{d}" {attributes}><title>{}</title></path>"#,
                escape(title)
            ));
        }
    }

    /// Sets a text.
    pub fn text(&mut self, left: f64, baseline: f64, style: Style, text: &str) {
        let weight = if style.is_bold { r#" font-weight="600""# } else { "" };
        let (class, fill) = if style.is_muted { ("muted", "#5a5a5a") } else { ("ink", "#1a1a1a") };
        self.add(format_args!(
            r#"<text x="{}" y="{}" font-size="{}" text-anchor="{}" class="{class}" fill="{fill}"{weight}>{}</text>"#,
            number(left),
            number(baseline),
            number(self.sheet.text_size(style.size)),
            style.anchor,
            escape(text)
        ));
    }

    /// Draws the title of a vertical axis, read upwards, centred on its middle.
    pub(super) fn upright(&mut self, left: f64, middle: f64, title: &str) {
        self.raw(&d!(r#"<g transform="rotate(-90 {} {})">"#, left, middle));
        self.text(left, middle, SMALL.middle().muted(), title);
        self.raw("</g>");
    }

    /// Adds trusted markup, such as [`crate::paint::Paints::definitions`].
    pub fn raw(&mut self, markup: &str) {
        self.add(format_args!("{markup}"));
    }

    fn add(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{markup}");
    }

    /// The whole document; `title` names it for screen readers. The conditions become its description and stand
    /// below it.
    pub fn finish(mut self, width: f64, height: f64, title: &str) -> String {
        let height = if self.sheet.is_paper() { height } else { self.foot(width, height) };
        let (top, height) = (number(self.head), height - self.head);
        let size = match self.sheet.style {
            FigureStyle::Screen => [width, height].map(number),
            FigureStyle::Paper(_) => {
                [width, height].map(|it| format!("{}pt", number(it * POINTS_A_UNIT)))
            }
        };
        let [width, height] = [width, height].map(number);
        let said = &self.sheet.conditions;
        let conditions =
            if said.is_empty() { said.clone() } else { format!("<desc>{}</desc>\n", escape(said)) };
        let paper = if self.head > 0.0 { format!(r#"y="{top}" "#) } else { String::new() };
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 {top} {width} {height}" role="img" font-family="{FONTS}">
<title>{}</title>
{conditions}<rect {paper}width="{width}" height="{height}" class="paper" fill="#ffffff"/>
{}</svg>
"##,
            size[0],
            size[1],
            escape(title),
            self.body
        )
    }

    /// Writes the conditions below the figure and gives its new height.
    fn foot(&mut self, width: f64, height: f64) -> f64 {
        let lines = wrapped_to_width(&self.sheet.conditions, width - 2.0 * MARGIN, FOOT);
        for (place, line) in lines.iter().enumerate() {
            let baseline = height + FOOT + place as f64 * FOOT_LINE;
            self.text(MARGIN, baseline, Style::PLAIN.size(FOOT).muted(), line);
        }
        if lines.is_empty() { height } else { height + lines.len() as f64 * FOOT_LINE + 8.0 }
    }
}

/// Text for element content and attribute values. Control characters, which XML forbids, become
/// the replacement character.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// The positions of the entries of a legend: side by side, and on the next line if there is no room.
pub(super) struct Flow {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) next: f64,
    pub(super) top: f64,
}

impl Flow {
    const LINE: f64 = 18.0;

    /// The left and top of an entry of this width.
    pub(super) fn place(&mut self, width: f64) -> (f64, f64) {
        if self.next > self.left && self.next + width > self.right {
            self.next = self.left;
            self.top += Self::LINE;
        }
        let left = self.next;
        self.next += width;
        (left, self.top)
    }
}

pub(super) fn circle(x: f64, y: f64, radius: f64) -> String {
    let [x, y, r, d] = [x, y, radius, 2.0 * radius].map(number);
    format!("M{x} {y}m-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z")
}

/// The path of a star, because not every font has one.
pub(super) fn star(x: f64, y: f64) -> String {
    let corners = (0..10).map(|corner| {
        let angle = f64::from(corner) * std::f64::consts::PI / 5.0;
        let radius = if corner % 2 == 0 { 5.0 } else { 2.1 };
        (x + radius * angle.sin(), y - radius * angle.cos())
    });
    polyline(corners) + "z"
}

/// The path from point to point.
pub fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let commands = std::iter::once('M').chain(std::iter::repeat('L'));
    points.into_iter().zip(commands).map(|((x, y), it)| d!("{it}{} {}", x, y)).collect()
}

pub(super) fn add_box(path: &mut String, area: Area) {
    let [left, top, width, height] = [area.left, area.top, area.width, area.height].map(number);
    // Writing to a string cannot fail.
    let _ = write!(path, "M{left} {top}h{width}v{height}h-{width}z");
}

/// The stroke of a mark whose interior has the colour of the paper.
pub(super) fn hollow(colour: &str, width: &str) -> String {
    format!(r##"class="hollow" fill="#ffffff" stroke="{colour}" stroke-width="{width}""##)
}

/// A coordinate with at most two decimals.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::sheet::PaperWidth;
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<script>\"&'\u{1}\n"), "&lt;script&gt;&quot;&amp;&#39;\u{fffd} ");
    }

    /// A figure of 100 units below its title.
    fn figure(style: FigureStyle, conditions: &str) -> String {
        let sheet = Sheet { style, conditions: conditions.to_owned() };
        let mut svg = Svg::titled(&sheet, "The title");
        svg.text(MARGIN, 60.0, Style::PLAIN.size(9.0), "word");
        svg.finish(sheet.width(), 128.0, "The title")
    }

    #[test]
    fn a_figure_on_a_screen_has_its_title_above_and_its_conditions_below() {
        let svg = figure(FigureStyle::Screen, "engine <stack>, network cable");
        assert!(svg.contains("<desc>engine &lt;stack&gt;, network cable</desc>"), "{svg}");
        assert!(svg.contains(">engine &lt;stack&gt;, network cable</text>"));
        assert!(svg.contains(">The title</text>"));
        assert!(svg.contains(r#"height="150" viewBox="0 0 1180 150""#), "a line and its margin");
        assert!(!figure(FigureStyle::Screen, "").contains("desc"));
    }

    #[test]
    fn a_figure_for_a_paper_has_its_printed_size_and_neither_title_nor_conditions_in_the_drawing() {
        let svg = figure(FigureStyle::Paper(PaperWidth::Column), "engine stack");
        assert!(svg.contains("<title>The title</title>\n<desc>engine stack</desc>"), "{svg}");
        assert_eq!(svg.matches("<text").count(), 1);
        // 100 units are 66.67 points, and 9 units would be 6.
        let size = r#"width="240pt" height="66.67pt" viewBox="0 28 360 100""#;
        assert!(svg.contains(size) && svg.contains(r#"font-size="10.5""#), "{svg}");
    }

    #[test]
    fn no_line_of_conditions_is_wider_than_the_figure_in_a_wide_font() {
        let conditions = "1360000 ".repeat(40) + &"0".repeat(200);
        let svg = figure(FigureStyle::Screen, &conditions);
        let feet = svg.split(r#"font-size="10.5""#).skip(1);
        let texts = feet.filter_map(|it| Some(it.split_once('>')?.1.split_once('<')?.0));
        // Between the margins are 1152 units. In DejaVu Sans, a digit of this size has 6.68 and a space 3.34.
        assert_eq!(texts.map(str::len).collect::<Vec<_>>(), [175, 143, 171, 29]);
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            [1.0, 0.126, -0.001, 100.0, 12.5].map(number),
            ["1", "0.13", "0", "100", "12.5"]
        );
    }
}
