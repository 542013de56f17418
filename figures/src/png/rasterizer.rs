//! A rasterizer with a system font.

use super::{About, PngError, pdf};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use qlog_tools::saturating_cast::to_u64;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// The largest picture: 64 million pixels, 256 MiB while it is drawn.
const PIXELS_MAX: f64 = 64e6;

/// Files of the fonts that figures name, in order of preference: regular, then bold.
const FONT_FILES: [[&str; 2]; 5] = [
    ["LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"],
    ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"],
    ["NotoSans-Regular.ttf", "NotoSans-Bold.ttf"],
    ["Arial.ttf", "Arial Bold.ttf"],
    ["arial.ttf", "arialbd.ttf"],
];

/// The systems' font folders; the last ones are below the home folder.
const FONT_FOLDERS: [&str; 5] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:\\Windows\\Fonts",
];
const HOME_FONT_FOLDERS: [&str; 3] = [".local/share/fonts", ".fonts", "Library/Fonts"];
/// Font files looked at, at most.
const FILES_MAX: usize = 20_000;
const FOLDER_DEPTH_MAX: u32 = 8;

/// Converts SVG to PNG and PDF. Creating one reads the system's fonts, so keep it for many figures.
pub struct Rasterizer {
    options: Options<'static>,
}

impl Rasterizer {
    /// With one system font: the first of the well-known ones, otherwise any.
    pub fn new() -> Result<Self, PngError> {
        let mut options = Options::default();
        let fonts = options.fontdb_mut();
        let home = std::env::home_dir().unwrap_or_default();
        let of_home = HOME_FONT_FOLDERS.iter().map(|folder| home.join(folder));
        let mut found = BTreeMap::new();
        for folder in FONT_FOLDERS.iter().map(PathBuf::from).chain(of_home) {
            find_fonts(&folder, FOLDER_DEPTH_MAX, &mut found);
        }
        for file in font_files(&found) {
            if let Ok(data) = fs::read(&file) {
                fonts.load_font_data(data);
            }
        }
        let family =
            fonts.faces().find_map(|face| face.families.first()).map(|(name, _)| name.clone());
        fonts.set_sans_serif_family(family.ok_or(PngError::NoFont)?);
        Ok(Self { options })
    }

    /// The picture. With a `scale` of 2, each unit of the SVG has two pixels.
    pub fn png(&self, svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
        let tree = self.tree(svg)?;
        let [width, height] =
            [tree.size().width(), tree.size().height()].map(|it| f64::from(it * scale).ceil());
        let is_fit = [width, width * height].iter().all(|it| (1.0..=PIXELS_MAX).contains(it));
        let [across, down] = [width, height].map(|it| u32::try_from(to_u64(it)).ok());
        let size = across.zip(down).filter(|_| is_fit);
        let mut picture = size
            .and_then(|(across, down)| Pixmap::new(across, down))
            .ok_or(PngError::TooLarge(width, height))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
        picture.encode_png().map_err(|cause| PngError::Encoding(cause.to_string()))
    }

    /// A document with the figure as its only page.
    pub fn pdf(&self, svg: &str, about: &About<'_>) -> Result<Vec<u8>, PngError> {
        pdf::document(&self.tree(svg)?, about)
    }

    fn tree(&self, svg: &str) -> Result<Tree, PngError> {
        Tree::from_str(svg, &self.options).map_err(|cause| PngError::Svg(cause.to_string()))
    }
}

/// Adds the fonts in a folder, by file name.
fn find_fonts(folder: &Path, depth: u32, found: &mut BTreeMap<String, PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if found.len() >= FILES_MAX {
            return;
        }
        if path.is_dir() && depth > 0 {
            find_fonts(&path, depth - 1, found);
        }
        let is_font = path.extension().is_some_and(|extension| {
            extension.eq_ignore_ascii_case("ttf") || extension.eq_ignore_ascii_case("otf")
        });
        if let (true, Some(name)) = (is_font, path.file_name().and_then(|name| name.to_str())) {
            found.entry(name.to_owned()).or_insert_with(|| path.clone());
        }
    }
}

/// The files to load: a well-known regular font and its bold, otherwise any font.
fn font_files(found: &BTreeMap<String, PathBuf>) -> Vec<PathBuf> {
    let known = FONT_FILES.iter().find(|files| found.contains_key(files[0]));
    match known {
        Some(files) => files.iter().filter_map(|name| found.get(*name).cloned()).collect(),
        None => found.values().take(1).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text x="2" y="15">x</text></svg>"#;

    #[test]
    fn a_well_known_font_is_taken_before_any_other() {
        let found = |names: &[&str]| {
            names.iter().map(|name| ((*name).to_owned(), PathBuf::from(name))).collect()
        };
        let taken = |names: &[&str]| font_files(&found(names));
        assert_eq!(
            taken(&["A.ttf", "DejaVuSans-Bold.ttf", "DejaVuSans.ttf"]),
            ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"].map(PathBuf::from)
        );
        assert_eq!(taken(&["A.ttf", "B.ttf"]), [PathBuf::from("A.ttf")]);
        assert_eq!(taken(&[]), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_figure_becomes_a_png_of_its_size() {
        let Ok(rasterizer) = Rasterizer::new() else {
            println!("skipped: no font on this system");
            return;
        };
        let png = rasterizer.png(SVG, 2.0).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        // The header chunk has width and height, big endian.
        assert_eq!((png[19], png[23]), (80, 40));
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let Ok(rasterizer) = Rasterizer::new() else {
            println!("skipped: no font on this system");
            return;
        };
        assert!(matches!(rasterizer.png("<svg", 1.0), Err(PngError::Svg(_))));
        for scale in [1e6, 0.0, -1.0, f32::NAN] {
            assert!(
                matches!(rasterizer.png(SVG, scale), Err(PngError::TooLarge { .. })),
                "{scale}"
            );
        }
    }
}
