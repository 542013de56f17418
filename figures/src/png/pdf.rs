//! Figures as PDF for print: vectors, and real text in a subset of the system's font.
//!
//! Supports the elements of this crate's figures: paths, patterns and text. ISO 32000-1 describes the
//! operators.

mod fonts;
mod page;

use super::{About, PngError};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use fonts::Fonts;
use page::{Page, matrix};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, TextStr};
use resvg::usvg::{Transform, Tree};
use std::io::Write as _;

/// Points per pixel: 96 pixels are an inch, as in CSS.
const POINTS_A_PIXEL: f32 = 0.75;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const RESOURCES: Ref = Ref::new(5);
const INFO: Ref = Ref::new(6);
/// The first of the others.
const OTHERS: i32 = 7;

/// A document with a single page of the figure's size.
pub(super) fn document(tree: &Tree, about: &About<'_>) -> Result<Vec<u8>, PngError> {
    let width = tree.size().width() * POINTS_A_PIXEL;
    let height = tree.size().height() * POINTS_A_PIXEL;
    let upright = Transform::from_row(POINTS_A_PIXEL, 0.0, 0.0, -POINTS_A_PIXEL, 0.0, height);
    let mut page = Page::new(Fonts::new(tree.fontdb()), upright, OTHERS);
    let mut content = Content::new();
    content.transform(matrix(upright));
    page.draw(&mut content, tree.root())?;
    let pdf = &mut page.pdf;
    write_stream(pdf, CONTENT, &content.finish())?;
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut written = pdf.page(PAGE);
    written.media_box(Rect::new(0.0, 0.0, width, height)).parent(PAGES).contents(CONTENT);
    written.pair(Name(b"Resources"), RESOURCES);
    written.finish();
    let mut pdf = page.write_resources(RESOURCES)?;
    pdf.document_info(INFO)
        .title(TextStr(about.title))
        .subject(TextStr(about.subject))
        .creator(TextStr("utmost"));
    Ok(pdf.finish())
}

fn write_stream(pdf: &mut Pdf, id: Ref, bytes: &[u8]) -> Result<(), PngError> {
    let packed = packed(bytes)?;
    pdf.stream(id, &packed).filter(Filter::FlateDecode);
    Ok(())
}

fn packed(bytes: &[u8]) -> Result<Vec<u8>, PngError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|cause| PngError::Encoding(cause.to_string()))
}

#[cfg(test)]
mod tests;
