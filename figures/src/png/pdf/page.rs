//! Converts the elements of an SVG to the operators of a PDF page.

use super::fonts::Fonts;
use super::{RESOURCES, packed};
use crate::png::PngError;
use pdf_writer::types::{LineCapStyle, LineJoinStyle, PaintType, TilingType};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use qlog_tools::saturating_cast::to_u64;
use resvg::tiny_skia::PathSegment;
use resvg::usvg::{
    Fill, FillRule, Group, LineCap, LineJoin, Node, Opacity, Paint, Path, Pattern, Stroke, Text,
    Transform,
};
use std::collections::BTreeMap;

/// The objects that the page's operators refer to.
pub(super) struct Page {
    pub(super) pdf: Pdf,
    fonts: Fonts,
    /// From the figure to the page.
    upright: Transform,
    /// The opacities of fills and strokes, in percent, and their names.
    opacities: BTreeMap<[u64; 2], String>,
    /// Patterns, keyed by content and place of use.
    patterns: BTreeMap<String, (String, Ref)>,
    next: i32,
}

pub(super) fn matrix(it: Transform) -> [f32; 6] {
    [it.sx, it.ky, it.kx, it.sy, it.tx, it.ty]
}

fn unknown(what: &str) -> PngError {
    PngError::Svg(format!("{what} cannot be written as PDF"))
}

impl Page {
    /// `next`: the first free object number.
    pub(super) fn new(fonts: Fonts, upright: Transform, next: i32) -> Self {
        let (opacities, patterns) = (BTreeMap::new(), BTreeMap::new());
        Self { pdf: Pdf::new(), fonts, upright, opacities, patterns, next }
    }

    fn object(&mut self) -> Ref {
        self.next += 1;
        Ref::new(self.next - 1)
    }

    pub(super) fn draw(&mut self, content: &mut Content, group: &Group) -> Result<(), PngError> {
        if group.clip_path().is_some() || group.mask().is_some() || !group.filters().is_empty() {
            return Err(unknown("a clip path, a mask or a filter"));
        }
        if group.opacity() != Opacity::ONE {
            return Err(unknown("the opacity of a group"));
        }
        content.save_state();
        if !group.transform().is_identity() {
            content.transform(matrix(group.transform()));
        }
        for child in group.children() {
            match child {
                Node::Group(group) => self.draw(content, group)?,
                Node::Path(path) => self.draw_path(content, path)?,
                Node::Text(text) => self.draw_text(content, text)?,
                Node::Image(_) => return Err(unknown("an image")),
            }
        }
        content.restore_state();
        Ok(())
    }

    fn draw_path(&mut self, content: &mut Content, path: &Path) -> Result<(), PngError> {
        if !path.is_visible() {
            return Ok(());
        }
        let opacities = [path.fill().map(Fill::opacity), path.stroke().map(Stroke::opacity)];
        self.set_opacities(content, opacities.map(|it| it.unwrap_or(Opacity::ONE)));
        if let Some(fill) = path.fill() {
            self.set_fill(content, fill.paint(), path.abs_transform())?;
            trace(content, path);
            match fill.rule() {
                FillRule::NonZero => content.fill_nonzero(),
                FillRule::EvenOdd => content.fill_even_odd(),
            };
        }
        if let Some(stroke) = path.stroke() {
            set_stroke(content, stroke)?;
            trace(content, path);
            content.stroke();
        }
        Ok(())
    }

    fn set_opacities(&mut self, content: &mut Content, opacities: [Opacity; 2]) {
        let percent = opacities.map(|it| to_u64((it.get() * 100.0).round().into()));
        let count = self.opacities.len();
        let name = self.opacities.entry(percent).or_insert_with(|| format!("O{count}"));
        content.set_parameters(Name(name.as_bytes()));
    }

    fn set_fill(
        &mut self,
        content: &mut Content,
        paint: &Paint,
        absolute: Transform,
    ) -> Result<(), PngError> {
        match paint {
            Paint::Color(colour) => {
                let [red, green, blue] = rgb(*colour);
                content.set_fill_rgb(red, green, blue);
            }
            Paint::Pattern(pattern) => {
                let name = self.pattern(pattern, absolute)?;
                content.set_fill_color_space(Name(b"Pattern"));
                content.set_fill_pattern(None, Name(name.as_bytes()));
            }
            Paint::LinearGradient(_) | Paint::RadialGradient(_) => {
                return Err(unknown("a gradient"));
            }
        }
        Ok(())
    }

    /// The name of a pattern on a path with this transform.
    fn pattern(&mut self, pattern: &Pattern, absolute: Transform) -> Result<String, PngError> {
        let key = format!("{} {absolute:?}", pattern.id());
        if let Some((name, _)) = self.patterns.get(&key) {
            return Ok(name.clone());
        }
        let mut content = Content::new();
        self.draw(&mut content, pattern.root())?;
        let id = self.object();
        let tile = pattern.rect();
        let bytes = packed(&content.finish())?;
        let place = self.upright.pre_concat(absolute).pre_concat(pattern.transform());
        let mut written = self.pdf.tiling_pattern(id, &bytes);
        written.filter(Filter::FlateDecode);
        written
            .tiling_type(TilingType::ConstantSpacing)
            .paint_type(PaintType::Colored)
            .bbox(Rect::new(tile.left(), tile.top(), tile.right(), tile.bottom()))
            .x_step(tile.width())
            .y_step(tile.height())
            .matrix(matrix(place));
        written.pair(Name(b"Resources"), RESOURCES);
        written.finish();
        let name = format!("P{}", self.patterns.len());
        self.patterns.insert(key, (name.clone(), id));
        Ok(name)
    }

