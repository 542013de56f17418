//! Finds the references of a document.

use super::{Place, Reference, References, Turn, css};
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use schedulers::Kind;

/// The window for which pages are laid out, in CSS pixels; it determines the choice among image sizes.
const VIEWPORT_WIDTH: f64 = 1366.0;

pub(super) fn references(text: &str) -> References {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut document = Document {
        into: References::default(),
        place: Place::Head,
        templates: 0,
        picture: None,
        style: None,
    };
    for token in Tokenizer::new_with_emitter(text, emitter).flatten() {
        match token {
            Token::StartTag(tag) => document.start(&tag),
            Token::EndTag(tag) => document.end(&text_of(&tag.name)),
            Token::String(text) => {
                if let Some(style) = &mut document.style {
                    style.push_str(&text_of(&text.value));
                }
            }
            _ => {}
        }
    }
    document.into
}

struct Document {
    into: References,
    place: Place,
    /// The number of open templates, in which nothing is loaded.
    templates: usize,
    /// In `<picture>`: whether a source was chosen.
    picture: Option<bool>,
    /// In `<style>`: its text so far.
    style: Option<String>,
}

impl Document {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = text_of(&tag.name);
        if name == "template" {
            self.templates += 1;
        }
        if name == "body" {
            self.place = Place::Tail;
        }
        if self.templates > 0 {
            return;
        }
        if let Some(style) = attribute(tag, "style") {
            css::scan(&format!("a{{{style}}}"), false, self.place, &mut self.into);
        }
        match name.as_str() {
            "base" if self.into.base.is_none() => self.into.base = attribute(tag, "href"),
            "link" => self.link(tag),
            "script" => self.script(tag),
            "style" => self.style = Some(String::new()),
            "img" => self.image(tag),
            "picture" => self.picture = Some(false),
            "source" => self.source(tag),
            "input"
                if attribute(tag, "type").is_some_and(|it| it.eq_ignore_ascii_case("image")) =>
            {
                self.shown(attribute(tag, "src"), Kind::Image);
            }
            "video" | "audio" => {
                self.shown(attribute(tag, "poster"), Kind::Image);
                if attribute(tag, "preload").is_none_or(|said| !said.eq_ignore_ascii_case("none")) {
                    self.shown(attribute(tag, "src"), Kind::Media);
                }
            }
            "iframe" => self.shown(attribute(tag, "src"), Kind::Html),
            "embed" => self.shown(attribute(tag, "src"), Kind::Other),
            "object" => self.shown(attribute(tag, "data"), Kind::Other),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "template" => self.templates = self.templates.saturating_sub(1),
            "head" => self.place = Place::Tail,
            "picture" => self.picture = None,
            "style" => {
                if let Some(style) = self.style.take() {
                    let head = self.place == Place::Head;
                    css::scan(&style, head, self.place, &mut self.into);
                }
            }
            _ => {}
        }
    }

    fn link(&mut self, tag: &StartTag<()>) {
        let relation = attribute(tag, "rel").unwrap_or_default().to_ascii_lowercase();
        let has = |name: &str| relation.split_ascii_whitespace().any(|it| it == name);
        let disabled = attribute(tag, "disabled").is_some();
        let destination = attribute(tag, "as").unwrap_or_default().to_ascii_lowercase();
        let kind = match destination.as_str() {
            _ if has("stylesheet") && !has("alternate") && !disabled => Kind::Css,
            _ if has("modulepreload") => Kind::Js,
            _ if !has("preload") => return,
            "style" => Kind::Css,
            "script" => Kind::Js,
            "font" => Kind::Font,
            "image" => Kind::Image,
            "fetch" => Kind::Xhr,
            _ => Kind::Other,
        };
        let print =
            attribute(tag, "media").is_some_and(|it| it.trim().eq_ignore_ascii_case("print"));
        let critical = has("stylesheet") && self.place == Place::Head && !print;
        let turn = if print { Turn::Shown } else { Turn::AtOnce };
        self.add(attribute(tag, "href"), kind, turn, critical);
    }

    fn script(&mut self, tag: &StartTag<()>) {
        let kind = attribute(tag, "type").unwrap_or_default().trim().to_ascii_lowercase();
        let module = kind == "module";
        let runs =
            module || kind.is_empty() || kind.contains("javascript") || kind.contains("ecmascript");
        if !runs || attribute(tag, "nomodule").is_some() {
            return;
        }
        let turn = match (attribute(tag, "async").is_some(), attribute(tag, "defer").is_some()) {
            (true, _) => Turn::Async,
            (false, true) => Turn::Deferred,
            (false, false) if module => Turn::Deferred,
            (false, false) => Turn::AtOnce,
        };
        let critical = turn == Turn::AtOnce && self.place == Place::Head;
        self.add(attribute(tag, "src"), Kind::Js, turn, critical);
    }

    fn image(&mut self, tag: &StartTag<()>) {
        if self.picture == Some(true) {
            return;
        }
        let plain = attribute(tag, "src");
        let set = attribute(tag, "srcset").unwrap_or_default();
        let target = chosen(&set, plain.as_deref());
        let lazy = attribute(tag, "loading").is_some_and(|it| it.eq_ignore_ascii_case("lazy"));
        self.refer(target, Kind::Image, Turn::Shown, false, lazy);
    }

    /// The first suitable source of a picture. Skips sources with media queries, which cannot be evaluated.
    fn source(&mut self, tag: &StartTag<()>) {
        match self.picture {
            Some(false) if attribute(tag, "media").is_none() => {
                let target = attribute(tag, "srcset").and_then(|it| chosen(&it, None));
                self.picture = Some(target.is_some());
                self.shown(target, Kind::Image);
            }
            _ => {}
        }
    }

    fn shown(&mut self, target: Option<String>, kind: Kind) {
        self.add(target, kind, Turn::Shown, false);
    }

    fn add(&mut self, target: Option<String>, kind: Kind, turn: Turn, critical: bool) {
        self.refer(target, kind, turn, critical, false);
    }

    fn refer(
        &mut self,
        target: Option<String>,
        kind: Kind,
        turn: Turn,
        critical: bool,
        lazy: bool,
    ) {
        if let Some(target) = target {
            self.into.add(Reference { target, kind, place: self.place, turn, critical, lazy });
        }
    }
}

