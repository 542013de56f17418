//! The fonts of a page: subsets of the letters in use, with their Unicode text, so that text can be searched
//! and copied.

use super::{packed, write_stream};
use crate::png::PngError;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use resvg::usvg::fontdb::{Database, ID};
use skrifa::instance::{LocationRef, Size};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, MetadataProvider};
use std::collections::BTreeMap;
use std::sync::Arc;
use subsetter::GlyphRemapper;

pub(super) struct Fonts {
    database: Arc<Database>,
    /// In order of first use; `None` if the font cannot be embedded.
    used: Vec<(ID, Option<Used>)>,
}

struct Used {
    units_per_em: f32,
    glyphs: GlyphRemapper,
    /// The text of each glyph in the subset.
    texts: BTreeMap<u16, String>,
}

/// How the page shows a glyph.
pub(super) struct Shown {
    /// The font's name on the page.
    pub(super) font: String,
    /// Its code in that font.
    pub(super) code: u16,
    pub(super) units_per_em: f32,
}

/// Identity: codes are glyphs.
const SYSTEM: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

impl Fonts {
    pub(super) fn new(database: &Arc<Database>) -> Self {
        Self { database: Arc::clone(database), used: Vec::new() }
    }

    /// Whether the font has `TrueType` outlines.
    pub(super) fn can_embed(&mut self, font: ID) -> bool {
        let place = self.place(font);
        self.used[place].1.is_some()
    }

    fn place(&mut self, font: ID) -> usize {
        let place = self.used.iter().position(|it| it.0 == font);
        if let Some(place) = place {
            return place;
        }
        let units = self.database.with_face_data(font, |data, index| {
            let font = FontRef::from_index(data, index).ok()?;
            font.glyf().ok()?;
            Some(f32::from(font.head().ok()?.units_per_em()))
        });
        let used = units.flatten().map(|units_per_em| Used {
            units_per_em,
            glyphs: GlyphRemapper::new(),
            texts: BTreeMap::new(),
        });
        self.used.push((font, used));
        self.used.len() - 1
    }

    /// Adds this glyph to the page's subset; `None` if its font cannot be embedded.
    pub(super) fn glyph(&mut self, font: ID, glyph: u32, text: &str) -> Option<Shown> {
        let place = self.place(font);
        let glyph = u16::try_from(glyph).ok()?;
        let used = self.used[place].1.as_mut()?;
        let code = used.glyphs.remap(glyph);
        used.texts.entry(code).or_insert_with(|| text.to_owned());
        Some(Shown { font: format!("F{place}"), code, units_per_em: used.units_per_em })
    }

    /// Writes the fonts and returns their names on the page.
    pub(super) fn write(
        &self,
        pdf: &mut Pdf,
        next: &mut i32,
    ) -> Result<Vec<(String, Ref)>, PngError> {
        let mut written = Vec::new();
        for (place, (font, used)) in self.used.iter().enumerate() {
            let Some(used) = used else { continue };
            let ids: [Ref; 5] = std::array::from_fn(|_| {
                *next += 1;
                Ref::new(*next - 1)
            });
            let wrote = self
                .database
                .with_face_data(*font, |data, index| write_font(pdf, data, index, used, ids));
            wrote.unwrap_or_else(|| Err(unreadable()))?;
            written.push((format!("F{place}"), ids[0]));
        }
        Ok(written)
    }
}

fn unreadable() -> PngError {
    PngError::Encoding("a font cannot be read".to_owned())
}

/// Writes the five objects of a font: itself, its glyphs, their metrics, its file, and its text mapping.
fn write_font(
    pdf: &mut Pdf,
    data: &[u8],
    index: u32,
    used: &Used,
    [font, glyphs, descriptor, file, meaning]: [Ref; 5],
) -> Result<(), PngError> {
    let face = FontRef::from_index(data, index).map_err(|_| unreadable())?;
    let subset = subsetter::subset(data, index, &used.glyphs)
        .map_err(|cause| PngError::Encoding(cause.to_string()))?;
    let name = format!("UTMOST+{}", post_script_name(&face));
    let name = Name(name.as_bytes());
    pdf.type0_font(font)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(glyphs)
        .to_unicode(meaning);
    let scale = 1000.0 / used.units_per_em;
    let widths = face.glyph_metrics(Size::unscaled(), LocationRef::default());
    let widths = used
        .glyphs
        .remapped_gids()
        .map(|it| scale * widths.advance_width(skrifa::GlyphId::from(it)).unwrap_or_default());
    let mut written = pdf.cid_font(glyphs);
    written
        .subtype(CidFontType::Type2)
        .base_font(name)
        .system_info(SYSTEM)
        .font_descriptor(descriptor)
        .cid_to_gid_map_predefined(Name(b"Identity"));
    written.widths().consecutive(0, widths);
    written.finish();
    write_descriptor(pdf, &face, scale, name, [descriptor, file]);
    let packed = packed(&subset)?;
    let length = i32::try_from(subset.len()).unwrap_or(i32::MAX);
    pdf.stream(file, &packed).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
    let mut map = UnicodeCmap::new(Name(b"utmost"), SYSTEM);
    for (code, text) in &used.texts {
        map.pair_with_multiple(*code, text.chars());
    }
    write_stream(pdf, meaning, &map.finish())
}

fn write_descriptor(
    pdf: &mut Pdf,
    face: &FontRef<'_>,
    scale: f32,
    name: Name<'_>,
    [descriptor, file]: [Ref; 2],
) {
    let metrics = face.metrics(Size::unscaled(), LocationRef::default());
    let bounds = metrics.bounds.unwrap_or_default();
    let bounds = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|it| it * scale);
    let ascent = metrics.ascent * scale;
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(bounds[0], bounds[1], bounds[2], bounds[3]))
        .italic_angle(0.0)
        .ascent(ascent)
        .descent(metrics.descent * scale)
        .cap_height(metrics.cap_height.map_or(ascent, |it| it * scale))
        // Only programs that substitute the font use it.
        .stem_v(80.0)
        .font_file2(file);
}

/// The font's own name, reduced to letters, digits and hyphens.
fn post_script_name(face: &FontRef<'_>) -> String {
    let name = face.localized_strings(skrifa::string::StringId::POSTSCRIPT_NAME);
    let name = name.english_or_first().map(|it| it.to_string()).unwrap_or_default();
    let kept: String = name.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '-').collect();
    if kept.is_empty() { "Font".to_owned() } else { kept }
}