    /// Draws letters in an embedded font, or their outlines if the font cannot be embedded.
    fn draw_text(&mut self, content: &mut Content, text: &Text) -> Result<(), PngError> {
        let mut glyphs = text.layouted().iter().flat_map(|it| &it.positioned_glyphs);
        if !glyphs.all(|glyph| self.fonts.can_embed(glyph.font)) {
            return self.draw(content, text.flattened());
        }
        for span in text.layouted().iter().filter(|span| span.visible) {
            let Some(fill) = &span.fill else { continue };
            self.set_opacities(content, [fill.opacity(), Opacity::ONE]);
            self.set_fill(content, fill.paint(), text.abs_transform())?;
            content.begin_text();
            for glyph in &span.positioned_glyphs {
                let Some(of) = self.fonts.glyph(glyph.font, glyph.id.0, &glyph.text) else {
                    continue;
                };
                let em = Transform::from_scale(of.units_per_em, of.units_per_em);
                let place = glyph.outline_transform().pre_concat(em);
                content.set_font(Name(of.font.as_bytes()), 1.0);
                content.set_text_matrix(matrix(place));
                content.show(Str(&of.code.to_be_bytes()));
            }
            content.end_text();
        }
        Ok(())
    }

    /// Writes the objects that the operators refer to, and returns the document.
    pub(super) fn write_resources(mut self, id: Ref) -> Result<Pdf, PngError> {
        let fonts = self.fonts.write(&mut self.pdf, &mut self.next)?;
        let patterns: Vec<(String, Ref)> = self.patterns.into_values().collect();
        let mut resources = self.pdf.indirect(id).dict();
        for (kind, named) in [(&b"Font"[..], fonts), (b"Pattern", patterns)] {
            let mut dict = resources.insert(Name(kind)).dict();
            for (name, object) in &named {
                dict.pair(Name(name.as_bytes()), *object);
            }
        }
        let mut dict = resources.insert(Name(b"ExtGState")).dict();
        for (percent, name) in &self.opacities {
            let [fill, stroke] = percent.map(|it| it as f32 / 100.0);
            let mut state = dict.insert(Name(name.as_bytes())).dict();
            state.pair(Name(b"ca"), fill).pair(Name(b"CA"), stroke);
        }
        dict.finish();
        resources.finish();
        Ok(self.pdf)
    }
}

fn rgb(colour: resvg::usvg::Color) -> [f32; 3] {
    [colour.red, colour.green, colour.blue].map(|it| f32::from(it) / 255.0)
}

fn set_stroke(content: &mut Content, stroke: &Stroke) -> Result<(), PngError> {
    let Paint::Color(colour) = stroke.paint() else {
        return Err(unknown("a stroke with a pattern"));
    };
    let [red, green, blue] = rgb(*colour);
    content.set_stroke_rgb(red, green, blue).set_line_width(stroke.width().get());
    content.set_line_cap(match stroke.linecap() {
        LineCap::Butt => LineCapStyle::ButtCap,
        LineCap::Round => LineCapStyle::RoundCap,
        LineCap::Square => LineCapStyle::ProjectingSquareCap,
    });
    content.set_line_join(match stroke.linejoin() {
        LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
        LineJoin::Round => LineJoinStyle::RoundJoin,
        LineJoin::Bevel => LineJoinStyle::BevelJoin,
    });
    content.set_miter_limit(stroke.miterlimit().get());
    let dashes = stroke.dasharray().unwrap_or_default();
    content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
    Ok(())
}

fn trace(content: &mut Content, path: &Path) {
    let mut last = (0.0, 0.0);
    for segment in path.data().segments() {
        match segment {
            PathSegment::MoveTo(to) => {
                content.move_to(to.x, to.y);
                last = (to.x, to.y);
            }
            PathSegment::LineTo(to) => {
                content.line_to(to.x, to.y);
                last = (to.x, to.y);
            }
            PathSegment::QuadTo(by, to) => {
                // The same curve as a cubic one.
                let first = (toward(last.0, by.x), toward(last.1, by.y));
                let second = (toward(to.x, by.x), toward(to.y, by.y));
                content.cubic_to(first.0, first.1, second.0, second.1, to.x, to.y);
                last = (to.x, to.y);
            }
            PathSegment::CubicTo(by, and, to) => {
                content.cubic_to(by.x, by.y, and.x, and.y, to.x, to.y);
                last = (to.x, to.y);
            }
            PathSegment::Close => {
                content.close_path();
            }
        }
    }
}

/// Two thirds of the way.
fn toward(from: f32, by: f32) -> f32 {
    from + (by - from) * 2.0 / 3.0
}
