//! Finds the references of a stylesheet.

use super::{Place, Reference, References, Turn};
use crate::limits::CSS_DEPTH_MAX;
use cssparser::{ParseError, Parser, Token};
use schedulers::Kind;

/// The references of a stylesheet; imports of a critical one are critical.
pub(super) fn references(text: &str, critical: bool) -> References {
    let mut references = References::default();
    scan(text, critical, Place::Style, &mut references);
    references
}

pub(super) fn scan(text: &str, critical: bool, place: Place, into: &mut References) {
    let mut sheet = Sheet { critical, place, font: None, into };
    sheet.block(&mut Parser::new(text), 0, false);
}

struct Sheet<'a> {
    critical: bool,
    place: Place,
    /// In `@font-face`: the files so far.
    font: Option<Vec<String>>,
    into: &'a mut References,
}

impl Sheet<'_> {
    /// Reads a list of tokens up to its end. `is_url`: the arguments of `url()`.
    fn block(&mut self, parser: &mut Parser<'_>, depth: usize, is_url: bool) {
        // The subject of an at-rule: its prelude, or its block.
        let mut rule = String::new();
        while let Ok(token) = parser.next().cloned() {
            match token {
                Token::AtKeyword(name) => rule = name.to_ascii_lowercase(),
                Token::Semicolon => rule.clear(),
                Token::UnquotedUrl(target) => self.found(&target, &mut rule),
                Token::QuotedString(target) if is_url || rule == "import" => {
                    self.found(&target, &mut rule);
                }
                Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                    let inner = if rule == "import" { "import" } else { "" };
                    self.nested(parser, depth, true, inner);
                    rule.clear();
                }
                Token::CurlyBracketBlock => {
                    let is_font = rule == "font-face";
                    if is_font {
                        self.font = Some(Vec::new());
                    }
                    self.nested(parser, depth, false, "");
                    if is_font {
                        self.font_ends();
                    }
                    rule.clear();
                }
                Token::Function(_) | Token::ParenthesisBlock | Token::SquareBracketBlock => {
                    self.nested(parser, depth, false, "");
                }
                _ => {}
            }
        }
    }

    fn nested(&mut self, parser: &mut Parser<'_>, depth: usize, is_url: bool, rule: &str) {
        if depth == CSS_DEPTH_MAX {
            return;
        }
        let inside = parser.parse_nested_block(|inner| -> Result<(), ParseError<()>> {
            if is_url && rule == "import" {
                if let Ok(target) = inner.expect_string_cloned() {
                    self.found(&target, &mut rule.to_owned());
                }
            } else {
                self.block(inner, depth + 1, is_url);
            }
            while inner.next().is_ok() {}
            Ok(())
        });
        // Skips mistakes in a block.
        inside.ok();
    }

    fn found(&mut self, target: &str, rule: &mut String) {
        let (kind, turn) = match rule.as_str() {
            "import" => (Kind::Css, Turn::AtOnce),
            "namespace" => return,
            _ => (Kind::Image, Turn::Shown),
        };
        rule.clear();
        match &mut self.font {
            Some(files) if kind == Kind::Image => files.push(target.to_owned()),
            _ => self.add(target, kind, turn),
        }
    }

    /// Selects the file of a font that a browser loads: the best format it supports.
    fn font_ends(&mut self) {
        let files = self.font.take().unwrap_or_default();
        let best = [".woff2", ".woff", ".ttf", ".otf"]
            .iter()
            .find_map(|extension| files.iter().find(|file| has_extension(file, extension)));
        if let Some(file) = best {
            self.add(file, Kind::Font, Turn::Shown);
        }
    }

    fn add(&mut self, target: &str, kind: Kind, turn: Turn) {
        self.into.add(Reference {
            target: target.to_owned(),
            kind,
            place: self.place,
            turn,
            critical: self.critical && kind == Kind::Css,
            lazy: false,
        });
    }
}

fn has_extension(file: &str, extension: &str) -> bool {
    let path = file.split(['?', '#']).next().unwrap_or_default();
    path.to_ascii_lowercase().ends_with(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_fonts_and_images_are_told_apart() {
        for (text, expected) in [
            (
                "@import 'a.css'; @import url(b.css) print; @import url(\"c.css\");",
                "css a.css, css b.css, css c.css",
            ),
            ("a { background: url(a.png), url('b\\'.png') }", "image a.png, image b'.png"),
            ("@media print { a { list-style: url(a.png) } }", "image a.png"),
            ("a::after { content: 'no.png' } @namespace url(http://x);", ""),
            (
                "@font-face { src: url(a.eot?#iefix); src: url(a.ttf), url(a.woff?1) }",
                "font a.woff?1",
            ),
            (
                "a { background: image-set(url(a.png) 1x, url(b.png) 2x) }",
                "image a.png, image b.png",
            ),
            ("/* url(no.png) */ a { background: url(a.png", "image a.png"),
            (
                "@supports (x: y) { @font-face { src: url(a.woff2) } } a { b: url(c.png) }",
                "font a.woff2, image c.png",
            ),
        ] {
            let found = references(text, false).found;
            let kind = |it: &Reference| format!("{:?} {}", it.kind, it.target).to_lowercase();
            assert_eq!(found.iter().map(kind).collect::<Vec<_>>().join(", "), expected, "{text}");
        }
    }
}