/// The image of a `srcset` that a window of [`VIEWPORT_WIDTH`] at a density of 1 selects: the smallest that is large
/// enough, or the largest. `plain` is the image for that density in sets without widths.
fn chosen(set: &str, plain: Option<&str>) -> Option<String> {
    let candidates = set.split(',').filter_map(|candidate| {
        let mut words = candidate.split_ascii_whitespace();
        let target = words.next()?;
        let descriptor = words.next().unwrap_or("1x");
        let number: f64 = descriptor.get(..descriptor.len().checked_sub(1)?)?.parse().ok()?;
        let density = if descriptor.ends_with('w') { number / VIEWPORT_WIDTH } else { number };
        density.is_finite().then_some((density, target))
    });
    let mut candidates: Vec<(f64, &str)> = candidates.collect();
    let by_width = set.split(',').any(|it| it.trim_end().ends_with('w'));
    candidates.extend(plain.filter(|_| !by_width || candidates.is_empty()).map(|it| (1.0, it)));
    let enough = candidates.iter().filter(|(density, _)| *density >= 1.0);
    let smallest = enough.min_by(|one, other| one.0.total_cmp(&other.0));
    let best =
        smallest.or_else(|| candidates.iter().max_by(|one, other| one.0.total_cmp(&other.0)));
    best.map(|(_, target)| (*target).to_owned())
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|it| text_of(&it.value))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_sizes_the_smallest_that_is_large_enough_is_taken() {
        for (set, expected) in [
            ("a.png, b.png 2x", Some("a.png")),
            ("a.png 400w, b.png 1400w, c.png 2800w", Some("b.png")),
            ("a.png 400w, b.png 800w", Some("b.png")),
            ("a.png 0.5x", Some("a.png")),
            ("a.png é", None),
            (",,", None),
        ] {
            assert_eq!(chosen(set, None).as_deref(), expected, "{set}");
        }
        let with_plain = |set| chosen(set, Some("plain.png"));
        assert_eq!(with_plain("a.png 2x").as_deref(), Some("plain.png"));
        assert_eq!(with_plain("a.png 400w").as_deref(), Some("a.png"));
        assert_eq!(with_plain("").as_deref(), Some("plain.png"));
    }
}
