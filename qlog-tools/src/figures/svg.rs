//! A small SVG writer. All text is escaped on its way in.

use std::fmt::Write as _;

/// Fonts that most systems have one of.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// The width of most figures, and the room at their sides.
pub(super) const WIDTH: f64 = 1180.0;
pub(super) const MARGIN: f64 = 14.0;

/// How the light lines behind a plot are drawn.
pub(super) const GRID: &str = r##"class="grid" stroke="#d9d9d9" stroke-width="1" fill="none""##;
/// How marks in the colour of text are drawn.
pub(super) const INK: &str = r##"class="ink" fill="#1a1a1a""##;

/// Most words of a figure.
pub(super) const SMALL: Style = Style::PLAIN.size(11.0);
/// What lies behind every other group or row.
pub(super) const BAND: &str = r##"class="track" fill="#f3f3f3" fill-opacity="0.6""##;

/// A drawing in the making.
pub(super) struct Svg {
    body: String,
}

/// How a text is set.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) size: f64,
    pub(super) anchor: &'static str,
    pub(super) is_bold: bool,
    pub(super) is_muted: bool,
}

impl Style {
    pub(super) const PLAIN: Self =
        Self { size: 12.0, anchor: "start", is_bold: false, is_muted: false };

    pub(super) const fn size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    pub(super) const fn end(self) -> Self {
        Self { anchor: "end", ..self }
    }

    pub(super) const fn middle(self) -> Self {
        Self { anchor: "middle", ..self }
    }

    pub(super) const fn bold(self) -> Self {
        Self { is_bold: true, ..self }
    }

    pub(super) const fn muted(self) -> Self {
        Self { is_muted: true, ..self }
    }
}

/// A rectangle.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Svg {
    pub(super) fn new() -> Self {
        Self { body: String::new() }
    }

    /// A drawing with its title at its top.
    pub(super) fn titled(title: &str) -> Self {
        let mut svg = Self::new();
        svg.text(MARGIN, 22.0, Style::PLAIN.size(14.0).bold(), title);
        svg
    }

    /// Attributes are the caller's own words, never a log's.
    pub(super) fn rect(&mut self, area: Area, attributes: &str) {
        let Area { left, top, width, height } = area;
        self.add(format_args!(
            r#"<rect x="{}" y="{}" width="{}" height="{}" {attributes}/>"#,
            number(left),
            number(top),
            number(width),
            number(height)
        ));
    }

    pub(super) fn path(&mut self, d: &str, attributes: &str, title: &str) {
        if title.is_empty() {
            self.add(format_args!(r#"<path d="{d}" {attributes}/>"#));
        } else {
            self.add(format_args!(
                r#"<path d="{d}" {attributes}><title>{}</title></path>"#,
                escape(title)
            ));
        }
    }

    pub(super) fn text(&mut self, left: f64, baseline: f64, style: Style, text: &str) {
        let weight = if style.is_bold { r#" font-weight="600""# } else { "" };
        let (class, fill) = if style.is_muted { ("muted", "#5a5a5a") } else { ("ink", "#1a1a1a") };
        self.add(format_args!(
            r#"<text x="{}" y="{}" font-size="{}" text-anchor="{}" class="{class}" fill="{fill}"{weight}>{}</text>"#,
            number(left),
            number(baseline),
            number(style.size),
            style.anchor,
            escape(text)
        ));
    }

    /// Markup made by this module's neighbours.
    pub(super) fn raw(&mut self, markup: &str) {
        self.add(format_args!("{markup}"));
    }

    fn add(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{markup}");
    }

    /// The whole document; `title` names it for screen readers.
    pub(super) fn finish(self, width: f64, height: f64, title: &str) -> String {
        let (width, height) = (number(width), number(height));
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="{FONTS}">
<title>{}</title>
<rect width="{width}" height="{height}" class="paper" fill="#ffffff"/>
{}</svg>
"##,
            escape(title),
            self.body
        )
    }
}

/// Text for element content and attribute values. Control characters, which XML forbids, become
/// the replacement character.
pub(super) fn escape(text: &str) -> String {
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

/// The path of a circle.
pub(super) fn circle(x: f64, y: f64, radius: f64) -> String {
    let (x, y, r, d) = (number(x), number(y), number(radius), number(2.0 * radius));
    format!("M{x} {y}m-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z")
}

/// The pixel, or the count, that a number which is not negative falls into.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a figure")]
pub(super) fn whole(value: f64) -> usize {
    value.max(0.0) as usize
}

/// A coordinate with at most two decimals.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// `text` cut in its middle to at most `characters`: the ends of a file name tell most.
pub(crate) fn shorten(text: &str, characters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= characters {
        return text.to_owned();
    }
    let kept = characters.saturating_sub(1);
    let tail = kept / 2;
    let head: String = all[..kept - tail].iter().collect();
    let tail: String = all[all.len() - tail..].iter().collect();
    format!("{head}\u{2026}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<script>\"&'\u{1}\n"), "&lt;script&gt;&quot;&amp;&#39;\u{fffd} ");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            [1.0, 0.126, -0.001, 100.0, 12.5].map(number),
            ["1", "0.13", "0", "100", "12.5"]
        );
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shorten("background.png", 9), "back\u{2026}.png");
        assert_eq!(shorten("a.css", 9), "a.css");
        assert_eq!(shorten("abc", 0), "\u{2026}");
    }
}
